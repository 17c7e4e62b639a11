#include "base/options.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"

/* The column of the help text in -h, and the minimal gap before it. */
enum { HELP_COLUMN = 24, HELP_GAP = 2, HELP_WIDTH = 80 };

/* The state of parsing one command line. */
struct parser {
	const struct option *table;
	void *target;
	const char **argv;
	int argc, at, left;
	unsigned mode;
	const struct option *exclusive; /* the exclusive option that was given first */
	struct error *err;
};

/* One use of an option on the command line. value NULL: no argument is attached. */
struct use {
	const struct option *option;
	const char *value;
	bool is_short, unset;
};

static void *field(void *target, size_t offset)
{
	return (char *)target + offset;
}

/* Stores "--name" or the switch in the hint, from which cli_usage selects the row of help to show. */
static void point_at(struct parser *p, const struct use *use)
{
	if (!p->err)
		return;
	if (use->is_short)
		snprintf(p->err->hint, sizeof p->err->hint, "%c", use->option->short_name);
	else
		snprintf(p->err->hint, sizeof p->err->hint, "--%.200s", use->option->long_name);
}

static int fault(struct parser *p, const struct use *use, const char *what)
{
	if (use->is_short)
		error_set(p->err, ERROR_OPTION, " Error: switch `%c' %s", use->option->short_name, what);
	else
		error_set(p->err, ERROR_OPTION, " Error: option `%s%s' %s", use->unset ? "no-" : "", use->option->long_name, what);
	point_at(p, use);
	return OPTIONS_BAD;
}

static bool takes_argument(const struct option *option)
{
	switch (option->kind) {
	case OPTION_BOOL:
	case OPTION_INCR:
		return option->flags & OPTION_ARG;
	case OPTION_CALLBACK:
		return !(option->flags & OPTION_NOARG);
	default:
		return true;
	}
}

/* Clamps a number to the range of the type. */
static void store_number(const struct option *option, void *to, const char *arg, char **end)
{
	if (option->kind == OPTION_INT) {
		long long value = strtoll(arg, end, 10);
		*(int *)to = value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
		return;
	}
	uint64_t value = strtoull(arg, end, 10);
	if (option->kind == OPTION_UINT)
		*(unsigned *)to = value > UINT_MAX ? UINT_MAX : (unsigned)value;
	else
		*(uint64_t *)to = value;
}

static int set_number(struct parser *p, const struct use *use, const char *arg)
{
	char *end;
	if (use->unset || !arg)
		arg = use->option->fallback && !use->unset ? use->option->fallback : "0";
	if (use->option->kind != OPTION_INT && arg[0] == '-')
		return fault(p, use, "expects an unsigned numerical value");
	store_number(use->option, field(p->target, use->option->offset), arg, &end);
	return *end ? fault(p, use, "expects a numerical value") : 0;
}

static int set_callback(struct parser *p, const struct use *use, const char *arg)
{
	struct error err = { 0 };
	if (use->option->set(p->target, use->option, arg, use->unset, &err) >= 0)
		return 0;
	CLEANUP_STR struct str text = { 0 };
	str_printf(&text, "%s%s%s", err.text, err.hint[0] ? "\n" : "", err.hint);
	error_set(p->err, ERROR_OPTION, "%s", str_text(&text));
	point_at(p, use);
	return OPTIONS_BAD;
}

static int store(struct parser *p, const struct use *use, const char *arg)
{
	const struct option *option = use->option;
	void *to = field(p->target, option->offset);
	switch (option->kind) {
	case OPTION_BOOL:
		*(bool *)to = !use->unset;
		return 0;
	case OPTION_INCR:
		*(int *)to = use->unset ? 0 : *(int *)to + 1;
		return 0;
	case OPTION_STRING:
		*(const char **)to = use->unset ? NULL : arg ? arg : option->fallback;
		return 0;
	case OPTION_CALLBACK:
		return set_callback(p, use, arg);
	default:
		return set_number(p, use, arg);
	}
}

