#include "dwarf/ranges.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dwarf/constants.h"
#include "dwarf/form.h"

void dwarf_ranges_add(struct dwarf_ranges *ranges, struct dwarf *dwarf, uint64_t low, uint64_t high, uint32_t value)
{
	if (low >= high || low < dwarf->text_low)
		return;
	if (ranges->limit && ranges->count >= ranges->limit) {
		ranges->refused = true;
		return;
	}
	vec_push(ranges, ((struct dwarf_range){ low, high, value }));
}

static bool range_budget(struct dwarf_ranges *ranges, struct dwarf *dwarf)
{
	if (!dwarf_work(dwarf, 1))
		ranges->refused = true;
	return !ranges->refused;
}

/* .debug_ranges: pairs relative to a base; (0, 0) ends the list, (all ones, base) sets the base. */
static void ranges_read_pairs(struct dwarf_ranges *ranges, const struct dwarf_unit *unit, uint64_t offset, uint32_t value)
{
	const struct dwarf_file *file = unit->file->addresses;
	struct cursor c = section_cursor(file, SECTION_RANGES);
	uint64_t base = unit->low, ones = UINT64_MAX >> (64 - 8 * unit->address_size);
	if (!cursor_seek(&c, offset))
		return;
	while (range_budget(ranges, file->dwarf)) {
		uint64_t low = take_number(&c, unit->address_size), high = take_number(&c, unit->address_size);
		if (c.short_read || (!low && !high))
			return;
		if (low == ones)
			base = high;
		else if (low < high)
			dwarf_ranges_add(ranges, file->dwarf, (base + low) & ones, (base + high) & ones, value);
	}
}

struct list_reader {
	const struct dwarf_unit *unit;
	struct cursor c;
	uint64_t base, ones;
	bool failed;
};

static uint64_t list_address(struct list_reader *r, bool indexed)
{
	uint64_t address = 0;
	if (!indexed)
		return take_number(&r->c, r->unit->address_size);
	if (!dwarf_address_at(r->unit, take_uleb(&r->c), &address))
		r->failed = true;
	return address;
}

/* Reads one entry of .debug_rnglists. Returns 1 with a range, 0 without a range, < 0 at the end. */
static int list_entry(struct list_reader *r, uint64_t *low, uint64_t *high)
{
	uint8_t kind = take_u8(&r->c);
	switch (kind) {
	case DW_RLE_base_addressx:
	case DW_RLE_base_address:
		r->base = list_address(r, kind == DW_RLE_base_addressx);
		return 0;
	case DW_RLE_offset_pair:
		*low = take_uleb(&r->c);
		*high = take_uleb(&r->c);
		/* the linker sets the base of discarded code to all ones, or to all ones - 1 */
		if (*low >= *high || r->base >= r->ones - 1)
			return 0;
		*low += r->base;
		*high += r->base;
		return 1;
	case DW_RLE_startx_endx:
	case DW_RLE_start_end:
		*low = list_address(r, kind == DW_RLE_startx_endx);
		*high = list_address(r, kind == DW_RLE_startx_endx);
		return 1;
	case DW_RLE_startx_length:
	case DW_RLE_start_length:
		*low = list_address(r, kind == DW_RLE_startx_length);
		*high = *low + take_uleb(&r->c);
		return 1;
	default:
		return -1;
	}
}

static void ranges_read_list(struct dwarf_ranges *ranges, const struct dwarf_unit *unit, uint64_t offset, uint32_t value)
{
	struct dwarf *dwarf = unit->file->dwarf;
	struct list_reader r = { .unit = unit, .c = section_cursor(unit->file, SECTION_RNGLISTS), .base = unit->low };
	r.ones = UINT64_MAX >> (64 - 8 * unit->address_size);
	if (!cursor_seek(&r.c, offset))
		return;
	while (range_budget(ranges, dwarf)) {
		uint64_t low = 0, high = 0;
		int found = list_entry(&r, &low, &high);
		if (found < 0 || r.c.short_read || r.failed)
			return;
		if (found)
			dwarf_ranges_add(ranges, dwarf, low, high, value);
	}
}

void dwarf_ranges_read(struct dwarf_ranges *ranges, const struct dwarf_unit *unit, uint16_t form, uint64_t number, uint32_t value)
{
	if (unit->version < 5) {
		ranges_read_pairs(ranges, unit, unit->file->split ? number + unit->ranges_base : number, value);
		return;
	}
	if (form == DW_FORM_rnglistx) {
		struct cursor c = section_cursor(unit->file, SECTION_RNGLISTS);
		if (number > c.len || !cursor_seek(&c, unit->rnglists_base) || !take(&c, number * unit->offset_size))
			return;
		number = unit->rnglists_base + take_number(&c, unit->offset_size);
		if (c.short_read)
			return;
	}
	ranges_read_list(ranges, unit, number, value);
}

/* The ranges that contain the address of the sweep, as a heap; the range to show is on top. */
struct sweep {
	const struct dwarf_range *ranges;
	uint32_t *heap;
	size_t heap_count;
	bool latest;
};

