#include "event/metric_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "os/file.h"
#include "os/machine.h"
#include "os/topology.h"

bool metric_smt_is_on(void)
{
	int64_t active;
	struct topology t = { 0 };
	bool shared = false;
	if (file_number("/sys/devices/system/cpu/smt/active", &active))
		return active > 0;
	topology_read(&t);
	for (size_t i = 0; i < t.cores.list.count; i++)
		shared |= strpbrk(t.cores.list.items[i], ",-") != NULL;
	topology_fini(&t);
	return shared;
}

bool metric_watchdog_is_on(void)
{
	int64_t on;
	return file_number("/proc/sys/kernel/nmi_watchdog", &on) && on > 0;
}

/* Of the processor's own table of frequencies, else of its name ("… @ 2.70GHz"). */
static double tsc_hz(void)
{
	char description[256];
#if defined(__x86_64__) || defined(__i386__)
	unsigned divisor, multiplier, crystal, unused;
	if (__get_cpuid_count(0x15, 0, &divisor, &multiplier, &crystal, &unused) && divisor && multiplier && crystal)
		return (double)crystal * multiplier / divisor;
#endif
	const char *at = machine_processor(description, sizeof description) ? strstr(description, "@ ") : NULL;
	char *end;
	double value = at ? strtod(at + 2, &end) : 0;
	if (value <= 0)
		return NAN;
	return strncmp(end, "GHz", 3) == 0 ? value * 1e9 : strncmp(end, "MHz", 3) == 0 ? value * 1e6 : NAN;
}

static double count_of(const char *name)
{
	struct topology t = { 0 };
	double count = NAN;
	topology_read(&t);
	if (strcasecmp(name, "#num_cpus") == 0)
		count = (double)t.cpus.count;
	else if (strcasecmp(name, "#num_packages") == 0)
		count = (double)t.packages.list.count;
	else if (strcasecmp(name, "#num_dies") == 0)
		count = (double)t.dies.list.count;
	else if (strcasecmp(name, "#num_cores") == 0)
		count = (double)t.cores.list.count;
	topology_fini(&t);
	return count;
}

double metric_literal(const char *name, const struct metric_target *target, double slots)
{
	if (strcasecmp(name, "#smt_on") == 0)
		return metric_smt_is_on();
	if (strcasecmp(name, "#core_wide") == 0) /* all threads of the measured cores are measured */
		return target->system_wide && (!target->cpus_given || !metric_smt_is_on());
	if (strcasecmp(name, "#target_cpu") == 0)
		return target->system_wide || target->cpus_given;
	if (strcasecmp(name, "#num_cpus_online") == 0)
		return (double)sysconf(_SC_NPROCESSORS_ONLN);
	if (strcasecmp(name, "#system_tsc_freq") == 0)
		return tsc_hz();
	if (strcasecmp(name, "#slots") == 0)
		return slots > 0 ? slots : NAN;
	if (strcasecmp(name, "#has_pmem") == 0)
		return file_exists("/sys/firmware/acpi/tables/NFIT");
	return count_of(name);
}
