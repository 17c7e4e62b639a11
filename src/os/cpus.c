#include "os/cpus.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"
#include "os/file.h"

void cpus_fini(struct cpus *cpus)
{
	vec_fini(&cpus->list);
}

static size_t cpus_place(const struct cpus *cpus, int32_t cpu)
{
	return SEARCH_COUNT(cpus->list.count, i, cpus->list.items[i] < cpu);
}

size_t cpus_index(const struct cpus *cpus, int32_t cpu)
{
	size_t at = cpus_place(cpus, cpu);
	return at < cpus->list.count && cpus->list.items[at] == cpu ? at : cpus->list.count;
}

bool cpus_has(const struct cpus *cpus, int32_t cpu)
{
	return cpus_index(cpus, cpu) < cpus->list.count;
}

void cpus_add(struct cpus *cpus, int32_t cpu)
{
	size_t at = cpus_place(cpus, cpu);
	if (at < cpus->list.count && cpus->list.items[at] == cpu)
		return;
	vec_push(&cpus->list, cpu);
	memmove(&cpus->list.items[at + 1], &cpus->list.items[at], (cpus->list.count - 1 - at) * sizeof cpu);
	cpus->list.items[at] = cpu;
}

static bool parse_number(const char **text, int32_t *number)
{
	if (**text < '0' || **text > '9')
		return false;
	char *end;
	unsigned long value = strtoul(*text, &end, 10);
	if (value >= CPUS_MAX)
		return false;
	*number = (int32_t)value;
	*text = end;
	return true;
}

/* Parses "3" or "0-3" at *text. */
static bool parse_range(const char **text, int32_t *first, int32_t *last)
{
	if (!parse_number(text, first))
		return false;
	*last = *first;
	if (**text == '-') {
		(*text)++;
		if (!parse_number(text, last))
			return false;
	}
	return *last >= *first && (**text == ',' || **text == '\n' || **text == '\0');
}

int cpus_parse(struct cpus *cpus, const char *text, struct error *err)
{
	const char *at = text;
	int64_t named = 0; /* with repetitions, of which a hostile text has very many */
	while (*at && *at != '\n') {
		int32_t first, last;
		if (!parse_range(&at, &first, &last) || (named += last - first + 1) > 4 * CPUS_MAX)
			return error_set(err, ERROR_USAGE, "'%s' is not a list of CPUs such as 0-3,7", text);
		for (int32_t cpu = first; cpu <= last; cpu++)
			cpus_add(cpus, cpu);
		if (*at == ',')
			at++;
	}
	return 0;
}

int cpus_online(struct cpus *cpus, struct error *err)
{
	char line[4096];
	if (file_line("/sys/devices/system/cpu/online", line, sizeof line) && cpus_parse(cpus, line, NULL) == 0 && cpus->list.count)
		return 0;
	long count = sysconf(_SC_NPROCESSORS_ONLN);
	if (count < 1 || count > CPUS_MAX)
		return error_set(err, ERROR_SYSTEM, "cannot determine which CPUs are online");
	vec_clear(&cpus->list);
	for (int32_t cpu = 0; cpu < count; cpu++)
		vec_push(&cpus->list, cpu);
	return 0;
}

bool cpus_contiguous(const struct cpus *cpus)
{
	size_t n = cpus->list.count;
	return n && (size_t)(cpus->list.items[n - 1] - cpus->list.items[0]) == n - 1;
}

void cpus_text(const struct cpus *cpus, struct str *out)
{
	for (size_t i = 0; i < cpus->list.count;) {
		size_t last = i;
		while (last + 1 < cpus->list.count && cpus->list.items[last + 1] == cpus->list.items[last] + 1)
			last++;
		str_printf(out, "%s%d", i ? "," : "", cpus->list.items[i]);
		if (last > i)
			str_printf(out, "-%d", cpus->list.items[last]);
		i = last + 1;
	}
}

unsigned cpus_online_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);
	return count > 0 ? (unsigned)count : 1;
}

static unsigned count_of(const char *path)
{
	char line[4096];
	struct cpus cpus = { 0 };
	unsigned count = cpus_online_count();
	if (file_line(path, line, sizeof line) && cpus_parse(&cpus, line, NULL) == 0 && cpus.list.count)
		count = (unsigned)cpus.list.items[cpus.list.count - 1] + 1;
	cpus_fini(&cpus);
	return count;
}

unsigned cpus_present_count(void)
{
	return count_of("/sys/devices/system/cpu/present");
}

unsigned cpus_possible_count(void)
{
	return count_of("/sys/devices/system/cpu/possible");
}
