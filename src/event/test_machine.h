/* A folder of PMUs for a test: two kinds of cores, a family outside of the cores, a PMU with a unit. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "event/event.h"
#include "unit.h"

struct machine {
	char root[40];
};

static const char *const machine_files[][2] = {
	{ "software/type", "1" }, { "uprobe/type", "9" }, { "tracepoint/type", "2" }, { "breakpoint/type", "5" },
	{ "cpu_core/type", "4" }, { "cpu_core/cpus", "0" }, { "cpu_core/format/event", "config:0-7" },
	{ "cpu_core/format/umask", "config:8-15" }, { "cpu_core/format/inv", "config:23" }, { "cpu_core/format/ldlat", "config1:0-15" },
	{ "cpu_core/events/slots", "event=0x00,umask=0x4" }, { "cpu_core/events/topdown-retiring", "event=0x00,umask=0x80" },
	{ "cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3" }, { "cpu_core/events/param", "event=0x10,umask=?" },
	{ "cpu_atom/type", "10" }, { "cpu_atom/cpus", "1" }, { "cpu_atom/format/event", "config:0-7" },
	{ "cpu_atom/events/mem-loads", "event=0xd0" },
	{ "uncore_imc_0/type", "20" }, { "uncore_imc_0/cpumask", "0" }, { "uncore_imc_0/format/event", "config:0-7" },
	{ "uncore_imc_2/type", "22" }, { "uncore_imc_2/cpumask", "0" }, { "uncore_imc_2/format/event", "config:0-7" },
	{ "uncore_imc_10/type", "21" }, { "uncore_imc_10/cpumask", "0" }, { "uncore_imc_10/format/event", "config:0-7" },
	{ "uncore_imc_0/events/clockticks", "event=0xff" }, { "uncore_imc_2/events/clockticks", "event=0xff" },
	{ "power/type", "30" }, { "power/cpumask", "0" }, { "power/format/event", "config:0-7" },
	{ "power/events/energy-pkg", "event=0x02" }, { "power/events/energy-pkg.unit", "Joules" },
	{ "power/events/energy-pkg.scale", "2.5e-1" }, { "power/events/energy-pkg.per-pkg", "1" },
	{ "broken/type", "40" }, { "broken/format/event", "config:70" }, { "broken/events/bad", "event=" },
};

static inline void machine_open(struct machine *machine, struct pmus *pmus)
{
	strcpy(machine->root, "/tmp/event-test-XXXXXX");
	EXPECT(mkdtemp(machine->root) != NULL);
	for (size_t i = 0; i < sizeof machine_files / sizeof machine_files[0]; i++) {
		char path[256];
		snprintf(path, sizeof path, "%s/%s", machine->root, machine_files[i][0]);
		for (char *slash = path + strlen(machine->root) + 1; (slash = strchr(slash, '/')); slash++) {
			*slash = '\0';
			mkdir(path, 0755);
			*slash = '/';
		}
		FILE *file = fopen(path, "w");
		EXPECT(file && fprintf(file, "%s\n", machine_files[i][1]) > 0);
		if (file)
			fclose(file);
	}
	pmus->root = machine->root;
}

/* Writes a file of a vendor's events or metrics. */
static inline void machine_vendor_file(const struct machine *machine, const char *name, const char *text)
{
	char path[80];
	snprintf(path, sizeof path, "%s/%s", machine->root, name);
	FILE *file = fopen(path, "w");
	EXPECT(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static inline void machine_close(struct machine *machine)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf '%s'", machine->root);
	EXPECT_INT(system(command), 0);
}
