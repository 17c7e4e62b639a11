#include "analysis/compare/diff_names.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/entry/names.h"
#include "analysis/entry/texts.h"
#include "base/memory.h"

bool diff_names_textual(const struct column *column)
{
	switch (column->type->id) {
	case ID_COMM:
	case ID_DSO:
	case ID_SYMBOL:
	case ID_SYMBOL_OFFSET:
	case ID_PARENT:
	case ID_TRACE:
		return true;
	default:
		return column->type->text || column->type->class == COLUMN_FIELD;
	}
}

bool diff_names_more(const struct column *column)
{
	return column->type->id == ID_SYMBOL_OFFSET || !diff_names_textual(column);
}

static uint32_t words_of(const struct column *column)
{
	return (diff_names_textual(column) ? 1 : 0) + (diff_names_more(column) ? column->type->words : 0);
}

static bool is_counted(const struct diff_names *names, const struct column *column)
{
	return column->type->class != COLUMN_MEASURE && column != names->left_out;
}

static const struct column *sort_column(const struct columns *columns, size_t i)
{
	return &columns->all.items[columns->sorts.items[i]];
}

void diff_names_init(struct diff_names *names, const struct columns *columns, const struct column *left_out)
{
	uint32_t words = 0;
	*names = (struct diff_names){ .columns = columns, .left_out = left_out };
	for (size_t i = 0; i < columns->sorts.count; i++) {
		const struct column *column = sort_column(columns, i);
		if (is_counted(names, column))
			words += words_of(column);
	}
	tuples_init(&names->names, words, words);
	names->words = memory_zero(words + 1, sizeof *names->words);
}

void diff_names_fini(struct diff_names *names)
{
	strtab_fini(&names->texts);
	tuples_fini(&names->names);
	free(names->words);
	str_fini(&names->scratch);
}

static const char *text_of(struct diff_names *names, const struct profile *profile, const struct column *column, const struct entry *entry)
{
	const struct place *place = entry_place(profile, entry);
	if (column->type->by_address)
		return place->symbol ? profile_symbol_name(profile, place->module, place->symbol) : NULL;
	if (column->type->text)
		return collapse_text(profile, entry_key(entry, column));
	str_clear(&names->scratch);
	struct cell cell = column->type->value(profile, column, entry, &names->scratch);
	return cell.kind == CELL_TEXT ? cell.text : NULL;
}

uint32_t diff_names_add(struct diff_names *names, const struct profile *profile, const struct entry *entry)
{
	size_t at = 0;
	for (size_t i = 0; i < names->columns->sorts.count; i++) {
		const struct column *column = sort_column(names->columns, i);
		if (!is_counted(names, column))
			continue;
		if (diff_names_more(column)) {
			memcpy(names->words + at, entry_key(entry, column), column->type->words * sizeof *names->words);
			at += column->type->words;
		}
		if (!diff_names_textual(column))
			continue;
		const char *text = text_of(names, profile, column, entry);
		names->words[at++] = text ? (uint64_t)strtab_add(&names->texts, text, strlen(text)) + 1 : 0;
	}
	return tuples_add(&names->names, names->words);
}

uint32_t diff_names_count(const struct diff_names *names)
{
	return names->names.count;
}

const char **diff_names_texts(const struct diff_names *names, uint32_t name, struct arena *arena)
{
	size_t count = names->columns->sorts.count, at = 0;
	const char **texts = arena_alloc(arena, (count + 1) * sizeof *texts);
	const uint64_t *words = tuples_row(&names->names, name);
	for (size_t i = 0; i < count; i++) {
		const struct column *column = sort_column(names->columns, i);
		texts[i] = NULL;
		if (!is_counted(names, column))
			continue;
		at += words_of(column);
		uint64_t id = diff_names_textual(column) ? words[at - 1] : 0;
		texts[i] = id ? strtab_text(&names->texts, (uint32_t)id - 1) : NULL;
	}
	return texts;
}
