#include "os/cpufreq.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "os/checked.h"
#include "os/cpus.h"
#include "os/file.h"

enum {
	POLICIES_MAX = CPUS_MAX,
	SETTINGS_MAX = 3 * POLICIES_MAX,
	VALUE_SIZE = 256,
};

/* A line of root/folder/name; false: it cannot be read. */
static bool read_line(const char *root, const char *folder, const char *name, char value[VALUE_SIZE])
{
	char path[PATH_MAX];
	return snprintf(path, sizeof path, "%s/%s/%s", root, folder, name) < (int)sizeof path && file_line(path, value, VALUE_SIZE);
}

static const char *text_of(struct cpufreq *cpufreq, const char *root, const char *folder, const char *name, const char *fallback)
{
	char value[VALUE_SIZE];
	if (!read_line(root, folder, name, value))
		return fallback;
	text_make_printable(value);
	return arena_string(&cpufreq->arena, value, strlen(value));
}

static int64_t number_of(const char *root, const char *folder, const char *name)
{
	char value[VALUE_SIZE];
	long long number = read_line(root, folder, name, value) ? strtoll(value, NULL, 10) : 0;
	return number > 0 ? number : 0;
}

/* "0 1 2 5" as "0-2,5". */
static const char *cpus_of(struct cpufreq *cpufreq, const char *root, const char *folder)
{
	char value[VALUE_SIZE];
	struct cpus cpus = { 0 };
	CLEANUP_STR struct str text = { 0 };
	if (!read_line(root, folder, "affected_cpus", value) || !*value)
		return "";
	for (char *c = value; *c; c++)
		*c = *c == ' ' ? ',' : *c;
	size_t end = strlen(value);
	while (end && value[end - 1] == ',')
		value[--end] = '\0';
	if (cpus_parse(&cpus, value, NULL) == 0)
		cpus_text(&cpus, &text);
	else
		str_puts(&text, value);
	cpus_fini(&cpus);
	return arena_string(&cpufreq->arena, str_text(&text), text.len);
}

/* Its own file, intel_pstate's, or that of all policies. */
static void read_boost(struct cpufreq *cpufreq, struct cpufreq_policy *policy, const char *root, const char *folder)
{
	char value[VALUE_SIZE], path[64];
	snprintf(path, sizeof path, "%s/boost", folder);
	if (read_line(root, folder, "boost", value)) {
		policy->boost_file = arena_string(&cpufreq->arena, path, strlen(path));
	} else if (read_line(root, "intel_pstate", "no_turbo", value)) {
		policy->boost_file = "intel_pstate/no_turbo";
		policy->boost_inverted = true;
	} else if (read_line(root, "cpufreq", "boost", value)) {
		policy->boost_file = "cpufreq/boost";
	}
	policy->boost = policy->boost_file && (value[0] == '1') != policy->boost_inverted;
}

static void read_policy(struct cpufreq *cpufreq, const char *root, uint32_t number)
{
	struct cpufreq_policy policy = { .number = number };
	char folder[32], cppc[64];
	snprintf(folder, sizeof folder, "cpufreq/policy%u", number);
	policy.cpus = cpus_of(cpufreq, root, folder);
	policy.driver = text_of(cpufreq, root, folder, "scaling_driver", "");
	policy.governor = text_of(cpufreq, root, folder, "scaling_governor", "");
	policy.preference = text_of(cpufreq, root, folder, "energy_performance_preference", NULL);
	policy.min_khz = number_of(root, folder, "scaling_min_freq");
	policy.max_khz = number_of(root, folder, "scaling_max_freq");
	policy.current_khz = number_of(root, folder, "scaling_cur_freq");
	policy.low_khz = number_of(root, folder, "cpuinfo_min_freq");
	policy.high_khz = number_of(root, folder, "cpuinfo_max_freq");
	policy.base_khz = number_of(root, folder, "base_frequency");
	snprintf(cppc, sizeof cppc, "cpu%u/acpi_cppc", number);
	if (!policy.base_khz)
		policy.base_khz = number_of(root, cppc, "nominal_freq") * 1000;
	read_boost(cpufreq, &policy, root, folder);
	vec_push(&cpufreq->policies, policy);
}

