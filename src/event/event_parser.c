/* The grammar of event lists: groups and events, separated by commas. */
#include <stdio.h>
#include <string.h>

#include "event/event.h"
#include "event/event_add.h"
#include "event/event_group.h"
#include "event/event_lexer.h"
#include "event/event_modifiers.h"

struct parser {
	struct events *events;
	struct event_lexer lexer;
	struct event_token token; /* the next one */
	struct event_term_list terms;
	struct event_error *err;
};

static void next_token(struct parser *p)
{
	p->token = event_lexer_next(&p->lexer);
}

static bool accept(struct parser *p, enum event_token_kind kind)
{
	if (p->token.kind != kind)
		return false;
	next_token(p);
	return true;
}

/* Like perf, marks the token before the unexpected one. */
static int syntax_error(struct parser *p)
{
	if (p->token.kind == TOKEN_ERROR)
		return event_error_at(p->err, p->token.at, "the number is too large");
	return event_error_at(p->err, p->lexer.before, "Unrecognized input");
}

static char *copy(struct parser *p, const struct event_token *token)
{
	return arena_string(&p->events->arena, token->text, token->length);
}

static struct event_adding adding(struct parser *p, size_t at)
{
	return (struct event_adding){ .events = p->events, .terms = &p->terms, .at = at, .err = p->err };
}

/* Parses "/terms/" or "//"; without a slash there are no terms. */
static int parse_terms(struct parser *p)
{
	p->terms.terms.count = 0;
	if (!accept(p, TOKEN_SLASH) || accept(p, TOKEN_SLASH))
		return 0;
	do {
		struct event_term term;
		int status = event_term_parse(&p->events->arena, &p->lexer, &p->token, &term, p->err);
		if (status)
			return status < 0 ? status : syntax_error(p);
		vec_push(&p->terms.terms, term);
	} while (accept(p, TOKEN_COMMA));
	if (accept(p, TOKEN_SLASH))
		return 0;
	syntax_error(p);
	if (p->token.kind == TOKEN_END)
		snprintf(p->err->help, sizeof p->err->help, "the closing '/' is missing");
	return -1;
}

static int parse_symbol(struct parser *p)
{
	const struct event_symbol *symbol = p->token.symbol;
	struct event_adding a = adding(p, p->token.at);
	next_token(p);
	bool terms = p->token.kind == TOKEN_SLASH;
	if (parse_terms(p) < 0)
		return -1;
	if (p->terms.terms.count && symbol->type == EVENT_TYPE_TOOL)
		return event_error_at(p->err, p->terms.terms.items[0].at, "an event that the tool measures itself has no terms");
	if (!terms)
		accept(p, TOKEN_COLON);
	return event_add_symbol(&a, symbol);
}

static int parse_cache(struct parser *p)
{
	const char *name = copy(p, &p->token);
	struct event_adding a = adding(p, p->token.at);
	next_token(p);
	if (parse_terms(p) < 0 || event_add_cache(&a, name) < 0)
		return -1;
	accept(p, TOKEN_COLON);
	return 0;
}

/* Bits of HW_BREAKPOINT_*: read 1, write 2, execute 4. Returns 0 for a repeated letter. */
static uint32_t access_of(const struct event_token *token)
{
	static const char letters[] = "rwx";
	uint32_t access = 0;
	for (size_t i = 0; i < token->length; i++) {
		uint32_t bit = 1u << (strchr(letters, token->text[i]) - letters);
		if (access & bit)
			return 0;
		access |= bit;
	}
	return access;
}

/* Parses "mem:ADDRESS[/LENGTH][:ACCESS][/terms/][:]". */
static int parse_breakpoint(struct parser *p)
{
	struct event_adding a = adding(p, p->token.at);
	uint64_t address, length = 0;
	uint32_t access = 0;
	next_token(p);
	address = p->token.value;
	if (!accept(p, TOKEN_VALUE))
		return syntax_error(p);
	if (accept(p, TOKEN_BREAK_SLASH)) {
		length = p->token.value;
		if (!accept(p, TOKEN_VALUE))
			return syntax_error(p);
	}
	if (accept(p, TOKEN_BREAK_COLON)) {
		access = access_of(&p->token);
		if (!access)
			return syntax_error(p);
		next_token(p);
	}
	if (parse_terms(p) < 0 || event_add_breakpoint(&a, address, length, access) < 0)
		return -1;
	accept(p, TOKEN_COLON);
	return 0;
}

/* Parses "TYPE:CONFIG[/terms/][:]" and "rCONFIG[/terms/][:]". */
static int parse_number(struct parser *p)
{
	struct event_adding a = adding(p, p->token.at);
	bool raw = p->token.kind == TOKEN_RAW;
	uint64_t type = ATTR_RAW, config = raw ? strtoull(p->token.text + 1, NULL, 16) : 0;
	if (!raw) {
		type = p->token.value;
		next_token(p);
		if (!accept(p, TOKEN_COLON) || p->token.kind != TOKEN_VALUE)
			return syntax_error(p);
		config = p->token.value;
	}
	next_token(p);
	if (parse_terms(p) < 0 || event_add_number(&a, (uint32_t)type, config) < 0)
		return -1;
	accept(p, TOKEN_COLON);
	return 0;
}

