#include "cmd/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/counter.h"
#include "os/machine.h"

/* Sizes such as 64K: bytes. *plain: the text is a number without a unit, which is the result. */
bool size_parse(const char *text, uint64_t *value, bool *plain)
{
	static const char units[] = "BKMG";
	char *end;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (end == text || errno || *text == '-')
		return false;
	*plain = *end == '\0';
	*value = number;
	if (*plain)
		return true;
	const char *unit = strchr(units, *end >= 'a' && *end <= 'z' ? *end - 32 : *end);
	if (!unit || end[1])
		return false;
	for (const char *u = units; u < unit; u++)
		if (__builtin_mul_overflow(*value, (uint64_t)1024, value))
			return false;
	return true;
}

size_t pages_of(const char *text, size_t length, bool *rounded)
{
	char copy[64];
	uint64_t value, page = machine_page_size(), result = 1;
	bool plain;
	if (length >= sizeof copy)
		return 0;
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (!size_parse(copy, &value, &plain) || value == 0)
		return 0;
	uint64_t pages = plain ? value : value / page + (value % page != 0);
	while (result < pages && result < (uint64_t)1 << 40)
		result *= 2;
	if (result > (uint64_t)1 << 31)
		return 0;
	*rounded = result * page != (plain ? value * page : value);
	return (size_t)result;
}

int pages_parse(const char *arg, size_t *pages, bool *rounded, struct error *err)
{
	size_t length = arg ? strcspn(arg, ",") : 0, result = length ? pages_of(arg, length, rounded) : 0;
	if (arg && !length)
		return 0;
	if (!result)
		return error_set(err, ERROR_USAGE, "Invalid argument for --mmap_pages/-m");
	*pages = result;
	return 0;
}

/* -F and -c against what the kernel allows. */
int rate_take(const struct cli *cli, const struct rate *o, struct sampling *s)
{
	uint64_t most = counter_max_rate();
	s->rate_given = o->freq_text || o->count_given;
	if (o->freq_text && strcmp(o->freq_text, "max") == 0) {
		s->freq = most ? most : SAMPLING_FREQ_DEFAULT;
		cli_warn(cli, "info: Using a maximum frequency rate of %llu Hz", (unsigned long long)s->freq);
	} else if (o->freq_text) {
		char *end;
		s->freq = strtoull(o->freq_text, &end, 10);
		if (end == o->freq_text || *end || o->freq_text[0] == '-') {
			cli_warn(cli, "-F takes a number of samples a second, or max");
			return EXIT_INVALID;
		}
	}
	if (o->count_given && o->count) {
		s->period = o->count;
		s->freq = 0;
		return 0;
	}
	if (!s->freq) {
		cli_warn(cli, "frequency and count are zero, aborting");
		return EXIT_INVALID;
	}
	if (!most || s->freq <= most)
		return 0;
	if (o->freq_text && o->strict) {
		cli_warn(cli, "error: Maximum frequency rate (%llu Hz) exceeded.\n"
			"       Use a lower -F, or raise the limit: sysctl kernel.perf_event_max_sample_rate=%llu",
			(unsigned long long)most, (unsigned long long)s->freq);
		return EXIT_INVALID;
	}
	cli_warn(cli, "warning: Maximum frequency rate (%llu Hz) exceeded, throttling from %llu Hz to %llu Hz.\n"
		"         kernel.perf_event_max_sample_rate is the limit; the kernel lowers it where sampling takes too long.",
		(unsigned long long)most, (unsigned long long)s->freq, (unsigned long long)most);
	s->freq = most;
	return 0;
}
