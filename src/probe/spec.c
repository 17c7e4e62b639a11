#include "probe/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_char(char c, bool first)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (!first && c >= '0' && c <= '9');
}

bool probe_is_name(const char *text)
{
	for (const char *at = text; *at; at++)
		if (!is_name_char(*at, at == text))
			return false;
	return *text;
}

bool probe_is_variable(const char *name)
{
	return is_name_char(*name, true);
}

bool probe_is_glob(const char *text)
{
	return strpbrk(text, "*?[") && !strstr(text, "operator");
}

bool probe_is_qualified(const char *text)
{
	return strstr(text, "::") || strpbrk(text, "(< ~");
}

bool probe_wants_variables(const struct probe_spec *spec)
{
	for (size_t i = 0; i < spec->arguments.count; i++) {
		const char *v = spec->arguments.items[i].variable;
		if (probe_is_variable(v) || !strcmp(v, "$vars") || !strcmp(v, "$params"))
			return true;
	}
	return false;
}

bool probe_needs_debug(const struct probe_spec *spec)
{
	return spec->file || spec->line || spec->pattern || probe_wants_variables(spec);
}

void probe_spec_fini(struct probe_spec *spec)
{
	for (size_t i = 0; i < spec->arguments.count; i++)
		vec_fini(&spec->arguments.items[i].fields);
	vec_fini(&spec->arguments);
	arena_fini(&spec->arena);
	*spec = (struct probe_spec){ 0 };
}

struct word_list {
	VEC(char *) list;
};

static void word_end(struct probe_spec *spec, struct word_list *words, struct str *word)
{
	if (word->len)
		vec_push(&words->list, arena_string(&spec->arena, str_text(word), word->len));
	str_clear(word);
}

static const char *add_quoted(struct str *word, const char *at)
{
	char quote = *at++;
	for (; *at && *at != quote; at++) {
		if (strchr(";:=@+%\\", *at))
			str_putc(word, '\\');
		str_putc(word, *at);
	}
	return *at ? at : at - 1;
}

/* Splits the definition at spaces. A quoted part begins a word or follows a '='; in the result each of its characters that has a meaning is
 * preceded by a backslash. */
static int split(struct probe_spec *spec, const char *text, struct word_list *words, struct error *err)
{
	CLEANUP_STR struct str word = { 0 };
	for (const char *at = text; *at; at++) {
		bool starts = !word.len || word.text[word.len - 1] == '=';
		if ((*at == '"' || *at == '\'') && starts && strchr(at + 1, *at)) {
			at = add_quoted(&word, at);
		} else if (isspace((unsigned char)*at)) {
			word_end(spec, words, &word);
		} else {
			str_putc(&word, *at);
			if (*at == '\\' && at[1])
				str_putc(&word, *++at);
		}
	}
	word_end(spec, words, &word);
	if (!words->list.count)
		return error_set(err, ERROR_USAGE, "the probe definition is empty");
	if (words->list.count - 1 > PROBE_ARGUMENTS_MAX)
		return error_set(err, ERROR_USAGE, "a probe has at most %u arguments", PROBE_ARGUMENTS_MAX);
	return 0;
}

/* The first of these characters that no backslash precedes. */
static char *find_plain(char *text, const char *characters)
{
	for (char *at = text; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (strchr(characters, *at))
			return at;
	}
	return NULL;
}

/* Removes backslashes in place. */
static char *unescape(char *text)
{
	char *to = text;
	for (char *at = text; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		*to++ = *at;
	}
	*to = '\0';
	return text;
}

static int parse_event(struct probe_spec *spec, char *text, struct error *err)
{
	char *colon = find_plain(text, ":");
	if (colon) {
		*colon = '\0';
		spec->group = unescape(text);
		text = colon + 1;
	}
	spec->event = unescape(text);
	const char *bad = spec->group && !probe_is_name(spec->group) ? spec->group : !probe_is_name(spec->event) ? spec->event : NULL;
	if (bad && !spec->sdt)
		return error_set(err, ERROR_USAGE,
			"%s is bad for event name -it must follow C symbol-naming rule.", bad);
	return 0;
}

static int parse_sdt(struct probe_spec *spec, char *text, struct error *err)
{
	spec->sdt = true;
	text += *text == '%';
	char *at = find_plain(text, "@");
	if (at) {
		*at = '\0';
		spec->target = unescape(at + 1);
	}
	if (find_plain(text, ";=+%"))
		return error_set(err, ERROR_USAGE, "%s must be an SDT name.", text);
	if (parse_event(spec, text, err) < 0)
		return -1;
	CLEANUP_STR struct str function = { 0 };
	str_printf(&function, "%%%s", spec->event);
	spec->function = arena_string(&spec->arena, function.text, function.len);
	return 0;
}

static int parse_number(const char *text, uint64_t *value, const char *what, struct error *err)
{
	char *end;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (*end || end == text || errno || *text == '-')
		return error_set(err, ERROR_USAGE, "There is non-digit character in %s: '%s'", what, text);
	return 0;
}

