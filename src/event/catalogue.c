#include "event/catalogue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_lexer.h"
#include "event/event_names.h"
#include "event/event_terms.h"
#include "os/counter.h"
#include "os/tracefs.h"

enum { CATALOGUE_MAX = 1 << 20 };

void catalogue_fini(struct catalogue *catalogue)
{
	vec_fini(&catalogue->list);
	pmus_fini(&catalogue->pmus);
	arena_fini(&catalogue->arena);
}

static struct catalogue_event *add(struct catalogue *c, enum catalogue_kind kind, const char *name, const char *type_text)
{
	struct catalogue_event *event = vec_add(&c->list);
	event->kind = kind;
	event->name = name;
	event->type_text = type_text;
	return event;
}

static const char *text(struct catalogue *c, const struct str *from)
{
	return arena_string(&c->arena, str_text(from), from->len);
}

/* For all code, else for user code, else without guests. ENOENT is an event that no PMU has. */
bool catalogue_supports(uint32_t type, uint64_t config)
{
	static const uint64_t more[] = { 1ull << ATTR_DISABLED, 1ull << ATTR_EXCLUDE_KERNEL, 1ull << ATTR_EXCLUDE_GUEST };
	struct attr attr = { .type = type, .config = config };
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
		attr.flags |= more[i];
		int fd = counter_open(&attr, 0, -1, -1, 0);
		if (fd >= 0) {
			counter_close(fd);
			return true;
		}
		if (fd == -ENOENT)
			return false;
	}
	return false;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct catalogue_event *)a)->name, ((const struct catalogue_event *)b)->name);
}

static void add_symbols(struct catalogue *c, enum catalogue_kind kind, uint32_t type, const char *type_text)
{
	size_t first = c->list.count;
	for (const struct event_symbol *symbol = event_symbols; symbol->name; symbol++) {
		if (symbol->type != type || (type != EVENT_TYPE_TOOL && !catalogue_supports(type, symbol->config)))
			continue;
		struct catalogue_event *event = add(c, kind, symbol->name, type_text);
		event->alias = symbol->alias;
		event->topic = type == EVENT_TYPE_TOOL ? "tool" : NULL;
	}
	if (type != EVENT_TYPE_TOOL && c->list.count > first)
		qsort(&c->list.items[first], c->list.count - first, sizeof c->list.items[0], compare_names);
}

static void add_cache(struct catalogue *c, struct pmu *pmu, unsigned type, unsigned op, unsigned result)
{
	char name[64];
	struct str alias = { 0 };
	uint64_t config = type | op << 8 | result << 16;
	uint64_t extended = pmus_core_count(&c->pmus) > 1 ? (uint64_t)pmu->type << 32 : 0;
	if (!event_cache_possible(type, op) || !event_cache_name(config, name, sizeof name) ||
	    !catalogue_supports(ATTR_HW_CACHE, config | extended))
		return;
	struct catalogue_event *event = add(c, CATALOGUE_CACHE, arena_string(&c->arena, name, strlen(name)), "Hardware cache event");
	str_printf(&alias, "%s/%s/", pmu->name, name);
	event->alias = text(c, &alias);
	event->topic = "cache";
	event->pmu = pmu->name;
	str_fini(&alias);
}

static void add_caches(struct catalogue *c)
{
	for (size_t i = 0; i < pmus_core_count(&c->pmus); i++)
		for (unsigned type = 0; type < CACHE_TYPES; type++)
			for (unsigned op = 0; op < CACHE_OPS; op++)
				for (unsigned result = 0; result < CACHE_RESULTS; result++)
					add_cache(c, c->pmus.list.items[i], type, op, result);
}

/* Whether the PMU is of the same family as the one before it, so that its events are listed already. */
static bool is_repeated(const struct catalogue *c, size_t index)
{
	if (!index || c->pmus.list.items[index]->core != c->pmus.list.items[index - 1]->core)
		return false;
	const char *name = c->pmus.list.items[index]->name, *before = c->pmus.list.items[index - 1]->name;
	size_t length = pmu_family_length(name);
	return length == pmu_family_length(before) && memcmp(name, before, length) == 0;
}

