#include "event/event_terms.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/distance.h"
#include "event/event_names.h"
#include "event/event_nearest.h"
#include "event/event_pmu_terms.h"

enum row_kind {
	ROW_NUMBER,   /* a uint64_t at the offset in struct event */
	ROW_NUMBER32, /* a uint64_t of at most 32 bits */
	ROW_SWITCH,   /* a bool at the offset; the value is 0 or 1 */
	ROW_TRUTH,    /* a bool at the offset; the value is any number */
	ROW_STRING,
	ROW_INVERSE,  /* "no-…": a bool at the offset, inverted */
	ROW_BRANCH,
};

#define ROW(word, form, field, ...) { .name = (word), .kind = (form), .offset = offsetof(struct event, field), ##__VA_ARGS__ }

static const struct term_row {
	const char *name;
	enum row_kind kind;
	size_t offset;
	uint32_t bit;          /* of event_terms.set; 0: none */
	uint32_t clears;
	bool tracepoint;       /* valid for tracepoints */
	bool counted;          /* valid for events that are counted without samples */
} rows[] = {
	ROW("config", ROW_NUMBER, attr.config, .counted = true),
	ROW("config1", ROW_NUMBER, attr.config1, .counted = true),
	ROW("config2", ROW_NUMBER, attr.config2, .counted = true),
	ROW("config3", ROW_NUMBER, attr.config3, .counted = true),
	ROW("name", ROW_STRING, name, .bit = EVENT_TERM_NAME, .counted = true),
	ROW("period", ROW_NUMBER, terms.period, .bit = EVENT_TERM_PERIOD, .clears = EVENT_TERM_FREQ, .counted = true),
	ROW("freq", ROW_NUMBER, terms.freq, .bit = EVENT_TERM_FREQ, .clears = EVENT_TERM_PERIOD),
	ROW("branch_type", ROW_BRANCH, terms.branch, .bit = EVENT_TERM_BRANCH),
	ROW("time", ROW_SWITCH, terms.time, .bit = EVENT_TERM_TIME),
	ROW("call-graph", ROW_STRING, terms.call_graph, .bit = EVENT_TERM_CALL_GRAPH, .tracepoint = true),
	ROW("stack-size", ROW_NUMBER, terms.stack_size, .bit = EVENT_TERM_STACK_SIZE, .tracepoint = true),
	ROW("no-inherit", ROW_INVERSE, terms.inherit, .bit = EVENT_TERM_INHERIT, .tracepoint = true),
	ROW("inherit", ROW_TRUTH, terms.inherit, .bit = EVENT_TERM_INHERIT, .tracepoint = true),
	ROW("max-stack", ROW_NUMBER, terms.max_stack, .bit = EVENT_TERM_MAX_STACK, .tracepoint = true),
	ROW("nr", ROW_NUMBER, terms.max_events, .bit = EVENT_TERM_MAX_EVENTS, .tracepoint = true),
	ROW("no-overwrite", ROW_INVERSE, terms.overwrite, .bit = EVENT_TERM_OVERWRITE, .tracepoint = true),
	ROW("overwrite", ROW_TRUTH, terms.overwrite, .bit = EVENT_TERM_OVERWRITE, .tracepoint = true),
	ROW("percore", ROW_SWITCH, terms.percore, .bit = EVENT_TERM_PERCORE, .counted = true),
	ROW("aux-output", ROW_TRUTH, terms.aux_output, .bit = EVENT_TERM_AUX_OUTPUT, .tracepoint = true),
	ROW("aux-sample-size", ROW_NUMBER32, terms.aux_sample_size, .bit = EVENT_TERM_AUX_SAMPLE_SIZE, .tracepoint = true),
	ROW("metric-id", ROW_STRING, terms.metric_id, .bit = EVENT_TERM_METRIC_ID, .counted = true),
};

const struct term_row *event_term_row(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
			return &rows[i];
	return NULL;
}

static enum event_term_kind kind_of(enum event_token_kind token)
{
	switch (token) {
	case TOKEN_TERM: return TERM_OF_ALL;
	case TOKEN_RAW: return TERM_RAW;
	case TOKEN_CACHE: return TERM_CACHE;
	case TOKEN_SYMBOL: return TERM_HARDWARE;
	case TOKEN_DRIVER: return TERM_DRIVER;
	default: return TERM_OF_PMU;
	}
}

static bool is_word(enum event_token_kind kind)
{
	return kind == TOKEN_NAME || kind == TOKEN_RAW || kind == TOKEN_CACHE || kind == TOKEN_SYMBOL;
}

