#include "event/event_terms.h"

#include <stdio.h>
#include <string.h>

#include "event/event_names.h"

int event_terms_parse(const char *text, size_t *at, struct event_term_list *list, struct event_error *err)
{
	size_t i = *at;
	for (;;) {
		struct event_term term = { .name = text + i, .at = i };
		term.name_length = strcspn(text + i, "=,/");
		i += term.name_length;
		if (text[i] == '=') {
			char quote = text[++i];
			term.quoted = quote == '\'' || quote == '"';
			term.value_at = i;
			term.value = text + i + term.quoted;
			term.value_length = term.quoted ? strcspn(term.value, quote == '"' ? "\"" : "'") : strcspn(text + i, ",/");
			i += term.value_length + term.quoted;
			if (term.quoted && text[i++] == '\0')
				i--;
		}
		if (term.name_length)
			vec_push(&list->terms, term);
		if (text[i] == ',') {
			i++;
			continue;
		}
		if (text[i] == '/') {
			*at = i + 1;
			return 0;
		}
		err->at = i;
		snprintf(err->what, sizeof err->what, "Unrecognized input");
		snprintf(err->help, sizeof err->help, "the closing '/' is missing");
		return -1;
	}
}

bool event_number(const char *text, size_t length, uint64_t *value)
{
	bool hex = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint64_t v = 0;
	if (length == 0)
		return false;
	for (size_t i = hex ? 2 : 0; i < length; i++) {
		unsigned digit = 16;
		if (text[i] >= '0' && text[i] <= '9')
			digit = (unsigned)(text[i] - '0');
		else if (hex && text[i] >= 'a' && text[i] <= 'f')
			digit = (unsigned)(text[i] - 'a' + 10);
		else if (hex && text[i] >= 'A' && text[i] <= 'F')
			digit = (unsigned)(text[i] - 'A' + 10);
		if (digit >= (hex ? 16u : 10u) || __builtin_mul_overflow(v, hex ? 16u : 10u, &v) || __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*value = v;
	return true;
}

enum term_kind {
	TERM_NUMBER,   /* a uint64_t at the offset in struct event */
	TERM_SWITCH,   /* a bool at the offset; the value is 0 or 1 */
	TERM_TRUTH,    /* a bool at the offset; the value is any number */
	TERM_STRING,
	TERM_INVERSE,  /* "no-…": a bool at the offset, inverted */
	TERM_BRANCH,
};

#define ROW(word, form, field, ...) { .name = (word), .kind = (form), .offset = offsetof(struct event, field), ##__VA_ARGS__ }

static const struct term_row {
	const char *name;
	enum term_kind kind;
	size_t offset;
	uint32_t bit;          /* of event_terms.set; 0: none */
	uint32_t clears;
	bool tracepoint;       /* valid for tracepoints */
} rows[] = {
	ROW("config", TERM_NUMBER, attr.config),
	ROW("config1", TERM_NUMBER, attr.config1),
	ROW("config2", TERM_NUMBER, attr.config2),
	ROW("config3", TERM_NUMBER, attr.config3),
	ROW("name", TERM_STRING, name, .bit = EVENT_TERM_NAME),
	ROW("period", TERM_NUMBER, terms.period, .bit = EVENT_TERM_PERIOD, .clears = EVENT_TERM_FREQ),
	ROW("freq", TERM_NUMBER, terms.freq, .bit = EVENT_TERM_FREQ, .clears = EVENT_TERM_PERIOD),
	ROW("branch_type", TERM_BRANCH, terms.branch, .bit = EVENT_TERM_BRANCH),
	ROW("time", TERM_SWITCH, terms.time, .bit = EVENT_TERM_TIME),
	ROW("call-graph", TERM_STRING, terms.call_graph, .bit = EVENT_TERM_CALL_GRAPH, .tracepoint = true),
	ROW("stack-size", TERM_NUMBER, terms.stack_size, .bit = EVENT_TERM_STACK_SIZE, .tracepoint = true),
	ROW("no-inherit", TERM_INVERSE, terms.inherit, .bit = EVENT_TERM_INHERIT, .tracepoint = true),
	ROW("inherit", TERM_TRUTH, terms.inherit, .bit = EVENT_TERM_INHERIT, .tracepoint = true),
	ROW("max-stack", TERM_NUMBER, terms.max_stack, .bit = EVENT_TERM_MAX_STACK, .tracepoint = true),
	ROW("nr", TERM_NUMBER, terms.max_events, .bit = EVENT_TERM_MAX_EVENTS, .tracepoint = true),
	ROW("no-overwrite", TERM_INVERSE, terms.overwrite, .bit = EVENT_TERM_OVERWRITE, .tracepoint = true),
	ROW("overwrite", TERM_TRUTH, terms.overwrite, .bit = EVENT_TERM_OVERWRITE, .tracepoint = true),
	ROW("percore", TERM_SWITCH, terms.percore, .bit = EVENT_TERM_PERCORE),
	ROW("aux-output", TERM_TRUTH, terms.aux_output, .bit = EVENT_TERM_AUX_OUTPUT, .tracepoint = true),
	ROW("aux-sample-size", TERM_NUMBER, terms.aux_sample_size, .bit = EVENT_TERM_AUX_SAMPLE_SIZE, .tracepoint = true),
	ROW("metric-id", TERM_STRING, terms.metric_id, .bit = EVENT_TERM_METRIC_ID),
};

static const struct term_row *term_row_find(const struct event_term *term)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strlen(rows[i].name) == term->name_length && memcmp(rows[i].name, term->name, term->name_length) == 0)
			return &rows[i];
	return NULL;
}

