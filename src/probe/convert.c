#include "probe/convert.h"

#include <errno.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/distance.h"
#include "dwarf/constants.h"
#include "probe/kernel_parameter.h"
#include "probe/lines.h"
#include "probe/pattern.h"
#include "probe/sdt.h"

enum { NAME_TRIES = 1024 };

struct conversion {
	struct probe_target *target;
	const struct probe_spec *spec;
	const struct probe_search *search;
	struct probe_events *events;
	struct error *err;
};

void probe_events_fini(struct probe_events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		probe_event_fini(&events->list.items[i]);
	vec_fini(&events->list);
	arena_fini(&events->arena);
}

static const char *keep(struct conversion *c, const char *text)
{
	return arena_string(&c->events->arena, text, strlen(text));
}

static struct probe_event *event_add(struct conversion *c)
{
	struct probe_event *event = vec_add(&c->events->list);
	event->user = !c->target->kernel;
	event->returns = c->spec->returns;
	if (event->user)
		event->path = c->target->path;
	return event;
}

/* The kernel accepts one argument of a name. */
static void fetch_add(struct conversion *c, struct probe_event *event, struct probe_fetch fetch)
{
	CLEANUP_STR struct str name = { 0 };
	unsigned number = 1;
	for (size_t i = 0; fetch.name && i < event->fetches.count; i++) {
		const char *other = event->fetches.items[i].name;
		if (!other || strcmp(other, number > 1 ? str_text(&name) : fetch.name) != 0)
			continue;
		str_clear(&name);
		str_printf(&name, "%s_%u", fetch.name, ++number);
		i = (size_t)-1;
	}
	if (number > 1)
		fetch.name = arena_string(&c->events->arena, name.text, name.len);
	vec_push(&event->fetches, fetch);
}

/* Arguments that need no debug information. */
static void fetches_plain(struct conversion *c, struct probe_event *event)
{
	for (size_t i = 0; i < c->spec->arguments.count; i++) {
		const struct probe_argument *a = &c->spec->arguments.items[i];
		fetch_add(c, event, (struct probe_fetch){ .name = a->name ? keep(c, a->name) : NULL, .value = keep(c, a->text),
			.type = a->type ? keep(c, a->type) : NULL });
	}
}

static void convert_absolute(struct conversion *c)
{
	CLEANUP_STR struct str name = { 0 };
	struct probe_event *event = event_add(c);
	event->address = c->spec->address;
	str_printf(&name, "abs_%llx", (unsigned long long)c->spec->address);
	event->realname = keep(c, name.text);
	fetches_plain(c, event);
}

static void sdt_fetches(struct conversion *c, struct probe_event *event, const char *arguments)
{
	uint16_t machine = c->target->image.elf.machine;
	for (unsigned number = 1; *arguments; number++) {
		size_t length = strcspn(arguments, " ");
		if (memchr(arguments, '[', length) && !memchr(arguments, ']', length))
			length = strcspn(arguments, "]") + (strchr(arguments, ']') != NULL);
		CLEANUP_STR struct str value = { 0 }, name = { 0 };
		if (sdt_argument(machine, arguments, length, &value)) {
			char *colon = strrchr(value.text, ':');
			if (colon)
				*colon = '\0';
			str_printf(&name, "arg%u", number);
			fetch_add(c, event, (struct probe_fetch){ .name = keep(c, name.text), .value = keep(c, value.text),
				.type = colon ? keep(c, colon + 1) : NULL });
		}
		arguments += length;
		arguments += strspn(arguments, " ");
	}
}