/* Values increase in file order, so that they distinguish earlier from later. */
static bool range_shows_before(const struct sweep *s, uint32_t a, uint32_t b)
{
	uint64_t x = s->ranges[a].high - s->ranges[a].low, y = s->ranges[b].high - s->ranges[b].low;
	if (x != y)
		return x < y;
	return s->latest ? s->ranges[a].value > s->ranges[b].value : s->ranges[a].value < s->ranges[b].value;
}

static void sweep_open(struct sweep *s, uint32_t range)
{
	size_t at = s->heap_count++;
	while (at && range_shows_before(s, range, s->heap[(at - 1) / 2])) {
		s->heap[at] = s->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	s->heap[at] = range;
}

static void sweep_close_top(struct sweep *s)
{
	uint32_t last = s->heap[--s->heap_count];
	size_t at = 0;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= s->heap_count)
			break;
		if (child + 1 < s->heap_count && range_shows_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!range_shows_before(s, s->heap[child], last))
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	if (s->heap_count)
		s->heap[at] = last;
}

/* Of two ranges with one start the longer precedes: then most later ranges move directly to the top of the heap. */
static inline bool range_before(const struct dwarf_range *x, const struct dwarf_range *y)
{
	return x->low != y->low ? x->low < y->low : x->high != y->high ? x->high > y->high : x->value < y->value;
}

static void ranges_insertion_sort(struct dwarf_range *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct dwarf_range item = items[i];
		size_t at = i;
		for (; at && range_before(&item, &items[at - 1]); at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* Merges two sorted halves; left has room for the first half. */
static void ranges_merge_halves(struct dwarf_range *items, size_t middle, size_t count, struct dwarf_range *left)
{
	memcpy(left, items, middle * sizeof *items);
	for (size_t i = 0, j = middle, to = 0; i < middle; to++)
		items[to] = j < count && range_before(&items[j], &left[i]) ? items[j++] : left[i++];
}

/* Ranges are nearly sorted, so that most merges have nothing to do. qsort's calls of a comparison function would take longer. */
static void ranges_sort(struct dwarf_range *items, size_t count)
{
	enum { FEW = 16 };
	for (size_t at = 0; at < count; at += FEW)
		ranges_insertion_sort(items + at, count - at < FEW ? count - at : FEW);
	struct dwarf_range *left = memory_alloc(count * sizeof *left);
	for (size_t half = FEW; half < count; half *= 2)
		for (size_t at = 0; half < count - at; at += 2 * half) {
			size_t end = count - at < 2 * half ? count - at : 2 * half;
			if (range_before(&items[at + half], &items[at + half - 1]))
				ranges_merge_halves(items + at, half, end, left);
			if (end < 2 * half)
				break;
		}
	free(left);
}

static void segment_emit(struct dwarf_segments *segments, uint64_t start, uint32_t value)
{
	uint32_t n = segments->count;
	if (n && segments->starts[n - 1] == start)
		n = --segments->count;
	if (n ? segments->values[n - 1] == value : value == SEGMENT_NONE)
		return;
	segments->starts[n] = start;
	segments->values[n] = value;
	segments->count++;
}

static void sweep_run(struct sweep *s, size_t count, struct dwarf_segments *out)
{
	size_t next = 0;
	while (next < count || s->heap_count) {
		uint64_t end = s->heap_count ? s->ranges[s->heap[0]].high : UINT64_MAX;
		if (next < count && (!s->heap_count || s->ranges[next].low < end)) {
			uint64_t low = s->ranges[next].low;
			sweep_open(s, (uint32_t)next++);
			segment_emit(out, low, s->ranges[s->heap[0]].value);
			continue;
		}
		while (s->heap_count && s->ranges[s->heap[0]].high <= end)
			sweep_close_top(s);
		segment_emit(out, end, s->heap_count ? s->ranges[s->heap[0]].value : SEGMENT_NONE);
	}
}

bool dwarf_segments_make(struct dwarf_segments *segments, struct dwarf *dwarf, struct dwarf_ranges *ranges, bool latest)
{
	*segments = (struct dwarf_segments){ 0 };
	size_t count = ranges->count, most = 2 * count + 1, each = sizeof *segments->starts + sizeof *segments->values;
	if (!count)
		return true;
	if (count > UINT32_MAX / 4 || !dwarf_memory_take(dwarf, most * each))
		return false;
	ranges_sort(ranges->items, count);
	struct sweep s = { .ranges = ranges->items, .heap = memory_alloc(count * sizeof *s.heap), .latest = latest };
	struct dwarf_segments draft = { .starts = memory_alloc(most * each) };
	draft.values = (uint32_t *)(void *)(draft.starts + most);
	sweep_run(&s, count, &draft);
	free(s.heap);
	dwarf_memory_give(dwarf, most * each - draft.count * each);
	segments->count = draft.count;
	segments->starts = memory_alloc(draft.count * each + 1);
	segments->values = (uint32_t *)(void *)(segments->starts + draft.count);
	memcpy(segments->starts, draft.starts, draft.count * sizeof *draft.starts);
	memcpy(segments->values, draft.values, draft.count * sizeof *draft.values);
	free(draft.starts);
	return true;
}
