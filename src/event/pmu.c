#include "event/pmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/file.h"

static const char root[] = "/sys/bus/event_source/devices";

static struct pmu *pmu_new(struct pmus *pmus, const char *name, uint32_t type)
{
	struct pmu *pmu = arena_alloc(&pmus->arena, sizeof *pmu);
	pmu->name = arena_string(&pmus->arena, name, strlen(name));
	pmu->type = type;
	vec_push(&pmus->list, pmu);
	return pmu;
}

/* Whether the PMU belongs to a kind of core: "cpu", or a PMU with a list of CPUs. */
static bool pmu_is_core(const char *name)
{
	char path[512];
	if (strcmp(name, "cpu") == 0)
		return true;
	snprintf(path, sizeof path, "%s/%s/cpus", root, name);
	return file_exists(path);
}

void pmus_read(struct pmus *pmus)
{
	if (pmus->read)
		return;
	pmus->read = true;
	CLEANUP_NAMES struct names names = { 0 };
	folder_names(root, &names, NULL);
	names_sort(&names);
	bool any_core = false;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < names.list.count; i++) {
			char path[512];
			int64_t type;
			bool core = pmu_is_core(names.list.items[i]);
			snprintf(path, sizeof path, "%s/%s/type", root, names.list.items[i]);
			if (core != (pass == 0) || !file_number(path, &type))
				continue;
			pmu_new(pmus, names.list.items[i], (uint32_t)type)->core = core;
			any_core |= core;
		}
		if (pass == 0 && !any_core)
			pmu_new(pmus, "cpu", ATTR_RAW)->core = true;
	}
}

void pmus_fini(struct pmus *pmus)
{
	for (size_t i = 0; i < pmus->list.count; i++) {
		struct pmu *pmu = pmus->list.items[i];
		vec_fini(&pmu->formats);
		vec_fini(&pmu->events);
		vec_fini(&pmu->caps);
		cpus_fini(&pmu->cpus);
	}
	vec_fini(&pmus->list);
	arena_fini(&pmus->arena);
	pmus->read = false;
}

/* Parses "config:0-7,21". */
static bool parse_pmu_format(const char *text, struct pmu_format *format)
{
	static const char *const words[] = { "config", "config1", "config2", "config3" };
	size_t length = strcspn(text, ":");
	for (format->word = 0; format->word < 4; format->word++)
		if (strlen(words[format->word]) == length && memcmp(words[format->word], text, length) == 0)
			break;
	if (format->word == 4 || text[length] != ':')
		return false;
	for (const char *at = text + length + 1; *at;) {
		char *end;
		unsigned long low = strtoul(at, &end, 10), high = low;
		if (end == at)
			return false;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > high || high > 63)
			return false;
		format->bits |= (high - low == 63 ? ~(uint64_t)0 : ((uint64_t)1 << (high - low + 1)) - 1) << low;
		at = *end == ',' ? end + 1 : end;
		if (*end != ',' && *end != '\0')
			return false;
	}
	return format->bits != 0;
}

static void pmu_load_formats(struct pmus *pmus, struct pmu *pmu)
{
	char path[512], line[256];
	CLEANUP_NAMES struct names names = { 0 };
	snprintf(path, sizeof path, "%s/%s/format", root, pmu->name);
	if (folder_names(path, &names, NULL) < 0)
		return;
	names_sort(&names);
	for (size_t i = 0; i < names.list.count; i++) {
		struct pmu_format format = { 0 };
		const char *name = names.list.items[i];
		snprintf(path, sizeof path, "%s/%s/format/%s", root, pmu->name, name);
		if (!file_line(path, line, sizeof line) || !parse_pmu_format(line, &format))
			continue;
		format.name = arena_string(&pmus->arena, name, strlen(name));
		vec_push(&pmu->formats, format);
	}
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t a = strlen(name), b = strlen(suffix);
	return a > b && strcmp(name + a - b, suffix) == 0;
}

/* Reads the files beside an event's file: energy-pkg.unit, .scale, .per-pkg, .snapshot. */
static void pmu_load_event_details(struct pmus *pmus, const struct pmu *pmu, struct pmu_event *event)
{
	char path[512], line[128];
	snprintf(path, sizeof path, "%s/%s/events/%s.unit", root, pmu->name, event->name);
	if (file_line(path, line, sizeof line))
		event->unit = arena_string(&pmus->arena, line, strlen(line));
	snprintf(path, sizeof path, "%s/%s/events/%s.scale", root, pmu->name, event->name);
	if (file_line(path, line, sizeof line))
		event->scale = strtod(line, NULL);
	snprintf(path, sizeof path, "%s/%s/events/%s.per-pkg", root, pmu->name, event->name);
	event->per_package = file_exists(path);
	snprintf(path, sizeof path, "%s/%s/events/%s.snapshot", root, pmu->name, event->name);
	event->snapshot = file_exists(path);
}