static int term_error(struct event_error *err, size_t at, const char *what)
{
	err->at = at;
	snprintf(err->what, sizeof err->what, "%s", what);
	return -1;
}

static int term_number(const struct event_term *term, uint64_t *value, struct event_error *err)
{
	*value = 1;
	if (!term->value)
		return 0;
	return event_number(term->value, term->value_length, value) ? 0 : term_error(err, term->value_at, "expected numeric value");
}

static int term_row_apply(struct events *events, struct event *event, const struct term_row *row, const struct event_term *term,
	struct event_error *err)
{
	void *field = (char *)event + row->offset;
	uint64_t number = 0;
	struct error why;
	if (row->kind == TERM_STRING || row->kind == TERM_BRANCH) {
		if (!term->value || !term->value_length || (!term->quoted && event_number(term->value, term->value_length, &number)))
			return term_error(err, term->value ? term->value_at : term->at, "expected string value");
		const char *text = arena_string(&events->arena, term->value, term->value_length);
		if (row->kind == TERM_STRING)
			*(const char **)field = text;
		else if (strcmp(text, "no") == 0)
			*(uint64_t *)field = 0;
		else if (branch_filter_parse(text, field, &why) < 0)
			return term_error(err, term->value_at, "invalid branch sample type");
	} else {
		if (term_number(term, &number, err) < 0)
			return -1;
		if (row->kind == TERM_SWITCH && number > 1)
			return term_error(err, term->value_at, "expected 0 or 1");
		if (row->kind == TERM_NUMBER)
			*(uint64_t *)field = number;
		else
			*(bool *)field = (row->kind != TERM_INVERSE) == (number != 0);
	}
	event->terms.set = (event->terms.set & ~row->clears) | row->bit;
	return 0;
}

static void list_valid_terms(const struct pmu *pmu, bool tracepoint, struct event_error *err)
{
	struct str text = { 0 };
	for (size_t i = 0; pmu && i < pmu->formats.count; i++)
		str_printf(&text, "%s%s", text.len ? "," : "", pmu->formats.items[i].name);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (!tracepoint || rows[i].tracepoint)
			str_printf(&text, "%s%s", text.len ? "," : "", rows[i].name);
	snprintf(err->help, sizeof err->help, "valid terms: %s", str_text(&text));
	str_fini(&text);
}

static int unknown_term_error(const struct event_term *term, const struct pmu *pmu, bool tracepoint, struct event_error *err)
{
	err->at = term->at;
	if (pmu)
		snprintf(err->what, sizeof err->what, "unknown term '%.*s' for pmu '%s'", (int)(term->name_length & 0xff), term->name,
			pmu->name);
	else
		snprintf(err->what, sizeof err->what, "unknown term '%.*s'", (int)(term->name_length & 0xff), term->name);
	list_valid_terms(pmu, tracepoint, err);
	return -1;
}

static int pmu_format_term_apply(struct event *event, const struct pmu_format *format, const struct event_term *term,
	struct event_error *err)
{
	uint64_t number;
	if (term_number(term, &number, err) < 0)
		return -1;
	if (pmu_format_apply(format, number, &event->attr))
		return 0;
	err->at = term->value_at;
	snprintf(err->what, sizeof err->what, "value too big for format (%s), maximum is %llu", format->name,
		(unsigned long long)pmu_format_max(format));
	return -1;
}

