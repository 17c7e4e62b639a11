#include "analysis/lock/lock_stats.h"

#include <stdlib.h>

#include "unit.h"

static struct lock_stat *add_stat(struct lock_stats *stats, uint64_t key, const char *name, uint32_t contended, uint64_t ns)
{
	struct lock_stat *stat = lock_stats_add(stats, key, name, 0);
	stat->contended += contended;
	stat->acquired = key == 3 ? 9 : 1;
	lock_stat_wait(stat, ns);
	return stat;
}

/* The keys in order, valid until the next call. */
static const char *keys_text(const struct lock_order *order)
{
	static char text[128];
	size_t len = 0;
	text[0] = '\0';
	for (size_t i = 0; i < order->list.count; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%llu", i ? " " : "", (unsigned long long)order->list.items[i]->key);
	return text;
}

TEST("sums of several waits add up, with the least and the greatest time of all and the average")
{
	struct lock_stats stats = { 0 };
	struct lock_stat *stat = lock_stats_add(&stats, 5, "a", 0);
	lock_stat_waits(stat, 0, 0, UINT64_MAX, 0);
	EXPECT_INT(stat->average_ns, 0);
	lock_stat_waits(stat, 2, 40, 15, 25);
	lock_stat_waits(stat, 3, 90, 20, 50);
	lock_stat_waits(stat, 1, 12, 12, 12);
	EXPECT_INT(stat->contended, 6);
	EXPECT_INT(stat->total_ns, 142);
	EXPECT_INT(stat->min_ns, 12);
	EXPECT_INT(stat->max_ns, 50);
	EXPECT_INT(stat->average_ns, 23);
	lock_stats_fini(&stats);
}

TEST("a sum has the count, the total, the least and the longest wait")
{
	struct lock_stats stats = { 0 };
	add_stat(&stats, 5, "a", 1, 10);
	struct lock_stat *stat = add_stat(&stats, 5, "b", 1, 30);
	EXPECT_INT(stats.list.count, 1);
	EXPECT_STR(stat->name, "a");
	EXPECT(lock_stats_find(&stats, 5) == stat && !lock_stats_find(&stats, 6));
	EXPECT_INT(lock_stat_value(stat, LOCK_CONTENDED), 2);
	EXPECT_INT(lock_stat_value(stat, LOCK_WAIT_TOTAL), 40);
	EXPECT_INT(lock_stat_value(stat, LOCK_WAIT_MIN), 10);
	EXPECT_INT(lock_stat_value(stat, LOCK_WAIT_MAX), 30);
	EXPECT_INT(lock_stat_value(lock_stats_add(&stats, 6, "", 0), LOCK_WAIT_MIN), 0);
	lock_stats_fini(&stats);
}

TEST("sums are ordered by the field, equal ones as perf's hash table yields them")
{
	struct lock_stats stats = { 0 };
	struct lock_order order = { 0 };
	add_stat(&stats, 1, "x", 1, 7);
	add_stat(&stats, 2, "y", 3, 7);
	add_stat(&stats, 3, "x", 2, 9);
	lock_stats_order(&stats, LOCK_CONTENDED, false, &order);
	EXPECT_STR(keys_text(&order), "2 3 1");
	lock_stats_order(&stats, LOCK_WAIT_TOTAL, false, &order); /* 2 * 0x61c8… >> 52 is 0xc39, 1 * … is 0x61c */
	EXPECT_STR(keys_text(&order), "3 1 2");
	lock_stats_order(&stats, LOCK_ACQUIRED, true, &order);
	EXPECT_STR(keys_text(&order), "3 2"); /* 3 * … is 0x255: the first of the name x */
	EXPECT_INT(order.list.items[0]->total_ns, 16);
	EXPECT_INT(order.list.items[0]->contended, 3);
	EXPECT_INT(order.list.items[0]->average_ns, 5);
	EXPECT_INT(order.list.items[0]->min_ns, 7);
	lock_stats_order_names(&stats, &order);
	EXPECT_STR(keys_text(&order), "1 3 2");
	vec_fini(&order.list);
	lock_stats_fini(&stats);
}

TEST("fields are shown in their order, each once, and the one of the order at the end")
{
	struct lock_choice choice;
	struct error err = { 0 };
	EXPECT_INT(lock_choice_parse(&choice, "wait_max,contended,wait_max", "wait_min", true, NULL), 0);
	EXPECT_INT(choice.count, 3);
	EXPECT_INT(choice.shown[0], LOCK_WAIT_MAX);
	EXPECT_INT(choice.shown[1], LOCK_CONTENDED);
	EXPECT_INT(choice.shown[2], LOCK_WAIT_MIN);
	EXPECT_INT(lock_choice_parse(&choice, NULL, "acquired", false, NULL), 0);
	EXPECT_INT(choice.count, LOCK_FIELDS);
	EXPECT(lock_choice_parse(&choice, "acquired", "contended", true, &err) < 0);
	EXPECT_STR(err.text, "Unknown output field: acquired");
	EXPECT(lock_choice_parse(&choice, "contended,", "contended", true, &err) < 0);
	EXPECT(lock_choice_parse(&choice, "contended", "wait", true, &err) < 0);
	EXPECT_STR(err.text, "Unknown compare key: wait");
}

TEST("what becomes one of several sums has the least, the longest and any broken one of them, in whatever order they are visited")
{
	for (unsigned longest = 1; longest <= 3; longest++)
		for (unsigned least = 1; least <= 3; least++) {
			struct lock_stats stats = { 0 };
			struct lock_order order = { 0 };
			for (unsigned key = 1; key <= 3; key++) {
				struct lock_stat *stat = add_stat(&stats, key, "x", 1, 50);
				stat->min_ns = key == least ? 5 : 40;
				stat->max_ns = key == longest ? 90 : 60;
				stat->broken = key == least;
			}
			lock_stats_order(&stats, LOCK_CONTENDED, true, &order);
			EXPECT_INT(order.list.count, 1);
			EXPECT_INT(order.list.items[0]->min_ns, 5);
			EXPECT_INT(order.list.items[0]->max_ns, 90);
			EXPECT(order.list.items[0]->broken);
			EXPECT_INT(order.list.items[0]->acquired, 11);
			vec_fini(&order.list);
			lock_stats_fini(&stats);
		}
}