static int policy_compare(const void *a, const void *b)
{
	const struct cpufreq_policy *left = a, *right = b;
	return left->number < right->number ? -1 : left->number > right->number;
}

void cpufreq_read(struct cpufreq *cpufreq, const char *root)
{
	CLEANUP_NAMES struct names names = { 0 };
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/cpufreq", root) >= (int)sizeof path || folder_names(path, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.list.count && cpufreq->policies.count < POLICIES_MAX; i++) {
		unsigned number;
		char end;
		if (sscanf(names.list.items[i], "policy%5u%c", &number, &end) == 1)
			read_policy(cpufreq, root, number);
	}
	if (cpufreq->policies.count)
		qsort(cpufreq->policies.items, cpufreq->policies.count, sizeof *cpufreq->policies.items, policy_compare);
}

void cpufreq_fini(struct cpufreq *cpufreq)
{
	vec_fini(&cpufreq->policies);
	arena_fini(&cpufreq->arena);
}

/* Whether the text has the word, between blanks. */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = text; (at = strstr(at, word)); at += len) {
		bool begins = at == text || isspace((unsigned char)at[-1]);
		if (begins && (!at[len] || isspace((unsigned char)at[len])))
			return true;
	}
	return false;
}

void cpufreq_absence(const char *cpuinfo, const char *cmdline, const char *vendor, struct str *why, struct str *hint)
{
	static const char *const switches[] = { "cpufreq.off=1", "intel_pstate=disable", "amd_pstate=disable" };
	static const char *const virtual_vendors[] = { "QEMU", "VMware", "Xen", "innotek", "Amazon EC2", "Google" };
	bool is_virtual = has_word(cpuinfo, "hypervisor");
	for (size_t i = 0; i < sizeof virtual_vendors / sizeof *virtual_vendors; i++)
		is_virtual |= !strncmp(vendor, virtual_vendors[i], strlen(virtual_vendors[i]));
	if (is_virtual) {
		str_puts(why, "This is a virtual machine without a frequency driver: its host governs the clock");
		str_puts(hint, "Pin the clock on the host.");
		return;
	}
	for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
		if (!has_word(cmdline, switches[i]))
			continue;
		str_printf(why, "No frequency driver is active: the kernel parameter %s disables it", switches[i]);
		str_puts(hint, "Boot without this parameter.");
		return;
	}
	str_puts(why, "No frequency driver is active: the firmware governs the clock");
	if (has_word(cpuinfo, "GenuineIntel"))
		str_puts(hint, "The driver intel_pstate is absent; boot with intel_pstate=passive, or load acpi_cpufreq.");
	else if (has_word(cpuinfo, "AuthenticAMD"))
		str_puts(hint, "The driver amd_pstate is absent; enable CPPC in the firmware and boot with amd_pstate=passive, or load acpi_cpufreq.");
	else
		str_puts(hint, "Drivers are cppc_cpufreq, scmi_cpufreq and cpufreq_dt, as the firmware supports them.");
}

const char *cpufreq_governed_by(const struct cpufreq_policy *policy)
{
	bool hardware = !strcmp(policy->driver, "intel_pstate") || !strncmp(policy->driver, "amd-pstate-epp", 14);
	static const struct { const char *governor, *by; } rows[] = {
		{ "performance", "the upper limit" }, { "powersave", "the lower limit" }, { "schedutil", "the kernel, by load" },
		{ "ondemand", "the kernel, by load" }, { "conservative", "the kernel, by load" }, { "userspace", "a program" },
	};
	if (hardware)
		return !strcmp(policy->governor, "performance") ? "the processor, for performance" : "the processor, by load";
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!strcmp(policy->governor, rows[i].governor))
			return rows[i].by;
	}
	return "";
}

const char *cpufreq_remedy(const char *driver)
{
	if (!strncmp(driver, "intel_pstate", 12))
		return "intel_pstate=passive";
	if (!strncmp(driver, "amd-pstate", 10))
		return "amd_pstate=passive";
	if (!strcmp(driver, "acpi-cpufreq"))
		return "intel_pstate=passive or amd_pstate=passive";
	return NULL;
}

void cpufreq_settings_fini(struct cpufreq_settings *settings)
{
	for (size_t i = 0; i < settings->list.count; i++) {
		free(settings->list.items[i].path);
		free(settings->list.items[i].value);
	}
	vec_fini(&settings->list);
}

