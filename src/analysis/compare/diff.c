#include "analysis/compare/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/column/cells.h"
#include "analysis/compat/entry_order.h"
#include "analysis/profile/hist.h"
#include "base/memory.h"

static const struct evsel *evsel_of(const struct profile *profile, uint32_t event)
{
	return &session_evlist(profile->session)->events.items[event];
}

/* Events of two recordings are the same if the kernel counts the same: modifiers may differ. */
static const struct hist *matching_hist(const struct profile *base, uint32_t event, const struct profile *other)
{
	const struct attr *wanted = &evsel_of(base, event)->attr;
	for (size_t i = 0; i < other->folded.hist_count; i++) {
		const struct attr *attr = &evsel_of(other, other->folded.hists[i].event)->attr;
		if (attr->type == wanted->type && attr->config == wanted->config)
			return &other->folded.hists[i];
	}
	return NULL;
}

static int by_keys(const void *a, const void *b, void *context)
{
	int64_t order = entry_order_keys(context, *(struct entry *const *)a, *(struct entry *const *)b);
	return order > 0 ? -1 : order < 0;
}

/* Sums up entries of one name. Which of them shows its address is decided by perf's order of keys. */
static void collect_items(struct diff *diff, struct diff_side *side, uint32_t file)
{
	const struct hist *hist = side->hist;
	struct entry **entries = memory_resize(NULL, hist->count + 1, sizeof *entries);
	struct entry_order order;
	entry_order_init(&order, side->profile, hist);
	if (hist->count)
		memcpy(entries, hist->entries, hist->count * sizeof *entries);
	qsort_r(entries, hist->count, sizeof *entries, by_keys, &order);
	entry_order_fini(&order);
	struct idmap known = { 0 };
	side->items = arena_alloc(&diff->arena, (hist->count + 1) * sizeof *side->items);
	if (diff->options.blocks)
		side->parts = arena_alloc(&diff->arena, (hist->count + 1) * sizeof *side->parts);
	for (size_t i = 0; i < hist->count; i++) {
		bool added;
		uint32_t name = diff_names_add(&diff->names, side->profile, entries[i]);
		uint32_t id = idmap_add(&known, name, side->count, &added);
		if (added)
			side->items[side->count++] = (struct diff_item){ .entry = entries[i], .name = name, .file = file };
		side->items[id].period += entries[i]->self.period;
		side->items[id].samples += entries[i]->self.count;
		if (side->parts)
			side->parts[side->part_count++] = (struct diff_part){ id, entries[i] };
	}
	idmap_fini(&known);
	free(entries);
}

static struct diff_side *make_sides(struct diff *diff, const struct hist *base)
{
	struct diff_side *sides = arena_alloc(&diff->arena, diff->file_count * sizeof *sides);
	for (uint32_t i = 0; i < diff->file_count; i++) {
		const struct profile *profile = diff->profiles[i];
		sides[i] = (struct diff_side){ .profile = profile, .hist = i ? matching_hist(diff->profiles[0], base->event, profile) : base };
		if (!sides[i].hist)
			continue;
		sides[i].total = hist_total(profile, sides[i].hist);
		collect_items(diff, &sides[i], i);
	}
	return sides;
}

/* A row for each name, in the order of the files; without the names that the baseline, or every other file, lacks if so requested. */
static void make_rows(struct diff *diff, struct diff_event *event, uint32_t name_count)
{
	uint32_t *row_of = memory_zero((size_t)name_count + 1, sizeof *row_of);
	event->rows = arena_alloc(&diff->arena, ((size_t)name_count + 1) * sizeof *event->rows);
	for (uint32_t file = 0; file < diff->file_count; file++)
		for (uint32_t i = 0; i < event->sides[file].count; i++) {
			const struct diff_item *item = &event->sides[file].items[i];
			if (!row_of[item->name]) {
				struct diff_row *row = &event->rows[event->row_count];
				*row = (struct diff_row){ .shown = item };
				row->items = arena_alloc(&diff->arena, diff->file_count * sizeof *row->items);
				memset(row->items, 0, diff->file_count * sizeof *row->items);
				row_of[item->name] = (uint32_t)++event->row_count;
			}
			event->rows[row_of[item->name] - 1].items[file] = item;
		}
	free(row_of);
}

static bool has_others(const struct diff *diff, const struct diff_row *row)
{
	for (uint32_t i = 1; i < diff->file_count; i++)
		if (row->items[i])
			return true;
	return false;
}