/* Appends the terms of a named event as the parser reads them; `parameters`: those alone whose value the user must give. */
static void append_terms(struct catalogue *c, const struct pmu_event *named, bool parameters, struct str *out)
{
	struct event_lexer lexer = { .text = named->terms, .state = LEX_TERMS, .sysfs = true };
	struct event_token token = event_lexer_next(&lexer);
	struct event_error unwanted = { 0 };
	struct event_term term;
	bool first = !parameters;
	while (event_term_parse(&c->arena, &lexer, &token, &term, &unwanted) == 0) {
		if (parameters && !term.text)
			goto next;
		str_puts(out, first ? "" : ",");
		first = false;
		if (term.text)
			str_printf(out, "%s=%s", term.name, term.text);
		else if (term.no_value)
			str_puts(out, term.name);
		else
			str_printf(out, "%s=%#llx", term.name, (unsigned long long)term.number);
next:
		if (token.kind != TOKEN_COMMA)
			return;
		token = event_lexer_next(&lexer);
	}
}

/* An event of a vendor's file; the PMU is shown as `length` characters of its name. */
static void add_vendor(struct catalogue *c, const struct vendor_event *from, struct catalogue_event *event, size_t length)
{
	event->topic = from->topic;
	event->description = from->description;
	event->long_description = from->long_description ? from->long_description : from->description;
	event->deprecated = from->deprecated;
	if (event->pmu[length])
		event->pmu = arena_string(&c->arena, event->pmu, length);
}

static void add_named(struct catalogue *c, const struct pmu *pmu, const struct pmu_event *named)
{
	bool whole = pmu->core || (c->every_pmu && !named->vendor);
	size_t length = whole ? strlen(pmu->name) : pmu_family_length(pmu->name);
	struct str full = { 0 }, encoding = { 0 }, scale = { 0 };
	str_printf(&full, "%.*s/%s", (int)length, pmu->name, named->name);
	append_terms(c, named, true, &full);
	str_putc(&full, '/');
	str_printf(&encoding, "%.*s/", (int)length, pmu->name);
	append_terms(c, named, false, &encoding);
	str_putc(&encoding, '/');
	bool described = named->vendor && named->vendor->description, by_name = pmu->core || described;
	struct catalogue_event *event = add(c, CATALOGUE_PMU, by_name ? named->name : text(c, &full), "Kernel PMU event");
	event->alias = pmu->core && !described ? text(c, &full) : NULL;
	event->core = pmu->core;
	event->pmu = pmu->name;
	if (named->vendor)
		add_vendor(c, named->vendor, event, length);
	event->encoding = text(c, &encoding);
	if (named->unit || named->scale != 1) {
		str_printf(&scale, "%G%s", named->scale, named->unit ? named->unit : "");
		event->scale_unit = text(c, &scale);
	}
	str_fini(&full);
	str_fini(&encoding);
	str_fini(&scale);
}

/* Events without a description precede the others; then by topic; events of cores precede the others; then by PMU, then by name. */
static int compare_named(const void *a, const void *b)
{
	const struct catalogue_event *left = a, *right = b;
	int order = (left->description != NULL) - (right->description != NULL);
	if (!order)
		order = strcmp(left->topic ? left->topic : "", right->topic ? right->topic : "");
	if (order)
		return order;
	order = left->core == right->core ? strcmp(left->pmu, right->pmu) : left->core ? -1 : 1;
	return order ? order : strcmp(left->name, right->name);
}

static void add_pmus(struct catalogue *c)
{
	size_t first = c->list.count;
	pmus_read(&c->pmus);
	for (size_t i = 0; i < c->pmus.list.count; i++) {
		struct pmu *pmu = c->pmus.list.items[i];
		bool repeated = is_repeated(c, i);
		if (repeated && !c->every_pmu)
			continue;
		pmu_load_events(&c->pmus, pmu);
		for (size_t k = 0; k < pmu->events.count && c->list.count < CATALOGUE_MAX; k++)
			if (!repeated || !pmu->events.items[k].vendor)
				add_named(c, pmu, &pmu->events.items[k]);
		if (pmu_traces(pmu)) { /* it needs no terms */
			struct str name = { 0 };
			str_printf(&name, "%s//", pmu->name);
			add(c, CATALOGUE_PMU, text(c, &name), "Kernel PMU event")->pmu = pmu->name;
			str_fini(&name);
		}
	}
	if (c->list.count > first)
		qsort(&c->list.items[first], c->list.count - first, sizeof c->list.items[0], compare_named);
}

/* The terms that all events of a core PMU take, as a list shows them. */
static const char *const core_terms[] = {
	"config=0..0xffffffffffffffff", "config1=0..0xffffffffffffffff", "config2=0..0xffffffffffffffff", "config3=0..0xffffffffffffffff",
	"name=string", "period=number", "freq=number", "branch_type=(u|k|hv|any|...)", "time", "call-graph=(fp|dwarf|lbr)",
	"stack-size=number", "max-stack=number", "nr=number", "inherit", "no-inherit", "overwrite", "no-overwrite", "percore", "aux-output",
	"aux-sample-size=number",
};