static void pmu_load_events(struct pmus *pmus, struct pmu *pmu)
{
	static const char *const beside[] = { ".unit", ".scale", ".per-pkg", ".snapshot" };
	char path[512], line[1024];
	CLEANUP_NAMES struct names names = { 0 };
	snprintf(path, sizeof path, "%s/%s/events", root, pmu->name);
	if (folder_names(path, &names, NULL) < 0)
		return;
	names_sort(&names);
	for (size_t i = 0; i < names.list.count; i++) {
		const char *name = names.list.items[i];
		bool detail = false;
		for (size_t k = 0; k < sizeof beside / sizeof beside[0]; k++)
			detail |= has_suffix(name, beside[k]);
		snprintf(path, sizeof path, "%s/%s/events/%s", root, pmu->name, name);
		if (detail || !file_line(path, line, sizeof line))
			continue;
		struct pmu_event event = { .scale = 1 };
		event.name = arena_string(&pmus->arena, name, strlen(name));
		event.terms = arena_string(&pmus->arena, line, strlen(line));
		pmu_load_event_details(pmus, pmu, &event);
		vec_push(&pmu->events, event);
	}
}

static void pmu_load_caps(struct pmus *pmus, struct pmu *pmu)
{
	char path[512], line[256];
	CLEANUP_NAMES struct names names = { 0 };
	snprintf(path, sizeof path, "%s/%s/caps", root, pmu->name);
	if (folder_names(path, &names, NULL) < 0)
		return;
	names_sort(&names);
	for (size_t i = 0; i < names.list.count; i++) {
		const char *name = names.list.items[i];
		snprintf(path, sizeof path, "%s/%s/caps/%s", root, pmu->name, name);
		if (!file_line(path, line, sizeof line))
			continue;
		struct pmu_cap *cap = vec_add(&pmu->caps);
		cap->name = arena_string(&pmus->arena, name, strlen(name));
		cap->value = arena_string(&pmus->arena, line, strlen(line));
	}
}

void pmu_load(struct pmus *pmus, struct pmu *pmu)
{
	char path[512], line[4096];
	if (pmu->loaded)
		return;
	pmu->loaded = true;
	pmu_load_formats(pmus, pmu);
	pmu_load_events(pmus, pmu);
	pmu_load_caps(pmus, pmu);
	snprintf(path, sizeof path, "%s/%s/cpumask", root, pmu->name);
	pmu->has_cpumask = file_line(path, line, sizeof line);
	snprintf(path, sizeof path, "%s/%s/cpus", root, pmu->name);
	if (pmu->has_cpumask || file_line(path, line, sizeof line))
		cpus_parse(&pmu->cpus, line, NULL);
}

/* Whether `name` denotes the PMU's family: "uncore_cha_12" belongs to "uncore_cha" and to "cha". */
static bool pmu_in_family(const char *pmu, const char *name, size_t length)
{
	static const char prefix[] = "uncore_";
	if (strncmp(pmu, name, length) != 0 && strncmp(pmu, prefix, sizeof prefix - 1) == 0)
		pmu += sizeof prefix - 1;
	if (strncmp(pmu, name, length) != 0)
		return false;
	const char *rest = pmu + length;
	if (*rest == '\0')
		return true;
	if (*rest++ != '_')
		return false;
	size_t digits = strspn(rest, "0123456789abcdef");
	return digits && rest[digits] == '\0';
}

size_t pmus_find(struct pmus *pmus, const char *name, size_t length, struct pmu **out, size_t max)
{
	pmus_read(pmus);
	size_t found = 0;
	for (size_t i = 0; i < pmus->list.count && !found; i++) {
		struct pmu *pmu = pmus->list.items[i];
		if (strlen(pmu->name) == length && memcmp(pmu->name, name, length) == 0 && found++ < max)
			out[0] = pmu;
	}
	for (size_t i = 0, exact = found; i < pmus->list.count && !exact && length; i++) {
		struct pmu *pmu = pmus->list.items[i];
		if (pmu_in_family(pmu->name, name, length) && found++ < max)
			out[found - 1] = pmu;
	}
	for (size_t i = 0; i < found && i < max; i++)
		pmu_load(pmus, out[i]);
	return found;
}

struct pmu *pmus_by_type(struct pmus *pmus, uint32_t type)
{
	pmus_read(pmus);
	for (size_t i = 0; i < pmus->list.count; i++)
		if (pmus->list.items[i]->type == type)
			return pmus->list.items[i];
	return NULL;
}

const struct pmu_format *pmu_format(const struct pmu *pmu, const char *name, size_t length)
{
	for (size_t i = 0; i < pmu->formats.count; i++)
		if (strlen(pmu->formats.items[i].name) == length && memcmp(pmu->formats.items[i].name, name, length) == 0)
			return &pmu->formats.items[i];
	return NULL;
}

const struct pmu_event *pmu_event(const struct pmu *pmu, const char *name, size_t length)
{
	for (size_t i = 0; i < pmu->events.count; i++)
		if (strlen(pmu->events.items[i].name) == length && memcmp(pmu->events.items[i].name, name, length) == 0)
			return &pmu->events.items[i];
	return NULL;
}

uint64_t pmu_format_max(const struct pmu_format *format)
{
	int width = __builtin_popcountll(format->bits);
	return width == 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
}

bool pmu_format_apply(const struct pmu_format *format, uint64_t value, struct attr *attr)
{
	uint64_t *const words[] = { &attr->config, &attr->config1, &attr->config2, &attr->config3 };
	if (value > pmu_format_max(format))
		return false;
	uint64_t *word = words[format->word];
	*word &= ~format->bits;
	for (uint64_t bits = format->bits; bits; bits &= bits - 1, value >>= 1)
		if (value & 1)
			*word |= bits & -bits;
	return true;
}