static void leave_out_rows(const struct diff *diff, struct diff_event *event)
{
	size_t left = 0;
	for (size_t i = 0; i < event->row_count; i++) {
		const struct diff_row *row = &event->rows[i];
		if (row->items[0] && has_others(diff, row))
			event->rows[left++] = *row;
	}
	event->row_count = left;
}

static double percent(uint64_t period, uint64_t total)
{
	return (double)period * 100.0 / (double)total;
}

double diff_share_change(const struct diff_event *event, const struct diff_row *row, uint32_t file)
{
	uint64_t after = row->items[file] ? row->items[file]->period : 0;
	return percent(after, event->sides[file].total) - percent(diff_base_period(row), event->sides[0].total);
}

static struct diff_value compute(const struct diff *diff, const struct diff_event *event, const struct diff_row *row, uint32_t file)
{
	uint64_t before = diff_base_period(row), after = row->items[file]->period;
	switch (diff->options.compute) {
	case DIFF_CYCLES:
		return (struct diff_value){ 0 };
	case DIFF_RATIO:
		return (struct diff_value){ .change = (double)after / (double)(before ? before : 1) };
	case DIFF_WEIGHTED:
		return (struct diff_value){ .weighted = (int64_t)(after * (uint64_t)diff->options.new_weight -
								    before * (uint64_t)diff->options.old_weight) };
	default:
		return (struct diff_value){ .change = diff_share_change(event, row, file) };
	}
}

static void compute_values(struct diff *diff, struct diff_event *event)
{
	bool relative = diff->profiles[0]->options.relative;
	for (size_t i = 0; i < event->row_count; i++) {
		struct diff_row *row = &event->rows[i];
		row->values = arena_alloc(&diff->arena, diff->file_count * sizeof *row->values);
		for (uint32_t file = 1; file < diff->file_count; file++)
			row->values[file] = row->items[file] ? compute(diff, event, row, file) : (struct diff_value){ 0 };
		if (!relative || !row->shown->entry->filtered)
			event->base_total += diff_base_period(row);
	}
}

/* The order of rows. Comparisons: > 0: a precedes b. */