static bool sdt_add(void *context, const struct sdt_note *note)
{
	struct conversion *c = context;
	CLEANUP_STR struct str group = { 0 };
	str_printf(&group, "sdt_%s", note->provider);
	if ((c->spec->group && !probe_glob(c->spec->group, group.text)) || !probe_glob(c->spec->event, note->name))
		return false;
	char name[PROBE_NAME_MAX];
	struct probe_event *event = event_add(c);
	probe_event_name(note->name, false, name);
	event->event = keep(c, name);
	probe_event_name(group.text, false, name);
	event->group = keep(c, name);
	event->realname = event->event;
	event->address = note->offset;
	event->semaphore = note->semaphore;
	sdt_fetches(c, event, note->arguments);
	return c->events->list.count >= c->search->max;
}

static int convert_sdt(struct conversion *c)
{
	size_t before = c->events->list.count;
	sdt_notes(&c->target->image.elf, sdt_add, c);
	if (c->events->list.count > before)
		return 0;
	if (!elf_section(&c->target->image.elf, ".note.stapsdt"))
		return error_set(c->err, ERROR_USAGE, "%s has no static probe points", c->target->path);
	return error_set(c->err, ERROR_USAGE, "%s has no static probe point %s%s%s", c->target->path, c->spec->group ? c->spec->group : "",
		c->spec->group ? ":" : "", c->spec->event);
}

struct expansion {
	struct conversion *conversion;
	const struct probe_place *place;
	struct probe_event *event;
	int result;
};

static int fetch_variable(struct expansion *x, const struct probe_argument *argument)
{
	struct conversion *c = x->conversion;
	struct probe_fetch fetch;
	if (probe_variable_fetch(c->target, x->place, argument, &c->events->arena, &fetch, c->err) < 0)
		return -1;
	fetch.name = fetch.name ? keep(c, fetch.name) : NULL;
	fetch.value = fetch.value ? keep(c, fetch.value) : NULL;
	fetch.type = fetch.type ? keep(c, fetch.type) : NULL;
	fetch_add(c, x->event, fetch);
	return 0;
}

/* One of the variables that $vars or $params denotes. */
static bool expand_variable(void *context, const struct dwarf_die *variable, bool valued)
{
	enum { NAME_BYTES = 256 }; /* the kernel's limit is lower */
	struct expansion *x = context;
	const char *name = dwarf_die_name(variable);
	if (!name || !valued || !probe_is_variable(name) || strnlen(name, NAME_BYTES) == NAME_BYTES)
		return false;
	for (size_t i = 0; i < x->event->fetches.count; i++) /* an inner block hides it */
		if (x->event->fetches.items[i].name && !strcmp(x->event->fetches.items[i].name, name))
			return false;
	struct probe_argument argument = { .text = name, .variable = name };
	x->result = fetch_variable(x, &argument);
	if (x->event->fetches.count && !x->event->fetches.items[x->event->fetches.count - 1].value)
		x->event->fetches.count--;
	return x->result < 0 || x->event->fetches.count >= PROBE_ARGUMENTS_MAX;
}

static int fetches_of_place(struct conversion *c, const struct probe_place *place, struct probe_event *event)
{
	struct expansion x = { .conversion = c, .place = place, .event = event };
	for (size_t i = 0; i < c->spec->arguments.count && x.result == 0; i++) {
		const struct probe_argument *argument = &c->spec->arguments.items[i];
		bool variables = !strcmp(argument->variable, "$vars");
		if (variables || !strcmp(argument->variable, "$params"))
			probe_variables_walk(c->target, place, variables, false, expand_variable, &x);
		else
			x.result = fetch_variable(&x, argument);
	}
	return x.result;
}

static void place_in_kernel(struct conversion *c, const struct probe_place *place, struct probe_event *event)
{
	const struct symbol *symbol = probe_target_symbol_at(c->target, place->address);
	if (symbol) {
		event->symbol = keep(c, symbol->name);
		event->offset = place->address - c->target->text_shift - symbol->start;
	}
	event->path = c->target->object_name;
}

