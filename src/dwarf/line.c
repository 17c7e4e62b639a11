#include "dwarf/line.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/str.h"
#include "dwarf/constants.h"
#include "dwarf/file.h"
#include "dwarf/line_program.h"

static int sequence_compare(const void *a, const void *b)
{
	const struct dwarf_sequence *x = a, *y = b;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high != y->high ? x->high > y->high ? -1 : 1 : x->start < y->start ? -1 : x->start > y->start;
}

/* Sorts by address. Removes a sequence that lies within the one before; an overlapping sequence begins where the one before ends. */
static uint32_t sequences_order(struct dwarf_sequence *sequences, size_t count)
{
	uint32_t kept = 0;
	qsort(sequences, count, sizeof *sequences, sequence_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept && sequences[i].high <= sequences[kept - 1].high)
			continue;
		sequences[kept] = sequences[i];
		if (kept && sequences[kept].low < sequences[kept - 1].high)
			sequences[kept].low = sequences[kept - 1].high;
		kept++;
	}
	return kept;
}

static size_t lines_size(const struct dwarf_lines *lines)
{
	return sizeof *lines + lines->sequence_count * (sizeof *lines->sequences + sizeof *lines->rows) +
		lines->file_count * (sizeof *lines->files + sizeof *lines->paths) + lines->directory_count * sizeof *lines->directories;
}

static void files_append(struct dwarf_lines *lines, struct line_files *more)
{
	if (more->count && more->count <= UINT32_MAX - lines->file_count) {
		lines->files = memory_resize(lines->files, lines->file_count + more->count, sizeof *lines->files);
		memcpy(lines->files + lines->file_count, more->items, more->count * sizeof *more->items);
		lines->file_count += (uint32_t)more->count;
	}
	vec_fini(more);
}

struct dwarf_lines *dwarf_lines_read(struct dwarf_unit *unit)
{
	struct dwarf *dwarf = unit->file->dwarf;
	if (unit->stmt_list == DWARF_NO_OFFSET)
		return NULL;
	struct dwarf_lines *lines = memory_zero(1, sizeof *lines);
	lines->dwarf = dwarf;
	lines->compiled_in = unit->directory;
	lines->program = memory_alloc(sizeof *lines->program);
	if (!dwarf_line_header_read(unit, lines, lines->program)) {
		dwarf_lines_free(lines);
		return NULL;
	}
	struct line_sequences found = { 0 };
	struct line_files defined = { 0 };
	lines->damaged |= !line_program_scan(lines->program, dwarf, &found, &defined);
	files_append(lines, &defined);
	lines->sequence_count = found.count ? sequences_order(found.items, found.count) : 0;
	lines->sequences = memory_resize(found.items, lines->sequence_count + 1, sizeof *lines->sequences);
	lines->rows = memory_zero(lines->sequence_count + 1, sizeof *lines->rows);
	lines->paths = memory_zero(lines->file_count + 1, sizeof *lines->paths);
	if (dwarf_memory_take(dwarf, lines_size(lines)))
		return lines;
	dwarf_lines_free(lines);
	dwarf->units_refused++;
	return NULL;
}

static const struct dwarf_rows no_rows; /* of a sequence that exceeds the memory limit */

void dwarf_lines_free(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	for (uint32_t i = 0; lines->paths && i < lines->file_count; i++)
		free(lines->paths[i]);
	for (uint32_t i = 0; lines->rows && i < lines->sequence_count; i++)
		if (lines->rows[i] != &no_rows)
			free((void *)lines->rows[i]);
	free(lines->paths);
	free(lines->sequences);
	free(lines->rows);
	free(lines->program);
	free(lines->files);
	free(lines->directories);
	free(lines);
}

void dwarf_lines_ranges(struct dwarf_unit *unit, uint32_t value, struct dwarf_ranges *ranges)
{
	struct dwarf_lines *lines = dwarf_lines_read(unit);
	if (!lines)
		return;
	for (uint32_t i = 0; i < lines->sequence_count; i++)
		dwarf_ranges_add(ranges, unit->file->dwarf, lines->sequences[i].low, lines->sequences[i].high, value);
	dwarf_memory_give(unit->file->dwarf, lines_size(lines));
	dwarf_lines_free(lines);
}

static const struct dwarf_rows *sequence_rows(struct dwarf_lines *lines, uint32_t sequence)
{
	const struct dwarf_rows *rows = atomic_load_explicit(&lines->rows[sequence], memory_order_acquire);
	if (rows)
		return rows;
	struct dwarf_rows *made = line_program_rows(lines->program, lines->dwarf, &lines->sequences[sequence]);
	bool fits = made && dwarf_memory_take(lines->dwarf, sizeof *made + made->count * sizeof *made->items);
	if (atomic_compare_exchange_strong(&lines->rows[sequence], &rows, fits ? made : &no_rows)) {
		rows = fits ? made : &no_rows;
		lines->dwarf->units_refused += !fits;
	}
	if (rows != made)
		free(made);
	return rows;
}

const struct dwarf_row *dwarf_lines_find(struct dwarf_lines *lines, uint64_t address)
{
	size_t end = SEARCH_COUNT(lines->sequence_count, i, lines->sequences[i].low <= address);
	const struct dwarf_sequence *s = end ? &lines->sequences[end - 1] : NULL;
	if (!s || address >= s->high)
		return NULL;
	const struct dwarf_rows *rows = sequence_rows(lines, (uint32_t)(end - 1));
	const struct dwarf_row *base = rows->items;
	uint32_t offset = address - s->base < UINT32_MAX ? (uint32_t)(address - s->base) : UINT32_MAX;
	for (uint32_t n = rows->count; n > 1;) {
		uint32_t half = n / 2;
		base += base[half].offset <= offset ? half : 0;
		n -= half;
	}
	return rows->count ? base : NULL;
}

/* Longer path components are cut: no system can open them. */
#define PATH_PART_MAX 4096u

static char *path_join(const char *first, const char *second, const char *third)
{
	const char *const parts[] = { first, second, third };
	char path[3 * PATH_PART_MAX];
	size_t len = 0;
	for (unsigned i = 0; i < 3; i++) {
		if (!parts[i])
			continue;
		len += text_copy(path + len, PATH_PART_MAX, parts[i], PATH_PART_MAX);
		path[len++] = i < 2 ? '/' : '\0';
	}
	return memcpy(memory_alloc(len), path, len);
}

const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file)
{
	if (!lines->from_zero && file-- == 0)
		return NULL;
	if (file >= lines->file_count || !lines->files[file].name)
		return NULL;
	const struct dwarf_line_file *f = &lines->files[file];
	if (*f->name == '/' && strnlen(f->name, PATH_PART_MAX) < PATH_PART_MAX)
		return f->name;
	char *path = atomic_load_explicit(&lines->paths[file], memory_order_acquire);
	if (path)
		return path;
	uint64_t directory = lines->from_zero ? f->directory : f->directory - 1;
	/* like binutils, the first directory of version 5 is appended to the unit's directory; that matters only if it is relative */
	bool named = lines->from_zero || f->directory;
	const char *below = named && directory < lines->directory_count ? lines->directories[directory] : NULL;
	bool whole = *f->name == '/';
	char *made = path_join(whole || (below && *below == '/') ? NULL : lines->compiled_in, whole ? NULL : below, f->name);
	if (atomic_compare_exchange_strong(&lines->paths[file], &path, made)) {
		dwarf_memory_take(lines->dwarf, strlen(made) + 1);
		return made;
	}
	free(made);
	return path;
}
