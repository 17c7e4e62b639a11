#include "probe/pattern.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"

bool probe_glob(const char *pattern, const char *name)
{
	static const char special[] = "*?[\\";
	size_t plain = strcspn(pattern, special);
	if (strncmp(pattern, name, plain) != 0)
		return false;
	if (!pattern[plain])
		return !name[plain];
	const char *end = pattern + plain + 1;
	if (pattern[plain] != '*' || end[strcspn(end, special)])
		return fnmatch(pattern + plain, name + plain, 0) == 0;
	size_t len = strlen(name + plain), last = strlen(end);
	return last <= len && !strcmp(name + plain + len - last, end);
}

bool probe_lazy(const char *pattern, const char *line)
{
	CLEANUP_STR struct str dense = { 0 }, glob = { 0 };
	for (; *line; line++)
		if (!isspace((unsigned char)*line))
			str_putc(&dense, *line);
	for (; *pattern; pattern++)
		if (!isspace((unsigned char)*pattern))
			str_putc(&glob, *pattern);
	return probe_glob(str_text(&glob), str_text(&dense));
}

enum filter_kind { FILTER_NAME, FILTER_NOT, FILTER_AND, FILTER_OR };

struct probe_filter {
	enum filter_kind kind;
	struct probe_filter *left, *right; /* NOT: right alone */
	char *pattern;
};

enum { FILTER_DEPTH = 64 };

struct reader {
	const char *text, *at;
	unsigned depth;
	struct error *err;
};

static struct probe_filter *filter_new(enum filter_kind kind, struct probe_filter *left, struct probe_filter *right)
{
	struct probe_filter *filter = memory_zero(1, sizeof *filter);
	*filter = (struct probe_filter){ .kind = kind, .left = left, .right = right };
	return filter;
}

void probe_filter_free(struct probe_filter *filter)
{
	if (!filter)
		return;
	probe_filter_free(filter->left);
	probe_filter_free(filter->right);
	free(filter->pattern);
	free(filter);
}

static struct probe_filter *read_or(struct reader *r);

static char next(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
	return *r->at;
}

static struct probe_filter *fail(struct reader *r)
{
	error_set(r->err, ERROR_USAGE, "the filter '%s' is wrong at character %zu", r->text, (size_t)(r->at - r->text) + 1);
	return NULL;
}

static struct probe_filter *read_name(struct reader *r)
{
	CLEANUP_STR struct str name = { 0 };
	for (; *r->at && !isspace((unsigned char)*r->at) && !strchr("!&|()", *r->at); r->at++) {
		str_putc(&name, *r->at);
		if (*r->at == '\\' && r->at[1])
			str_putc(&name, *++r->at);
	}
	if (!name.len)
		return fail(r);
	struct probe_filter *filter = filter_new(FILTER_NAME, NULL, NULL);
	filter->pattern = memory_string(name.text);
	return filter;
}

static struct probe_filter *read_one(struct reader *r)
{
	struct probe_filter *inner;
	if (r->depth == FILTER_DEPTH)
		return fail(r);
	switch (next(r)) {
	case '!':
		r->at++;
		r->depth++;
		inner = read_one(r);
		r->depth--;
		return inner ? filter_new(FILTER_NOT, NULL, inner) : NULL;
	case '(':
		r->at++;
		r->depth++;
		inner = read_or(r);
		r->depth--;
		if (inner && next(r) != ')') {
			probe_filter_free(inner);
			return fail(r);
		}
		r->at += inner != NULL;
		return inner;
	default:
		return read_name(r);
	}
}

static struct probe_filter *read_and(struct reader *r)
{
	struct probe_filter *left = read_one(r);
	while (left && next(r) == '&') {
		r->at++;
		struct probe_filter *right = read_one(r);
		if (!right) {
			probe_filter_free(left);
			return NULL;
		}
		left = filter_new(FILTER_AND, left, right);
	}
	return left;
}

static struct probe_filter *read_or(struct reader *r)
{
	struct probe_filter *left = read_and(r);
	while (left && next(r) == '|') {
		r->at++;
		struct probe_filter *right = read_and(r);
		if (!right) {
			probe_filter_free(left);
			return NULL;
		}
		left = filter_new(FILTER_OR, left, right);
	}
	return left;
}

int probe_filter_parse(struct probe_filter **filter, const char *text, struct error *err)
{
	struct reader r = { .text = text, .at = text, .err = err };
	*filter = read_or(&r);
	if (*filter && next(&r)) {
		probe_filter_free(*filter);
		*filter = fail(&r);
	}
	return *filter ? 0 : -1;
}

int probe_filter_or(struct probe_filter **filter, const char *text, struct error *err)
{
	struct probe_filter *more;
	if (probe_filter_parse(&more, text, err) < 0)
		return -1;
	*filter = *filter ? filter_new(FILTER_OR, *filter, more) : more;
	return 0;
}

bool probe_filter_passes(const struct probe_filter *filter, const char *name)
{
	if (!filter)
		return true;
	switch (filter->kind) {
	case FILTER_NAME:
		return probe_glob(filter->pattern, name);
	case FILTER_NOT:
		return !probe_filter_passes(filter->right, name);
	case FILTER_AND:
		return probe_filter_passes(filter->left, name) && probe_filter_passes(filter->right, name);
	default:
		return probe_filter_passes(filter->left, name) || probe_filter_passes(filter->right, name);
	}
}
