#include "event/pmu.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/file.h"

enum { PMUS_MAX = 8192, PMU_NAMES_MAX = 65536, PATH_SIZE = 768 };

static const char *root_of(const struct pmus *pmus)
{
	return pmus->root ? pmus->root : "/sys/bus/event_source/devices";
}

static struct pmu *pmu_new(struct pmus *pmus, const char *name, uint32_t type)
{
	struct pmu *pmu = arena_alloc(&pmus->arena, sizeof *pmu);
	pmu->name = arena_string(&pmus->arena, name, strlen(name));
	pmu->type = type;
	vec_push(&pmus->list, pmu);
	return pmu;
}

/* Whether the PMU belongs to a kind of core: by its name, or by a list of CPUs. */
static bool pmu_is_core(const struct pmus *pmus, const char *name)
{
	char path[PATH_SIZE];
	if (strcmp(name, "cpu") == 0 || strcmp(name, "cpum_cf") == 0)
		return true;
	snprintf(path, sizeof path, "%s/%s/cpus", root_of(pmus), name);
	return file_exists(path);
}

/* A number is "_12", or hexadecimal of more than two digits. */
size_t pmu_family_length(const char *name)
{
	size_t all = strlen(name), length = all;
	bool letters = false;
	for (; length && isxdigit((unsigned char)name[length - 1]); length--)
		letters |= !isdigit((unsigned char)name[length - 1]);
	return length && length < all && name[length - 1] == '_' && (!letters || all - length > 2) ? length - 1 : all;
}

static int compare_pmus(const void *a, const void *b)
{
	const struct pmu *left = *(struct pmu *const *)a, *right = *(struct pmu *const *)b;
	size_t n = pmu_family_length(left->name), m = pmu_family_length(right->name);
	int order = strncmp(left->name, right->name, n < m ? n : m);
	if (left->core != right->core)
		return left->core ? -1 : 1;
	if (order || n != m)
		return order ? order : strcmp(left->name, right->name);
	unsigned long long i = left->name[n] ? strtoull(left->name + n + 1, NULL, 16) : 0;
	unsigned long long k = right->name[n] ? strtoull(right->name + n + 1, NULL, 16) : 0;
	return i < k ? -1 : i > k;
}

void pmus_read(struct pmus *pmus)
{
	if (pmus->read)
		return;
	pmus->read = true;
	CLEANUP_NAMES struct names names = { 0 };
	folder_names(root_of(pmus), &names, NULL);
	bool any_core = false;
	for (size_t i = 0; i < names.list.count && i < PMUS_MAX; i++) {
		char path[PATH_SIZE];
		int64_t type;
		bool core = pmu_is_core(pmus, names.list.items[i]);
		snprintf(path, sizeof path, "%s/%s/type", root_of(pmus), names.list.items[i]);
		if (!file_number(path, &type))
			continue;
		pmu_new(pmus, names.list.items[i], (uint32_t)type)->core = core;
		any_core |= core;
	}
	if (!any_core) {
		struct pmu *cpu = pmu_new(pmus, "cpu", ATTR_RAW);
		cpu->core = cpu->absent = cpu->loaded = true;
	}
	qsort(pmus->list.items, pmus->list.count, sizeof pmus->list.items[0], compare_pmus);
}

