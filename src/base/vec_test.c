#include "base/vec.h"

#include "unit.h"

TEST("a vector grows and retains its items")
{
	VEC(int) numbers = { 0 };
	for (int i = 0; i < 10000; i++)
		vec_push(&numbers, i * 3);
	EXPECT_INT(numbers.count, 10000);
	for (int i = 0; i < 10000; i++)
		EXPECT(numbers.items[i] == i * 3);
	vec_clear(&numbers);
	EXPECT_INT(numbers.count, 0);
	EXPECT(numbers.capacity >= 10000);
	vec_fini(&numbers);
	EXPECT(numbers.items == NULL);
}

TEST("an added item is zeroed, also in memory that was used before")
{
	struct pair {
		int a, b;
	};
	VEC(struct pair) pairs = { 0 };
	vec_add(&pairs)->a = 7;
	vec_clear(&pairs);
	EXPECT_INT(vec_add(&pairs)->a, 0);
	EXPECT_INT(pairs.count, 1);
	vec_fini(&pairs);
}

TEST("reserving allocates the requested room, and never less than the items need")
{
	VEC(char) bytes = { 0 };
	vec_reserve(&bytes, 1000);
	EXPECT(bytes.capacity >= 1000);
	size_t before = bytes.capacity;
	vec_reserve(&bytes, 10);
	EXPECT_INT(bytes.capacity, before);
	vec_fini(&bytes);
}
