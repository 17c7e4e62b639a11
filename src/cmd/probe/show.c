#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/probe/probe_options.h"
#include "dwarf/constants.h"
#include "dwarf/location.h"
#include "dwarf/type.h"
#include "os/file.h"
#include "probe/functions.h"
#include "probe/kernel_types.h"
#include "probe/lines.h"
#include "probe/source.h"

/* Lines of variables, sorted and without repetition. */
struct variables {
	struct probe_target *target;
	const struct probe_options *options;
	const struct probe_place *place;
	struct names lines;
	size_t left;                  /* bytes of text that may follow; 0: the list ends here */
	bool external;
};

/* Names of damaged debug information can be long, and each be that of many variables. */
enum { VARIABLES_TEXT_MAX = 32 << 20 };

static void add_ranges(struct str *line, const char *function, uint64_t entry, const struct dwarf_ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		str_printf(line, i ? ",%llu-%llu" : "\t@<%3$s+[%1$llu-%2$llu", (unsigned long long)(ranges->items[i].low - entry),
			(unsigned long long)(ranges->items[i].high - entry), function);
	str_puts(line, ranges->count ? "]>" : "");
}

/* The innermost DIE with code around a variable. */
static struct dwarf_die scope_around(const struct dwarf_die *scope, const struct dwarf_die *variable)
{
	enum { DEPTH_MAX = 64 };
	struct dwarf_die around[DEPTH_MAX + 1], die;
	struct dwarf_walk walk = dwarf_walk_of(scope);
	around[0] = *scope;
	while (dwarf_walk_next(&walk, &die)) {
		if (dwarf_die_same(&die, variable))
			return around[walk.depth - 1 <= DEPTH_MAX ? walk.depth - 1 : DEPTH_MAX];
		if (walk.depth <= DEPTH_MAX)
			around[walk.depth] = die;
		else
			walk.skip = true;
	}
	return *scope;
}

static void add_range_of(const struct variables *v, const struct dwarf_die *variable, struct str *line)
{
	const char *function = dwarf_die_name(&v->place->function);
	struct dwarf_ranges ranges = { .limit = 1u << 16 };
	struct dwarf_datum datum;
	struct span expression;
	uint64_t entry, low, high;
	if (!function || !dwarf_die_entry(&v->place->function, &entry) || !dwarf_die_get(variable, DW_AT_location, &datum))
		return;
	struct dwarf_locations locations = dwarf_locations_of(&datum);
	while (dwarf_locations_next(&locations, &low, &high, &expression)) {
		if (low == 0) {
			struct dwarf_die around = scope_around(&v->place->scope, variable);
			dwarf_die_ranges(&around, &ranges);
			break;
		}
		vec_push(&ranges, ((struct dwarf_range){ .low = low, .high = high }));
	}
	add_ranges(line, function, entry, &ranges);
	vec_fini(&ranges);
}

static bool add_variable(void *context, const struct dwarf_die *variable, bool valued)
{
	struct variables *v = context;
	CLEANUP_STR struct str line = { 0 };
	const char *name = dwarf_die_name(variable);
	if (!valued && !v->options->range)
		return false;
	if (v->options->range)
		str_puts(&line, v->external ? "[EXT]\t" : valued ? "[VAL]\t" : "[INV]\t");
	if (!dwarf_type_name(variable, &line))
		str_puts(&line, "(unknown_type)");
	size_t size = line.len + (name ? strlen(name) : 0);
	v->left = size < v->left ? v->left - size : 0;
	if (!v->left)
		return true;
	if (!name || !probe_filter_passes(v->options->filter, name))
		return false;
	str_printf(&line, "\t%s", name);
	if (v->options->range && !v->external)
		add_range_of(v, variable, &line);
	vec_push(&v->lines.list, arena_string(&v->lines.arena, line.text, line.len));
	return false;
}

static void add_externals(struct variables *v)
{
	struct dwarf_walk walk = dwarf_walk_of(&v->place->unit);
	struct dwarf_die die;
	v->external = true;
	for (; v->left && dwarf_walk_next(&walk, &die); walk.skip = true)
		if (dwarf_die_tag(&die) == DW_TAG_variable && (dwarf_die_has(&die, DW_AT_location) || dwarf_die_has(&die, DW_AT_external) ||
			dwarf_die_has(&die, DW_AT_const_value)))
			add_variable(v, &die, true);
}