size_t pmus_core_count(struct pmus *pmus)
{
	size_t count = 0;
	pmus_read(pmus);
	while (count < pmus->list.count && pmus->list.items[count]->core)
		count++;
	return count;
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
	vendor_fini(&pmus->vendor);
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
	char path[PATH_SIZE], line[256];
	CLEANUP_NAMES struct names names = { 0 };
	snprintf(path, sizeof path, "%s/%s/format", root_of(pmus), pmu->name);
	if (folder_names(path, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.list.count && i < PMU_NAMES_MAX; i++) {
		struct pmu_format format = { 0 };
		const char *name = names.list.items[i];
		snprintf(path, sizeof path, "%s/%s/format/%s", root_of(pmus), pmu->name, name);
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
	char path[PATH_SIZE], line[128];
	snprintf(path, sizeof path, "%s/%s/events/%s.unit", root_of(pmus), pmu->name, event->name);
	if (file_line(path, line, sizeof line))
		event->unit = arena_string(&pmus->arena, line, strlen(line));
	snprintf(path, sizeof path, "%s/%s/events/%s.scale", root_of(pmus), pmu->name, event->name);
	if (file_line(path, line, sizeof line))
		event->scale = strtod(line, NULL);
	snprintf(path, sizeof path, "%s/%s/events/%s.per-pkg", root_of(pmus), pmu->name, event->name);
	event->per_package = file_exists(path);
	snprintf(path, sizeof path, "%s/%s/events/%s.snapshot", root_of(pmus), pmu->name, event->name);
	event->snapshot = file_exists(path);
}

static const struct pmu_event *pmu_event_loaded(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->events.count; i++)
		if (strcasecmp(pmu->events.items[i].name, name) == 0)
			return &pmu->events.items[i];
	return NULL;
}

static bool is_detail(const char *name)
{
	static const char *const beside[] = { ".unit", ".scale", ".per-pkg", ".snapshot" };
	for (size_t k = 0; k < sizeof beside / sizeof beside[0]; k++)
		if (has_suffix(name, beside[k]))
			return true;
	return false;
}

/* Returns whether the PMU has the event. */
static bool pmu_load_event(struct pmus *pmus, struct pmu *pmu, const char *name)
{
	char path[PATH_SIZE], line[1024];
	snprintf(path, sizeof path, "%s/%s/events/%s", root_of(pmus), pmu->name, name);
	if (pmu->absent || strchr(name, '/') || is_detail(name) || !file_line(path, line, sizeof line))
		return false;
	struct pmu_event event = { .scale = 1 };
	event.name = arena_string(&pmus->arena, name, strlen(name));
	event.terms = arena_string(&pmus->arena, line, strlen(line));
	pmu_load_event_details(pmus, pmu, &event);
	vec_push(&pmu->events, event);
	return true;
}

const struct pmu_event *pmu_kernel_event(struct pmus *pmus, struct pmu *pmu, const char *name)
{
	char other[256];
	const struct pmu_event *found = pmu_event_loaded(pmu, name);
	if (found || pmu->all_events || strlen(name) >= sizeof other)
		return found && !found->vendor ? found : NULL;
	for (int upper = 0; upper < 2; upper++) { /* the kernel's names are in one case */
		size_t i = 0;
		for (; name[i]; i++)
			other[i] = (char)(upper ? toupper((unsigned char)name[i]) : tolower((unsigned char)name[i]));
		other[i] = '\0';
		if (pmu_load_event(pmus, pmu, other))
			return &pmu->events.items[pmu->events.count - 1];
	}
	return NULL;
}

double pmu_scale_parse(const char *text, const char **unit)
{
	char *end;
	double scale = strtod(text, &end);
	*unit = end;
	return end == text ? 1 : scale;
}

/* Whether the PMU counts the events of a vendor's unit: "hisi_sccl,ddrc" are parts of its name, with numbers between them. */
static bool pmu_has_unit(struct pmus *pmus, struct pmu *pmu, const char *unit)
{
	const char *at = pmu->name;
	if (strcmp(unit, "default_core") == 0)
		return pmu->core;
	if (!strchr(unit, ',')) {
		pmu_load(pmus, pmu);
		return pmu_matches(pmu, unit);
	}
	for (const char *part = unit; *part;) {
		char word[64];
		size_t length = strcspn(part, ",");
		snprintf(word, sizeof word, "%.*s", (int)length, part);
		const char *found = length < sizeof word ? strstr(at, word) : NULL;
		if (!found || (part == unit && found != at))
			return false;
		at = found + length;
		part += length + (part[length] == ',');
	}
	return at[strspn(at, "_0123456789abcdef")] == '\0';
}

static void pmu_add_vendor_event(struct pmus *pmus, struct pmu *pmu, const struct vendor_event *from)
{
	struct pmu_event event = {
		.name = from->name, .terms = from->terms, .scale = 1, .per_package = from->per_package, .vendor = from,
	};
	if (from->scale_unit)
		event.scale = pmu_scale_parse(from->scale_unit, &event.unit);
	if (event.unit && !*event.unit)
		event.unit = NULL;
	vec_push(&pmu->events, event);
}

/* The kernel's events precede those of vendors, and hide those of the same name. */
static void pmu_load_vendor_events(struct pmus *pmus, struct pmu *pmu)
{
	vendor_read(&pmus->vendor);
	size_t own = pmu->events.count;
	const char *unit = NULL;
	bool has = false;
	for (size_t i = 0; i < pmus->vendor.events.count; i++) {
		const struct vendor_event *from = &pmus->vendor.events.items[i];
		bool hidden = false;
		if (from->unit != unit)
			has = pmu_has_unit(pmus, pmu, from->unit);
		unit = from->unit;
		for (size_t k = 0; k < own && has && !hidden; k++)
			hidden = strcasecmp(pmu->events.items[k].name, from->name) == 0;
		if (has && !hidden)
			pmu_add_vendor_event(pmus, pmu, from);
	}
}

void pmu_load_events(struct pmus *pmus, struct pmu *pmu)
{
	char path[PATH_SIZE];
	CLEANUP_NAMES struct names names = { 0 };
	snprintf(path, sizeof path, "%s/%s/events", root_of(pmus), pmu->name);
	if (pmu->all_events)
		return;
	folder_names(path, &names, NULL);
	pmu->all_events = true;
	pmu->events.count = 0;
	names_sort(&names);
	for (size_t i = 0; i < names.list.count && i < PMU_NAMES_MAX; i++)
		pmu_load_event(pmus, pmu, names.list.items[i]);
	pmu_load_vendor_events(pmus, pmu);
}

const struct pmu_event *pmu_event(struct pmus *pmus, struct pmu *pmu, const char *name)
{
	const struct pmu_event *found = pmu_event_loaded(pmu, name);
	if (!found)
		found = pmu_kernel_event(pmus, pmu, name);
	if (found || pmu->all_events)
		return found;
	for (const struct vendor_event *from = NULL; (from = vendor_find(&pmus->vendor, name, from));)
		if (pmu_has_unit(pmus, pmu, from->unit)) {
			pmu_add_vendor_event(pmus, pmu, from);
			return &pmu->events.items[pmu->events.count - 1];
		}
	return NULL;
}

static void pmu_load_caps(struct pmus *pmus, struct pmu *pmu)
{
	char path[PATH_SIZE], line[256];
	CLEANUP_NAMES struct names names = { 0 };
	snprintf(path, sizeof path, "%s/%s/caps", root_of(pmus), pmu->name);
	if (folder_names(path, &names, NULL) < 0)
		return;
	names_sort(&names);
	for (size_t i = 0; i < names.list.count; i++) {
		const char *name = names.list.items[i];
		snprintf(path, sizeof path, "%s/%s/caps/%s", root_of(pmus), pmu->name, name);
		if (!file_line(path, line, sizeof line))
			continue;
		struct pmu_cap *cap = vec_add(&pmu->caps);
		cap->name = arena_string(&pmus->arena, name, strlen(name));
		cap->value = arena_string(&pmus->arena, line, strlen(line));
	}
}

const char *pmu_cap(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->caps.count; i++)
		if (strcmp(pmu->caps.items[i].name, name) == 0)
			return pmu->caps.items[i].value;
	return NULL;
}

