#include "event/event_pmu_terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "event/event_names.h"

/* The terms that remain, and what named events said about the counter's value. */
struct resolving {
	struct events *events;
	struct event *event;
	struct pmu *pmu;
	struct event_term_list terms;
	struct event_error *err;
	const char *unit;
	double scale;
	bool snapshot, per_package;
};

/* "r1a8" is an event of the PMU, if it has one of that name, otherwise the config word. */
static struct event_term term_without_raw(struct resolving *r, const struct event_term *term)
{
	struct event_term copy = *term;
	if (term->kind != TERM_RAW)
		return copy;
	if (pmu_event(&r->events->pmus, r->pmu, term->name)) {
		copy.kind = TERM_OF_PMU;
		return copy;
	}
	copy.kind = TERM_OF_ALL;
	copy.row = event_term_row("config", 6);
	copy.number = strtoull(term->name + 1, NULL, 16);
	copy.no_value = false;
	return copy;
}

/* A generic event, unless the PMU has an event of that name. Like perf, it is looked for on the PMU of the event's type: so a second one
 * fails. */
static int apply_generic(struct resolving *r, struct event_term *term)
{
	struct event *event = r->event;
	struct pmus *pmus = &r->events->pmus;
	struct pmu *pmu = pmus_by_type(pmus, event->attr.type);
	uint64_t config = term->number;
	if (!pmu)
		return event_error_at(r->err, term->at, "an event has one generic name only");
	if (pmu_event(pmus, pmu, term->name) || (term->kind == TERM_CACHE && !pmu->core)) {
		term->kind = TERM_OF_PMU;
		term->number = 1;
		term->no_value = true;
		return 0;
	}
	if (term->kind == TERM_CACHE && event_cache_find(term->name, strlen(term->name), &config) != 1)
		return event_error_at(r->err, term->at, "this cache has no such operation");
	event->attr.type = term->kind == TERM_CACHE ? ATTR_HW_CACHE : ATTR_HARDWARE;
	event->attr.config = config | (pmus_core_count(pmus) > 1 ? (uint64_t)pmu->type << 32 : 0);
	return 0;
}

static int apply_fixed(struct resolving *r)
{
	for (size_t i = 0; i < r->terms.terms.count; i++) {
		struct event_term *term = &r->terms.terms.items[i];
		int status = term->used ? 0 : term->kind == TERM_CACHE || term->kind == TERM_HARDWARE ? apply_generic(r, term) :
			event_terms_apply_known(r->events, r->event, term, r->err);
		if (status < 0)
			return status;
		if (term->kind == TERM_DRIVER) {
			r->event->terms.driver = term->name;
			r->event->terms.set |= EVENT_TERM_DRIVER;
		}
	}
	return 0;
}

/* The named event that a term denotes: "tsc" or "event=tsc"; NULL: absent. */
static const struct pmu_event *event_of_term(struct resolving *r, const struct event_term *term)
{
	if (term->kind != TERM_OF_PMU)
		return NULL;
	if (term->text)
		return strcasecmp(term->name, "event") == 0 ? pmu_event(&r->events->pmus, r->pmu, term->text) : NULL;
	if (!term->no_value || pmu_format(r->pmu, term->name, strlen(term->name)))
		return NULL;
	return pmu_event(&r->events->pmus, r->pmu, term->name);
}

/* Adds what a named event says of the counter's value; two may not say it differently. */
static int take_details(struct resolving *r, const struct pmu_event *named, size_t at)
{
	if (r->unit && named->unit)
		return event_error_at(r->err, at, "Attempt to set event's unit twice");
	if (r->scale != 0 && named->scale != 0)
		return event_error_at(r->err, at, "Attempt to set event's scale twice");
	if (r->snapshot && named->snapshot)
		return event_error_at(r->err, at, "Attempt to set event snapshot twice");
	r->unit = named->unit ? named->unit : r->unit;
	r->scale = named->scale != 0 ? named->scale : r->scale;
	r->snapshot |= named->snapshot;
	r->per_package |= named->per_package;
	return 0;
}

/* The period of a vendor's event is used unless the user gives one. */
static void weaken_period(struct resolving *r, struct event_term *term)
{
	if (term->row != event_term_row("period", strlen("period")) || !term->row)
		return;
	term->used = (r->event->terms.set & (EVENT_TERM_PERIOD | EVENT_TERM_FREQ)) != 0;
	r->event->period_is_vendors |= !term->used;
}

