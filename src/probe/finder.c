#include "probe/finder.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/search.h"
#include "dwarf/constants.h"
#include "dwarf/form.h"
#include "dwarf/needle.h"
#include "dwarf/type.h"
#include "os/file.h"
#include "probe/lines.h"
#include "probe/pattern.h"
#include "probe/variable.h"

enum { SCOPES_MAX = 256, SOURCE_MAX = 64 << 20 };

/* Code of an abstract function. */
struct instance {
	struct dwarf_die die, origin;
};

struct finder {
	struct probe_target *target;
	const struct probe_spec *spec;
	const struct probe_search *search;
	struct probe_places *places;
	struct error *err;
	struct dwarf_die unit;
	const char *file;             /* of the line */
	uint32_t line;
	VEC(uint32_t) matching;       /* lines of `matched` that match the pattern, ascending */
	const char *matched;
	VEC(struct instance) instances; /* of the unit … */
	const struct dwarf_unit *instances_of; /* … by origin */
	struct probe_name name;
	bool several;                 /* further functions of a unit can match */
	bool failed;                  /* err is set */
};

void probe_name_fini(struct probe_name *name)
{
	free(name->word);
	name->word = NULL;
}

/* The length of the name without its parameters. */
static size_t without_parameters(const char *text)
{
	unsigned depth = 0;
	for (const char *at = text; *at; at++) {
		depth += *at == '<';
		depth -= *at == '>' && depth;
		if (*at == '(' && !depth && strncmp(at, "(anonymous", 10) != 0 && at > text)
			return (size_t)(at - text);
	}
	return strlen(text);
}

struct probe_name probe_name_of(const char *text)
{
	struct probe_name name = { .text = text, .glob = probe_is_glob(text), .qualified = probe_is_qualified(text) };
	if (name.glob || strstr(text, "operator"))
		return name;
	size_t len = without_parameters(text);
	const char *start = text;
	unsigned depth = 0;
	for (const char *at = text; at + 1 < text + len; at++) {
		depth += *at == '<';
		depth -= *at == '>' && depth;
		if (at[0] == ':' && at[1] == ':' && !depth)
			start = at + 2;
	}
	size_t end = len - (size_t)(start - text), plain = strcspn(start, "<~( ");
	name.whole = plain >= end;
	plain = plain < end ? plain : end;
	if (!plain)
		return name;
	name.word = memory_string(start);
	name.word[plain] = '\0';
	return name;
}

/* A copy that the compiler changed, as "f(int) [clone .isra.0]", counts; the part that it separated as unlikely is no function. */
static bool is_name_or_clone(const char *shown, const char *name)
{
	static const char clone[] = " [clone ";
	size_t len = strlen(name);
	if (strncmp(shown, name, len) != 0)
		return false;
	return !shown[len] || (!strncmp(shown + len, clone, sizeof clone - 1) && !strstr(shown + len, "[clone .cold"));
}

static bool demangles_to(const char *linkage, const struct probe_name *name)
{
	for (int params = 0; params < 2; params++) {
		struct demangler demangler = { .params = params };
		char *shown = name_demangle(&demangler, linkage);
		bool same = shown && (name->glob ? probe_glob(name->text, shown) : is_name_or_clone(shown, name->text));
		free(shown);
		if (same || !shown)
			return same;
	}
	return false;
}

bool probe_symbol_named(const char *symbol, const struct probe_name *name)
{
	if (name->glob ? probe_glob(name->text, symbol) : !strcmp(name->text, symbol))
		return true;
	return symbol[0] == '_' && (!name->word || strstr(symbol, name->word)) && demangles_to(symbol, name);
}

bool probe_function_named(const struct dwarf_die *function, const struct probe_name *name)
{
	const char *own = dwarf_die_name(function);
	if (own && (name->glob ? probe_glob(name->text, own) : !strcmp(name->text, own)))
		return true;
	if (own && name->plain)
		return false;
	const char *linkage = dwarf_die_linkage_name(function);
	if (!linkage)
		return false;
	if (name->glob ? probe_glob(name->text, linkage) : !strcmp(name->text, linkage))
		return true;
	return name->qualified && (!name->word || strstr(linkage, name->word)) && demangles_to(linkage, name);
}

const char *probe_unit_directory(const struct dwarf_die *unit)
{
	struct dwarf_datum datum;
	return dwarf_die_get(unit, DW_AT_comp_dir, &datum) ? datum.text : NULL;
}

struct file_query {
	const char *end, *found;
};

