#include "event/address_filter.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	struct arena *arena;
	const char *text, *at;
	struct error *err;
};

static int fail(const struct parser *p, const char *what)
{
	error_set(p->err, ERROR_USAGE, "Failed to parse address filter: '%.300s'\n%s at offset %zu", p->text, what, (size_t)(p->at - p->text));
	error_hint(p->err, "Filter format is: filter|start|stop|tracestop <start symbol or address> [/ <end symbol or size>] [@<file name>]\n"
		"Where multiple filters are separated by space or comma.");
	if (p->err)
		p->err->sys = EINVAL;
	return -1;
}

static void skip(struct parser *p, const char *characters)
{
	p->at += strspn(p->at, characters);
}

/* A word up to one of the characters, which is skipped. */
static int take_word(struct parser *p, const char *end, const char *what, const char **word)
{
	skip(p, " ");
	size_t length = strcspn(p->at, end);
	if (!length || isdigit((unsigned char)*p->at))
		return fail(p, what);
	*word = arena_string(p->arena, p->at, length);
	p->at += length + (p->at[length] != '\0');
	return 0;
}

static int take_number(struct parser *p, uint64_t *number)
{
	char *end;
	errno = 0;
	*number = strtoull(p->at, &end, 0);
	if (end == p->at || errno)
		return fail(p, "a number is expected");
	p->at = end;
	return 0;
}

/* "#2", "#g" */
static int take_index(struct parser *p, int *index)
{
	uint64_t number;
	*index = -1;
	skip(p, " ");
	if (*p->at != '#')
		return 0;
	p->at++;
	if (*p->at == 'g' || *p->at == 'G') {
		p->at++;
		*index = 0;
		return 0;
	}
	if (!isdigit((unsigned char)*p->at) || take_number(p, &number) < 0 || number > INT_MAX)
		return fail(p, "the number of a symbol is expected");
	*index = (int)number;
	return 0;
}

static int take_place(struct parser *p, struct address_place *place)
{
	skip(p, " ");
	place->index = -1;
	if (isdigit((unsigned char)*p->at))
		return take_number(p, &place->number);
	if (take_word(p, " ", "a symbol or a number is expected", &place->symbol) < 0)
		return -1;
	return take_index(p, &place->index);
}

static int take_action(struct parser *p, struct address_filter *filter)
{
	static const struct {
		const char *name, *kernel;
		bool range;
	} actions[] = { { "filter", "filter", true }, { "start", "start" }, { "stop", "stop" }, { "tracestop", "stop", true } };
	const char *word;
	if (take_word(p, " ", "an action is expected", &word) < 0)
		return -1;
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
		if (strcmp(word, actions[i].name) != 0)
			continue;
		filter->action = actions[i].kernel;
		filter->range = actions[i].range;
		return 0;
	}
	return fail(p, "the action is unknown");
}

static int take_filter(struct parser *p, struct address_filter *filter)
{
	if (take_action(p, filter) < 0 || take_place(p, &filter->from) < 0)
		return -1;
	skip(p, " ");
	if (*p->at == '/') {
		p->at++;
		filter->has_end = filter->range = true;
		if (take_place(p, &filter->end) < 0)
			return -1;
	}
	skip(p, " ");
	if (*p->at == '@') {
		p->at++;
		if (take_word(p, " ,", "the name of a file is expected", &filter->file) < 0)
			return -1;
	}
	skip(p, " ,");
	return 0;
}

int address_filters_parse(struct address_filters *filters, const char *text, struct error *err)
{
	struct parser p = { .arena = &filters->arena, .text = text, .at = text, .err = err };
	while (*p.at) {
		struct address_filter filter = { 0 };
		if (take_filter(&p, &filter) < 0)
			return -1;
		vec_push(&filters->list, filter);
	}
	return 0;
}

void address_filters_fini(struct address_filters *filters)
{
	vec_fini(&filters->list);
	arena_fini(&filters->arena);
}
