/* How wide columns are: as their widest cells, or as perf fixes them. */
#include <stdlib.h>

#include "analysis/column/cells.h"
#include "analysis/entry/names.h"
#include "analysis/entry/texts.h"
#include "analysis/profile/collapse.h"
#include "analysis/profile/hist.h"
#include "base/memory.h"
#include "base/pool.h"

enum {
	ADDRESS_DIGITS = 16,
	LEVEL_LENGTH = 4,                                          /* "[k] " */
	UNRESOLVED = ADDRESS_DIGITS + LEVEL_LENGTH + 2,            /* and "0x" */
};

static void widen(struct hist *hist, enum column_id which, size_t width)
{
	if (hist->widths[which] < width)
		hist->widths[which] = (unsigned)width;
}

/* A place without a symbol shows its address; perf makes the column of its module as wide. */
static void widen_unresolved_dso(const struct profile *profile, struct hist *hist, enum column_id which)
{
	const struct profile_options *options = &profile->options;
	if (!options->fixed_widths && !options->separator && !options->filter.dsos)
		widen(hist, which, ADDRESS_DIGITS);
}

static size_t symbol_length(const struct profile *profile, uint32_t module, uint32_t symbol)
{
	return strlen(profile_symbol_name(profile, module, symbol));
}

static size_t verbose_length(const struct profile *profile)
{
	return profile->options.verbose > 0 ? ADDRESS_DIGITS + 2 + 3 : 0;
}

static void widen_place(const struct profile *profile, struct hist *hist, const struct entry *entry)
{
	const struct place *place = entry_place(profile, entry);
	if (place->symbol) {
		widen(hist, ID_SYMBOL, symbol_length(profile, place->module, place->symbol) + LEVEL_LENGTH + verbose_length(profile));
	} else {
		widen(hist, ID_SYMBOL, UNRESOLVED);
		widen_unresolved_dso(profile, hist, ID_DSO);
	}
	if (place->module != MODULE_ID_NONE)
		widen(hist, ID_DSO, strlen(profile_module_name(profile, place->module)));
}

static void widen_branch_end(const struct profile *profile, struct hist *hist, const struct end_fact *end, enum column_id symbol,
	enum column_id dso, enum column_id address)
{
	if (end->symbol) {
		widen(hist, symbol, symbol_length(profile, end->module, end->symbol) + LEVEL_LENGTH + verbose_length(profile));
		widen(hist, dso, strlen(profile_module_name(profile, end->module)));
	} else {
		widen(hist, symbol, UNRESOLVED);
		widen(hist, address, UNRESOLVED);
		widen_unresolved_dso(profile, hist, dso);
	}
}

static void widen_access(const struct profile *profile, struct hist *hist, const struct entry *entry)
{
	const struct end_fact *code = &entry->facts->ends[0], *data = &entry->facts->ends[1];
	enum { WITH_ADDRESS = LEVEL_LENGTH + ADDRESS_DIGITS + 2 };
	size_t data_length = data->symbol ? symbol_length(profile, data->module, data->symbol) + WITH_ADDRESS : UNRESOLVED;
	widen(hist, ID_DADDR, data_length);
	widen(hist, ID_DCACHELINE, data_length + (data->symbol ? 1 : 0));
	widen(hist, ID_IADDR, code->symbol ? symbol_length(profile, code->module, code->symbol) + WITH_ADDRESS : UNRESOLVED);
	if (data->map)
		widen(hist, ID_DADDR_DSO, strlen(profile_module_name(profile, data->module)));
	else
		widen_unresolved_dso(profile, hist, ID_DADDR_DSO);
	widen(hist, ID_PHYS_DADDR, UNRESOLVED);
	widen(hist, ID_DATA_PAGE_SIZE, UNRESOLVED);
}