static bool file_matches(void *context, uint32_t number, const char *path)
{
	struct file_query *query = context;
	(void)number;
	if (probe_same_tail(path, query->end))
		query->found = path;
	return query->found;
}

const char *probe_unit_file(const struct dwarf_die *unit, const char *end)
{
	struct file_query query = { .end = end };
	dwarf_statement_files(unit, file_matches, &query);
	return query.found;
}

static bool is_readable_file(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, R_OK) == 0;
}

char *probe_source_path(const char *path, const char *directory, const char *prefix)
{
	CLEANUP_STR struct str full = { 0 };
	if (!prefix && (*path == '/' || !directory))
		return is_readable_file(path) ? memory_string(path) : NULL;
	/* folders at the front of the recorded path may be absent below the prefix */
	for (const char *rest = path; rest; rest = strchr(rest + 1, '/')) {
		str_clear(&full);
		str_printf(&full, "%s/%s", prefix ? prefix : directory, rest);
		if (is_readable_file(str_text(&full)))
			return memory_string(str_text(&full));
		if (!prefix)
			break;
	}
	return NULL;
}

static bool fail(struct finder *f)
{
	f->failed = true;
	return true;
}

/* Adds a place; true: the search ends. */
static bool add_place(struct finder *f, const struct dwarf_die *scope, uint64_t address)
{
	struct dwarf_die scopes[SCOPES_MAX];
	struct probe_place place = { .unit = f->unit, .scope = *scope, .function = *scope, .address = address };
	for (size_t i = 0; i < f->places->list.count; i++)
		if (f->places->list.items[i].address == address)
			return false;
	if (f->places->list.count >= f->search->max) {
		error_set(f->err, ERROR_LIMIT, "Too many( > %u) probe point found.", f->search->max);
		return fail(f);
	}
	if (!probe_is_definition(scope)) {
		size_t count = dwarf_scopes(f->target->dwarf, address, scopes, SCOPES_MAX);
		if (!count) {
			error_set(f->err, ERROR_USAGE, "Failed to find probe point in any functions.");
			return fail(f);
		}
		place.function = scopes[count - 1];
	}
	if (!dwarf_die_contains(&place.function, address)) {
		const char *name = dwarf_die_name(&place.function);
		error_set(f->err, ERROR_USAGE, "Specified offset is out of %s", name ? name : "the function");
		return fail(f);
	}
	vec_push(&f->places->list, place);
	return false;
}

/* The function or inlined call at address that the definition names, or that is declared in the file before the line; otherwise the
 * outermost one. */
static bool best_scope(const struct finder *f, uint64_t address, struct dwarf_die *best)
{
	struct dwarf_die scopes[SCOPES_MAX];
	size_t count = dwarf_scopes(f->target->dwarf, address, scopes, SCOPES_MAX);
	uint32_t least = UINT32_MAX;
	if (!count)
		return false;
	*best = scopes[count - 1];
	for (size_t i = count; i-- > 0;) {
		const char *file = dwarf_die_file(&scopes[i], DW_AT_decl_file);
		if (!file || (f->file && strcmp(f->file, file) != 0))
			continue;
		uint32_t line = probe_declared_line(f->target, &scopes[i]);
		if (f->spec->function) {
			if (probe_function_named(&scopes[i], &f->name)) {
				*best = scopes[i];
				return true;
			}
		} else if (line < f->line && f->line - line < least) {
			least = f->line - line;
			*best = scopes[i];
		}
	}
	return true;
}

/* A line that begins where another one does is shown as the other one: the user has to name that. */
static bool line_is_shared(struct finder *f, const char *file, uint32_t line, uint64_t address)
{
	const char *shown;
	uint32_t number;
	struct dwarf_die scope;
	if (!probe_line_at(f->target, &f->unit, address, &shown, &number) || strcmp(file, shown) != 0 || number == line)
		return false;
	const char *name = NULL;
	int64_t relative = number;
	if (f->spec->function && best_scope(f, address, &scope) && probe_function_named(&scope, &f->name)) {
		name = dwarf_die_name(&scope);
		relative -= probe_declared_line(f->target, &scope);
	}
	error_set(f->err, ERROR_USAGE, "This line is sharing the address with other lines.");
	error_hint(f->err, "Please try to probe at %s:%lld instead.", name ? name : shown, (long long)relative);
	return true;
}

static bool on_line(void *context, const char *file, uint32_t line, uint64_t address)
{
	struct finder *f = context;
	struct dwarf_die scope;
	if (!probe_same_tail(file, f->file))
		return false;
	if (!best_scope(f, address, &scope)) /* code that the linker discarded */
		return false;
	if (line_is_shared(f, file, line, address))
		return fail(f);
	return add_place(f, &scope, address);
}