static int event_of_place(struct conversion *c, const struct probe_place *place)
{
	struct probe_event *event = event_add(c);
	const char *name = dwarf_die_name(&place->scope);
	event->address = place->address - c->target->text_shift;
	event->realname = name ? keep(c, name) : NULL;
	if (c->target->kernel)
		place_in_kernel(c, place, event);
	if (c->target->kernel && !event->symbol) {
		/* code of the kernel without a symbol (.init) cannot have a probe */
		probe_event_fini(event);
		c->events->list.count--;
		return 0;
	}
	return fetches_of_place(c, place, event);
}

static struct probe_fetch *fetch_named(struct probe_event *event, const char *name)
{
	for (size_t i = 0; i < event->fetches.count; i++)
		if (event->fetches.items[i].name && !strcmp(event->fetches.items[i].name, name))
			return &event->fetches.items[i];
	return NULL;
}

#define MISSING_VALUE "\\0xdeade12d"

/* The kernel requires the same arguments of all places of an event: each place gets the variables that $vars found at any of them, in one
 * order, with the type that they have at the first. */
static void unify(struct conversion *c, size_t first)
{
	struct probe_event *head = &c->events->list.items[first];
	for (size_t k = first + 1; k < c->events->list.count; k++)
		for (size_t i = 0; i < c->events->list.items[k].fetches.count; i++) {
			const struct probe_fetch *fetch = &c->events->list.items[k].fetches.items[i];
			if (fetch->name && head->fetches.count < PROBE_ARGUMENTS_MAX && !fetch_named(head, fetch->name))
				vec_push(&head->fetches, ((struct probe_fetch){ .name = fetch->name, .value = MISSING_VALUE, .type = fetch->type }));
		}
	for (size_t k = first + 1; k < c->events->list.count; k++) {
		struct probe_event *event = &c->events->list.items[k], ordered = { 0 };
		for (size_t i = 0; i < head->fetches.count; i++) {
			const struct probe_fetch *want = &head->fetches.items[i];
			const struct probe_fetch *own = want->name ? fetch_named(event, want->name) : want; /* registers are everywhere */
			bool same = own && (!own->type == !want->type) && (!own->type || !strcmp(own->type, want->type));
			struct probe_fetch fetch = same ? *own : *want;
			if (!same)
				fetch.value = MISSING_VALUE;
			vec_push(&ordered.fetches, fetch);
		}
		free(event->fetches.items);
		event->fetches.items = ordered.fetches.items;
		event->fetches.count = ordered.fetches.count;
		event->fetches.capacity = ordered.fetches.capacity;
	}
}

static bool has_expansion(const struct probe_spec *spec)
{
	for (size_t i = 0; i < spec->arguments.count; i++)
		if (!strcmp(spec->arguments.items[i].variable, "$vars") || !strcmp(spec->arguments.items[i].variable, "$params"))
			return true;
	return false;
}

/* A variable that has no value at some of the places is recorded there as a certain number; at all of them: an error. */
static int fill_missing(struct conversion *c, size_t first)
{
	bool expanded = has_expansion(c->spec);
	if (expanded)
		unify(c, first);
	size_t count = c->events->list.items[first].fetches.count;
	for (size_t i = 0; i < count; i++) {
		struct probe_fetch found = { 0 };
		for (size_t k = first; k < c->events->list.count && !found.value; k++)
			found = c->events->list.items[k].fetches.items[i];
		const char *name = expanded ? found.name : c->spec->arguments.items[i].variable;
		if (!found.value)
			return error_set(c->err, ERROR_USAGE, "Failed to find the location of the '%s' variable at this address.\n"
				" Perhaps it has been optimized out.\n Use -V with the --range option to show '%s' location range.", name, name);
		for (size_t k = first; k < c->events->list.count; k++) {
			struct probe_fetch *fetch = &c->events->list.items[k].fetches.items[i];
			if (!fetch->value)
				*fetch = (struct probe_fetch){ .name = fetch->name, .value = MISSING_VALUE, .type = found.type };
		}
	}
	return 0;
}