/* Appends the terms of a named event, such as "event=0x3c,umask=?". */
static int append_terms(struct resolving *r, const struct pmu_event *named, size_t at, struct event_term_list *out)
{
	struct event_lexer lexer = { .text = named->terms, .state = LEX_TERMS, .sysfs = true };
	struct event_token token = event_lexer_next(&lexer);
	for (;;) {
		struct event_term term;
		struct event_error unwanted = { 0 };
		if (event_term_parse(&r->events->arena, &lexer, &token, &term, &unwanted) != 0 ||
		    (token.kind != TOKEN_COMMA && token.kind != TOKEN_END)) {
			event_error_at(r->err, at, "");
			snprintf(r->err->what, sizeof r->err->what, "the kernel describes %.100s of PMU %.60s by invalid terms", named->name,
				r->pmu->name);
			return -1;
		}
		term.at = term.value_at = at;
		if (named->vendor)
			weaken_period(r, &term);
		vec_push(&out->terms, term);
		if (token.kind == TOKEN_END)
			return 0;
		token = event_lexer_next(&lexer);
	}
}

/* Replaces named events by their terms. Returns whether there were any; < 0: *err. */
static int expand_names(struct resolving *r)
{
	struct event_term_list out = { 0 };
	int status = 0;
	for (size_t i = 0; status >= 0 && i < r->terms.terms.count; i++) {
		const struct event_term *term = &r->terms.terms.items[i];
		const struct pmu_event *named = term->used ? NULL : event_of_term(r, term);
		if (!named)
			vec_push(&out.terms, *term);
		else
			status = append_terms(r, named, term->at, &out) < 0 || take_details(r, named, term->at) < 0 ? -1 : 1;
	}
	vec_fini(&r->terms.terms);
	r->terms = out;
	return status;
}

/* The value for "name=?" comes from another term of that name. */
static int parameter(struct resolving *r, const struct event_term *like, uint64_t *value)
{
	for (size_t i = 0; i < r->terms.terms.count; i++) {
		struct event_term *term = &r->terms.terms.items[i];
		if (term->kind == TERM_OF_PMU && !term->text && strcmp(term->name, like->name) == 0) {
			term->used = true;
			*value = term->number;
			return 0;
		}
	}
	event_error_at(r->err, like->at, "");
	snprintf(r->err->what, sizeof r->err->what, "Required parameter '%.100s' not specified", like->name);
	return -1;
}

static int apply_format(struct resolving *r, const struct event_term *term)
{
	const struct pmu_format *format = pmu_format(r->pmu, term->name, strlen(term->name));
	uint64_t value = term->number;
	if (!format)
		return event_term_unknown(r->events, term, r->pmu, false, r->err);
	if (!term->text && term->no_value && pmu_format_max(format) > 1)
		return event_error_at(r->err, term->at, "no value assigned for term");
	if (term->text && strcmp(term->text, "?") != 0)
		return event_error_at(r->err, term->value_at, "expected numeric value");
	if (term->text && parameter(r, term, &value) < 0)
		return -1;
	if (format->word == 0) {
		if (pmu_traces(r->pmu)) /* replaces the default */
			r->event->attr.config &= ~format->bits;
		r->event->chosen |= format->bits;
	}
	if (pmu_format_apply(format, value, &r->event->attr))
		return 0;
	event_error_at(r->err, term->value_at, "");
	snprintf(r->err->what, sizeof r->err->what, "value too big for format (%.100s), maximum is %llu", format->name,
		(unsigned long long)pmu_format_max(format));
	return -1;
}

int event_pmu_terms_apply(struct events *events, struct event *event, struct pmu *pmu, const struct event_term_list *list,
	struct event_error *err)
{
	struct resolving r = { .events = events, .event = event, .pmu = pmu, .err = err };
	for (size_t i = 0; i < list->terms.count; i++) {
		struct event_term term = term_without_raw(&r, &list->terms.items[i]);
		vec_push(&r.terms.terms, term);
	}
	int status = apply_fixed(&r);
	if (status == 0)
		status = expand_names(&r);
	if (status > 0) /* the terms of named events may be fixed ones, too */
		status = apply_fixed(&r);
	for (size_t i = 0; status == 0 && i < r.terms.terms.count; i++)
		if (r.terms.terms.items[i].kind == TERM_OF_PMU && !r.terms.terms.items[i].used)
			status = apply_format(&r, &r.terms.terms.items[i]);
	if (status == 0) {
		event->unit = r.unit;
		event->scale = r.scale != 0 ? r.scale : 1;
		event->snapshot = r.snapshot;
		event->per_package = r.per_package;
	}
	vec_fini(&r.terms.terms);
	return status;
}