static bool line_matches(const struct finder *f, uint32_t line)
{
	for (size_t i = 0; i < f->matching.count; i++)
		if (f->matching.items[i] == line)
			return true;
	return false;
}

static bool on_pattern_line(void *context, const char *file, uint32_t line, uint64_t address)
{
	struct finder *f = context;
	struct dwarf_die scope;
	if (!line_matches(f, line) || !probe_same_tail(file, f->file))
		return false;
	f->line = line;
	return best_scope(f, address, &scope) && add_place(f, &scope, address);
}

/* Finds the lines of the current file that match the pattern. */
static int match_lines(struct finder *f)
{
	if (f->matched == f->file)
		return 0;
	CLEANUP_FREE char *path = probe_source_path(f->file, probe_unit_directory(&f->unit), f->search->source_prefix);
	CLEANUP_STR struct str text = { 0 };
	if (!path) {
		error_set(f->err, ERROR_USAGE, "Failed to find source file path: %s", f->file);
		return error_hint(f->err, "-s names the folder of the sources");
	}
	if (file_read_regular(path, &text, SOURCE_MAX, f->err) < 0)
		return -1;
	vec_clear(&f->matching);
	f->matched = f->file;
	uint32_t number = 1;
	for (char *at = text.len ? text.text : NULL; at && *at; number++) {
		char *end = strchr(at, '\n');
		if (end)
			*end = '\0';
		if (probe_lazy(f->spec->pattern, at))
			vec_push(&f->matching, number);
		at = end ? end + 1 : NULL;
	}
	return 0;
}

static bool find_pattern(struct finder *f, const struct dwarf_die *root)
{
	if (match_lines(f) < 0)
		return fail(f);
	return probe_lines_walk(f->target, root, 0, UINT32_MAX, on_pattern_line, f);
}

/* A location that changes is a sign of optimised code. */
static bool is_optimised(const struct dwarf_die *unit)
{
	struct dwarf_walk walk = dwarf_walk_of(unit);
	struct dwarf_die die;
	struct dwarf_datum datum;
	while (dwarf_walk_next(&walk, &die)) {
		uint16_t tag = dwarf_die_tag(&die);
		if ((tag == DW_TAG_formal_parameter || tag == DW_TAG_variable) && dwarf_die_get(&die, DW_AT_location, &datum) &&
		    datum.kind == VALUE_NUMBER)
			return true;
		walk.skip = dwarf_type_is_structure(tag); /* declarations */
	}
	return false;
}

/* An unoptimised function stores its arguments in the prologue: variables are valid after it. */
static uint64_t skip_prologue(struct finder *f, const struct dwarf_die *function, uint64_t entry)
{
	const struct probe_spec *spec = f->spec;
	struct probe_place place = { .unit = f->unit, .function = *function, .scope = *function, .address = entry };
	if (f->target->kernel || spec->offset || !probe_wants_variables(spec))
		return entry;
	if (is_optimised(&f->unit))
		return probe_parameter_is_stored(f->target, &place, spec) ? probe_after_prologue(f->target, function, entry, true) : entry;
	str_printf(f->search->remarks, "Target program is compiled without optimization. Skipping prologue.\n"
		"Probe on address 0x%llx to force probing at the function entry.\n\n", (unsigned long long)entry);
	return probe_after_prologue(f->target, function, entry, false);
}

static int compare_instances(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;
	if (x->origin.at != y->origin.at)
		return x->origin.at < y->origin.at ? -1 : 1;
	return x->die.at < y->die.at ? -1 : x->die.at > y->die.at;
}

/* Lists the inlined calls and the separate copies of abstract functions in the unit, by function; of one function, if it is given. */
static void list_instances(struct finder *f, const struct dwarf_die *only)
{
	struct dwarf_walk walk = dwarf_walk_of(&f->unit);
	struct instance found;
	if (!only && f->instances_of == f->unit.unit)
		return;
	f->instances_of = only ? NULL : f->unit.unit;
	vec_clear(&f->instances);
	while (dwarf_walk_next(&walk, &found.die)) {
		uint16_t tag = dwarf_die_tag(&found.die);
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram) && dwarf_die_origin(&found.die, &found.origin) &&
		    (!only || dwarf_die_same(&found.origin, only)) && probe_is_instance(&found.die))
			vec_push(&f->instances, found);
	}
	if (f->instances.count)
		qsort(f->instances.items, f->instances.count, sizeof *f->instances.items, compare_instances);
}

