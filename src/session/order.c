#include "session/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"

void order_fini(struct order *order)
{
	for (size_t i = 0; i < order->runs.count; i++)
		free(order->runs.items[i].entries);
	vec_fini(&order->runs);
	vec_fini(&order->fresh);
	vec_fini(&order->heap);
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
			   .mark = order->fresh_mark, .time = order->fresh.items[0].time };
	vec_push(&order->runs, run);
	order->fresh.items = order->spare; /* the run owns the old array now */
	order->fresh.capacity = order->spare_size;
	order->fresh.count = 0;
	order->spare = NULL;
	order->spare_size = 0;
}

static size_t run_left(const struct run *run)
{
	return run->entries ? run->count - run->head : (size_t)(run->end - run->at);
}

static uint64_t run_mark(const struct run *run)
{
	return run->entries ? run->mark : run->mark + (uint64_t)(run->at - run->begin);
}

static void close_stretch(struct order *order)
{
	if (order->open.end)
		order->runs.items[order->runs.count - 1].end = order->open.end;
	order->open = (struct open_stretch){ 0 };
}

void order_end_run(struct order *order)
{
	close_stretch(order);
	if (order->fresh.count)
		push_run(order);
	order->round_runs = order->runs.count;
}

/* Takes the next record of a stretch. The bytes may have changed since they were read first: they stay within the stretch. */
static inline struct entry stretch_take(struct run *run)
{
	struct entry entry = { .time = run->time, .offset = run->offset + ((uint64_t)(run->at - run->begin) & run->offset_step),
		.body = run->at + 8 };
	size_t size = entry_size(&entry), left = (size_t)(run->end - run->at);
	if (__builtin_expect(size < 8 || size + 8 > left, 0)) {
		run->at = run->end;
		return entry;
	}
	memory_fetch_ahead(run->at, size);
	run->at += size;
	const struct record record = entry_record(&(struct entry){ .body = run->at + 8 });
	bool is_sample = record.type == RECORD_SAMPLE;
	uint64_t time = is_sample ? record_time_from_front(&record, run->front) : record_time_from_back(&record, run->back);
	run->time = time > run->time ? time : run->time;
	return entry;
}

static void list_stretch(struct order *order, struct run *run)
{
	if (!order->fresh.count)
		order->fresh_mark = run_mark(run);
	while (run->at < run->end) {
		vec_push(&order->fresh, stretch_take(run));
		order->waiting++;
	}
}

/* The records of this round are in too many stretches: they are listed and sorted, as all later ones. */
static void list_round(struct order *order)
{
	close_stretch(order);
	for (size_t i = order->round_runs; i < order->runs.count; i++)
		list_stretch(order, &order->runs.items[i]);
	order->runs.count = order->round_runs;
}

static bool continues_compressed(const struct order *order, const struct entry *entry, uint64_t mark)
{
	const struct open_stretch *open = &order->open;
	return open->single && entry->body - 8 == open->end && mark == open->mark && entry->time >= open->last_time &&
		entry->offset == order->runs.items[order->runs.count - 1].offset;
}

