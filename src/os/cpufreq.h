/* Frequency policies of the CPUs from sysfs, and changes to them that can be undone. `root` is the folder /sys/devices/system/cpu, as a
 * path or a descriptor (O_PATH) of it. Knows no command; decides nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#define CPUFREQ_ROOT "/sys/devices/system/cpu"

struct cpufreq_policy {
	uint32_t number;
	const char *cpus;                /* "0-3"; as the kernel lists them if that cannot be read */
	const char *driver, *governor;   /* "": unknown */
	const char *preference;          /* energy_performance_preference; NULL: the driver has none */
	int64_t min_khz, max_khz;        /* the limits that are set; 0: unknown, here and below */
	int64_t current_khz;
	int64_t low_khz, high_khz;       /* what the processor can do */
	int64_t base_khz;                /* without boost */
	const char *boost_file;          /* below root: the file that switches boost of this policy; NULL: absent */
	bool boost, boost_inverted;      /* inverted: the file has 1 if boost is off */
};

struct cpufreq {
	VEC(struct cpufreq_policy) policies; /* by number; empty: no driver */
	struct arena arena;
};

/* Reads all policies; a machine without a driver has none. */
void cpufreq_read(struct cpufreq *cpufreq, const char *root);
void cpufreq_fini(struct cpufreq *cpufreq);

/* Why a machine has no driver, and what would help, from the texts of /proc/cpuinfo, /proc/cmdline and the name of the machine's vendor. */
void cpufreq_absence(const char *cpuinfo, const char *cmdline, const char *vendor, struct str *why, struct str *hint);
/* What decides the clock within the limits: "the kernel, by load". */
const char *cpufreq_governed_by(const struct cpufreq_policy *policy);
/* The kernel parameter with which the clock can be set if this driver refuses; NULL: none is known. */
const char *cpufreq_remedy(const char *driver);

/* One value of a file below root. */
struct cpufreq_setting {
	char *path, *value;              /* owned */
};

struct cpufreq_settings {
	VEC(struct cpufreq_setting) list;
};

void cpufreq_settings_fini(struct cpufreq_settings *settings);
void cpufreq_settings_add(struct cpufreq_settings *settings, const char *path, const char *value);
/* The same files with their current values. */
int cpufreq_settings_read(const struct cpufreq_settings *of, int root, struct cpufreq_settings *current, struct error *err);
/* Lines "path=value"; < 0: a line is not the path and number of a frequency setting. */
void cpufreq_settings_text(const struct cpufreq_settings *settings, struct str *to);
int cpufreq_settings_parse(struct cpufreq_settings *settings, const char *text, struct error *err);
/* Writes the values in this order. A limit that another one still prevents is written again after it. *refused: the number of the first
 * value that the driver refuses, or changes. */
int cpufreq_settings_write(const struct cpufreq_settings *settings, int root, size_t *refused, struct error *err);
