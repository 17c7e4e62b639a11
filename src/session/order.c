#include "session/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"

void order_fini(struct order *order)
{
	for (size_t i = 0; i < order->runs.count; i++)
		free(order->runs.items[i].entries);
	vec_fini(&order->runs);
	vec_fini(&order->fresh);
	free(order->scratch);
	free(order->spare);
	*order = (struct order){ 0 };
}

/* Merges two sorted runs into out[]; of equal times, a's entries precede. */
static void merge(const struct entry *a, size_t a_count, const struct entry *b, size_t b_count, struct entry *out)
{
	size_t i = 0, j = 0;
	while (i < a_count && j < b_count)
		*out++ = b[j].time < a[i].time ? b[j++] : a[i++];
	memcpy(out, a + i, (a_count - i) * sizeof *a);
	memcpy(out + (a_count - i), b + j, (b_count - j) * sizeof *b);
}

static size_t sorted_length(const struct entry *a, size_t count)
{
	size_t n = 1;
	while (n < count && a[n - 1].time <= a[n].time)
		n++;
	return n;
}

/* Natural merge sort: a round consists of a few sorted runs, one per ring. Merges pairs of runs until one is left. */
static void sort(struct order *order)
{
	size_t count = order->fresh.count;
	struct entry *a = order->fresh.items;
	if (sorted_length(a, count) >= count)
		return;
	if (order->scratch_size < count) {
		order->scratch_size = order->fresh.capacity;
		order->scratch = memory_resize(order->scratch, order->scratch_size, sizeof *order->scratch);
	}
	struct entry *out = order->scratch;
	bool done = false;
	while (!done) {
		done = true;
		for (size_t at = 0; at < count;) {
			size_t first = sorted_length(a + at, count - at);
			size_t second = at + first < count ? sorted_length(a + at + first, count - at - first) : 0;
			merge(a + at, first, a + at + first, second, out + at);
			at += first + second;
			done = done && at >= count && at == first + second;
		}
		struct entry *swap = a;
		a = out;
		out = swap;
	}
	if (a != order->fresh.items) {
		size_t capacity = order->scratch_size;
		order->scratch = order->fresh.items;
		order->scratch_size = order->fresh.capacity;
		order->fresh.items = a;
		order->fresh.capacity = capacity;
	}
}

static void push_run(struct order *order)
{
	sort(order);
	struct run run = { .entries = order->fresh.items, .count = order->fresh.count, .capacity = order->fresh.capacity,
			   .mark = order->fresh_mark };
	vec_push(&order->runs, run);
	order->fresh.items = order->spare; /* the run owns the old array now */
	order->fresh.capacity = order->spare_size;
	order->fresh.count = 0;
	order->spare = NULL;
	order->spare_size = 0;
}

void order_end_run(struct order *order)
{
	if (order->fresh.count)
		push_run(order);
}

/* Retains the larger array for the next round: a new one would cost a page fault every 4 KiB. */
static void run_free(struct order *order, struct run *run)
{
	if (run->capacity > order->spare_size) {
		free(order->spare);
		order->spare = run->entries;
		order->spare_size = run->capacity;
	} else {
		free(run->entries);
	}
}

static size_t run_left(const struct run *run)
{
	return run->count - run->head;
}

/* Drops delivered runs. */
static void drop_runs(struct order *order)
{
	size_t count = 0;
	for (size_t i = 0; i < order->runs.count; i++) {
		if (run_left(&order->runs.items[i]))
			order->runs.items[count++] = order->runs.items[i];
		else
			run_free(order, &order->runs.items[i]);
	}
	order->runs.count = count;
}

/* Merges neighbouring runs of similar size, so that the number of runs is logarithmic. A few need no merge: most are delivered by the next
 * round. */
static void compact(struct order *order)
{
	enum { FEW_RUNS = 3 };
	drop_runs(order);
	while (order->runs.count > FEW_RUNS) {
		struct run *a = &order->runs.items[order->runs.count - 2], *b = a + 1;
		size_t left_a = run_left(a), left_b = run_left(b);
		if (left_a > 2 * left_b)
			return;
		struct run both = { .count = left_a + left_b, .capacity = left_a + left_b };
		both.mark = a->mark < b->mark ? a->mark : b->mark;
		both.entries = memory_resize(NULL, both.count, sizeof *both.entries);
		merge(a->entries + a->head, left_a, b->entries + b->head, left_b, both.entries);
		run_free(order, a);
		run_free(order, b);
		*a = both;
		order->runs.count--;
	}
}

/* The run with the earliest next record (of equal times, the older run), and the time until which it remains the earliest. */
static struct run *earliest(struct order *order, uint64_t *until)
{
	struct run *best = NULL;
	*until = UINT64_MAX;
	for (size_t i = 0; i < order->runs.count; i++) {
		struct run *run = &order->runs.items[i];
		if (!run_left(run))
			continue;
		uint64_t time = run->entries[run->head].time;
		if (!best) {
			best = run;
		} else if (time < best->entries[best->head].time) {
			uint64_t other = best->entries[best->head].time - 1; /* of equal times, the older run precedes */
			*until = other < *until ? other : *until;
			best = run;
		} else if (time < *until) {
			*until = time;
		}
	}
	return best;
}

enum { PREFETCH_AHEAD = 8 };

void order_flush(struct order *order, bool final, void (*deliver)(void *context, const struct entry *entry), void *context)
{
	uint64_t limit = final ? UINT64_MAX : order->limit, until;
	order_end_run(order);
	if (final) {
		free(order->scratch);
		order->scratch = NULL;
		order->scratch_size = 0;
	}
	for (struct run *run; (run = earliest(order, &until));) {
		const struct entry *entry = &run->entries[run->head];
		if (entry->time > limit)
			break;
		do {
			order->delivered_time = entry->time;
			run->head++;
			order->waiting--;
			if (run_left(run) > PREFETCH_AHEAD)
				__builtin_prefetch((const void *)((uintptr_t)entry[PREFETCH_AHEAD].body - 8)); /* the header, with the record's size */
			deliver(context, entry++);
		} while (run_left(run) && entry->time <= limit && entry->time <= until);
	}
	compact(order);
	order->limit = order->max_time;
}

/* Of a record: its entry, the copy in the sorted array, the spare room while that grows. */
bool order_fits(struct order *order, struct budget *budget, uint64_t copied)
{
	enum { ENTRY_COPIES = 3, STEP = 16 << 20 };
	uint64_t waiting = order->waiting * ENTRY_COPIES * sizeof(struct entry) + copied;
	while (budget && waiting > order->taken && budget_left(budget) > order->taken + STEP && budget_take(budget, STEP))
		order->taken += STEP;
	return !budget || waiting <= order->taken;
}

void order_settle(struct order *order, struct budget *budget)
{
	budget_give(budget, order->taken);
	order->taken = 0;
}

uint64_t order_mark(const struct order *order)
{
	uint64_t mark = order->fresh.count ? order->fresh_mark : UINT64_MAX;
	for (size_t i = 0; i < order->runs.count; i++)
		if (run_left(&order->runs.items[i]) && order->runs.items[i].mark < mark)
			mark = order->runs.items[i].mark;
	return mark;
}
