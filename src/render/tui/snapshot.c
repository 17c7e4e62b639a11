#include "render/tui/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "render/tui/face.h"

bool snapshot_is_measure(enum cell_kind kind)
{
	return kind == CELL_COUNT || kind == CELL_SHARE || kind == CELL_REAL || kind == CELL_NUMBER || kind == CELL_BYTES;
}

size_t snapshot_column_of_kind(const struct snapshot_columns *columns, enum cell_kind kind)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].kind == kind)
			return i;
	return SIZE_MAX;
}

size_t snapshot_column_named(const struct snapshot_columns *columns, const char *name)
{
	for (size_t i = 0; i < columns->count; i++)
		if (strcmp(columns->items[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

static const char *keep_text(struct snapshot *to, const char *text)
{
	return text ? strtab_text(&to->texts, strtab_add(&to->texts, text, strlen(text))) : NULL;
}

/* Lists and maps become their text: nothing below refers to the analysis. */
static struct cell copy_cell(struct snapshot *to, struct cell cell)
{
	CLEANUP_STR struct str text = { 0 };
	switch (cell.kind) {
	case CELL_TEXT:
		cell.text = keep_text(to, cell.text);
		break;
	case CELL_TASK:
		cell.task.comm = keep_text(to, cell.task.comm);
		break;
	case CELL_PLACE:
		cell.place.module = keep_text(to, cell.place.module);
		cell.place.symbol = keep_text(to, cell.place.symbol);
		cell.place.line = keep_text(to, cell.place.line);
		break;
	case CELL_LIST:
	case CELL_MAP:
		face_add(&cell, &text);
		cell = cell_text(keep_text(to, str_text(&text)));
		break;
	default:
		break;
	}
	return cell;
}

static uint64_t identity_of(const struct cell *cell, uint64_t seed)
{
	CLEANUP_STR struct str text = { 0 };
	if (cell->kind == CELL_PLACE && cell->place.symbol) { /* the address differs between samples */
		seed = hash_bytes_from(seed, cell->place.symbol, strlen(cell->place.symbol));
		const char *module = cell->place.module ? cell->place.module : "";
		return hash_bytes_from(seed, module, strlen(module));
	}
	face_add(cell, &text);
	return hash_bytes_from(seed, str_text(&text), text.len);
}

/* Adds the row's cells; the identity is complete but for rows with equal cells. */
static void add_row(struct snapshot *to, const struct table *table, uint64_t from, uint32_t parent, bool detail)
{
	CLEANUP_STR struct str scratch = { 0 };
	const struct snapshot_columns *columns = detail ? &to->details : &to->columns;
	struct snapshot_row row = { .parent = parent, .cells = (uint32_t)to->cells.count, .detail = detail,
		.depth = parent == SNAPSHOT_TOP ? 0 : to->rows.items[parent].depth + 1,
		.identity = hash_pair(to->rows.items[parent].identity, detail) };
	for (size_t i = 0; i < columns->count; i++) {
		str_clear(&scratch);
		vec_push(&to->cells, copy_cell(to, i < table->column_count ? table->cell(table->context, from, i, &scratch) : cell_absent()));
		const struct cell *cell = &to->cells.items[to->cells.count - 1];
		if (!snapshot_is_measure(columns->items[i].kind) && cell->kind != CELL_ABSENT)
			row.identity = hash_pair(identity_of(cell, row.identity), i);
	}
	vec_push(&to->rows, row);
}

static struct snapshot_columns copy_columns(struct snapshot *to, const struct table *table)
{
	struct snapshot_columns columns = { arena_copy(&to->arena, table->columns, table->column_count * sizeof *table->columns),
		table->column_count };
	for (size_t i = 0; i < columns.count; i++) {
		columns.items[i].name = keep_text(to, columns.items[i].name);
		columns.items[i].title = keep_text(to, columns.items[i].title);
		columns.items[i].unit = keep_text(to, columns.items[i].unit);
	}
	return columns;
}

/* The numbers that the table gives to the rows from `first` on. */
struct numbers {
	VEC(uint64_t) items;
	uint32_t first;
};

static uint64_t number_of(const struct numbers *numbers, uint32_t row)
{
	return numbers->items.items[row - numbers->first];
}

static void add_children(struct snapshot *to, const struct table *table, uint64_t parent_number, uint32_t parent, bool detail,
	struct numbers *numbers)
{
	size_t count = table->row_count(table->context, parent_number);
	if (!to->rows.items[parent].child_count)
		to->rows.items[parent].first_child = (uint32_t)to->rows.count;
	for (size_t i = 0; i < count; i++) {
		uint64_t number = table->row(table->context, parent_number, i);
		add_row(to, table, number, parent, detail);
		vec_push(&numbers->items, number);
	}
	to->rows.items[parent].child_count += (uint32_t)count;
}

/* The rows of a row's own table, all levels; false: the limit is reached. */
static bool add_details(struct snapshot *to, const struct table *detail, uint32_t parent, size_t most)
{
	struct numbers numbers = { .first = (uint32_t)to->rows.count };
	if (!to->details.items)
		to->details = copy_columns(to, detail);
	add_children(to, detail, TABLE_TOP, parent, true, &numbers);
	for (uint32_t row = numbers.first; row < to->rows.count && to->rows.count < most; row++)
		add_children(to, detail, number_of(&numbers, row), row, true, &numbers);
	vec_fini(&numbers.items);
	return to->rows.count < most;
}

static void add_rows(struct snapshot *to, const struct table *table, size_t most)
{
	VEC(uint64_t) numbers = { 0 };
	struct numbers added = { .first = 1 };
	vec_push(&numbers, TABLE_TOP);
	/* Rows of details have no number of the table: UINT64_MAX. */
	for (uint32_t row = 0; row < to->rows.count; row++) {
		struct table detail;
		if (to->rows.items[row].detail)
			continue;
		if (!row || table->tree) {
			vec_clear(&added.items);
			add_children(to, table, numbers.items[row], row, false, &added);
			for (size_t i = 0; i < added.items.count; i++)
				vec_push(&numbers, added.items.items[i]);
		}
		if (row && most && !to->truncated && table->detail && table->detail(table->context, numbers.items[row], &detail))
			to->truncated = !add_details(to, &detail, row, most);
		while (numbers.count < to->rows.count)
			vec_push(&numbers, UINT64_MAX);
	}
	vec_fini(&added.items);
	vec_fini(&numbers);
}

static void take_facts(struct snapshot *to, const struct table *table)
{
	CLEANUP_STR struct str facts = { 0 };
	to->name = keep_text(to, table->name ? table->name : "");
	to->event = "";
	for (size_t i = 0; i < table->fact_count; i++) {
		const struct table_fact *fact = &table->facts[i];
		if (strcmp(fact->name, "event") == 0 && fact->value.kind == CELL_TEXT)
			to->event = keep_text(to, fact->value.text);
		else if (strcmp(fact->name, "samples") == 0)
			to->samples = fact->value.count;
		else if (strcmp(fact->name, "period") == 0)
			to->whole = to->period = fact->value.count;
		else if (fact->value.kind != CELL_ABSENT) {
			str_printf(&facts, "%s%s ", facts.len ? ", " : "", fact->name);
			face_add(&fact->value, &facts);
		}
	}
	to->facts = keep_text(to, str_text(&facts));
	str_clear(&facts);
	str_printf(&facts, "%s%s%s", to->name, *to->facts ? ": " : "", to->facts);
	to->label = *to->event ? to->event : keep_text(to, str_text(&facts));
}

/* Rows with equal cells below one row get different identities, in order. */
static void separate_twins(struct snapshot *to)
{
	struct idmap seen = { 0 };
	for (uint32_t i = 1; i < to->rows.count; i++) {
		bool added;
		struct snapshot_row *row = &to->rows.items[i];
		for (uint64_t twin = 1; idmap_add(&seen, row->identity, i, &added), !added; twin++)
			row->identity = hash_pair(row->identity, twin);
	}
	idmap_fini(&seen);
}

struct snapshot *snapshot_new(const struct table *table, size_t most)
{
	struct snapshot *to = memory_zero(1, sizeof *to);
	take_facts(to, table);
	to->columns = copy_columns(to, table);
	vec_push(&to->rows, ((struct snapshot_row){ 0 }));
	add_rows(to, table, most);
	separate_twins(to);
	return to;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	vec_fini(&snapshot->rows);
	vec_fini(&snapshot->cells);
	strtab_fini(&snapshot->texts);
	arena_fini(&snapshot->arena);
	free(snapshot);
}