int event_term_parse(struct arena *arena, struct event_lexer *lexer, struct event_token *token, struct event_term *term,
	struct event_error *err)
{
	struct event_token name = *token;
	if (!is_word(name.kind) && name.kind != TOKEN_TERM && name.kind != TOKEN_DRIVER)
		return 1;
	*term = (struct event_term){ .kind = kind_of(name.kind), .number = 1, .no_value = true, .at = name.at, .value_at = name.at };
	term->name = arena_string(arena, name.text, name.length);
	term->row = term->kind == TERM_OF_ALL ? event_term_row(name.text, name.length) : NULL;
	if (term->kind == TERM_HARDWARE)
		term->number = name.symbol->config;
	*token = event_lexer_next(lexer);
	if (token->kind != TOKEN_EQUALS || term->kind == TERM_DRIVER)
		return 0;
	*token = event_lexer_next(lexer);
	if (token->kind == TOKEN_VALUE)
		term->number = token->value;
	else if (is_word(token->kind) || (token->kind == TOKEN_TERM && term->row))
		term->text = arena_string(arena, token->text, token->length);
	else
		return token->kind == TOKEN_ERROR ? event_error_at(err, token->at, "the number is too large") : 1;
	if (!term->row)
		term->kind = TERM_OF_PMU;
	term->no_value = false;
	term->value_at = token->at;
	*token = event_lexer_next(lexer);
	return 0;
}

static int term_row_apply(struct events *events, struct event *event, const struct event_term *term, struct event_error *err)
{
	const struct term_row *row = term->row;
	void *field = (char *)event + row->offset;
	struct error why;
	if (events->counts && !row->counted) {
		event_error_at(err, term->at, "");
		snprintf(err->what, sizeof err->what, "'%s' is not usable in 'perf stat'", row->name);
		return -1;
	}
	if (row->kind == ROW_STRING || row->kind == ROW_BRANCH) {
		if (!term->text)
			return event_error_at(err, term->value_at, "expected string value");
		if (row->kind == ROW_STRING)
			*(const char **)field = term->text;
		else if (strcmp(term->text, "no") == 0)
			*(uint64_t *)field = 0;
		else if (branch_filter_parse(term->text, field, &why) < 0)
			return event_error_at(err, term->value_at, "invalid branch sample type");
	} else {
		if (term->text)
			return event_error_at(err, term->value_at, "expected numeric value");
		if (row->kind == ROW_SWITCH && term->number > 1)
			return event_error_at(err, term->value_at, "expected 0 or 1");
		if (row->kind == ROW_NUMBER32 && term->number > UINT32_MAX)
			return event_error_at(err, term->value_at, "too big");
		if (row->kind == ROW_NUMBER || row->kind == ROW_NUMBER32)
			*(uint64_t *)field = term->number;
		else
			*(bool *)field = (row->kind != ROW_INVERSE) == (term->number != 0);
	}
	if (row->offset == offsetof(struct event, attr.config))
		event->chosen = UINT64_MAX;
	event->terms.set = (event->terms.set & ~row->clears) | row->bit;
	return 0;
}

/* The nearest name of a term that is valid there; NULL: absent. */
static const char *similar_term(const char *name, const struct pmu *pmu, bool tracepoint)
{
	enum { LIMIT = 2 };
	unsigned best = LIMIT;
	const char *found = NULL;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0] + (pmu ? pmu->formats.count : 0); i++) {
		bool of_all = i < sizeof rows / sizeof rows[0];
		const char *candidate = of_all ? rows[i].name : pmu->formats.items[i - sizeof rows / sizeof rows[0]].name;
		unsigned distance = text_distance(name, candidate, best);
		if (distance > best || (of_all && tracepoint && !rows[i].tracepoint))
			continue;
		found = candidate;
		best = distance ? distance - 1 : 0;
	}
	return found;
}

int event_term_unknown(const struct events *events, const struct event_term *term, const struct pmu *pmu, bool tracepoint,
	struct event_error *err)
{
	struct str text = { 0 };
	for (size_t i = 0; pmu && i < pmu->formats.count; i++)
		str_printf(&text, "%s%s", text.len ? "," : "", pmu->formats.items[i].name);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if ((!tracepoint || rows[i].tracepoint) && (!events->counts || rows[i].counted))
			str_printf(&text, "%s%s", text.len ? "," : "", rows[i].name);
	event_error_at(err, term->at, "unknown term");
	if (pmu)
		snprintf(err->what, sizeof err->what, "unknown term '%.100s' for pmu '%.100s'", term->name, pmu->name);
	else
		snprintf(err->what, sizeof err->what, "unknown term '%.100s'", term->name);
	const char *similar = similar_term(term->name, pmu, tracepoint);
	snprintf(err->help, sizeof err->help, "valid terms: %.900s%s%.100s", str_text(&text), similar ? "\nSimilar: " : "",
		similar ? similar : "");
	str_fini(&text);
	return -1;
}

int event_terms_apply_known(struct events *events, struct event *event, const struct event_term *term, struct event_error *err)
{
	return term->kind == TERM_OF_ALL ? term_row_apply(events, event, term, err) : 0;
}

int event_terms_apply(struct events *events, struct event *event, struct pmu *pmu, const struct event_term_list *list,
	enum event_term_target target, struct event_error *err)
{
	if (target == TERMS_OF_PMU)
		return event_pmu_terms_apply(events, event, pmu, list, err);
	for (size_t i = 0; i < list->terms.count; i++) {
		const struct event_term *term = &list->terms.items[i];
		bool tracepoint = target == TERMS_OF_TRACEPOINT;
		if (tracepoint ? !term->row || !term->row->tracepoint : !term->row && term->kind != TERM_RAW)
			return event_term_unknown(events, term, NULL, tracepoint, err);
		if (event_terms_apply_known(events, event, term, err) < 0)
			return -1;
	}
	return 0;
}
