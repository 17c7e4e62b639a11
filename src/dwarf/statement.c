#include "dwarf/statement.h"

#include <stdlib.h>

#include "dwarf/line.h"
#include "dwarf/line_program.h"

static int statement_compare(const void *a, const void *b)
{
	const struct dwarf_statement *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->end != y->end)
		return x->end ? -1 : 1;
	return 0;
}

/* Insertion of short runs, then merging: stable, and the table is nearly sorted. */
static void statements_sort(struct dwarf_statement *items, size_t count)
{
	struct dwarf_statement *other = memory_alloc(count * sizeof *other + 1);
	for (size_t half = 1; half < count; half *= 2)
		for (size_t at = 0; half < count - at; at += 2 * half) {
			size_t end = count - at < 2 * half ? count - at : 2 * half;
			struct dwarf_statement *right = items + at + half, *stop = items + at + end;
			if (statement_compare(right - 1, right) > 0) {
				memcpy(other, items + at, half * sizeof *other);
				struct dwarf_statement *to = items + at;
				for (size_t i = 0; i < half; to++)
					*to = right < stop && statement_compare(&other[i], right) > 0 ? *right++ : other[i++];
			}
			if (end < 2 * half)
				break;
		}
	free(other);
}

bool dwarf_statements_read(const struct dwarf_die *die, struct dwarf_statements *statements)
{
	struct dwarf_lines *lines = dwarf_unit_lines(die->unit);
	*statements = (struct dwarf_statements){ 0 };
	if (!lines || !line_program_statements(lines->program, lines->dwarf, statements)) {
		vec_fini(statements);
		return false;
	}
	statements_sort(statements->items, statements->count);
	return true;
}

const char *dwarf_statement_file(const struct dwarf_die *die, const struct dwarf_statement *statement)
{
	struct dwarf_lines *lines = dwarf_unit_lines(die->unit);
	return lines ? dwarf_lines_path(lines, statement->file) : NULL;
}

bool dwarf_statement_files(const struct dwarf_die *die, bool (*each)(void *context, uint32_t number, const char *path), void *context)
{
	struct dwarf_lines *lines = dwarf_unit_lines(die->unit);
	for (uint32_t i = 0; lines && i <= lines->file_count; i++) {
		const char *path = dwarf_lines_path(lines, i);
		if (path && each(context, i, path))
			return true;
	}
	return false;
}