uint64_t pmu_number(const struct pmus *pmus, const struct pmu *pmu, const char *file)
{
	char path[PATH_SIZE];
	int64_t value;
	snprintf(path, sizeof path, "%s/%s/%s", root_of(pmus), pmu->name, file);
	return file_number(path, &value) && value > 0 ? (uint64_t)value : 0;
}

void pmu_load(struct pmus *pmus, struct pmu *pmu)
{
	char path[PATH_SIZE], line[4096];
	if (pmu->loaded)
		return;
	pmu->loaded = true;
	pmu_load_formats(pmus, pmu);
	pmu_load_caps(pmus, pmu);
	snprintf(path, sizeof path, "%s/%s/alias", root_of(pmus), pmu->name);
	if (file_line(path, line, sizeof line))
		pmu->alias = arena_string(&pmus->arena, line, strlen(line));
	snprintf(path, sizeof path, "%s/%s/cpumask", root_of(pmus), pmu->name);
	pmu->has_cpumask = file_line(path, line, sizeof line);
	snprintf(path, sizeof path, "%s/%s/cpus", root_of(pmus), pmu->name);
	if (pmu->has_cpumask || file_line(path, line, sizeof line))
		cpus_parse(&pmu->cpus, line, NULL);
}

/* Whether `family` and a number, after '_' or not, are the name. */
static bool in_family(const char *name, const char *family)
{
	size_t length = strlen(family);
	if (strncmp(name, family, length) != 0)
		return false;
	const char *number = name + length + (name[length] == '_');
	size_t hex = strspn(number, "0123456789abcdefABCDEF"), decimal = strspn(number, "0123456789");
	return !name[length] || (hex && !number[hex] && (decimal == hex || hex > 2));
}