static int compare_doubles(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_value(const struct diff *diff, const struct diff_row *a, const struct diff_row *b, uint32_t file)
{
	const struct diff_value *x = &a->values[file], *y = &b->values[file];
	if (diff->options.compute == DIFF_WEIGHTED)
		return (x->weighted > y->weighted) - (x->weighted < y->weighted);
	if (diff->options.compute == DIFF_DELTA_ABS)
		return compare_doubles(fabs(x->change), fabs(y->change));
	return compare_doubles(x->change, y->change);
}

/* Rows that the file has precede others. first: this file alone orders rows; a ratio to nothing is then the least. */
static int compare_in_file(const struct diff *diff, const struct diff_row *a, const struct diff_row *b, uint32_t file, bool first)
{
	bool has_a = a->items[file], has_b = b->items[file], new_a = diff_row_is_new(a), new_b = diff_row_is_new(b);
	if (!has_a || !has_b)
		return has_a - has_b;
	if (first && diff->options.compute >= DIFF_RATIO && (new_a || new_b))
		return new_b - new_a;
	return compare_value(diff, a, b, file);
}

static int64_t compare_cells(const struct profile *profile, const struct column *column, size_t at, const struct diff_row *a,
	const struct diff_row *b)
{
	const char *x = a->texts[at], *y = b->texts[at];
	int order = 0;
	if (!diff_names_textual(column)) /* such columns compare numbers of the rows alone */
		return column->type->compare ? column->type->compare(profile, column, a->shown->entry, b->shown->entry) : 0;
	if (x && y)
		order = strcmp(y, x);
	else
		order = (x != NULL) - (y != NULL);
	if (order || !diff_names_more(column))
		return order;
	unsigned last = column->type->words - 1;
	return (int64_t)(entry_key(a->shown->entry, column)[last] - entry_key(b->shown->entry, column)[last]);
}

struct row_order {
	const struct diff *diff;
	const struct diff_event *event;
};

static int64_t compare_rows(const struct row_order *context, const struct diff_row *a, const struct diff_row *b)
{
	const struct diff *diff = context->diff;
	const struct profile *profile = diff->profiles[0];
	const struct columns *columns = profile->options.columns;
	uint64_t base_a = diff_base_period(a), base_b = diff_base_period(b);
	int64_t order = diff->options.order ? compare_in_file(diff, a, b, diff->options.order, true) : 0;
	if (!order)
		order = (base_a > base_b) - (base_a < base_b);
	for (uint32_t file = 1; !order && file < diff->file_count; file++) {
		bool others_a = has_others(diff, a), others_b = has_others(diff, b);
		order = others_a != others_b ? others_a - others_b : compare_in_file(diff, a, b, file, false);
	}
	for (size_t i = 0; !order && i < columns->sorts.count; i++) {
		const struct column *column = &columns->all.items[columns->sorts.items[i]];
		if (column->type->class != COLUMN_MEASURE && !column->elided && column != diff->options.blocks)
			order = compare_cells(profile, column, i, a, b);
	}
	return order;
}

static int by_output(const void *a, const void *b, void *context)
{
	int64_t order = compare_rows(context, a, b);
	return order > 0 ? -1 : order < 0;
}

/* A report knows the texts of tracepoints only where it compared them; a comparison knows all. */
static void widen_trace(struct diff_event *event, const struct columns *columns)
{
	for (size_t i = 0; i < columns->sorts.count; i++) {
		const struct column_type *type = columns->all.items[columns->sorts.items[i]].type;
		if (type->class == COLUMN_MEASURE || type->id != ID_TRACE)
			continue;
		for (size_t r = 0; r < event->row_count; r++) {
			const char *text = event->rows[r].texts[i];
			unsigned width = (unsigned)strlen(text ? text : type->absent);
			if (diff_row_is_shown(&event->rows[r]) && event->widths.widths[ID_TRACE] < width)
				event->widths.widths[ID_TRACE] = width;
		}
	}
}

/* The widths of all files' cells, which only the file's own profile knows. */
static void widen(struct diff *diff, struct diff_event *event)
{
	struct hist hist = *event->sides[0].hist;
	struct entry **entries = memory_resize(NULL, event->row_count + 1, sizeof *entries);
	event->widths = hist;
	memset(event->widths.widths, 0, sizeof event->widths.widths);
	for (uint32_t file = 0; file < diff->file_count; file++) {
		hist.entries = entries;
		hist.count = 0;
		for (size_t i = 0; i < event->row_count; i++)
			if (event->rows[i].shown->file == file)
				entries[hist.count++] = (struct entry *)event->rows[i].shown->entry;
		hist_widths(diff->profiles[file], &hist);
		for (size_t i = 0; i < ID_MAX; i++)
			if (event->widths.widths[i] < hist.widths[i])
				event->widths.widths[i] = hist.widths[i];
	}
	widen_trace(event, diff->profiles[0]->options.columns);
	event->widths.entries = NULL;
	event->widths.count = 0;
	free(entries);
}

static void compare_event(struct diff *diff, struct diff_event *event, const struct hist *base)
{
	event->event = base->event;
	event->sides = make_sides(diff, base);
	make_rows(diff, event, diff_names_count(&diff->names));
	if (diff->options.baseline_only)
		leave_out_rows(diff, event);
	compute_values(diff, event);
	for (size_t i = 0; i < event->row_count; i++)
		event->rows[i].texts = diff_names_texts(&diff->names, event->rows[i].shown->name, &diff->arena);
	if (event->row_count)
		qsort_r(event->rows, event->row_count, sizeof *event->rows, by_output, &(struct row_order){ diff, event });
	widen(diff, event);
}

void diff_init(struct diff *diff, const struct profile *const *profiles, uint32_t file_count, const struct diff_options *options)
{
	*diff = (struct diff){ .options = *options, .profiles = profiles, .file_count = file_count };
	diff_names_init(&diff->names, profiles[0]->options.columns, options->blocks);
	diff->event_count = profiles[0]->folded.hist_count;
	diff->events = arena_alloc(&diff->arena, (diff->event_count + 1) * sizeof *diff->events);
	memset(diff->events, 0, (diff->event_count + 1) * sizeof *diff->events);
	for (size_t i = 0; i < diff->event_count; i++)
		compare_event(diff, &diff->events[i], &profiles[0]->folded.hists[i]);
}

void diff_fini(struct diff *diff)
{
	diff_names_fini(&diff->names);
	arena_fini(&diff->arena);
	*diff = (struct diff){ 0 };
}