/* Returns 1 if events were added, 0 if there is no place, < 0 if it failed. */
static int convert_debug(struct conversion *c)
{
	struct probe_places places = { 0 };
	size_t first = c->events->list.count;
	int result = probe_places_find(c->target, c->spec, c->search, &places, c->err);
	for (size_t i = 0; i < places.list.count && result == 0; i++)
		result = event_of_place(c, &places.list.items[i]);
	vec_fini(&places.list);
	if (result < 0 || c->events->list.count == first)
		return result;
	return fill_missing(c, first) < 0 ? -1 : 1;
}

/* Versions of symbols ("f@@V1") count only if the definition has one. The stub "f@plt" is not the function: a probe in both would record
 * some calls twice. */
static bool symbol_named(const struct conversion *c, const struct symbol *symbol, const struct probe_name *name)
{
	CLEANUP_STR struct str plain = { 0 };
	size_t len = strchr(c->spec->function, '@') ? SIZE_MAX : strcspn(symbol->name, "@");
	if (len != SIZE_MAX && !strcmp(symbol->name + len, "@plt"))
		return false;
	if (len == SIZE_MAX || !symbol->name[len])
		return probe_symbol_named(symbol->name, name);
	str_add(&plain, symbol->name, len);
	return probe_symbol_named(str_text(&plain), name);
}

static int event_of_symbol(struct conversion *c, const struct symbol *symbol)
{
	if (c->spec->offset > symbol->end - symbol->start)
		return error_set(c->err, ERROR_USAGE, "Offset %llu is bigger than the size of %s", (unsigned long long)c->spec->offset, symbol->name);
	if (c->events->list.count >= c->search->max)
		return error_set(c->err, ERROR_LIMIT, "Too many functions matched in %s", c->target->path);
	struct probe_event *event = event_add(c);
	event->address = symbol->start + c->spec->offset;
	event->realname = keep(c, symbol->name);
	if (c->target->kernel) {
		event->symbol = event->realname;
		event->offset = c->spec->offset;
		event->path = c->target->object_name;
	}
	fetches_plain(c, event);
	return 0;
}

/* The same function may have several names: each address counts once. */
static bool has_address(const struct conversion *c, size_t first, uint64_t address)
{
	for (size_t i = first; i < c->events->list.count; i++)
		if (c->events->list.items[i].address == address)
			return true;
	return false;
}

/* Adds the functions with similar names to the error, the most similar first. */
static int add_similar(struct conversion *c)
{
	enum { SHOWN = 3, DISTANCE = 2 };
	const struct symbol_table *symbols = probe_target_symbols(c->target);
	CLEANUP_STR struct str list = { 0 };
	struct strtab seen = { 0 };
	for (unsigned distance = 1; c->spec->function && distance <= DISTANCE; distance++)
		for (uint32_t i = 0; i < symbols->count && seen.count < SHOWN; i++) {
			if (symbols->symbols[i].type != STT_FUNC)
				continue;
			CLEANUP_FREE char *name = probe_target_name(c->target, symbols->symbols[i].name);
			if (text_distance(name, c->spec->function, DISTANCE) != distance ||
			    strtab_find(&seen, name, strlen(name)) != UINT32_MAX)
				continue;
			strtab_add(&seen, name, strlen(name));
			str_printf(&list, "%s%s", list.len ? ", " : "", name);
		}
	strtab_fini(&seen);
	return list.len ? error_hint(c->err, "Similar functions: %s", list.text) : -1;
}

