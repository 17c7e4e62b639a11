#include "analysis/lock/lock_stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"

const struct lock_field lock_fields[LOCK_FIELDS] = {
	[LOCK_ACQUIRED] = { "acquired", "acquired", 10, false },
	[LOCK_CONTENDED] = { "contended", "contended", 10, false },
	[LOCK_AVG_WAIT] = { "avg_wait", "avg wait", 12, true },
	[LOCK_WAIT_TOTAL] = { "wait_total", "total wait", 12, true },
	[LOCK_WAIT_MAX] = { "wait_max", "max wait", 12, true },
	[LOCK_WAIT_MIN] = { "wait_min", "min wait", 12, true },
};

void lock_stats_fini(struct lock_stats *stats)
{
	vec_fini(&stats->list);
	idmap_fini(&stats->by_key);
	arena_fini(&stats->arena);
}

struct lock_stat *lock_stats_find(const struct lock_stats *stats, uint64_t key)
{
	uint32_t index = idmap_get(&stats->by_key, key);
	return index == IDMAP_NONE ? NULL : stats->list.items[index];
}

struct lock_stat *lock_stats_add(struct lock_stats *stats, uint64_t key, const char *name, uint32_t flags)
{
	bool added;
	uint32_t index = idmap_add(&stats->by_key, key, (uint32_t)stats->list.count, &added);
	if (!added)
		return stats->list.items[index];
	struct lock_stat *stat = arena_alloc(&stats->arena, sizeof *stat);
	*stat = (struct lock_stat){ .key = key, .name = text_one_line(&stats->arena, name, strlen(name)), .flags = flags,
		.min_ns = UINT64_MAX, .in_order = index };
	vec_push(&stats->list, stat);
	return stat;
}

void lock_stat_wait(struct lock_stat *stat, uint64_t ns)
{
	stat->total_ns += ns;
	if (ns < stat->min_ns)
		stat->min_ns = ns;
	if (ns > stat->max_ns)
		stat->max_ns = ns;
}

void lock_stat_waits(struct lock_stat *stat, uint32_t count, uint64_t total_ns, uint64_t min_ns, uint64_t max_ns)
{
	stat->contended += count;
	stat->total_ns += total_ns;
	stat->min_ns = min_ns < stat->min_ns ? min_ns : stat->min_ns;
	stat->max_ns = max_ns > stat->max_ns ? max_ns : stat->max_ns;
	stat->average_ns = stat->contended ? stat->total_ns / stat->contended : 0;
}

static int find_field(const char *name, size_t len, bool contention)
{
	for (int i = contention ? LOCK_CONTENDED : LOCK_ACQUIRED; i < LOCK_FIELDS; i++)
		if (strlen(lock_fields[i].name) == len && memcmp(lock_fields[i].name, name, len) == 0)
			return i;
	return -1;
}

static void show(struct lock_choice *choice, enum lock_field_id field)
{
	for (unsigned i = 0; i < choice->count; i++)
		if (choice->shown[i] == field)
			return;
	choice->shown[choice->count++] = field;
}

int lock_choice_parse(struct lock_choice *choice, const char *fields, const char *key, bool contention, struct error *err)
{
	*choice = (struct lock_choice){ 0 };
	for (int i = 0; !fields && i < LOCK_FIELDS; i++)
		choice->shown[choice->count++] = (enum lock_field_id)i;
	for (const char *at = fields; at; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ",");
		int field = find_field(at, len, contention);
		if (field < 0)
			return error_set(err, ERROR_USAGE, "Unknown output field: %.*s", (int)len, at);
		show(choice, (enum lock_field_id)field);
		at += len;
	}
	int field = find_field(key, strlen(key), contention);
	if (field < 0)
		return error_set(err, ERROR_USAGE, "Unknown compare key: %s", key);
	choice->key = (enum lock_field_id)field;
	show(choice, choice->key);
	return 0;
}

uint64_t lock_stat_value(const struct lock_stat *stat, enum lock_field_id field)
{
	switch (field) {
	case LOCK_ACQUIRED:
		return stat->acquired;
	case LOCK_CONTENDED:
		return stat->contended;
	case LOCK_AVG_WAIT:
		return stat->average_ns;
	case LOCK_WAIT_TOTAL:
		return stat->total_ns;
	case LOCK_WAIT_MAX:
		return stat->max_ns;
	default:
		return stat->min_ns == UINT64_MAX ? 0 : stat->min_ns;
	}
}

/* perf visits its hash table of 4096 lists, the newest entry of a list first (hash_long of include/linux/hash.h). */
static uint64_t perf_bucket(uint64_t key)
{
	return key * 0x61c8864680b583ebu >> 52;
}

static int compare_visits(const void *a, const void *b)
{
	const struct lock_stat *left = *(struct lock_stat *const *)a, *right = *(struct lock_stat *const *)b;
	uint64_t left_bucket = perf_bucket(left->key), right_bucket = perf_bucket(right->key);
	if (left_bucket != right_bucket)
		return left_bucket < right_bucket ? -1 : 1;
	return left->in_order > right->in_order ? -1 : left->in_order < right->in_order;
}

struct visited {
	struct lock_stat *stat;
	uint64_t value;
	size_t index;
};

static int compare_values(const void *a, const void *b)
{
	const struct visited *left = a, *right = b;
	if (left->value != right->value)
		return left->value > right->value ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

static void visit_all(const struct lock_stats *stats, struct lock_order *order)
{
	vec_clear(&order->list);
	for (size_t i = 0; i < stats->list.count; i++)
		vec_push(&order->list, stats->list.items[i]);
	if (order->list.count)
		qsort(order->list.items, order->list.count, sizeof *order->list.items, compare_visits);
}

static void combine_into(struct lock_stat *to, const struct lock_stat *from)
{
	to->acquired += from->acquired;
	to->contended += from->contended;
	to->total_ns += from->total_ns;
	if (to->contended)
		to->average_ns = to->total_ns / to->contended;
	if (from->min_ns < to->min_ns)
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	to->broken |= from->broken;
}

/* The first of each name stays. */
static void combine_names(struct lock_order *order)
{
	struct strtab names = { 0 };
	size_t count = 0;
	for (size_t i = 0; i < order->list.count; i++) {
		struct lock_stat *stat = order->list.items[i];
		uint32_t id = strtab_add(&names, stat->name, strlen(stat->name));
		if (id < count)
			combine_into(order->list.items[id], stat);
		else
			order->list.items[count++] = stat;
	}
	order->list.count = count;
	strtab_fini(&names);
}

void lock_stats_order(const struct lock_stats *stats, enum lock_field_id key, bool combine, struct lock_order *order)
{
	visit_all(stats, order);
	if (combine)
		combine_names(order);
	size_t count = order->list.count;
	struct visited *sorted = memory_zero(count + 1, sizeof *sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct visited){ order->list.items[i], lock_stat_value(order->list.items[i], key), i };
	qsort(sorted, count, sizeof *sorted, compare_values);
	for (size_t i = 0; i < count; i++)
		order->list.items[i] = sorted[i].stat;
	free(sorted);
}

static int compare_names(const void *a, const void *b)
{
	const struct lock_stat *left = *(struct lock_stat *const *)a, *right = *(struct lock_stat *const *)b;
	int names = strcmp(left->name, right->name);
	return names ? names : left->key < right->key ? -1 : left->key > right->key;
}

void lock_stats_order_names(const struct lock_stats *stats, struct lock_order *order)
{
	visit_all(stats, order);
	if (order->list.count)
		qsort(order->list.items, order->list.count, sizeof *order->list.items, compare_names);
}
