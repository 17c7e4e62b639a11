#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "base/str.h"
#include "base/writer.h"

enum { CONFIG_FILE_BYTES_MAX = 1 << 20 };

void config_fini(struct config *config)
{
	arena_fini(&config->arena);
	vec_fini(&config->entries);
}

static struct config_entry *find_entry(const struct config *config, const char *key)
{
	for (size_t i = 0; config && i < config->entries.count; i++) {
		if (!strcmp(config->entries.items[i].key, key))
			return &config->entries.items[i];
	}
	return NULL;
}

void config_set(struct config *config, enum config_from from, const char *key, const char *value)
{
	struct config_entry *entry = find_entry(config, key);
	if (!entry) {
		entry = vec_add(&config->entries);
		entry->key = arena_string(&config->arena, key, strlen(key));
	}
	entry->value = arena_string(&config->arena, value, strlen(value));
	entry->from = from;
}

/* A text that is parsed line by line. */
struct reader {
	const char *at, *end;
	unsigned line;
};

static bool skip_blank(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
	return r->at < r->end && *r->at != '\n';
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static void skip_line(struct reader *r)
{
	while (r->at < r->end && *r->at != '\n')
		r->at++;
}

/* Parses [section] or [section "subsection"] after the bracket. */
static bool read_section(struct reader *r, struct str *section)
{
	str_clear(section);
	while (r->at < r->end && (is_name(*r->at) || *r->at == '.'))
		str_putc(section, (char)tolower((unsigned char)*r->at++));
	if (r->at < r->end && *r->at == ']') {
		r->at++;
		return section->len > 0;
	}
	if (!skip_blank(r) || *r->at++ != '"')
		return false;
	str_putc(section, '.');
	while (r->at < r->end && *r->at != '"' && *r->at != '\n') {
		if (*r->at == '\\' && ++r->at >= r->end)
			return false;
		str_putc(section, *r->at++);
	}
	if (r->end - r->at < 2 || r->at[0] != '"' || r->at[1] != ']')
		return false;
	r->at += 2;
	return true;
}

/* Parses the character after a backslash. */
static bool read_escape(struct reader *r, struct str *value)
{
	static const char from[] = "tnb\"\\", to[] = "\t\n\b\"\\";
	const char *known = r->at < r->end && *r->at ? strchr(from, *r->at++) : NULL;
	if (known)
		str_putc(value, to[known - from]);
	return known;
}

/* Parses the rest of the line: inner blanks become one each, trailing blanks and comments are dropped, quotes protect. */
static bool read_value(struct reader *r, struct str *value)
{
	bool quoted = false, blank = false;
	str_clear(value);
	skip_blank(r);
	while (r->at < r->end && *r->at != '\n') {
		char c = *r->at++;
		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			break;
		}
		if (!quoted && isspace((unsigned char)c)) {
			blank = true;
			continue;
		}
		if (c == '\\' && r->at < r->end && *r->at == '\n') {
			r->at++;
			r->line++;
			continue;
		}
		if (blank && value->len)
			str_putc(value, ' ');
		blank = false;
		if (c == '"')
			quoted = !quoted;
		else if (c != '\\')
			str_putc(value, c);
		else if (!read_escape(r, value))
			return false;
	}
	return !quoted;
}

static bool read_setting(struct reader *r, struct config *config, enum config_from from, const struct str *section)
{
	CLEANUP_STR struct str key = { 0 };
	CLEANUP_STR struct str value = { 0 };
	if (!section->len || !isalpha((unsigned char)*r->at))
		return false;
	str_add(&key, section->text, section->len);
	str_putc(&key, '.');
	while (r->at < r->end && is_name(*r->at))
		str_putc(&key, (char)tolower((unsigned char)*r->at++));
	if (!skip_blank(r) || *r->at++ != '=' || !read_value(r, &value))
		return false;
	config_set(config, from, key.text, str_text(&value));
	return true;
}