static void show_place(struct cli *cli, const struct probe_options *options, struct probe_target *target, const struct probe_place *place)
{
	struct variables v = { .target = target, .options = options, .place = place, .left = VARIABLES_TEXT_MAX };
	const char *function = dwarf_die_name(&place->function);
	uint64_t entry = place->address;
	dwarf_die_entry(&place->function, &entry);
	writer_printf(cli->out, "\t@<%s+%llu>\n", function ? function : "?", (unsigned long long)(place->address - entry));
	probe_variables_walk(target, place, true, options->range, add_variable, &v);
	if (options->externs)
		add_externals(&v);
	names_sort(&v.lines);
	for (size_t i = 0; i < v.lines.list.count; i++)
		if (!i || strcmp(v.lines.list.items[i], v.lines.list.items[i - 1]) != 0)
			writer_printf(cli->out, "\t\t%s\n", v.lines.list.items[i]);
	if (!v.lines.list.count)
		writer_puts(cli->out, "\t\t(No matched variables)\n");
	if (!v.left)
		probe_say(cli, options, "The names of the variables are too long: not all are shown.");
	names_fini(&v.lines);
}

static int show_at(struct cli *cli, const struct probe_options *options, struct probe_target *target, const struct probe_spec *spec,
	struct error *err)
{
	struct probe_places places = { 0 };
	CLEANUP_STR struct str remarks = { 0 }, place = { 0 };
	struct probe_search search = { .source_prefix = options->source, .remarks = &remarks, .no_inlines = options->no_inlines,
		.max = options->max_probes > 0 ? (uint32_t)options->max_probes : PROBE_PLACES_MAX };
	if (spec->arguments.count)
		return error_set(err, ERROR_USAGE, "  Error: '--vars' doesn't accept arguments.");
	if (!probe_target_debug(target)) {
		error_set(err, ERROR_USAGE, "The %s file has no debug information.", target->path);
		return error_hint(err, "Rebuild with -g, or install an appropriate debuginfo package.");
	}
	probe_spec_place(spec, &place);
	int result = probe_places_find(target, spec, &search, &places, err);
	if (result == 0 && !places.list.count)
		result = error_set(err, ERROR_USAGE, "Failed to find the address of %s", str_text(&place));
	if (result == 0)
		writer_printf(cli->out, "Available variables at %s\n", str_text(&place));
	for (size_t i = 0; result == 0 && i < places.list.count; i++)
		show_place(cli, options, target, &places.list.items[i]);
	vec_fini(&places.list);
	return result;
}

/* Parameters of a function of the running kernel, whose file is absent. */
static int show_parameters(struct cli *cli, const struct probe_options *options, const char *module, const char *text, struct error *err)
{
	struct kernel_types types = { 0 };
	struct probe_spec spec;
	struct btf_type prototype;
	struct btf_field parameter;
	struct names lines = { 0 };
	int result = probe_spec_parse(&spec, text, err);
	if (result == 0 && (!spec.function || spec.file || spec.line || spec.pattern || spec.offset || spec.returns || spec.arguments.count)) {
		error_set(err, ERROR_USAGE, "variables of the kernel at other places than a function's entry need its file (vmlinux)");
		result = error_hint(err, "install the package of the kernel's debug symbols, or name the file with -k");
	}
	if (result == 0)
		result = kernel_types_open(&types, module, err);
	if (result == 0 && !btf_types_function(kernel_types_table(&types), spec.function, &prototype))
		result = error_set(err, ERROR_USAGE, "%s has no function %s in its types", module ? module : "the kernel", spec.function);
	for (uint32_t i = 0; result == 0 && btf_type_field(&prototype, i, &parameter); i++) {
		CLEANUP_STR struct str line = { 0 };
		if (!*parameter.name || !probe_filter_passes(options->filter, parameter.name))
			continue;
		str_puts(&line, options->range ? "[VAL]\t" : "");
		btf_types_name(prototype.of, parameter.type, &line);
		str_printf(&line, "\t%s", parameter.name);
		vec_push(&lines.list, arena_string(&lines.arena, line.text, line.len));
	}
	if (result == 0) {
		writer_printf(cli->out, "Available variables at %s\n\t@<%s+0>\n", text, spec.function);
		names_sort(&lines);
		for (size_t i = 0; i < lines.list.count; i++)
			writer_printf(cli->out, "\t\t%s\n", lines.list.items[i]);
		writer_puts(cli->out, lines.list.count ? "" : "\t\t(No matched variables)\n");
	}
	names_fini(&lines);
	kernel_types_close(&types);
	probe_spec_fini(&spec);
	return result;
}