/* A call at the line of the declaration is a copy that the compiler made, not a call of the source. */
static bool is_copy(const struct finder *f, const struct dwarf_die *call, const struct dwarf_die *abstract)
{
	struct dwarf_datum file, line, declared;
	if (dwarf_die_tag(call) != DW_TAG_inlined_subroutine || !dwarf_die_get(call, DW_AT_call_line, &line) ||
	    line.number != probe_declared_line(f->target, abstract) || !dwarf_die_get_any(abstract, DW_AT_decl_file, &declared) ||
	    !dwarf_die_get(call, DW_AT_call_file, &file))
		return false;
	if (file.unit == declared.unit)
		return file.number == declared.number;
	const char *called = dwarf_die_file(call, DW_AT_call_file), *own = dwarf_die_file(abstract, DW_AT_decl_file);
	return called && own && !strcmp(called, own);
}

static bool find_instances(struct finder *f, const struct dwarf_die *abstract)
{
	uint64_t address;
	list_instances(f, f->several ? NULL : abstract);
	size_t i = SEARCH_COUNT(f->instances.count, k, f->instances.items[k].origin.at < abstract->at);
	for (; i < f->instances.count && f->instances.items[i].origin.at == abstract->at; i++) {
		struct dwarf_die die = f->instances.items[i].die;
		if (f->instances.items[i].origin.unit != abstract->unit || is_copy(f, &die, abstract))
			continue;
		if (f->spec->pattern) {
			if (find_pattern(f, &die))
				return true;
		} else if (dwarf_die_entry(&die, &address) && address && add_place(f, &die, address + f->spec->offset)) {
			return true;
		}
	}
	return false;
}

/* Returns true if no further function of the unit is needed. */
static bool find_function(struct finder *f, const struct dwarf_die *function)
{
	const struct probe_spec *spec = f->spec;
	uint64_t entry = 0;
	struct dwarf_datum declared;
	/* Go has no files of functions that it inlines */
	if (!dwarf_die_get_any(function, DW_AT_decl_file, &declared) && !dwarf_die_get_any(function, DW_AT_inline, &declared))
		return false;
	if (spec->file || spec->line || spec->pattern) { /* the path costs a line table */
		f->file = dwarf_die_file(function, DW_AT_decl_file);
		if (!f->file || (spec->file && !probe_same_tail(spec->file, f->file)))
			return false;
	}
	if (spec->line) {
		f->line = probe_declared_line(f->target, function) + spec->line;
		probe_lines_walk(f->target, &f->unit, f->line, f->line, on_line, f);
	} else if (!probe_is_instance(function)) {
		if (!f->search->no_inlines)
			find_instances(f, function);
	} else if (dwarf_die_entry(function, &entry) && entry) {
		if (spec->pattern)
			find_pattern(f, function);
		else
			add_place(f, function, skip_prologue(f, function, entry) + spec->offset);
	}
	return f->failed || !f->several;
}

static bool on_function(void *context, const struct dwarf_die *function)
{
	struct finder *f = context;
	return probe_function_named(function, &f->name) && probe_is_definition(function) && find_function(f, function);
}

/* Calls of functions that other units describe and that are inlined into this one: link-time optimisation, dwz, Go. */
static void find_foreign(struct finder *f)
{
	struct dwarf_walk walk = dwarf_walk_of(&f->unit);
	struct dwarf_die die, origin, abstract;
	struct idmap seen = { 0 };
	bool fresh, done = f->search->no_inlines || !dwarf_unit_refers(&f->unit);
	while (!done && dwarf_walk_next(&walk, &die)) {
		if (dwarf_die_tag(&die) != DW_TAG_inlined_subroutine || !dwarf_die_origin(&die, &origin) || origin.unit == die.unit)
			continue;
		idmap_add(&seen, hash_pair((uintptr_t)origin.unit, origin.at), 0, &fresh);
		if (fresh && dwarf_die_reference(&die, DW_AT_abstract_origin, &abstract) && probe_function_named(&abstract, &f->name))
			find_function(f, &abstract); /* each unit may describe the same function */
		done = f->failed;
	}
	idmap_fini(&seen);
}

static void find_in_unit(struct finder *f)
{
	const struct probe_spec *spec = f->spec;
	f->file = NULL;
	if (spec->file) {
		f->file = probe_unit_file(&f->unit, spec->file);
		if (!f->file)
			return;
	}
	if (spec->function) {
		if (!probe_functions_walk(&f->unit, on_function, f))
			find_foreign(f);
	} else if (spec->pattern) {
		find_pattern(f, &f->unit);
	} else {
		f->line = spec->line;
		probe_lines_walk(f->target, &f->unit, spec->line, spec->line, on_line, f);
	}
}

