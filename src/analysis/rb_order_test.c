#include "analysis/rb_order.h"

#include "unit.h"

struct item {
	int key, number;
};

static int64_t larger_first(void *context, const void *a, const void *b)
{
	return ((const struct item *)a)->key - ((const struct item *)b)->key;
}

TEST("the order of a tree under a proper comparison is a stable sort")
{
	struct item items[500];
	void *pointers[500];
	unsigned random = 1;
	for (int i = 0; i < 500; i++) {
		random = random * 1103515245 + 12345;
		items[i] = (struct item){ (int)(random >> 16) % 50, i };
		pointers[i] = &items[i];
	}
	rb_order(pointers, 500, larger_first, NULL);
	for (int i = 1; i < 500; i++) {
		const struct item *before = pointers[i - 1], *item = pointers[i];
		EXPECT(before->key > item->key || (before->key == item->key && before->number < item->number));
	}
}

static int64_t always_behind(void *context, const void *a, const void *b)
{
	return -1;
}

TEST("a comparison that is no order still keeps every item")
{
	int items[100], sum = 0;
	void *pointers[100];
	for (int i = 0; i < 100; i++) {
		items[i] = i;
		pointers[i] = &items[i];
	}
	rb_order(pointers, 100, always_behind, NULL);
	for (int i = 0; i < 100; i++)
		sum += *(int *)pointers[i];
	EXPECT_INT(sum, 4950);
}

TEST("no item is an order, too")
{
	rb_order(NULL, 0, larger_first, NULL);
}