/* A negated exclusive option excludes nothing; the same option may be repeated. */
static int check_exclusive(struct parser *p, const struct use *use)
{
	if (!(use->option->flags & OPTION_EXCLUSIVE))
		return 0;
	const struct option *other = p->exclusive;
	p->exclusive = use->option;
	if (!other || other == use->option)
		return 0;
	char what[256];
	if (use->is_short && other->short_name)
		snprintf(what, sizeof what, "cannot be used with switch `%c'", other->short_name);
	else
		snprintf(what, sizeof what, "cannot be used with option `%.200s'", other->long_name);
	return fault(p, use, what);
}

/* Finds the argument (attached, or the next word), checks it, stores the value. */
static int apply(struct parser *p, const struct use *use)
{
	const struct option *option = use->option;
	const char *arg = use->value;
	if (check_exclusive(p, use) < 0)
		return OPTIONS_BAD;
	if (use->unset && arg)
		return fault(p, use, "takes no value");
	if (use->unset && option->flags & OPTION_NONEG)
		return fault(p, use, "isn't available");
	bool takes = takes_argument(option);
	if (!takes && arg && !use->is_short)
		return fault(p, use, "takes no value");
	if (takes && !use->unset && !arg && !(option->flags & OPTION_OPTARG)) {
		const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : NULL;
		bool left_out = option->flags & OPTION_LASTARG && (!next || next[0] == '-');
		if (!next && !left_out)
			return fault(p, use, "requires a value");
		arg = left_out ? NULL : p->argv[++p->at];
	}
	if (option->flags & OPTION_UNSUPPORTED)
		return fault(p, use, "is not supported yet");
	if (option->was_set)
		*(bool *)field(p->target, option->was_set) = true;
	return store(p, use, takes ? arg : NULL);
}

/* Parses a word such as "-avo": switches, of which the first with an argument takes the rest. 1: the first is unknown. */
static int parse_cluster(struct parser *p, const char *word)
{
	for (const char *c = word; *c; c++) {
		const struct option *option = p->table;
		while (option->kind != OPTION_END && (option->kind == OPTION_GROUP || option->short_name != *c))
			option++;
		if (*c == 'h' && option->kind == OPTION_END)
			return OPTIONS_HELP;
		if (option->kind == OPTION_END) {
			if (c == word && p->mode & OPTIONS_KEEP_UNKNOWN)
				return 1;
			return error_set(p->err, ERROR_OPTION, "  Error: unknown switch `%c'", isprint((unsigned char)*c) ? *c : '?');
		}
		bool rest = takes_argument(option) && c[1];
		struct use use = { .option = option, .value = rest ? c + 1 : NULL, .is_short = true };
		int result = apply(p, &use);
		if (result < 0)
			return result;
		if (rest)
			break;
	}
	return 0;
}

enum match { MATCH_NONE, MATCH_PREFIX, MATCH_EXACT };

static enum match match_text(const char *full, const char *typed, size_t length)
{
	if (strncmp(full, typed, length) != 0)
		return MATCH_NONE;
	return full[length] ? MATCH_PREFIX : MATCH_EXACT;
}

/* Compares the word of `length` with the option's names; sets *unset for the negative form. */
static enum match match_long(const struct option *option, const char *word, size_t length, bool *unset)
{
	*unset = false;
	enum match match = match_text(option->long_name, word, length);
	if (match != MATCH_NONE || option->flags & OPTION_NONEG)
		return match;
	*unset = true;
	if (length >= 3 && !strncmp(word, "no-", 3))
		match = match_text(option->long_name, word + 3, length - 3);
	else if (length < 3 && !strncmp("no-", word, length))
		match = MATCH_PREFIX;
	if (match == MATCH_NONE && !strncmp(option->long_name, "no-", 3))
		match = match_text(option->long_name + 3, word, length);
	return match;
}

/* Finds an option by its full name or a unique prefix. 0: *use is filled; 1: unknown; OPTIONS_BAD: ambiguous. */
static int find_long(struct parser *p, const char *word, struct use *use)
{
	size_t length = strcspn(word, "=");
	struct use prefix[2] = { 0 };
	for (const struct option *option = p->table; option->kind != OPTION_END; option++) {
		if (option->kind == OPTION_GROUP || !option->long_name)
			continue;
		bool unset;
		enum match match = match_long(option, word, length, &unset);
		struct use found = { .option = option, .unset = unset };
		if (match == MATCH_EXACT) {
			*use = found;
			return 0;
		}
		if (match == MATCH_PREFIX && !(option->flags & OPTION_OWN)) {
			prefix[0] = prefix[1];
			prefix[1] = found;
		}
	}
	if (!prefix[1].option)
		return 1;
	*use = prefix[1];
	if (!prefix[0].option)
		return 0;
	error_set(p->err, ERROR_OPTION, " Error: Ambiguous option: %s (could be --%s%s or --%s%s)\n", word,
		prefix[0].unset ? "no-" : "", prefix[0].option->long_name, prefix[1].unset ? "no-" : "", prefix[1].option->long_name);
	if (p->err)
		snprintf(p->err->hint, sizeof p->err->hint, "%.*s*", (int)(length < 200 ? length : 200), word);
	return OPTIONS_BAD;
}