static int parse_part(struct probe_spec *spec, char kind, char *text, struct error *err)
{
	uint64_t number = 0;
	switch (kind) {
	case ':':
		if (*text && parse_number(text, &number, "line number", err) < 0)
			return -1;
		if (number > INT32_MAX)
			return error_set(err, ERROR_USAGE, "the line number %s is too large", text);
		spec->line = (uint32_t)number;
		spec->line_given = *text != '\0'; /* as in perf, an empty number is no line */
		return 0;
	case '+':
		return parse_number(text, &spec->offset, "offset", err);
	case '@':
		if (spec->file)
			return error_set(err, ERROR_USAGE, "SRC@SRC is not allowed.");
		spec->file = unescape(text);
		return 0;
	default:
		if (strcmp(text, "return") != 0)
			return error_set(err, ERROR_UNSUPPORTED, "%%%s is not supported.", text);
		spec->returns = true;
		return 0;
	}
}

static int check_place(const struct probe_spec *spec, struct error *err)
{
	const char *why = NULL;
	if (spec->pattern && spec->line)
		why = "Lazy pattern can't be used with line number.";
	else if (spec->pattern && spec->offset)
		why = "Lazy pattern can't be used with offset.";
	else if (spec->line && spec->offset)
		why = "Offset can't be used with line number.";
	else if (!spec->line && !spec->pattern && spec->file && !spec->function)
		why = "File always requires line number or lazy pattern.";
	else if (spec->offset && !spec->function)
		why = "Offset requires an entry function.";
	else if ((spec->offset || spec->line || spec->pattern) && spec->returns)
		why = "Offset/Line/Lazy pattern can't be used with return probe.";
	else if (!spec->function && !spec->file)
		why = "The probe definition names no function and no file.";
	return why ? error_set(err, ERROR_USAGE, "%s", why) : 0;
}

/* A word is the name of a file if it has a '.' before a line or a pattern, and no other part. */
static bool is_file(char *text)
{
	char *part = find_plain(text, "+@%") ? NULL : find_plain(text, ";:");
	return part && memchr(text, '.', (size_t)(part - text));
}

static int parse_place(struct probe_spec *spec, char *text, struct error *err)
{
	if (*text == '%' || !strncmp(text, "sdt_", 4))
		return parse_sdt(spec, text, err);
	char *part = find_plain(text, ";=@+%");
	if (part && *part == '=') {
		*part = '\0';
		if (parse_event(spec, text, err) < 0)
			return -1;
		text = part + 1;
	}
	bool file = is_file(text);
	part = find_plain(text, ";:+@%");
	char kind = part ? *part : '\0';
	if (part)
		*part++ = '\0';
	if (*text)
		*(file ? &spec->file : &spec->function) = unescape(text);
	while (part) {
		if (kind == ';') {
			spec->pattern = part; /* with its backslashes */
			break;
		}
		char *next = find_plain(part, ";:+@%"), after = next ? *next : '\0';
		if (next)
			*next++ = '\0';
		if (parse_part(spec, kind, part, err) < 0)
			return -1;
		part = next;
		kind = after;
	}
	if (spec->function && !strncmp(spec->function, "0x", 2)) {
		spec->absolute = true;
		if (parse_number(spec->function, &spec->address, "absolute address", err) < 0)
			return -1;
	}
	return check_place(spec, err);
}

/* Reads the fields after a variable; the text is cut into names. */
static int parse_fields(struct probe_argument *argument, char *at, struct error *err)
{
	while (*at) {
		struct probe_field field = { .pointer = *at != '.' };
		char kind = *at, *next;
		*at++ = '\0';
		if (kind == '[') {
			field.index = strtol(at, &next, 0);
			if (*next != ']' || next == at)
				return error_set(err, ERROR_USAGE, "Array index must be a number.");
			at = next + 1;
			if (*at && *at != '.' && *at != '-' && *at != '[')
				return error_set(err, ERROR_USAGE, "Argument parse error: %s", at);
		} else {
			if (kind == '-' && *at++ != '>')
				return error_set(err, ERROR_USAGE, "Argument parse error: %s", at - 1);
			field.name = at;
			at += strcspn(at, "-.[");
			if (at == field.name)
				return error_set(err, ERROR_USAGE, "a member has no name in '%s'", argument->text);
		}
		vec_push(&argument->fields, field);
	}
	return 0;
}

