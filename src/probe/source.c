#include "probe/source.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/constants.h"
#include "dwarf/needle.h"
#include "probe/lines.h"

struct line_search {
	struct probe_target *target;
	const struct probe_range *range;
	struct probe_lines *lines;
	struct probe_name name;
	struct dwarf_die unit;
	const char *file;             /* whose lines count */
	char *path;                   /* of the first line that was found, as the debug information has it */
	bool found;
};

static bool on_line(void *context, const char *file, uint32_t line, uint64_t address)
{
	struct line_search *s = context;
	const char *shown;
	uint32_t number;
	if (!probe_same_tail(file, s->file))
		return false;
	if (probe_line_at(s->target, &s->unit, address, &shown, &number) && (number != line || strcmp(shown, file) != 0))
		return false;
	if (!s->path)
		s->path = memory_string(file);
	vec_push(&s->lines->numbers, line);
	return false;
}

static void search_lines(struct line_search *s, const struct dwarf_die *root)
{
	probe_lines_walk(s->target, root, s->lines->first, s->lines->last, on_line, s);
	s->found |= s->lines->numbers.count != 0;
}

static void search_instances(struct line_search *s, const struct dwarf_die *abstract)
{
	struct dwarf_walk walk = dwarf_walk_of(&s->unit);
	struct dwarf_die die, origin;
	while (dwarf_walk_next(&walk, &die)) {
		uint16_t tag = dwarf_die_tag(&die);
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram) && probe_is_instance(&die) &&
		    dwarf_die_origin(&die, &origin) && dwarf_die_same(&origin, abstract))
			search_lines(s, &die);
	}
}

static uint32_t line_sum(uint32_t a, int32_t b)
{
	uint64_t sum = (uint64_t)a + (uint32_t)b;
	return sum > INT32_MAX ? INT32_MAX : (uint32_t)sum;
}

static bool on_function(void *context, const struct dwarf_die *function)
{
	struct line_search *s = context;
	if (!probe_function_named(function, &s->name) || !probe_is_definition(function))
		return false;
	const char *file = dwarf_die_file(function, DW_AT_decl_file);
	if (!file || (s->range->file && !probe_same_tail(s->range->file, file)))
		return false;
	s->file = file;
	s->lines->base = probe_declared_line(s->target, function);
	s->lines->first = line_sum(s->lines->base, s->range->first);
	s->lines->last = line_sum(s->lines->base, s->range->last);
	if (probe_is_instance(function))
		search_lines(s, function);
	else
		search_instances(s, function);
	return true;
}

static void search_unit(struct line_search *s)
{
	if (s->range->file) {
		s->file = probe_unit_file(&s->unit, s->range->file);
		if (!s->file)
			return;
	}
	if (s->range->function) {
		probe_functions_walk(&s->unit, on_function, s);
		return;
	}
	s->lines->first = (uint32_t)s->range->first;
	s->lines->last = (uint32_t)s->range->last;
	search_lines(s, &s->unit);
}

static int compare_lines(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void numbers_order(struct probe_lines *lines)
{
	size_t count = 0;
	qsort(lines->numbers.items, lines->numbers.count, sizeof *lines->numbers.items, compare_lines);
	for (size_t i = 0; i < lines->numbers.count; i++)
		if (!count || lines->numbers.items[count - 1] != lines->numbers.items[i])
			lines->numbers.items[count++] = lines->numbers.items[i];
	lines->numbers.count = count;
}

/* Returns the path of the lines as the debug information has it, malloc'ed, and their unit; NULL: not found. */
static char *find_range(struct probe_target *target, const struct probe_range *range, struct probe_lines *lines, struct dwarf_die *unit)
{
	struct line_search s = { .target = target, .range = range, .lines = lines };
	lines->function = range->function;
	struct dwarf_needle needle = { .any = true };
	if (range->function)
		s.name = probe_name_of(range->function);
	bool filter = s.name.word && s.name.whole;
	if (filter)
		needle = dwarf_needle_of(target->dwarf, s.name.word);
	for (uint32_t i = 0; i < dwarf_unit_count(target->dwarf) && !s.found; i++) {
		probe_target_scanned(target, dwarf_unit_size(target->dwarf, i));
		if ((!filter || dwarf_needle_in(&needle, i)) && dwarf_unit_top(target->dwarf, i, &s.unit))
			search_unit(&s);
	}
	probe_name_fini(&s.name);
	*unit = s.unit;
	return s.path;
}

int probe_lines_find(struct probe_target *target, const struct probe_range *range, const char *source_prefix, struct probe_lines *lines,
	struct error *err)
{
	struct dwarf_die unit;
	if (!probe_target_debug(target)) {
		error_set(err, ERROR_USAGE, "The %s file has no debug information.", target->path);
		return error_hint(err, "Rebuild with -g, or install an appropriate debuginfo package.");
	}
	char *path = find_range(target, range, lines, &unit);
	if (!path && !range->function) {
		/* "main.add": a function of Go, not a file */
		struct probe_range function = *range;
		function.function = range->file;
		function.file = NULL;
		path = find_range(target, &function, lines, &unit);
	}
	if (!path)
		return error_set(err, ERROR_USAGE, "Specified source line is not found.");
	numbers_order(lines);
	lines->path = probe_source_path(path, probe_unit_directory(&unit), source_prefix);
	if (!lines->path)
		error_set(err, ERROR_USAGE, "Failed to find source file path: %s", path);
	free(path);
	return lines->path ? 0 : -1;
}

void probe_lines_fini(struct probe_lines *lines)
{
	free(lines->path);
	vec_fini(&lines->numbers);
	*lines = (struct probe_lines){ 0 };
}