static int convert_symbols(struct conversion *c)
{
	const struct symbol_table *symbols = probe_target_symbols(c->target);
	size_t first = c->events->list.count;
	int result = 0;
	struct probe_name name = probe_name_of(c->spec->function);
	uint64_t versioned;
	bool version = strchr(c->spec->function, '@') && probe_target_version(c->target, c->spec->function, &versioned);
	for (uint32_t i = 0; i < symbols->count && result == 0; i++) {
		const struct symbol *s = &symbols->symbols[i];
		bool same = version ? s->start + c->target->text_shift == versioned : symbol_named(c, s, &name);
		if (s->type != STT_FUNC || !same || has_address(c, first, s->start + c->spec->offset))
			continue;
		result = event_of_symbol(c, s);
	}
	probe_name_fini(&name);
	if (result < 0 || c->events->list.count > first)
		return result;
	if (!symbols->count) {
		error_set(c->err, ERROR_USAGE, "Failed to load symbols from %s", c->target->path);
		return error_hint(c->err, "Please ensure the file is not stripped.");
	}
	error_set(c->err, ERROR_USAGE, "Failed to find symbol %s in %s", c->spec->function, c->target->path);
	return add_similar(c);
}

static int no_debug(const struct conversion *c)
{
	error_set(c->err, ERROR_USAGE, "The %s file has no debug information.", c->target->path);
	if (c->err)
		c->err->sys = ENODATA;
	return error_hint(c->err, "Rebuild with -g, or install an appropriate debuginfo package.");
}

static int not_found(struct conversion *c)
{
	CLEANUP_STR struct str place = { 0 };
	probe_spec_place(c->spec, &place);
	error_set(c->err, ERROR_USAGE, "Probe point '%s' not found.", str_text(&place));
	if (c->err)
		c->err->sys = ENODEV;
	return add_similar(c);
}

static int convert(struct probe_target *target, const struct probe_spec *spec, const struct probe_search *search,
	struct probe_events *events, struct error *err)
{
	struct conversion c = { .target = target, .spec = spec, .search = search, .events = events, .err = err };
	if (target->path && !target->kernel && strpbrk(target->path, " \t\n"))
		return error_set(err, ERROR_USAGE, "the kernel accepts no probe in a file with spaces in its path: %s", target->path);
	if (spec->absolute && !probe_needs_debug(spec)) {
		convert_absolute(&c);
		return 0;
	}
	if (spec->sdt)
		return convert_sdt(&c);
	if (spec->returns)
		return convert_symbols(&c);
	bool needs = probe_needs_debug(spec);
	if (!probe_target_debug(target))
		return needs ? no_debug(&c) : convert_symbols(&c);
	int found = convert_debug(&c);
	if (found)
		return found < 0 ? -1 : 0;
	struct error ignored;
	if (!needs && spec->function) {
		c.err = &ignored;
		if (convert_symbols(&c) == 0)
			return 0;
		c.err = err;
	}
	return not_found(&c);
}

int probe_convert(struct probe_target *target, const struct probe_spec *spec, const struct probe_search *search,
	struct probe_events *events, struct error *err)
{
	uint64_t address;
	struct probe_spec whole = *spec;
	CLEANUP_STR struct str name = { 0 };
	str_printf(&name, "%s@%s", spec->function ? spec->function : "", spec->file ? spec->file : "");
	/* "memcpy@GLIBC_2.2.5": a version, not a file */
	if (spec->function && spec->file && !spec->line && !spec->pattern && probe_target_version(target, name.text, &address)) {
		whole.function = name.text;
		whole.file = NULL;
	}
	return convert(target, &whole, search, events, err);
}

/* Whether the list has a function of that name: "ADDRESS TYPE NAME[\t[MODULE]]". */
static bool kernel_has(const char *symbols, const char *name, const char *module)
{
	size_t len = strlen(name), end = module ? strlen(module) : 0;
	for (const char *line = symbols; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *at = strchr(line, ' ');
		if (!at || !strchr("tTwW", at[1]) || at[2] != ' ' || strncmp(at + 3, name, len) != 0)
			continue;
		at += 3 + len;
		if (!module ? *at == '\n' || !*at : at[0] == '\t' && at[1] == '[' && !strncmp(at + 2, module, end) && at[2 + end] == ']')
			return true;
	}
	return false;
}

