#include "vendor/vendor.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/file.h"
#include "os/machine.h"
#include "vendor/vendor_file.h"

enum { PATH_SIZE = 4096, MAP_MAX = 1 << 20, PATTERN_MAX = 256, MAP_COLUMNS = 7 };

bool vendor_cpu(char *cpu, size_t size)
{
	char id[128], name[64];
	unsigned family, model, stepping;
	const char *given = secure_getenv("PERF_CPUID");
	if (given && *given) {
		snprintf(cpu, size, "%s", given);
		return true;
	}
	if (!machine_processor_id(id, sizeof id))
		return false;
	if (sscanf(id, "%63[^,],%u,%u,%u", name, &family, &model, &stepping) == 4)
		snprintf(cpu, size, "%s-%u-%X-%X", name, family, model, stepping);
	else if (strncmp(id, "0x", 2) == 0) /* of a MIDR neither the variant nor the revision */
		snprintf(cpu, size, "0x%016llx", strtoull(id, NULL, 16) & ~0xf0000full);
	else
		snprintf(cpu, size, "%s", id);
	return true;
}

/* Whether the whole text matches the extended regular expression. */
static bool matches_whole(const char *pattern, const char *text)
{
	regex_t regex;
	regmatch_t match;
	/* repetitions of repetitions would need any amount of memory */
	if (strlen(pattern) > PATTERN_MAX || strpbrk(pattern, "{\\") || regcomp(&regex, pattern, REG_EXTENDED) != 0)
		return false;
	bool found = regexec(&regex, text, 1, &match, 0) == 0 && match.rm_so == 0 && (size_t)match.rm_eo == strlen(text);
	regfree(&regex);
	return found;
}

bool vendor_cpu_matches(const char *pattern, const char *cpu)
{
	char shorter[128];
	snprintf(shorter, sizeof shorter, "%s", cpu);
	char *stepping = strrchr(shorter, '-');
	if (strncmp(cpu, "0x", 2) == 0 && strncmp(pattern, "0x", 2) == 0)
		return (strtoull(pattern, NULL, 16) & ~0xf0000full) == (strtoull(cpu, NULL, 16) & ~0xf0000full);
	if (matches_whole(pattern, cpu))
		return true;
	if (!stepping || stepping == strchr(shorter, '-'))
		return false;
	*stepping = '\0';
	return matches_whole(pattern, shorter);
}

/* The file's name without its end, with blanks for minus signs. */
static const char *topic_of(struct vendor *v, const char *name)
{
	size_t length = strlen(name) - strlen(".json");
	char *topic = arena_string(&v->arena, name, length);
	for (char *at = topic; (at = strchr(at, '-'));)
		*at = ' ';
	return topic;
}