/* Parses what follows a name: "name/terms/", "system:tracepoint[/terms/][:]" or "name[:]". */
static int parse_after_name(struct parser *p, const struct event_token *token)
{
	const char *name = copy(p, token);
	struct event_adding a = adding(p, token->at);
	if (p->token.kind == TOKEN_SLASH)
		return parse_terms(p) < 0 || event_add_pmu(&a, name) < 0 ? -1 : 0;
	bool colon = accept(p, TOKEN_COLON);
	if (!colon || p->token.kind != TOKEN_NAME) {
		p->terms.terms.count = 0;
		return event_add_named(&a, name);
	}
	const char *tracepoint = copy(p, &p->token);
	next_token(p);
	if (parse_terms(p) < 0 || event_add_tracepoints(&a, name, tracepoint) < 0)
		return -1;
	accept(p, TOKEN_COLON);
	return 0;
}

static int parse_definition(struct parser *p)
{
	struct event_token token = p->token;
	switch (token.kind) {
	case TOKEN_SYMBOL: return parse_symbol(p);
	case TOKEN_CACHE: return parse_cache(p);
	case TOKEN_MEM: return parse_breakpoint(p);
	case TOKEN_VALUE:
	case TOKEN_RAW: return parse_number(p);
	case TOKEN_NAME:
		next_token(p);
		return parse_after_name(p, &token);
	default: return syntax_error(p);
	}
}

static bool leads(const struct events *events, size_t index)
{
	return events->list.items[index].leader == index;
}

/* Applies the modifiers that are the next token to the events from `first` on. */
static int parse_modifiers(struct parser *p, size_t first, bool group)
{
	struct event_modifiers modifiers = { 0 };
	size_t wrong;
	const char *what;
	if (event_modifiers_parse(p->token.text, p->token.length, &modifiers, &wrong, &what) < 0)
		return event_error_at(p->err, p->token.at + wrong, what);
	if (modifiers.weak && !group)
		return event_error_at(p->err, p->token.at, "Weak modifier is for use with groups");
	for (size_t i = first; i < p->events->list.count; i++) {
		struct event *event = &p->events->list.items[i];
		if (event_modifiers_apply(&modifiers, event, group, leads(p->events, i)) < 0) {
			event_error_at(p->err, p->token.at, "");
			snprintf(p->err->what, sizeof p->err->what, "Maximum combined precise value is 3, adding precision to \"%.150s\"",
				event->name);
			return -1;
		}
	}
	next_token(p);
	return 0;
}

/* Completes the events that one definition added: their name, if no term gave one, and their modifiers. */
static int finish_event(struct parser *p, size_t first, const char *name)
{
	for (size_t i = first; i < p->events->list.count; i++) {
		struct event *event = &p->events->list.items[i];
		if (!(event->terms.set & EVENT_TERM_NAME))
			event->name = name;
	}
	return p->token.kind == TOKEN_MODIFIER ? parse_modifiers(p, first, false) : 0;
}

static int parse_event(struct parser *p)
{
	size_t first = p->events->list.count;
	struct event_token whole = p->token;
	if (!accept(p, TOKEN_EVENT))
		whole.length = strcspn(whole.text, ",{}");
	const char *name = copy(p, &whole);
	return parse_definition(p) < 0 ? -1 : finish_event(p, first, name);
}

/* Parses "{event,event}[:modifiers]". */
static int parse_group(struct parser *p, const char *name)
{
	size_t first = p->events->list.count;
	do {
		next_token(p);
		if (parse_event(p) < 0)
			return -1;
	} while (p->token.kind == TOKEN_COMMA);
	if (!accept(p, TOKEN_CLOSE))
		return syntax_error(p);
	for (size_t i = first; i < p->events->list.count; i++)
		p->events->list.items[i].leader = (uint32_t)first;
	struct event *leader = &p->events->list.items[first];
	leader->members = (uint32_t)(p->events->list.count - first);
	leader->group_name = leader->members > 1 ? name : NULL;
	if (!accept(p, TOKEN_COLON))
		return 0;
	return p->token.kind == TOKEN_MODIFIER ? parse_modifiers(p, first, true) : syntax_error(p);
}

/* Parses an event or a group, which may have a name. */
static int parse_item(struct parser *p)
{
	struct event_token token = p->token;
	size_t first = p->events->list.count;
	if (token.kind == TOKEN_OPEN)
		return parse_group(p, NULL);
	if (token.kind != TOKEN_NAME)
		return parse_event(p);
	struct event_token whole = token;
	whole.length = strcspn(token.text, ",{}");
	next_token(p);
	if (p->token.kind == TOKEN_OPEN)
		return parse_group(p, copy(p, &token));
	return parse_after_name(p, &token) < 0 ? -1 : finish_event(p, first, copy(p, &whole));
}

static int parse_list(struct parser *p)
{
	next_token(p);
	do {
		if (parse_item(p) < 0)
			return -1;
		if (p->events->list.count >= EVENTS_MAX)
			return event_error_at(p->err, p->token.at, "too many events");
	} while (accept(p, TOKEN_COMMA));
	return p->token.kind == TOKEN_END ? 0 : syntax_error(p);
}

int events_parse(struct events *events, const char *text, struct event_error *err)
{
	struct event_error unwanted;
	struct parser parser = { .events = events, .lexer = { .text = text }, .err = err ? err : &unwanted };
	size_t before = events->list.count;
	*parser.err = (struct event_error){ .text = text };
	int status = parse_list(&parser);
	if (status == 0)
		events_regroup(events, before);
	else
		events->list.count = before;
	vec_fini(&parser.terms.terms);
	return status;
}