/* An argument as the kernel's own type information resolves it. */
static struct probe_fetch fetch_by_name(struct probe_events *events, const struct probe_argument *argument)
{
	struct probe_fetch fetch = { .name = argument->name, .value = argument->text, .type = argument->type };
	if (!strcmp(argument->variable, "$params"))
		fetch.value = "$arg*";
	else if (!fetch.name && probe_is_variable(argument->variable))
		fetch.name = argument->variable;
	for (size_t i = 0; !argument->name && i < argument->fields.count; i++)
		fetch.name = argument->fields.items[i].name ? argument->fields.items[i].name : fetch.name;
	fetch.name = fetch.name ? arena_string(&events->arena, fetch.name, strlen(fetch.name)) : NULL;
	fetch.value = arena_string(&events->arena, fetch.value, strlen(fetch.value));
	fetch.type = fetch.type ? arena_string(&events->arena, fetch.type, strlen(fetch.type)) : NULL;
	return fetch;
}

static bool is_parameter(const struct probe_argument *argument)
{
	return probe_is_variable(argument->variable) || !strcmp(argument->variable, "$params") || !strcmp(argument->variable, "$vars");
}

static int fetches_by_name(const struct probe_spec *spec, const struct btf_types *types, struct probe_events *events,
	struct probe_event *event, struct error *err)
{
	struct probe_fetches found = { 0 };
	struct btf_type prototype;
	bool known = types && !spec->absolute && btf_types_function(types, spec->function, &prototype);
	int result = 0;
	for (size_t i = 0; i < spec->arguments.count && result == 0; i++) {
		const struct probe_argument *argument = &spec->arguments.items[i];
		if (is_parameter(argument) && spec->offset)
			result = error_set(err, ERROR_USAGE, "parameters of %s are known at its entry only, without debug information", spec->function);
		else if (known && spec->returns && !strcmp(argument->variable, "$retval"))
			result = probe_returned_fetch(types, &prototype, spec->function, argument, &events->arena, &found, err);
		else if (known && !spec->returns && is_parameter(argument))
			result = probe_parameter_fetch(types, &prototype, spec->function, argument, &events->arena, &found, err);
		else if (!strcmp(argument->variable, "$vars"))
			result = error_set(err, ERROR_USAGE, "$vars needs the kernel's file with debug information (vmlinux)");
		else
			vec_push(&found.list, fetch_by_name(events, argument));
	}
	for (size_t i = 0; i < found.list.count; i++)
		vec_push(&event->fetches, found.list.items[i]);
	vec_fini(&found.list);
	return result;
}

int probe_convert_by_name(const struct probe_spec *spec, const char *module, const char *symbols, const struct btf_types *types,
	struct probe_events *events, struct error *err)
{
	if (!spec->function || spec->file || spec->line || spec->pattern || spec->sdt || probe_is_glob(spec->function)) {
		error_set(err, ERROR_USAGE, "lines, files and patterns of the kernel need its file with debug information (vmlinux)");
		return error_hint(err, "install the package of the kernel's debug symbols, or name the file with -k");
	}
	if (!spec->absolute && !kernel_has(symbols, spec->function, module))
		return error_set(err, ERROR_USAGE, "Failed to find symbol %s in %s", spec->function, module ? module : "kernel");
	struct probe_event *event = vec_add(&events->list);
	event->returns = spec->returns;
	event->path = module ? arena_string(&events->arena, module, strlen(module)) : NULL;
	event->realname = arena_string(&events->arena, spec->function, strlen(spec->function));
	event->symbol = spec->absolute ? NULL : event->realname;
	event->address = spec->address;
	event->offset = spec->offset;
	return fetches_by_name(spec, types, events, event, err);
}

void probe_names_fini(struct probe_names *names)
{
	strtab_fini(&names->names);
}

static bool name_exists(const struct probe_names *names, const char *group, const char *event)
{
	CLEANUP_STR struct str full = { 0 };
	str_printf(&full, "%s:%s", group, event);
	return strtab_find(&names->names, full.text, full.len) != UINT32_MAX;
}

