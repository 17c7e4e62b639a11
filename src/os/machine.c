#include "os/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "os/file.h"

void machine_names(struct machine_names *names)
{
	struct utsname uts;
	*names = (struct machine_names){ 0 };
	if (uname(&uts) != 0)
		return;
	snprintf(names->host, sizeof names->host, "%s", uts.nodename);
	snprintf(names->release, sizeof names->release, "%s", uts.release);
	snprintf(names->arch, sizeof names->arch, "%s", uts.machine);
}

/* The value of the first line "key   : value". */
static bool text_field(const char *text, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, key, length) != 0)
			continue;
		const char *at = line + length;
		while (*at == ' ' || *at == '\t')
			at++;
		if (*at != ':')
			continue;
		at++;
		while (*at == ' ' || *at == '\t')
			at++;
		size_t n = strcspn(at, "\n");
		snprintf(value, size, "%.*s", (int)(n < 4096 ? n : 4096), at);
		return true;
	}
	return false;
}

enum { CPUINFO_MAX = 16 << 20 };

bool machine_processor(char *description, size_t size)
{
	static const char *const keys[] = { "model name", "Processor", "cpu model", "vendor_id", "cpu" };
	CLEANUP_STR struct str text = { 0 };
	if (file_read("/proc/cpuinfo", &text, CPUINFO_MAX, NULL) < 0)
		return false;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (text_field(str_text(&text), keys[i], description, size))
			return true;
	return false;
}

bool machine_processor_id(char *id, size_t size)
{
	char vendor[64], family[16], model[16], stepping[16];
	CLEANUP_STR struct str text = { 0 };
	if (file_line("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", id, size))
		return true;
	if (file_read("/proc/cpuinfo", &text, CPUINFO_MAX, NULL) < 0)
		return false;
	if (!text_field(str_text(&text), "vendor_id", vendor, sizeof vendor) || !text_field(text.text, "cpu family", family, sizeof family) ||
	    !text_field(text.text, "model", model, sizeof model) || !text_field(text.text, "stepping", stepping, sizeof stepping))
		return false;
	snprintf(id, size, "%s,%s,%s,%s", vendor, family, model, stepping);
	return true;
}

uint64_t machine_memory_kb(void)
{
	char value[64];
	CLEANUP_STR struct str text = { 0 };
	if (file_read("/proc/meminfo", &text, 1 << 20, NULL) < 0 || !text_field(str_text(&text), "MemTotal", value, sizeof value))
		return 0;
	return strtoull(value, NULL, 10);
}

uint64_t machine_page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static const struct {
	const char *name;
	int32_t id;
} clocks[] = {
	{ "CLOCK_MONOTONIC", CLOCK_MONOTONIC }, { "CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW }, { "CLOCK_REALTIME", CLOCK_REALTIME },
	{ "CLOCK_BOOTTIME", CLOCK_BOOTTIME }, { "CLOCK_TAI", CLOCK_TAI },
	{ "CLOCK_PROCESS_CPUTIME_ID", CLOCK_PROCESS_CPUTIME_ID }, { "CLOCK_THREAD_CPUTIME_ID", CLOCK_THREAD_CPUTIME_ID },
	{ "CLOCK_MONO", CLOCK_MONOTONIC }, { "CLOCK_RAW", CLOCK_MONOTONIC_RAW }, { "CLOCK_REAL", CLOCK_REALTIME },
	{ "CLOCK_BOOT", CLOCK_BOOTTIME },
};

bool clock_by_name(const char *name, int32_t *clockid)
{
	enum { PREFIX = sizeof "CLOCK_" - 1 };
	const char *word = strncasecmp(name, "CLOCK_", PREFIX) == 0 ? name + PREFIX : name;
	for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
		if (strcasecmp(clocks[i].name + PREFIX, word) == 0) {
			*clockid = clocks[i].id;
			return true;
		}
	}
	return false;
}

uint64_t clock_now_ns(int32_t clockid)
{
	struct timespec now;
	if (clock_gettime(clockid, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_resolution_ns(int32_t clockid)
{
	struct timespec resolution;
	if (clock_getres(clockid, &resolution) != 0)
		return 0;
	return (uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec;
}