static int parse_argument(struct probe_spec *spec, char *word, struct error *err)
{
	struct probe_argument *argument = vec_add(&spec->arguments);
	char *text = unescape(word), *at = strchr(text, '=');
	if (at) {
		*at = '\0';
		argument->name = text;
		text = at + 1;
		if (!probe_is_name(argument->name))
			return error_set(err, ERROR_USAGE, "%s is no name of an argument: it must follow C symbol-naming rule.", argument->name);
	}
	at = strchr(text, '@');
	if (at && at != text && !strcmp(at + 1, "user")) {
		*at = '\0';
		argument->user = true;
	}
	at = strchr(text, ':');
	if (at) {
		*at = '\0';
		argument->type = at + 1;
	}
	if (!*text)
		return error_set(err, ERROR_USAGE, "an argument is empty");
	argument->text = arena_string(&spec->arena, text, strlen(text));
	argument->variable = text;
	if (spec->returns && probe_is_variable(text))
		return error_set(err, ERROR_USAGE, "You can't specify local variable for kretprobe.");
	at = probe_is_variable(text) || !strncmp(text, "$retval", 7) ? strpbrk(text, "-.[") : NULL;
	return at ? parse_fields(argument, at, err) : 0;
}

/* perf names an event at a line of a function after both. */
static void name_by_line(struct probe_spec *spec)
{
	if (spec->event || !spec->function || !spec->line || spec->pattern)
		return;
	CLEANUP_STR struct str name = { 0 };
	str_printf(&name, "%s_L%u", spec->function, spec->line);
	spec->event = arena_string(&spec->arena, name.text, name.len);
}

int probe_spec_parse(struct probe_spec *spec, const char *text, struct error *err)
{
	struct word_list words = { 0 };
	*spec = (struct probe_spec){ 0 };
	int result = split(spec, text, &words, err);
	if (result == 0)
		result = parse_place(spec, words.list.items[0], err);
	for (size_t i = 1; i < words.list.count && result == 0; i++)
		result = parse_argument(spec, words.list.items[i], err);
	if (result == 0)
		name_by_line(spec);
	vec_fini(&words.list);
	return result;
}

void probe_spec_place(const struct probe_spec *spec, struct str *to)
{
	enum { PATH_SHOWN = 30 };
	if (spec->function) {
		str_puts(to, spec->function);
		if (spec->offset)
			str_printf(to, "+%llu", (unsigned long long)spec->offset);
		else if (spec->line)
			str_printf(to, ":%u", spec->line);
		else if (spec->returns)
			str_puts(to, "%return");
	}
	if (!spec->file)
		return;
	const char *path = spec->file;
	size_t len = strlen(path);
	if (len > PATH_SHOWN) {
		const char *slash = strchr(path + len - PATH_SHOWN, '/');
		path = slash ? slash + 1 : path + len - PATH_SHOWN;
	}
	str_printf(to, "@%s", path);
	if (!spec->function && spec->line)
		str_printf(to, ":%u", spec->line);
}

void probe_argument_text(const struct probe_argument *argument, struct str *to)
{
	if (argument->name)
		str_printf(to, "%s=", argument->name);
	str_puts(to, argument->text);
	if (argument->type)
		str_printf(to, ":%s", argument->type);
}

void probe_range_fini(struct probe_range *range)
{
	free(range->function);
	free(range->file);
	*range = (struct probe_range){ 0 };
}

static int range_number(char **at, int32_t *value, const char *what, struct error *err)
{
	char *end;
	errno = 0;
	long number = strtol(*at, &end, 0);
	if (errno || end == *at || number < 0 || number > INT32_MAX)
		return error_set(err, ERROR_USAGE, "'%s' is not a valid number.", what);
	*value = (int32_t)number;
	*at = end;
	return 0;
}

static int range_lines(struct probe_range *range, char *at, struct error *err)
{
	if (range_number(&at, &range->first, "start line", err) < 0)
		return -1;
	if (*at == '+' || *at == '-') {
		char kind = *at++;
		if (range_number(&at, &range->last, "end line", err) < 0)
			return -1;
		int32_t last = range->last;
		if (kind == '+' && __builtin_add_overflow(last - 1, range->first, &range->last))
			range->last = INT32_MAX;
	}
	if (range->first > range->last)
		return error_set(err, ERROR_USAGE, "Start line must be smaller than end line.");
	if (*at)
		return error_set(err, ERROR_USAGE, "Tailing with invalid str '%s'.", at);
	return 0;
}

int probe_range_parse(struct probe_range *range, const char *text, struct error *err)
{
	CLEANUP_FREE char *copy = memory_string(text);
	*range = (struct probe_range){ .last = INT32_MAX };
	/* the line follows the last colon: C++ names contain others */
	char *colon = strrchr(copy, ':');
	if (colon && (colon == copy || (colon[-1] != ':' && (isdigit((unsigned char)colon[1]) || !strchr(copy, '('))))) {
		*colon = '\0';
		if (range_lines(range, colon + 1, err) < 0)
			return -1;
	}
	char *at = strchr(copy, '@');
	if (at) {
		*at = '\0';
		range->function = memory_string(copy);
		range->file = memory_string(at + 1);
	} else if (probe_is_qualified(copy)) {
		range->function = memory_string(copy);
	} else if (strpbrk(copy, "/.")) {
		range->file = memory_string(copy);
	} else if (probe_is_name(copy)) {
		range->function = memory_string(copy);
	} else {
		return error_set(err, ERROR_USAGE, "'%s' is not a valid function name.", copy);
	}
	return 0;
}