static int parse_long(struct parser *p, const char *word)
{
	struct use use = { 0 };
	int result = find_long(p, word, &use);
	if (result == 1 && p->mode & OPTIONS_KEEP_UNKNOWN)
		return 1;
	if (result == 1)
		return error_set(p->err, ERROR_OPTION, "  Error: unknown option `%s'", word);
	if (result < 0)
		return result;
	const char *equals = strchr(word, '=');
	use.value = equals ? equals + 1 : NULL;
	result = apply(p, &use);
	return result == 0 && use.option->flags & OPTION_STOP ? 2 : result;
}

static void keep(struct parser *p, const char *word)
{
	p->argv[p->left++] = word;
}

/* Parses one word. 0: parsed; 1: not an option of this table; 2: options end after it; < 0: as options_parse. */
static int parse_word(struct parser *p, const char *word)
{
	if (word[0] != '-' || !word[1])
		return 1;
	if (word[1] != '-')
		return parse_cluster(p, word + 1);
	if (!strcmp(word, "--help") || !strcmp(word, "--help-all"))
		return OPTIONS_HELP;
	if (!strcmp(word, "--list-opts"))
		return OPTIONS_LIST;
	if (!strcmp(word, "--list-cmds"))
		return OPTIONS_LIST_COMMANDS;
	return parse_long(p, word + 2);
}

static int parse_words(struct parser *p)
{
	for (; p->at < p->argc; p->at++) {
		const char *word = p->argv[p->at];
		if (!strcmp(word, "--")) {
			p->at++;
			return 0;
		}
		int result = parse_word(p, word);
		if (result < 0)
			return result;
		if (result == 2) {
			p->at++;
			return 0;
		}
		if (result == 1 && p->mode & OPTIONS_STOP_AT_NON_OPTION && !(p->mode & OPTIONS_KEEP_UNKNOWN && word[0] == '-'))
			return 0;
		if (result == 1)
			keep(p, word);
	}
	return 0;
}

int options_parse(const struct option *table, void *target, int argc, const char **argv, unsigned mode, struct error *err)
{
	struct parser p = { .table = table, .target = target, .argv = argv, .argc = argc, .mode = mode, .err = err };
	int result = parse_words(&p);
	if (result == OPTIONS_HELP)
		p.at++; /* the words after -h select the rows of help */
	else if (result < 0)
		return result;
	while (p.at < argc)
		keep(&p, argv[p.at++]);
	if (p.left < argc)
		argv[p.left] = NULL;
	return result < 0 ? result : p.left;
}

static bool is_shown(const struct option *option, const char *word)
{
	size_t length = strlen(word);
	if (length && word[length - 1] == '*') /* a prefix that was ambiguous */
		return option->long_name && !strncmp(option->long_name, word, length - 1);
	if (word[0] == '-' && word[1] == '-')
		return option->long_name && !strcmp(option->long_name, word + 2);
	if (word[0] == '-')
		word++;
	if (word[0] && !word[1])
		return option->short_name == word[0];
	return (option->long_name && strcasestr(option->long_name, word)) || (option->help && strcasestr(option->help, word));
}

static bool is_selected(const struct option *option, const char *const *only)
{
	if (!only)
		return !(option->flags & OPTION_HIDDEN);
	if (option->kind == OPTION_GROUP)
		return false;
	for (; *only; only++) {
		if (is_shown(option, *only))
			return true;
	}
	return false;
}