int probe_show_variables(struct cli *cli, const struct probe_options *options)
{
	struct error err = { 0 };
	int result = 0;
	for (size_t i = 0; i < options->requests.count && result == 0; i++) {
		const struct probe_request *request = &options->requests.items[i];
		const char *path = options->target ? options->target : request->target;
		struct probe_spec spec;
		struct probe_target target = { 0 };
		bool user = options->user || request->user, opened = false;
		if (probe_is_running_kernel(options, path, user)) {
			opened = path && probe_open_target(cli, options, path, user, &target, &err) == 0 && probe_target_debug(&target);
			if (!opened) {
				probe_target_close(&target);
				result = show_parameters(cli, options, path, request->text, &err);
				continue;
			}
		}
		result = probe_spec_parse(&spec, request->text, &err);
		if (result == 0 && !opened)
			result = probe_open_target(cli, options, path, user, &target, &err);
		if (result == 0)
			result = show_at(cli, options, &target, &spec, &err);
		probe_target_close(&target);
		probe_spec_fini(&spec);
	}
	return result < 0 ? probe_fail(cli, &err, "Failed to show vars.") : 0;
}

static int print_source(struct cli *cli, const struct probe_lines *lines, struct error *err)
{
	CLEANUP_STR struct str text = { 0 };
	enum { AFTER = 2, SOURCE_MAX = 64 << 20 };
	if (file_read_regular(lines->path, &text, SOURCE_MAX, err) < 0)
		return -1;
	if (lines->function)
		writer_printf(cli->out, "<%s@%s:%lld>\n", lines->function, lines->path, (long long)lines->first - lines->base);
	else
		writer_printf(cli->out, "<%s:%lld>\n", lines->path, (long long)lines->first);
	size_t next = 0;
	uint32_t last = lines->numbers.count ? lines->numbers.items[lines->numbers.count - 1] : lines->first;
	uint64_t end = lines->last == INT32_MAX ? (uint64_t)last + 1 + AFTER : lines->last;
	uint64_t number = 1;
	for (char *at = text.text; at && *at && number <= end; number++) {
		size_t len = strcspn(at, "\n");
		char *after = at + len + (at[len] == '\n');
		bool marked = next < lines->numbers.count && lines->numbers.items[next] == number;
		next += marked;
		if (number >= lines->first) {
			if (marked)
				writer_printf(cli->out, "%7lld  ", (long long)number - lines->base);
			else
				writer_puts(cli->out, "         ");
			writer_add(cli->out, at, (size_t)(after - at));
		}
		at = after;
	}
	return 0;
}

int probe_show_lines(struct cli *cli, const struct probe_options *options)
{
	struct error err = { 0 };
	struct probe_range range;
	struct probe_target target = { 0 };
	struct probe_lines lines = { 0 };
	if (probe_range_parse(&range, options->lines, &err) < 0) {
		cli_warn(cli, "Semantic error :%s", err.text);
		probe_range_fini(&range);
		return EXIT_INVALID;
	}
	int result = probe_open_target(cli, options, options->target, options->user, &target, &err);
	if (result == 0)
		result = probe_lines_find(&target, &range, options->source, &lines, &err);
	if (result == 0)
		result = print_source(cli, &lines, &err);
	probe_lines_fini(&lines);
	probe_target_close(&target);
	probe_range_fini(&range);
	return result < 0 ? probe_fail(cli, &err, "Failed to show lines.") : 0;
}

static void print_functions(struct cli *cli, const struct probe_options *options, struct probe_target *target)
{
	struct probe_functions functions = { 0 };
	probe_functions_find(target, options->filter, &functions);
	for (size_t i = 0; i < functions.list.count; i++) {
		const char *name = functions.list.items[i].name;
		writer_name(cli->out, name, strlen(name));
		writer_puts(cli->out, "\n");
	}
	probe_functions_fini(&functions);
}

int probe_show_functions(struct cli *cli, const struct probe_options *options)
{
	struct error err = { 0 };
	struct probe_target target = { 0 };
	int result = probe_open_target(cli, options, options->target, options->user, &target, &err);
	if (result == 0 && !probe_target_symbols(&target)->count)
		result = error_set(&err, ERROR_USAGE, "Failed to load symbols in %s", target.path);
	if (result == 0)
		print_functions(cli, options, &target);
	probe_target_close(&target);
	if (result == 0)
		return 0;
	int code = probe_fail(cli, &err, "Failed to show functions.");
	return options->user ? EXIT_FAILED : code;
}