static const struct event_term *term_with_value(const struct event_term_list *list, const struct event_term *like)
{
	for (size_t i = 0; list && i < list->terms.count; i++) {
		const struct event_term *term = &list->terms.items[i];
		if (term->value && term->name_length == like->name_length && memcmp(term->name, like->name, like->name_length) == 0)
			return term;
	}
	return NULL;
}

/* Applies the terms of a named event, such as "event=0x3c,umask=?". The user's terms must give the values of '?'. */
static int pmu_event_apply(struct event *event, const struct pmu *pmu, const struct pmu_event *alias, const struct event_term_list *given,
	size_t at, struct event_error *err)
{
	struct event_term_list list = { 0 };
	struct str text = { 0 };
	size_t from = 0;
	str_printf(&text, "%s/", alias->terms);
	int status = event_terms_parse(text.text, &from, &list, err);
	for (size_t i = 0; status == 0 && i < list.terms.count; i++) {
		const struct event_term *term = &list.terms.items[i], *value = term;
		const struct pmu_format *format = pmu_format(pmu, term->name, term->name_length);
		const struct term_row *row = term_row_find(term);
		if (term->value && term->value_length == 1 && *term->value == '?')
			value = term_with_value(given, term);
		if (!value) {
			snprintf(err->what, sizeof err->what, "Required parameter '%.*s' not specified", (int)(term->name_length & 0xff),
				term->name);
			status = -1;
		} else if (format) {
			status = pmu_format_term_apply(event, format, value, err);
		} else if (row && row->kind == TERM_NUMBER && !row->bit) {
			status = term_row_apply(NULL, event, row, value, err);
		}
	}
	if (status < 0)
		err->at = at;
	if (alias->unit)
		event->unit = alias->unit;
	event->scale = alias->scale;
	event->per_package = alias->per_package;
	event->snapshot = alias->snapshot;
	vec_fini(&list.terms);
	str_fini(&text);
	return status;
}

/* A term without a value may be a generic event of a core PMU: cpu/cycles/, cpu/L1-dcache-loads/. */
static bool generic_event_apply(struct event *event, const struct pmu *pmu, const struct event_term *term)
{
	const struct event_symbol *symbol = event_symbol_find(term->name, term->name_length);
	uint64_t config;
	if (term->value || !pmu->core)
		return false;
	if (symbol && symbol->type == ATTR_HARDWARE) {
		event->attr.type = ATTR_HARDWARE;
		event->attr.config = symbol->config;
	} else if (event_cache_find(term->name, term->name_length, &config) == 1) {
		event->attr.type = ATTR_HW_CACHE;
		event->attr.config = config;
	} else {
		return false;
	}
	if (strcmp(pmu->name, "cpu") != 0)
		event->attr.config |= (uint64_t)pmu->type << 32; /* the machine has several core PMUs */
	return true;
}

/* The term "r1a" sets the complete config word. */
static bool raw_config_apply(struct event *event, const struct event_term *term)
{
	uint64_t value = 0;
	if (term->value || term->name_length < 2 || term->name_length > 17 || term->name[0] != 'r')
		return false;
	for (size_t i = 1; i < term->name_length; i++) {
		char c = term->name[i];
		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F'))
			return false;
		value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	event->attr.config = value;
	return true;
}

int event_terms_apply(struct events *events, struct event *event, struct pmu *pmu, const struct event_term_list *list,
	bool tracepoint, struct event_error *err)
{
	for (size_t i = 0; i < list->terms.count; i++) {
		const struct event_term *term = &list->terms.items[i];
		const struct pmu_format *format = pmu ? pmu_format(pmu, term->name, term->name_length) : NULL;
		const struct pmu_event *alias = pmu && !term->value ? pmu_event(pmu, term->name, term->name_length) : NULL;
		const struct term_row *row = term_row_find(term);
		int status = 0;
		if (tracepoint && (!row || !row->tracepoint))
			return unknown_term_error(term, NULL, true, err);
		if (term->name[0] == '@') {
			event->terms.driver = arena_string(&events->arena, term->name + 1, term->name_length - 1);
			event->terms.set |= EVENT_TERM_DRIVER;
		} else if (row) {
			status = term_row_apply(events, event, row, term, err);
		} else if (alias) {
			status = pmu_event_apply(event, pmu, alias, list, term->at, err);
		} else if (format) {
			status = pmu_format_term_apply(event, format, term, err);
		} else if (!(pmu && generic_event_apply(event, pmu, term)) && !(!tracepoint && raw_config_apply(event, term))) {
			return unknown_term_error(term, pmu, tracepoint, err);
		}
		if (status < 0)
			return status;
	}
	return 0;
}