int config_parse(struct config *config, enum config_from from, const char *path, const char *text, size_t length,
	struct error *err)
{
	struct reader r = { .at = text, .end = text + length, .line = 1 };
	CLEANUP_STR struct str section = { 0 };
	if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		r.at += 3;
	for (; r.at < r.end; r.at++, r.line++) {
		unsigned line = r.line;
		bool good = true;
		if (skip_blank(&r) && *r.at != '#' && *r.at != ';') {
			bool heading = *r.at == '[';
			r.at += heading;
			good = heading ? read_section(&r, &section) : read_setting(&r, config, from, &section);
			if (good && heading && skip_blank(&r) && *r.at != '#' && *r.at != ';') {
				/* a setting may follow its heading on the same line */
				good = read_setting(&r, config, from, &section);
			}
		}
		if (!good)
			return error_set(err, ERROR_FORMAT, "bad config file line %u in %s", line, path);
		skip_line(&r);
	}
	return 0;
}

static int read_all(int fd, const char *path, struct str *text, struct error *err)
{
	for (;;) {
		str_reserve(text, 4096);
		ssize_t n = read(fd, text->text + text->len, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(err, "reading %s", path);
		if (n == 0)
			return 0;
		text->len += (size_t)n;
		if (text->len > CONFIG_FILE_BYTES_MAX)
			return error_set(err, ERROR_LIMIT, "%s is larger than a configuration file may be (%d bytes)", path,
				CONFIG_FILE_BYTES_MAX);
	}
}

static bool is_foreign(const struct stat *st)
{
	return st->st_uid != 0 && st->st_uid != geteuid();
}

/* The reason for which the file is not read; NULL: none. A user can give a file of root the name of a configuration: by a link, or by
 * renaming what root has written into a folder of the user. */
static const char *refusal(const struct stat *file, const char *path)
{
	CLEANUP_STR struct str folder = { 0 };
	struct stat st;
	const char *slash = strrchr(path, '/');
	if (is_foreign(file))
		return "not owned by current user or root";
	if (file->st_mode & S_IWOTH)
		return "can be written by every user";
	if (geteuid() != 0)
		return NULL;
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && is_foreign(&st))
		return "is the target of another user's link";
	str_printf(&folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	return stat(folder.text, &st) == 0 && is_foreign(&st) ? "is in a folder of another user" : NULL;
}

int config_read(struct config *config, enum config_from from, const char *path, const char **refused, struct error *err)
{
	CLEANUP_STR struct str text = { 0 };
	const char *why = NULL;
	struct stat st;
	if (refused)
		*refused = NULL;
	int fd = regular_open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ENOTSUP))
		return 0;
	if (fd < 0)
		return error_system(err, "opening %s", path);
	int result = fstat(fd, &st);
	if (result == 0 && (why = refusal(&st, path))) {
		if (refused)
			*refused = why;
	} else if (result == 0 && st.st_size != 0) {
		result = read_all(fd, path, &text, err);
	}
	close(fd);
	if (result < 0)
		return result;
	return config_parse(config, from, path, str_text(&text), text.len, err);
}

int config_check_key(const char *key, struct error *err)
{
	const char *dot = strrchr(key, '.');
	if (!dot || dot == key)
		return error_set(err, ERROR_USAGE, "The config variable does not contain a section name: %s", key);
	if (!dot[1])
		return error_set(err, ERROR_USAGE, "The config variable does not contain a variable name: %s", key);
	const char *section_end = strchr(key, '.'); /* a subsection may contain any character but a newline */
	bool good = isalpha((unsigned char)dot[1]) && !strchr(key, '\n');
	for (const char *c = key; good && c < section_end; c++)
		good = is_name(*c);
	for (const char *c = dot + 1; good && *c; c++)
		good = is_name(*c);
	return good ? 0 : error_set(err, ERROR_USAGE, "The config variable has characters that a name cannot have: %s", key);
}