/* Widths that perf gives these columns regardless of their cells. */
static void widen_fixed(const struct profile *profile, struct hist *hist)
{
	static const struct { enum column_id which; uint8_t width; } fixed[] = {
		{ ID_CGROUP, 6 }, { ID_CGROUP_ID, 20 }, { ID_CPU, 3 }, { ID_SOCKET, 6 }, { ID_LOCKED, 6 }, { ID_TLB, 22 },
		{ ID_SNOOP, 12 }, { ID_LEVEL, 36 + 3 }, { ID_LOCAL_WEIGHT, 12 }, { ID_WEIGHT, 12 }, { ID_BLOCKED, 10 },
		{ ID_LOCAL_INS_LAT, 13 }, { ID_INS_LAT, 13 }, { ID_LOCAL_P_STAGE_CYC, 13 }, { ID_P_STAGE_CYC, 13 },
		{ ID_ADDR, 18 }, { ID_CODE_PAGE_SIZE, 6 },
	};
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		widen(hist, fixed[i].which, fixed[i].width);
	widen(hist, ID_TIME, profile->options.nanoseconds ? 16 : 12);
}

/* Which texts of tracepoints count for the width of their column: perf makes a text when it compares it with another, that is if all keys
 * before it are equal; or all texts, if a column is a field, which perf searches in them. */
struct known_texts {
	const struct column *trace;  /* NULL: absent */
	bool all;
	struct tuples prefixes;      /* the keys before it */
	VEC(uint32_t) counts;        /* of samples with each */
	uint64_t *row;
};

static void prefix_of(const struct profile *profile, const struct known_texts *known, const struct entry *entry)
{
	const struct columns *columns = profile->options.columns;
	size_t at = 0;
	for (size_t i = 0; i < columns->sorts.count; i++) {
		const struct column *column = &columns->all.items[columns->sorts.items[i]];
		if (column == known->trace)
			return;
		for (unsigned word = 0; column->type->class != COLUMN_MEASURE && word < column->type->words; word++)
			known->row[at++] = entry_key(entry, column)[word];
	}
}

static void known_texts_init(struct known_texts *known, const struct profile *profile, const struct hist *hist)
{
	const struct columns *columns = profile->options.columns;
	uint32_t words = 0;
	*known = (struct known_texts){ 0 };
	for (size_t i = 0; i < columns->sorts.count; i++) {
		const struct column *column = &columns->all.items[columns->sorts.items[i]];
		known->all |= column->type->class == COLUMN_FIELD && !column->raw;
		if (column->type->class != COLUMN_MEASURE && column->type->id == ID_TRACE)
			known->trace = column;
		if (!known->trace && column->type->class != COLUMN_MEASURE)
			words += column->type->words;
	}
	if (!known->trace || known->all)
		return;
	tuples_init(&known->prefixes, words, words);
	known->row = memory_zero(words + 1, sizeof *known->row);
	for (size_t i = 0; i < hist->count; i++) {
		prefix_of(profile, known, hist->entries[i]);
		uint32_t id = tuples_add(&known->prefixes, known->row);
		if (id == known->counts.count)
			vec_push(&known->counts, 0);
		known->counts.items[id] += hist->entries[i]->self.count;
	}
}

static void known_texts_fini(struct known_texts *known)
{
	tuples_fini(&known->prefixes);
	vec_fini(&known->counts);
	free(known->row);
}

static bool text_is_known(const struct profile *profile, struct known_texts *known, const struct entry *entry)
{
	if (!known->trace || known->all)
		return known->all;
	prefix_of(profile, known, entry);
	uint32_t id = tuples_add(&known->prefixes, known->row);
	return id < known->counts.count && known->counts.items[id] > 1;
}

static size_t text_width(struct cell cell, const struct column_type *type)
{
	return strlen(cell.kind == CELL_TEXT ? cell.text : type->absent);
}

