#include "os/schedstat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "os/cpus.h"
#include "os/file.h"

#define SWITCH "/proc/sys/kernel/sched_schedstats"

/* Takes the next word of a line, up to a blank; NULL: the end. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t");
	if (!*word)
		return NULL;
	*at = word + strcspn(word, " \t");
	if (**at)
		*(*at)++ = '\0';
	return word;
}

static bool number_of(const char *text, uint64_t *value)
{
	char *end;
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !*end && !errno;
}

/* The number at the end of "cpu12", "domain0". */
static bool numbered(const char *word, const char *name, uint64_t limit, uint64_t *number)
{
	size_t len = strlen(name);
	return strncmp(word, name, len) == 0 && number_of(word + len, number) && *number < limit;
}

static bool take_values(char *at, struct schedstat_row *row)
{
	unsigned count = schedstat_values(row->version, row->domain != SCHEDSTAT_NO_DOMAIN);
	for (unsigned i = 0; i < count; i++)
		if (!number_of(next_word(&at), &row->values[i]))
			return false;
	return !next_word(&at);
}

static bool parse_row(struct schedstat *stat, const char *word, char *at)
{
	enum { DOMAINS_MAX = 64 };
	struct schedstat_line line = { .row = { .timestamp = stat->timestamp, .version = stat->version, .domain = SCHEDSTAT_NO_DOMAIN } };
	uint64_t number;
	if (numbered(word, "cpu", CPUS_MAX, &number)) {
		line.row.cpu = (uint32_t)number;
	} else {
		if (!stat->lines.count || !numbered(word, "domain", DOMAINS_MAX, &number))
			return false;
		line.row.cpu = stat->lines.items[stat->lines.count - 1].row.cpu;
		line.row.domain = (int32_t)number;
		line.name = stat->version >= 17 ? next_word(&at) : NULL;
		line.mask = next_word(&at);
		if (!line.mask || (stat->version >= 17 && !line.name))
			return false;
	}
	if (!take_values(at, &line.row))
		return false;
	line.name = line.name ? text_one_line(&stat->arena, line.name, strlen(line.name)) : NULL;
	line.mask = line.mask ? text_one_line(&stat->arena, line.mask, strlen(line.mask)) : NULL;
	vec_push(&stat->lines, line);
	return true;
}

static bool parse_line(struct schedstat *stat, char *line, struct error *err)
{
	char *at = line, *word = next_word(&at);
	uint64_t number;
	if (!word)
		return true;
	if (!stat->version && strcmp(word, "version") == 0) {
		if (!number_of(next_word(&at), &number) || number > UINT16_MAX || !schedstat_values((uint16_t)number, false))
			return error_set(err, ERROR_UNSUPPORTED, "/proc/schedstat of this kernel has a version other than %d to %d",
				SCHEDSTAT_VERSION_MIN, SCHEDSTAT_VERSION_MAX), false;
		stat->version = (uint16_t)number;
		return true;
	}
	if (strcmp(word, "timestamp") == 0 && number_of(next_word(&at), &stat->timestamp))
		return true;
	if (stat->version && parse_row(stat, word, at))
		return true;
	return error_set(err, ERROR_FORMAT, "/proc/schedstat has a line that its version %u does not have, which begins with %.40s",
		stat->version, word), false;
}

int schedstat_parse(struct schedstat *stat, const char *text, struct error *err)
{
	CLEANUP_STR struct str copy = { 0 };
	str_puts(&copy, text);
	for (char *line = copy.text, *end; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (!parse_line(stat, line, err))
			return -1;
	}
	return stat->lines.count ? 0 : error_set(err, ERROR_FORMAT, "/proc/schedstat lists no CPU");
}

int schedstat_read(struct schedstat *stat, const char *path, struct error *err)
{
	enum { BYTES_MAX = 256 << 20 };
	CLEANUP_STR struct str text = { 0 };
	if (!file_exists(path)) {
		error_set(err, ERROR_UNSUPPORTED, "this kernel does not count what its scheduler does: %s does not exist", path);
		return error_hint(err, "a kernel built with CONFIG_SCHEDSTATS has it");
	}
	if (file_read(path, &text, BYTES_MAX, err) < 0)
		return -1;
	return schedstat_parse(stat, str_text(&text), err);
}

void schedstat_fini(struct schedstat *stat)
{
	vec_fini(&stat->lines);
	arena_fini(&stat->arena);
}

void schedstat_cpus(const char *mask, struct str *out)
{
	struct cpus cpus = { 0 };
	size_t digits = 0, left = 0;
	for (const char *p = mask; *p; p++)
		digits += *p != ',';
	left = digits;
	for (const char *p = mask; *p && left <= CPUS_MAX / 4; p++) {
		const char hex[] = "0123456789abcdef", *found = strchr(hex, *p);
		if (*p == ',')
			continue;
		left--;
		for (int bit = 3; found && bit >= 0; bit--)
			if ((found - hex) >> bit & 1)
				cpus_add(&cpus, (int32_t)(left * 4) + bit);
	}
	cpus_text(&cpus, out);
	cpus_fini(&cpus);
}

static bool write_switch(const char *value)
{
	CLEANUP_FD int fd = open(SWITCH, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && file_write(fd, value, 1);
}

int schedstat_enable(bool *was_off, struct error *err)
{
	int64_t value;
	*was_off = file_number(SWITCH, &value) && !value;
	if (!*was_off || write_switch("1"))
		return 0;
	*was_off = false;
	error_system(err, "the scheduler does not count, and %s cannot be set to 1", SWITCH);
	return error_hint(err, "run as root, or have root write 1 to it");
}

void schedstat_disable(void)
{
	write_switch("0");
}