bool pmu_matches(const struct pmu *pmu, const char *name)
{
	static const char prefix[] = "uncore_";
	const char *const names[] = { pmu->name, pmu->alias };
	const size_t length = sizeof prefix - 1;
	name += strncmp(name, prefix, length) == 0 ? length : 0;
	for (size_t i = 0; i < 2 && names[i]; i++) {
		const char *own = names[i] + (strncmp(names[i], prefix, length) == 0 ? length : 0);
		if (in_family(own, name) || (strpbrk(name, "*?[") && fnmatch(name, own, 0) == 0))
			return true;
	}
	return false;
}

bool pmu_traces(const struct pmu *pmu)
{
	return strcmp(pmu->name, "intel_pt") == 0 || strcmp(pmu->name, "intel_bts") == 0;
}

bool pmu_is_software(const struct pmu *pmu)
{
	static const char *const names[] = { "kprobe", "msr", "uprobe" };
	if (pmu->core || pmu->has_cpumask || pmu_traces(pmu))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(pmu->name, names[i]) == 0)
			return true;
	return pmu->type == ATTR_SOFTWARE || pmu->type == ATTR_TRACEPOINT || pmu->type == ATTR_BREAKPOINT;
}

struct pmu *pmus_named(struct pmus *pmus, const char *name)
{
	pmus_read(pmus);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < pmus->list.count; i++) {
			struct pmu *pmu = pmus->list.items[i];
			if (pass || strcmp(pmu->name, name) == 0)
				pmu_load(pmus, pmu);
			if (pass ? pmu->alias && strcmp(pmu->alias, name) == 0 : strcmp(pmu->name, name) == 0)
				return pmu;
		}
	}
	return NULL;
}

struct pmu *pmus_by_type(struct pmus *pmus, uint32_t type)
{
	pmus_read(pmus);
	for (size_t i = 0; i < pmus->list.count; i++)
		if (pmus->list.items[i]->type == type) {
			pmu_load(pmus, pmus->list.items[i]);
			return pmus->list.items[i];
		}
	return NULL;
}

const struct pmu_format *pmu_format(const struct pmu *pmu, const char *name, size_t length)
{
	for (size_t i = 0; i < pmu->formats.count; i++)
		if (strlen(pmu->formats.items[i].name) == length && memcmp(pmu->formats.items[i].name, name, length) == 0)
			return &pmu->formats.items[i];
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
	for (uint64_t bits = format->bits; bits; bits &= bits - 1, value >>= 1)
		if (value & 1)
			*word |= bits & -bits;
	return true;
}