/* Widens columns whose width is that of their widest text. */
static void widen_texts(const struct profile *profile, struct hist *hist, struct known_texts *known, const struct entry *entry)
{
	enum { TRANSACTION_LENGTH = 32 };
	const struct columns *columns = profile->options.columns;
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = &columns->all.items[columns->fields.items[i]];
		enum column_id which = column->type->id;
		const struct sample_facts *facts = entry->facts;
		CLEANUP_STR struct str text = { 0 };
		bool printed = which == ID_CGROUP || (which == ID_TRACE && text_is_known(profile, known, entry));
		if (which == ID_TRANSACTION && *entry_key(entry, column))
			widen(hist, which, TRANSACTION_LENGTH);
		else if (which == ID_PARENT && facts->parent_symbol)
			widen(hist, which, symbol_length(profile, facts->parent_module, facts->parent_symbol));
		else if (column->type->text && !column->type->narrow)
			widen(hist, which, strlen(collapse_text(profile, entry_key(entry, column))));
		else if (printed && *entry_key(entry, column))
			widen(hist, which, text_width(column->type->value(profile, column, entry, &text), column->type));
	}
}

static void widen_field(const struct profile *profile, const struct hist *hist, struct column *column, struct entry *const *entries,
	size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned width = field_width(profile, column, entries[i], hist->samples > 1 && column->event == hist->event);
		column->field_width = column->field_width < width ? width : column->field_width;
		widen_field(profile, hist, column, entries[i]->children, entries[i]->child_count);
	}
}

/* The column of a field is shared by all events and entries, including filtered ones. */
static void widen_fields(const struct profile *profile, const struct hist *hist)
{
	struct columns *columns = profile->options.columns;
	for (size_t i = 0; i < columns->all.count; i++)
		if (columns->all.items[i].type->class == COLUMN_FIELD)
			widen_field(profile, hist, &columns->all.items[i], hist->entries, hist->count);
}

/* The names that a shown profile has (refresh.h) can be those of threads that are no longer known. */
static void widen_comm(const struct profile *profile, struct hist *hist, const struct entry *entry)
{
	const struct columns *columns = profile->options.columns;
	char buffer[32];
	for (size_t i = 0; i < columns->all.count && columns->has_comm; i++)
		if (columns->all.items[i].type->id == ID_COMM && columns->all.items[i].type->class != COLUMN_MEASURE)
			widen(hist, ID_COMM, strlen(profile_comm(profile, *entry_key(entry, &columns->all.items[i]), buffer, sizeof buffer)));
}

static void widen_thread(const struct profile *profile, struct hist *hist, const struct entry *entry)
{
	char buffer[32];
	size_t comm = strlen(profile_thread_comm(profile, entry->thread, entry->tid, buffer, sizeof buffer));
	widen(hist, ID_COMM, comm);
	widen(hist, ID_THREAD, comm + 8);
}

static void widen_entry(const struct profile *profile, struct hist *hist, struct known_texts *known, const struct entry *entry)
{
	widen_place(profile, hist, entry);
	if (profile->shares_stacks)
		widen_comm(profile, hist, entry);
	if (profile->options.iteration == ITERATE_BRANCHES) {
		const struct end_fact *ends = entry->facts->ends;
		widen_branch_end(profile, hist, &ends[0], ID_SYMBOL_FROM, ID_DSO_FROM, ID_ADDR_FROM);
		widen_branch_end(profile, hist, &ends[1], ID_SYMBOL_TO, ID_DSO_TO, ID_ADDR_TO);
	}
	if (profile->options.iteration == ITERATE_MEMORY) {
		widen_access(profile, hist, entry);
	} else {
		widen(hist, ID_DADDR, UNRESOLVED);
		widen(hist, ID_IADDR, UNRESOLVED);
		widen_unresolved_dso(profile, hist, ID_DADDR_DSO);
	}
	widen_texts(profile, hist, known, entry);
}

static void widen_headers(const struct profile *profile, struct hist *hist)
{
	const struct columns *columns = profile->options.columns;
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = &columns->all.items[columns->fields.items[i]];
		if (column->type->class != COLUMN_MEASURE && column->type->class != COLUMN_FIELD)
			widen(hist, column->type->id, strlen(column->header));
	}
}

