#include "cmd/diff/listing.h"

#include <string.h>

enum { PERCENT_COLUMNS = 8 }; /* of `annotate --stdio2` */

static size_t line_length(const char *at)
{
	return strcspn(at, "\n");
}

static bool is_percent(const char *at, size_t length)
{
	size_t width = length < PERCENT_COLUMNS ? length : PERCENT_COLUMNS;
	return strspn(at, " 0123456789.") >= width || strncmp(at, "Percent ", PERCENT_COLUMNS) == 0;
}

/* The part after the percentage; of lines without one: the whole. */
static const char *code_of(const char *at, size_t *length)
{
	size_t all = line_length(at), skip = !is_percent(at, all) ? 0 : all < PERCENT_COLUMNS ? all : PERCENT_COLUMNS;
	*length = all - skip;
	return at + skip;
}

static bool is_head(const char *at)
{
	return strncmp(at, "Samples: ", strlen("Samples: ")) == 0;
}

static bool same_code(const char *a, const char *b)
{
	size_t x, y;
	const char *one = code_of(a, &x), *other = code_of(b, &y);
	return (is_head(a) && is_head(b)) || (x == y && memcmp(one, other, x) == 0 && (one == a) == (other == b));
}

static void next_lines(const char **at, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		at[i] += line_length(at[i]);
		at[i] += *at[i] == '\n';
	}
}

static void join_line(const char *const *at, const char *const *paths, size_t count, struct str *out)
{
	size_t length;
	const char *code = code_of(at[0], &length);
	for (size_t i = 0; i < count && is_head(at[0]); i++)
		str_printf(out, "%s: %.*s\n", paths[i], (int)line_length(at[i]), at[i]);
	if (is_head(at[0]))
		return;
	for (size_t i = 0; i < count && code != at[0]; i++)
		str_printf(out, "%-*.*s", PERCENT_COLUMNS + 1, (int)(line_length(at[i]) - length), at[i]);
	str_printf(out, "%.*s\n", (int)length, code);
}

/* false: the lines differ. */
static bool join(const char **at, const char *const *paths, size_t count, struct str *out)
{
	for (; *at[0]; next_lines(at, count)) {
		for (size_t i = 1; i < count; i++)
			if (!*at[i] || !same_code(at[0], at[i]))
				return false;
		join_line(at, paths, count, out);
	}
	for (size_t i = 1; i < count; i++)
		if (*at[i])
			return false;
	return true;
}

bool diff_listing_join(const char *const *texts, const char *const *paths, size_t count, struct str *out)
{
	enum { FILES_MAX = 16 };
	const char *at[FILES_MAX];
	CLEANUP_STR struct str joined = { 0 };
	if (!count || count > FILES_MAX)
		return false;
	memcpy(at, texts, count * sizeof *at);
	if (!join(at, paths, count, &joined))
		return false;
	str_puts(out, str_text(&joined));
	return true;
}