/* Order by switch regardless of case, options without a switch last, then by name. */
static int compare_rows(const void *a, const void *b)
{
	const struct option *x = *(const struct option *const *)a, *y = *(const struct option *const *)b;
	if (!x->short_name != !y->short_name)
		return x->short_name ? -1 : 1;
	int order = tolower(x->short_name) - tolower(y->short_name);
	if (order)
		return order;
	return strcmp(x->long_name ? x->long_name : "", y->long_name ? y->long_name : "");
}

static size_t write_argument(struct writer *out, const struct option *option)
{
	const char *name = option->arg ? option->arg : "...";
	const char *before = " <", *after = ">";
	if (option->flags & OPTION_OPTARG) {
		before = option->long_name ? "[=<" : "[<";
		after = ">]";
	}
	writer_puts(out, before);
	writer_puts(out, name);
	writer_puts(out, after);
	return strlen(before) + strlen(name) + strlen(after);
}

/* Writes the help text of an option, broken between words; the first line starts behind the option's name. */
static void write_help_text(struct writer *out, const char *text)
{
	enum { INDENT = HELP_COLUMN + HELP_GAP };
	size_t at = INDENT;
	for (size_t len; *text; text += len) {
		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (at > INDENT && at + 1 + len > HELP_WIDTH) {
			writer_putc(out, '\n');
			writer_pad(out, ' ', INDENT);
			at = INDENT;
		} else if (at > INDENT) {
			writer_putc(out, ' ');
			at++;
		}
		writer_add(out, text, len);
		at += len;
	}
}

static void write_row(struct writer *out, const struct option *option)
{
	size_t width = 4;
	writer_puts(out, "    ");
	if (option->short_name) {
		writer_putc(out, '-');
		writer_putc(out, option->short_name);
		width += 2;
	}
	if (option->long_name) {
		const char *lead = option->short_name ? ", --" : "    --";
		writer_puts(out, lead);
		writer_puts(out, option->long_name);
		width += strlen(lead) + strlen(option->long_name);
	}
	if (takes_argument(option))
		width += write_argument(out, option);
	if (width > HELP_COLUMN) {
		writer_putc(out, '\n');
		width = 0;
	}
	writer_pad(out, ' ', HELP_COLUMN + HELP_GAP - width);
	struct str text = { 0 };
	str_puts(&text, option->help ? option->help : "");
	if (option->words)
		option->words(&text);
	write_help_text(out, str_text(&text));
	writer_putc(out, '\n');
	str_fini(&text);
}

static void write_rows(struct writer *out, const struct option **rows, size_t count)
{
	if (count)
		qsort(rows, count, sizeof *rows, compare_rows);
	for (size_t i = 0; i < count; i++)
		write_row(out, rows[i]);
}

void options_usage(const char *const *usage, struct writer *out)
{
	for (size_t i = 0; usage[i]; i++)
		writer_printf(out, "%s%s\n", i ? "    or: " : " Usage: ", usage[i]);
	writer_putc(out, '\n');
}

void options_help(const struct option *table, const char *const *usage, const char *const *only, struct writer *out)
{
	options_usage(usage, out);
	VEC(const struct option *) rows = { 0 };
	for (const struct option *option = table; option->kind != OPTION_END; option++) {
		if (!is_selected(option, only))
			continue;
		if (option->kind != OPTION_GROUP) {
			vec_push(&rows, option);
			continue;
		}
		write_rows(out, rows.items, rows.count);
		vec_clear(&rows);
		writer_printf(out, "\n%s\n", option->help);
	}
	write_rows(out, rows.items, rows.count);
	vec_fini(&rows);
}

void options_list(const struct option *table, struct writer *out)
{
	for (const struct option *option = table; option->kind != OPTION_END; option++) {
		if (option->kind != OPTION_GROUP && option->long_name)
			writer_printf(out, "--%s ", option->long_name);
	}
	writer_putc(out, '\n');
}

void options_describe(const struct option *table, struct writer *out)
{
	for (const struct option *option = table; option->kind != OPTION_END; option++) {
		if (option->kind == OPTION_GROUP || option->flags & (OPTION_HIDDEN | OPTION_UNSUPPORTED))
			continue;
		if (option->long_name)
			writer_printf(out, "--%s\t%s\n", option->long_name, option->help ? option->help : "");
		else if (option->short_name)
			writer_printf(out, "-%c\t%s\n", option->short_name, option->help ? option->help : "");
	}
}