void cpufreq_settings_add(struct cpufreq_settings *settings, const char *path, const char *value)
{
	vec_push(&settings->list, ((struct cpufreq_setting){ .path = memory_string(path), .value = memory_string(value) }));
}

static int read_setting(int root, const char *path, char value[VALUE_SIZE], struct error *err)
{
	CLEANUP_FD int fd = checked_open(root, path, O_RDONLY, err);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, value, VALUE_SIZE - 1);
	if (n < 0)
		return error_system(err, "%s", path);
	value[n] = '\0';
	value[strcspn(value, "\n")] = '\0';
	return 0;
}

int cpufreq_settings_read(const struct cpufreq_settings *of, int root, struct cpufreq_settings *current, struct error *err)
{
	for (size_t i = 0; i < of->list.count; i++) {
		char value[VALUE_SIZE];
		if (read_setting(root, of->list.items[i].path, value, err) < 0)
			return -1;
		cpufreq_settings_add(current, of->list.items[i].path, value);
	}
	return 0;
}

void cpufreq_settings_text(const struct cpufreq_settings *settings, struct str *to)
{
	for (size_t i = 0; i < settings->list.count; i++)
		str_printf(to, "%s=%s\n", settings->list.items[i].path, settings->list.items[i].value);
}

/* Whether the path and the value are those of a frequency setting, the only files that root writes. */
static bool is_setting(const char *path, const char *value)
{
	char name[32] = "";
	unsigned number;
	int end = 0;
	if (!*value || strlen(value) > 12 || value[strspn(value, "0123456789")])
		return false;
	if (!strcmp(path, "cpufreq/boost") || !strcmp(path, "intel_pstate/no_turbo"))
		return true;
	if (sscanf(path, "cpufreq/policy%5u/%31s%n", &number, name, &end) != 2 || path[end])
		return false;
	return !strcmp(name, "scaling_min_freq") || !strcmp(name, "scaling_max_freq") || !strcmp(name, "boost");
}

int cpufreq_settings_parse(struct cpufreq_settings *settings, const char *text, struct error *err)
{
	while (*text) {
		char line[128];
		size_t len = strcspn(text, "\n");
		if (len >= sizeof line || settings->list.count == SETTINGS_MAX)
			return error_set(err, ERROR_FORMAT, "the stored frequency settings are damaged");
		memcpy(line, text, len);
		line[len] = '\0';
		text += len + (text[len] == '\n');
		char *equals = strchr(line, '=');
		if (!equals)
			return error_set(err, ERROR_FORMAT, "the stored frequency settings are damaged");
		*equals = '\0';
		if (!is_setting(line, equals + 1))
			return error_set(err, ERROR_FORMAT, "'%s=%s' is not a frequency setting", line, equals + 1);
		cpufreq_settings_add(settings, line, equals + 1);
	}
	return 0;
}

/* false: errno is set. */
static bool write_setting(int root, const struct cpufreq_setting *setting)
{
	struct error err = { 0 };
	CLEANUP_FD int fd = checked_open(root, setting->path, O_WRONLY | O_TRUNC, &err);
	if (fd < 0) {
		errno = err.sys ? err.sys : EINVAL;
		return false;
	}
	return write(fd, setting->value, strlen(setting->value)) == (ssize_t)strlen(setting->value);
}

int cpufreq_settings_write(const struct cpufreq_settings *settings, int root, size_t *refused, struct error *err)
{
	bool again = false;
	for (size_t i = 0; i < settings->list.count; i++)
		again |= !write_setting(root, &settings->list.items[i]);
	for (size_t i = 0; i < settings->list.count; i++) {
		const struct cpufreq_setting *setting = &settings->list.items[i];
		char value[VALUE_SIZE];
		*refused = i;
		if (again && !write_setting(root, setting))
			return error_system(err, "writing %s to %s", setting->value, setting->path);
		if (read_setting(root, setting->path, value, err) < 0)
			return -1;
		if (strcmp(value, setting->value) != 0)
			return error_set(err, ERROR_UNSUPPORTED, "%s is %s after %s was written", setting->path, value, setting->value);
	}
	return 0;
}