/* The kernel reads several definitions from one write, each to the end of its line or to '#', and splits them at spaces: a name from a file
 * that has one of these would add further events. */
static int check_words(const struct probe_event *event, struct error *err)
{
	const char *bad = NULL;
	const char *const words[] = { event->path, event->symbol };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		bad = words[i] && strpbrk(words[i], " \t\n\v\f\r#") ? words[i] : bad;
	for (size_t i = 0; i < event->fetches.count; i++) {
		const struct probe_fetch *fetch = &event->fetches.items[i];
		const char *const parts[] = { fetch->name, fetch->value, fetch->type };
		for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
			bad = parts[k] && strpbrk(parts[k], " \t\n\v\f\r#") ? parts[k] : bad;
	}
	return bad ? error_set(err, ERROR_USAGE, "the kernel accepts no probe with a space or # in \"%s\"", bad) : 0;
}

/* Appends a name without arguments of templates, parameters and the words for scopes without a name: "ns::box<int>::get(int)" →
 * "ns::box::get". */
static void plain_name(const char *name, struct str *to)
{
	static const char unnamed[] = "(anonymous namespace)::", operator[] = "operator";
	unsigned depth = 0;
	for (const char *at = name; *at; at++) {
		if (!strncmp(at, unnamed, sizeof unnamed - 1)) {
			at += sizeof unnamed - 2;
			continue;
		}
		bool last = !depth && !strncmp(at, operator, sizeof operator - 1);
		if (last)
			str_puts(to, operator);
		if (last || (!depth && *at == '('))
			return;
		depth += *at == '<' || *at == '{';
		if (!depth)
			str_putc(to, *at);
		depth -= depth && (*at == '>' || *at == '}');
	}
}

int probe_event_set_name(struct probe_events *events, struct probe_event *event, const struct probe_spec *spec,
	const struct probe_names *names, bool again, struct error *err)
{
	char name[PROBE_NAME_MAX], group[PROBE_NAME_MAX], numbered[PROBE_NAME_MAX + 8];
	const char *base = spec->function && !spec->absolute && !probe_is_glob(spec->function) ? spec->function : event->realname;
	if (spec->event && !spec->sdt)
		base = spec->event;
	if (spec->sdt)
		base = event->event;
	if (probe_is_qualified(base)) {
		CLEANUP_STR struct str plain = { 0 };
		plain_name(base, &plain);
		probe_event_name(str_text(&plain), event->returns, name);
	} else {
		probe_event_name(base, event->returns && !spec->sdt, name); /* a cached name is complete */
	}
	if (event->user)
		probe_group_name(event->path, group);
	else
		strcpy(group, "probe");
	if (!spec->sdt) {
		const char *chosen = spec->group ? spec->group : group;
		event->group = arena_string(&events->arena, chosen, strlen(chosen));
	}
	snprintf(numbered, sizeof numbered, "%s", name);
	for (unsigned i = 1; name_exists(names, event->group, numbered); i++) {
		if (!again) {
			error_set(err, ERROR_USAGE, "Error: event \"%s\" already exists.", numbered);
			return error_hint(err, "Remove existing event by 'perf probe -d'\n"
				"       or force duplicates by 'perf probe -f'\n"
				"       or set 'force=yes' in BPF source.");
		}
		if (i == NAME_TRIES)
			return error_set(err, ERROR_LIMIT, "Too many events are on the same function.");
		snprintf(numbered, sizeof numbered, "%.50s_%u", name, i);
	}
	event->event = arena_string(&events->arena, numbered, strlen(numbered));
	if (!probe_is_name(event->event) || !probe_is_name(event->group))
		return error_set(err, ERROR_USAGE, "the kernel accepts no event with the name %s:%s", event->group, event->event);
	return check_words(event, err);
}