void order_add_elsewhere(struct order *order, const struct entry *entry, const struct record_times *times, uint64_t mark)
{
	enum { ROUND_STRETCHES = 64 };
	uint16_t size = entry_size(entry);
	if (continues_compressed(order, entry, mark)) {
		order->open.offset = entry->offset;
		order->open.offset_step = order->runs.items[order->runs.count - 1].offset_step = 0;
		order_add_read(order, entry, times, mark);
		return;
	}
	close_stretch(order);
	order->lists |= times->front < 0 || times->back <= 0 || order->runs.count - order->round_runs >= ROUND_STRETCHES;
	if (order->lists) {
		list_round(order);
		order_add(order, entry, mark);
		return;
	}
	order_note(order, entry->time);
	struct run run = { .mark = mark, .time = entry->time, .begin = entry->body - 8, .at = entry->body - 8, .end = entry->body - 8 + size,
		.offset = entry->offset, .offset_step = UINT64_MAX, .front = times->front, .back = times->back };
	vec_push(&order->runs, run);
	order->open = (struct open_stretch){ .end = run.end, .mark = mark + size, .offset = entry->offset + size, .last_time = entry->time,
		.offset_step = UINT64_MAX, .single = true };
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

/* Lists the records of all stretches, each group of neighbouring ones as one run. */
static void list_stretches(struct order *order)
{
	struct run *runs = order->runs.items;
	size_t count = order->runs.count;
	memset(&order->runs, 0, sizeof order->runs);
	for (size_t i = 0; i < count; i++) {
		if (!runs[i].entries) {
			list_stretch(order, &runs[i]);
			continue;
		}
		if (order->fresh.count)
			push_run(order);
		vec_push(&order->runs, runs[i]);
	}
	if (order->fresh.count)
		push_run(order);
	free(runs);
}

/* Merges neighbouring listed runs of similar size, so that the number of runs is logarithmic. A few need no merge: most are delivered by
 * the next round. */
static void compact(struct order *order)
{
	enum { FEW_RUNS = 3, MANY_RUNS = 128 };
	drop_runs(order);
	if (order->runs.count > MANY_RUNS)
		list_stretches(order);
	while (order->runs.count > FEW_RUNS) {
		struct run *a = &order->runs.items[order->runs.count - 2], *b = a + 1;
		size_t left_a = run_left(a), left_b = run_left(b);
		if (!a->entries || !b->entries || left_a > 2 * left_b)
			break;
		struct run both = { .count = left_a + left_b, .capacity = left_a + left_b };
		both.mark = a->mark < b->mark ? a->mark : b->mark;
		both.time = a->time < b->time ? a->time : b->time;
		both.entries = memory_resize(NULL, both.count, sizeof *both.entries);
		merge(a->entries + a->head, left_a, b->entries + b->head, left_b, both.entries);
		run_free(order, a);
		run_free(order, b);
		*a = both;
		order->runs.count--;
	}
	order->round_runs = order->runs.count;
}

/* Of equal times, the older run precedes. */
static inline bool precedes(const struct due *a, const struct due *b)
{
	return a->time < b->time || (a->time == b->time && a->run < b->run);
}

static void heap_sink(struct order *order, size_t at)
{
	struct due *heap = order->heap.items, moved = heap[at];
	size_t count = order->heap.count;
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		child += child + 1 < count && precedes(&heap[child + 1], &heap[child]);
		if (!precedes(&heap[child], &moved))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

static void heap_build(struct order *order)
{
	vec_clear(&order->heap);
	for (size_t i = 0; i < order->runs.count; i++)
		if (run_left(&order->runs.items[i]))
			vec_push(&order->heap, ((struct due){ order->runs.items[i].time, (uint32_t)i }));
	for (size_t i = order->heap.count / 2; i-- > 0;)
		heap_sink(order, i);
}

/* The time until which the first run of the heap remains the earliest. */
static inline uint64_t heap_until(const struct order *order)
{
	const struct due *heap = order->heap.items;
	uint64_t until = UINT64_MAX;
	for (size_t child = 1; child <= 2 && child < order->heap.count; child++) {
		uint64_t time = heap[child].time - (heap[child].run < heap[0].run);
		until = time < until ? time : until;
	}
	return until;
}

enum { PREFETCH_AHEAD = 8 };

static inline struct entry run_take(struct order *order, struct run *run)
{
	if (!run->entries)
		return stretch_take(run);
	const struct entry *entry = &run->entries[run->head++];
	order->waiting--;
	if (run_left(run))
		run->time = entry[1].time;
	if (run_left(run) > PREFETCH_AHEAD)
		__builtin_prefetch((const void *)((uintptr_t)entry[PREFETCH_AHEAD].body - 8)); /* the header, with the record's size */
	return *entry;
}

void order_flush(struct order *order, bool final, void (*deliver)(void *context, const struct entry *entry), void *context)
{
	uint64_t limit = final ? UINT64_MAX : order->limit;
	order_end_run(order);
	if (final) {
		free(order->scratch);
		order->scratch = NULL;
		order->scratch_size = 0;
	}
	for (heap_build(order); order->heap.count; heap_sink(order, 0)) {
		struct due *due = &order->heap.items[0];
		struct run *run = &order->runs.items[due->run];
		uint64_t until = heap_until(order);
		if (due->time > limit)
			break;
		until = until < limit ? until : limit;
		do {
			const struct entry entry = run_take(order, run);
			order->delivered_time = entry.time;
			deliver(context, &entry);
		} while (run_left(run) && run->time <= until);
		due->time = run->time;
		if (!run_left(run))
			*due = order->heap.items[--order->heap.count];
		if (!order->heap.count)
			break;
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
		if (run_left(&order->runs.items[i]) && run_mark(&order->runs.items[i]) < mark)
			mark = run_mark(&order->runs.items[i]);
	return mark;
}