static bool is_json(const char *name)
{
	size_t length = strlen(name);
	return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static void read_folder(struct vendor *v, const char *folder, const char *unit)
{
	char path[PATH_SIZE];
	CLEANUP_NAMES struct names names = { 0 };
	if (folder_names(folder, &names, NULL) < 0) {
		vendor_remark(v, "%s: the folder cannot be read", folder);
		return;
	}
	names_sort(&names);
	for (size_t i = 0; i < names.list.count; i++) {
		const char *name = names.list.items[i];
		if (!is_json(name) || (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
			continue;
		vendor_file_read(v, path, &(struct vendor_origin){ .topic = topic_of(v, name), .unit = unit });
	}
}

/* What a line of a mapfile names: a folder of the kernel's tree, or a file of the perfmon repository ("/SPR/events/…_core.json"). */
static void read_mapped(struct vendor *v, const char *base, const char *const columns[MAP_COLUMNS])
{
	char path[PATH_SIZE];
	const char *name = columns[2] + strspn(columns[2], "/"), *file = strrchr(name, '/');
	const char *unit = strcasecmp(columns[3], "hybridcore") != 0 ? NULL : strcasecmp(columns[6], "Atom") == 0 ? "cpu_atom" : "cpu_core";
	if (strstr(name, "..") || (size_t)snprintf(path, sizeof path, "%s/%s", base, name) >= sizeof path) {
		vendor_remark(v, "%s/mapfile.csv: the name %s is invalid", base, name);
		return;
	}
	if (!is_json(name))
		read_folder(v, path, unit);
	else if (strcasecmp(columns[3], "retire latency") != 0)
		vendor_file_read(v, path, &(struct vendor_origin){ .topic = topic_of(v, file ? file + 1 : name), .unit = unit });
}

/* Reads the files of this processor; the first line is a heading. */
static void read_map(struct vendor *v, const char *base, char *text)
{
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		const char *columns[MAP_COLUMNS] = { "", "", "", "", "", "", "" };
		line[strcspn(line, "\r")] = '\0';
		for (size_t i = 0; i < MAP_COLUMNS && line; i++)
			columns[i] = strsep(&line, ",");
		if (columns[0][0] && columns[0][0] != '#' && columns[2][0] && vendor_cpu_matches(columns[0], v->cpu))
			read_mapped(v, base, columns);
	}
}

/* The folders of the kernel's tree that an architecture has. */
static const char *architecture(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return "/x86";
#elif defined(__aarch64__)
	return "/arm64";
#elif defined(__s390x__)
	return "/s390";
#elif defined(__powerpc__)
	return "/powerpc";
#elif defined(__riscv)
	return "/riscv";
#else
	return "/other";
#endif
}

static void read_base(struct vendor *v, const char *folder)
{
	char path[PATH_SIZE], base[PATH_SIZE];
	CLEANUP_STR struct str text = { 0 };
	bool mapped = false;
	for (int i = 0; i < 2 && !mapped; i++) {
		bool fits = (size_t)snprintf(base, sizeof base, "%s%s", folder, i ? "" : architecture()) < sizeof base;
		mapped = fits && (size_t)snprintf(path, sizeof path, "%s/mapfile.csv", base) < sizeof path && file_exists(path);
	}
	if (!mapped) {
		read_folder(v, folder, NULL);
		return;
	}
	if (file_read_regular(path, &text, MAP_MAX, NULL) < 0) {
		vendor_remark(v, "%s: the file cannot be read, or has more than %d bytes", path, MAP_MAX);
		return;
	}
	v->standard = true;
	read_folder(v, base, NULL);
	v->standard = false;
	if (text.text)
		read_map(v, base, text.text);
}

void vendor_read(struct vendor *v)
{
	if (v->read)
		return;
	v->read = true;
	if (!v->cpu[0])
		vendor_cpu(v->cpu, sizeof v->cpu);
	for (const char *at = v->path; at && *at;) {
		char folder[PATH_SIZE];
		size_t length = strcspn(at, ":");
		snprintf(folder, sizeof folder, "%.*s", (int)length, at);
		if (length && length < sizeof folder && file_exists(folder))
			read_base(v, folder);
		at += length + (at[length] == ':');
	}
}

void vendor_fini(struct vendor *v)
{
	vec_fini(&v->events);
	vec_fini(&v->standard_events);
	vec_fini(&v->metrics);
	vec_fini(&v->standard_metrics);
	vec_fini(&v->groups);
	vec_fini(&v->remarks);
	idmap_fini(&v->by_name);
	idmap_fini(&v->metric_by_name);
	arena_fini(&v->arena);
	v->read = false;
}

const struct vendor_event *vendor_find(struct vendor *v, const char *name, const struct vendor_event *from)
{
	vendor_read(v);
	uint32_t at = from ? from->next : idmap_get(&v->by_name, vendor_name_hash(name));
	while (at != VENDOR_NO_EVENT && strcasecmp(v->events.items[at].name, name) != 0)
		at = v->events.items[at].next;
	return at == VENDOR_NO_EVENT ? NULL : &v->events.items[at];
}

const struct metric *vendor_metric(struct vendor *v, const char *name)
{
	vendor_read(v);
	uint32_t at = idmap_get(&v->metric_by_name, vendor_name_hash(name));
	return at == IDMAP_NONE || strcasecmp(v->metrics.items[at].name, name) != 0 ? NULL : &v->metrics.items[at];
}