/* Of all levels of a hierarchy. Returns whether any was not filtered. */
static bool widen_entries(const struct profile *profile, struct hist *hist, struct known_texts *known, struct entry *const *entries,
	size_t count)
{
	const struct entry *last = NULL; /* neighbours often are frames of one sample */
	bool any = false;
	for (size_t i = 0; i < count; i++) {
		entries_fetch_ahead(profile, entries, i, count);
		if (entries[i]->child_count)
			any |= widen_entries(profile, hist, known, entries[i]->children, entries[i]->child_count);
		if (entries[i]->filtered)
			continue;
		widen_entry(profile, hist, known, entries[i]);
		if (!last || last->thread != entries[i]->thread || last->tid != entries[i]->tid)
			widen_thread(profile, hist, entries[i]);
		last = entries[i];
		any = true;
	}
	return any;
}

enum { SLICE_ENTRIES = 1024 };

/* The widths that a slice of the entries needs. */
struct widths_slice {
	struct hist hist;    /* its widths are the slice's */
	bool any;
};

struct widths_jobs {
	const struct profile *profile;
	const struct hist *hist;
	struct known_texts *known;
	struct widths_slice *slices;
};

static void widen_slice(void *context, size_t slice, unsigned worker)
{
	const struct widths_jobs *jobs = context;
	struct widths_slice *at = &jobs->slices[slice];
	size_t first = slice * SLICE_ENTRIES, left = jobs->hist->count - first;
	at->hist = *jobs->hist;
	at->any = widen_entries(jobs->profile, &at->hist, jobs->known, jobs->hist->entries + first, left < SLICE_ENTRIES ? left : SLICE_ENTRIES);
}

/* As widen_entries for all entries, on all threads. */
static bool widen_all(const struct profile *profile, struct hist *hist, struct known_texts *known)
{
	size_t count = (hist->count + SLICE_ENTRIES - 1) / SLICE_ENTRIES;
	bool any = false;
	if (count < 2 || !columns_are_shared(profile->options.columns))
		return widen_entries(profile, hist, known, hist->entries, hist->count);
	struct widths_jobs jobs = { profile, hist, known, memory_zero(count, sizeof *jobs.slices) };
	pool_run(profile->session->pool, count, widen_slice, &jobs);
	for (size_t i = 0; i < count; i++) {
		any |= jobs.slices[i].any;
		for (unsigned column = 0; column < sizeof hist->widths / sizeof *hist->widths; column++)
			widen(hist, column, jobs.slices[i].hist.widths[column]);
	}
	free(jobs.slices);
	return any;
}

void hist_widths(const struct profile *profile, struct hist *hist)
{
	struct known_texts known;
	known_texts_init(&known, profile, hist);
	memset(hist->widths, 0, sizeof hist->widths);
	if (widen_all(profile, hist, &known))
		widen_fixed(profile, hist);
	widen_headers(profile, hist);
	widen_fields(profile, hist);
	known_texts_fini(&known);
}

static unsigned measure_width(const struct profile *profile, const struct hist *hist, const struct column *column)
{
	unsigned width = column->user_width ? column->user_width : column->type->measure_width;
	if (profile->options.event_group) {
		unsigned members = 0;
		for (uint32_t i = 0; i < hist->member_count; i++)
			members += !profile->options.skip_empty || hist->members[i]->samples;
		if (!hist->members)
			members = !profile->options.skip_empty || hist->samples;
		if (width < members * column->type->measure_width)
			width = members * column->type->measure_width;
	}
	unsigned header = (unsigned)strlen(column->header);
	return width < header ? header : width;
}

static unsigned field_column_width(const struct column *column)
{
	unsigned width = column->field_width, name = (unsigned)strlen(column->header);
	unsigned stored = tracepoint_field_size(column->field);
	if (!tracepoint_field_is_string(column->field))
		stored = stored * 2 + 2; /* as hexadecimal digits */
	width = width < name ? name : width;
	return width < stored ? stored : width;
}

unsigned column_width(const struct profile *profile, const struct hist *hist, const struct column *column)
{
	if (column->type->class == COLUMN_MEASURE)
		return measure_width(profile, hist, column);
	if (column->user_width)
		return column->user_width;
	return column->type->class == COLUMN_FIELD ? field_column_width(column) : hist->widths[column->type->id];
}