void config_key_lower(char *key)
{
	char *dot = strrchr(key, '.');
	for (char *c = key; *c && *c != '.'; c++)
		*c = (char)tolower((unsigned char)*c);
	for (char *c = dot ? dot : key; *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

static void write_quoted(struct writer *out, const char *value)
{
	bool quote = value[strcspn(value, "#;\"\\\t\n\b")] || value[0] == ' ' || (value[0] && value[strlen(value) - 1] == ' ');
	quote = quote || strstr(value, "  ");
	if (quote)
		writer_putc(out, '"');
	for (const char *c = value; *c; c++) {
		static const char plain[] = "\t\n\b\"\\", escaped[] = "tnb\"\\";
		const char *special = strchr(plain, *c);
		if (special)
			writer_putc(out, '\\');
		writer_putc(out, special ? escaped[special - plain] : *c);
	}
	if (quote)
		writer_putc(out, '"');
}

static void write_section(struct writer *out, const char *section, size_t length)
{
	const char *dot = memchr(section, '.', length);
	if (!dot) {
		writer_printf(out, "[%.*s]\n", (int)length, section);
		return;
	}
	writer_printf(out, "[%.*s \"", (int)(dot - section), section);
	for (const char *c = dot + 1; c < section + length; c++) {
		if (*c == '"' || *c == '\\')
			writer_putc(out, '\\');
		writer_putc(out, *c);
	}
	writer_puts(out, "\"]\n");
}

static bool same_section(const char *a, const char *b)
{
	size_t length = (size_t)(strrchr(a, '.') - a);
	return length == (size_t)(strrchr(b, '.') - b) && !memcmp(a, b, length);
}

/* Writes all entries of the i-th entry's section, if that entry is the first of its section. */
static void write_settings(struct writer *out, const struct config *config, enum config_from from, size_t i)
{
	const char *first = config->entries.items[i].key;
	for (size_t before = 0; before < i; before++) {
		if (config->entries.items[before].from == from && same_section(config->entries.items[before].key, first))
			return;
	}
	write_section(out, first, (size_t)(strrchr(first, '.') - first));
	for (; i < config->entries.count; i++) {
		const struct config_entry *entry = &config->entries.items[i];
		if (entry->from != from || !same_section(entry->key, first))
			continue;
		writer_printf(out, "\t%s = ", strrchr(entry->key, '.') + 1);
		write_quoted(out, entry->value);
		writer_putc(out, '\n');
	}
}

void config_write(const struct config *config, enum config_from from, struct writer *out)
{
	writer_puts(out, "# this file is auto-generated.\n");
	for (size_t i = 0; i < config->entries.count; i++) {
		if (config->entries.items[i].from == from)
			write_settings(out, config, from, i);
	}
}

const char *config_get(const struct config *config, const char *key)
{
	const struct config_entry *entry = find_entry(config, key);
	return entry ? entry->value : NULL;
}

int config_text_is_true(const char *text)
{
	static const char *const yes[] = { "true", "yes", "on" }, *const no[] = { "false", "no", "off", "" };
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
		if (!strcasecmp(text, yes[i]))
			return 1;
	}
	for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
		if (!strcasecmp(text, no[i]))
			return 0;
	}
	char *end;
	long value = strtol(text, &end, 0);
	return *end ? -1 : value != 0;
}

bool config_bool(const struct config *config, const char *key, bool fallback)
{
	const struct config_entry *entry = find_entry(config, key);
	int value = entry ? config_text_is_true(entry->value) : -1;
	return value < 0 ? fallback : value;
}

int64_t config_int(const struct config *config, const char *key, int64_t fallback)
{
	const char *text = config_get(config, key);
	if (!text || !*text)
		return fallback;
	char *end;
	errno = 0;
	long long value = strtoll(text, &end, 0), factor = 1;
	static const char units[] = "kmg";
	const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		factor = 1ll << (10 * (unit - units + 1));
		end++;
	}
	if (*end || errno || __builtin_mul_overflow(value, factor, &value))
		return fallback;
	return value;
}

double config_double(const struct config *config, const char *key, double fallback)
{
	const char *text = config_get(config, key);
	if (!text || !*text)
		return fallback;
	char *end;
	double value = strtod(text, &end);
	return *end ? fallback : value;
}