enum { SHOWN_TERMS = 3, CORE_TERMS = sizeof core_terms / sizeof core_terms[0] };

/* "umask=0..255": a format with the range of its values. */
static void append_format(struct str *out, const struct pmu_format *format)
{
	unsigned long long max = pmu_format_max(format);
	int bits = __builtin_popcountll(format->bits);
	str_puts(out, format->name);
	if (bits > 8)
		str_printf(out, "=0..%#llx", max);
	else if (bits > 1)
		str_printf(out, "=0..%llu", max);
}

static void add_raw_of_pmu(struct catalogue *c, struct pmu *pmu)
{
	struct str brief = { 0 }, full = { 0 };
	pmu_load(&c->pmus, pmu);
	size_t count = pmu->formats.count + (pmu->core ? CORE_TERMS : 0);
	str_printf(&brief, "%.*s/", (int)pmu_family_length(pmu->name), pmu->name);
	str_puts(&full, brief.text);
	for (size_t i = 0; i < count; i++) {
		struct str term = { 0 };
		if (i < pmu->formats.count)
			append_format(&term, &pmu->formats.items[i]);
		else
			str_puts(&term, core_terms[i - pmu->formats.count]);
		str_printf(&full, "%s%s", i ? "," : "", term.text);
		if (i < SHOWN_TERMS)
			str_printf(&brief, "%s%s", i ? "," : "", term.text);
		str_fini(&term);
	}
	str_puts(&brief, count > SHOWN_TERMS ? ",.../modifier" : "/modifier");
	str_puts(&full, "/modifier");
	struct catalogue_event *event = add(c, CATALOGUE_RAW, text(c, &brief), "Raw event descriptor");
	event->description = pmu->core ? "(see 'man perf-list' or 'man perf-record' on how to encode it)" : NULL;
	event->encoding = text(c, &full);
	str_fini(&brief);
	str_fini(&full);
}

static void add_raw(struct catalogue *c)
{
	add(c, CATALOGUE_RAW, "rNNN", "Raw event descriptor");
	pmus_read(&c->pmus);
	for (size_t i = 0; i < c->pmus.list.count; i++)
		if (c->every_pmu || !is_repeated(c, i))
			add_raw_of_pmu(c, c->pmus.list.items[i]);
}

static void add_tracepoint(struct catalogue *c, const char *system, const struct tracefs_entry *entry)
{
	char full[512], encoding[64];
	int length = snprintf(full, sizeof full, "%.200s:%.200s", system, entry->name);
	struct catalogue_event *event = add(c, CATALOGUE_TRACEPOINT, arena_string(&c->arena, full, (size_t)length), "Tracepoint event");
	length = snprintf(encoding, sizeof encoding, "tracepoint/config=%#llx/", (unsigned long long)entry->id);
	event->encoding = c->encodings ? arena_string(&c->arena, encoding, (size_t)length) : NULL;
}

static int add_tracepoints(struct catalogue *c, struct error *err)
{
	CLEANUP_NAMES struct names systems = { 0 };
	if (tracefs_systems(&systems, err) < 0)
		return -1;
	names_sort(&systems);
	for (size_t i = 0; i < systems.list.count; i++) {
		struct tracefs_list list = { 0 };
		const char *system = systems.list.items[i];
		if (tracefs_list(system, c->encodings, &list, NULL) == 0)
			for (size_t k = 0; k < list.list.count && c->list.count < CATALOGUE_MAX; k++)
				add_tracepoint(c, system, &list.list.items[k]);
		tracefs_list_fini(&list);
	}
	return 0;
}

int catalogue_add(struct catalogue *catalogue, enum catalogue_kind kind, struct error *err)
{
	switch (kind) {
	case CATALOGUE_HARDWARE: add_symbols(catalogue, kind, ATTR_HARDWARE, "Hardware event"); break;
	case CATALOGUE_SOFTWARE: add_symbols(catalogue, kind, ATTR_SOFTWARE, "Software event"); break;
	case CATALOGUE_TOOL: add_symbols(catalogue, kind, EVENT_TYPE_TOOL, "Tool event"); break;
	case CATALOGUE_CACHE: add_caches(catalogue); break;
	case CATALOGUE_PMU: add_pmus(catalogue); break;
	case CATALOGUE_RAW: add_raw(catalogue); break;
	case CATALOGUE_BREAKPOINT: add(catalogue, kind, "mem:<addr>[/len][:access]", "Hardware breakpoint"); break;
	case CATALOGUE_TRACEPOINT: return add_tracepoints(catalogue, err);
	default: break;
	}
	return 0;
}