static void find_in_units(struct finder *f, const struct dwarf_needle *needle)
{
	uint32_t count = dwarf_unit_count(f->target->dwarf);
	for (uint32_t i = 0; i < count && !f->failed; i++) {
		probe_target_scanned(f->target, dwarf_unit_size(f->target->dwarf, i));
		if ((!needle || dwarf_needle_in(needle, i)) && dwarf_unit_top(f->target->dwarf, i, &f->unit))
			find_in_unit(f);
	}
}

static bool symbol_named(const struct finder *f, const char *symbol)
{
	size_t len = strcspn(symbol, "@");
	if (!strncmp(symbol, f->spec->function, len) && !f->spec->function[len])
		return true;
	return f->several && probe_symbol_named(symbol, &f->name);
}

/* Functions that start at a symbol which the debug information does not name: "malloc" is __libc_malloc; lambdas, functions of unnamed
 * namespaces. */
static void find_by_symbol(struct finder *f)
{
	const struct symbol_table *symbols = probe_target_symbols(f->target);
	struct dwarf_die scopes[SCOPES_MAX];
	uint64_t entry, versioned;
	/* of several versions of a function, new programs call the default one */
	bool version = !f->several && probe_target_version(f->target, f->spec->function, &versioned);
	for (uint32_t i = 0; i < symbols->count && !f->failed; i++) {
		const struct symbol *s = &symbols->symbols[i];
		uint64_t address = s->start + f->target->text_shift;
		if (version ? address != versioned : !symbol_named(f, s->name))
			continue;
		size_t count = dwarf_scopes(f->target->dwarf, address, scopes, SCOPES_MAX);
		if (!count || !dwarf_die_entry(&scopes[count - 1], &entry) || entry != address)
			continue;
		if (s->type == STT_GNU_IFUNC)
			str_printf(f->search->remarks, "Warning: The probe function (%s) is a GNU indirect function.\n"
				"Consider identifying the final function used at run time and set the probe directly on that.\n", f->spec->function);
		f->unit = dwarf_die_top(&scopes[count - 1]);
		add_place(f, &scopes[count - 1], skip_prologue(f, &scopes[count - 1], entry) + f->spec->offset);
		if (!f->several)
			return;
	}
}

/* A template's name without its arguments: all instances. */
static void find_instantiations(struct finder *f)
{
	CLEANUP_STR struct str glob = { 0 };
	struct probe_name name = f->name;
	str_printf(&glob, "%s<*", f->spec->function);
	f->name = (struct probe_name){ .text = str_text(&glob), .glob = true, .plain = true };
	f->several = true;
	find_in_units(f, NULL);
	f->name = name;
}

static int places_find(struct probe_target *target, const struct probe_spec *spec, const struct probe_search *search,
	struct probe_places *places, struct error *err)
{
	struct finder f = { .target = target, .spec = spec, .search = search, .places = places, .err = err };
	struct dwarf_needle needle = { .any = true };
	if (spec->function)
		f.name = probe_name_of(spec->function);
	f.several = f.name.glob || f.name.qualified;
	bool filter = f.name.word && f.name.whole;
	if (filter)
		needle = dwarf_needle_of(target->dwarf, f.name.word);
	/* linkage names that are not mangled are rare: they are compared if no name equals */
	f.name.plain = spec->function && !f.several && *spec->function != '_';
	find_in_units(&f, filter ? &needle : NULL);
	if (f.name.plain && !places->list.count && !f.failed) {
		f.name.plain = false;
		find_in_units(&f, filter ? &needle : NULL);
	}
	bool nowhere = spec->function && !places->list.count && !f.failed;
	if (nowhere && !spec->file && !spec->line && !spec->pattern)
		find_by_symbol(&f);
	if (nowhere && !places->list.count && !f.several && !f.failed)
		find_instantiations(&f);
	probe_name_fini(&f.name);
	vec_fini(&f.matching);
	vec_fini(&f.instances);
	return f.failed ? -1 : 0;
}

int probe_places_find(struct probe_target *target, const struct probe_spec *spec, const struct probe_search *search,
	struct probe_places *places, struct error *err)
{
	int result = places_find(target, spec, search, places, err);
	if (result < 0 || places->list.count || spec->function || !spec->file)
		return result;
	/* "main.add:2": a function of Go, not a file */
	struct probe_spec function = *spec;
	function.function = spec->file;
	function.file = NULL;
	return places_find(target, &function, search, places, err);
}
