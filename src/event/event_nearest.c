#include "event/event_nearest.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/distance.h"
#include "event/event_names.h"
#include "os/tracefs.h"

enum { NEAREST = 3, NAME_MAX_LENGTH = 96 };

/* The names that are nearest to `name`, nearest first. */
struct search {
	const char *name;
	unsigned limit;
	size_t count;
	struct {
		unsigned distance;
		char text[2 * NAME_MAX_LENGTH + 4];
	} found[NEAREST];
};

static struct search search_for(const char *name)
{
	size_t length = strlen(name);
	return (struct search){ .name = name, .limit = length < 5 ? 1 : length < 9 ? 2 : 3 };
}

/* Considers a name; `format` makes the text that is shown from it. */
static void consider(struct search *s, const char *name, const char *before, const char *after)
{
	char text[sizeof s->found[0].text];
	unsigned distance = text_distance(s->name, name, s->limit);
	size_t at = 0;
	if (distance > s->limit)
		return;
	snprintf(text, sizeof text, "%.80s%.96s%.4s", before, name, after);
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->found[i].text, text) == 0)
			return;
	while (at < s->count && s->found[at].distance <= distance)
		at++;
	if (at == NEAREST)
		return;
	s->count += s->count < NEAREST;
	memmove(&s->found[at + 1], &s->found[at], (s->count - at - 1) * sizeof s->found[0]);
	s->found[at].distance = distance;
	memcpy(s->found[at].text, text, sizeof text);
}

static void append(struct event_error *err, const char *text)
{
	size_t length = strlen(err->help);
	snprintf(err->help + length, sizeof err->help - length, "%s", text);
}

static void append_found(struct event_error *err, const struct search *s)
{
	for (size_t i = 0; i < s->count; i++) {
		append(err, i ? ", " : "\nSimilar: ");
		append(err, s->found[i].text);
	}
}

static void consider_generic(struct search *s)
{
	char name[64];
	for (const struct event_symbol *symbol = event_symbols; symbol->name; symbol++) {
		consider(s, symbol->name, "", "");
		if (symbol->alias)
			consider(s, symbol->alias, "", "");
	}
	for (unsigned type = 0; type < CACHE_TYPES; type++)
		for (unsigned op = 0; op < CACHE_OPS; op++)
			for (unsigned result = 0; result < CACHE_RESULTS && event_cache_possible(type, op); result++)
				if (event_cache_name(type | op << 8 | result << 16, name, sizeof name))
					consider(s, name, "", "");
}

static void consider_pmus(struct events *events, struct search *s)
{
	struct pmus *pmus = &events->pmus;
	pmus_read(pmus);
	for (size_t i = 0; i < pmus->list.count; i++) {
		struct pmu *pmu = pmus->list.items[i];
		consider(s, pmu->name, "", "//");
		pmu_load_events(pmus, pmu);
		for (size_t k = 0; k < pmu->events.count; k++)
			consider(s, pmu->events.items[k].name, "", "");
	}
}

/* Names that exist elsewhere, and what has them. */
static const struct {
	const char *pattern;
	bool pmu;          /* the name of a PMU */
	const char *why;
} elsewhere[] = {
	{ "cpu_core", true, "This CPU: only Intel's processors with two kinds of cores have cpu_core and cpu_atom; others have \"cpu\"." },
	{ "cpu_atom", true, "This CPU: only Intel's processors with two kinds of cores have cpu_core and cpu_atom; others have \"cpu\"." },
	{ "intel_pt", true, "This CPU: it lacks Intel Processor Trace (the flag intel_pt in /proc/cpuinfo), or its hypervisor hides it." },
	{ "intel_bts", true, "This CPU: it lacks Intel's branch trace store (the flag bts in /proc/cpuinfo), or its hypervisor hides it." },
	{ "intel_*", true, "This CPU: only Intel's processors have this trace; virtual machines do not." },
	{ "uncore_*", true, "This CPU: its kernel has no such PMU outside of the cores; virtual machines lack them." },
	{ "ibs*", true, "This CPU: only AMD's processors have IBS; virtual machines mostly do not." },
	{ "amd_*", true, "This CPU: only AMD's processors have this PMU; virtual machines do not." },
	{ "arm*", true, "This CPU: only Arm's processors have this PMU." },
	{ "cs_etm", true, "This CPU: only Arm's processors have CoreSight." },
	{ "cpum_*", true, "This CPU: only IBM Z has this PMU." },
	{ "hv_*", true, "This CPU: only IBM Power has this PMU." },
	{ "power", true, "This kernel: RAPL is missing (CONFIG_PERF_EVENTS_INTEL_RAPL; \"modprobe rapl\"); virtual machines lack it." },
	{ "cstate_*", true, "This kernel: residencies are missing (CONFIG_PERF_EVENTS_INTEL_CSTATE; \"modprobe intel_cstate\")." },
	{ "msr", true, "This kernel: it has no PMU of model specific registers (x86 only)." },
	{ "kprobe", true, "This kernel: it lacks CONFIG_KPROBE_EVENTS." },
	{ "uprobe", true, "This kernel: it lacks CONFIG_UPROBE_EVENTS." },
	{ "energy-*", false, "This kernel: RAPL is missing (CONFIG_PERF_EVENTS_INTEL_RAPL; \"modprobe rapl\"); virtual machines lack it." },
	{ "c[0-9]*-residency", false,
	  "This kernel: residencies are missing (CONFIG_PERF_EVENTS_INTEL_CSTATE; \"modprobe intel_cstate\")." },
	{ "mem-loads*", false, "This CPU: its kernel samples no loads by address this way; Intel's do, outside of virtual machines." },
	{ "mem-stores", false, "This CPU: its kernel samples no stores by address this way; Intel's do, outside of virtual machines." },
	{ "slots", false, "This CPU: only newer processors of Intel have topdown events, outside of virtual machines." },
	{ "topdown-*", false, "This CPU: only newer processors of Intel have topdown events, outside of virtual machines." },
	{ "tsc", false, "This kernel: it has no PMU of model specific registers (x86 only)." },
};

/* exact: only names that are listed as such. */
static const char *why_elsewhere(const char *name, bool pmu, bool exact)
{
	for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
		if (elsewhere[i].pmu == pmu && fnmatch(elsewhere[i].pattern, name, 0) == 0 && (!exact || strcmp(elsewhere[i].pattern, name) == 0))
			return elsewhere[i].why;
	return NULL;
}

void event_error_explain(struct events *events, struct event_error *err, const char *name, bool pmu)
{
	struct search s = search_for(name);
	snprintf(err->help, sizeof err->help, "Unable to find %sevent on a PMU of '%.200s'", pmu ? "PMU or " : "", name);
	consider_pmus(events, &s); /* a similar name of this machine is more likely than a name of a family of others */
	const char *why = why_elsewhere(name, pmu, s.count > 0);
	if (why) {
		append(err, "\n");
		append(err, why);
		return;
	}
	if (strcmp(name, "cpu") == 0 && pmu)
		append(err, "\nThis kernel shows no PMU of the processor: a virtual machine has one only if its host passes it on.");
	consider_generic(&s);
	append_found(err, &s);
	append(err, "\nThe command 'list' prints all events.");
}

void event_error_add_similar_tracepoints(struct event_error *err, const char *system, const char *name)
{
	struct search s = search_for(name), of_system = search_for(system);
	CLEANUP_NAMES struct names systems = { 0 };
	if (tracefs_systems(&systems, NULL) < 0)
		return;
	for (size_t i = 0; i < systems.list.count; i++) {
		CLEANUP_NAMES struct names names = { 0 };
		char before[NAME_MAX_LENGTH];
		const char *candidate = systems.list.items[i];
		consider(&of_system, candidate, "", ":*");
		if (text_distance(system, candidate, of_system.limit) > of_system.limit || tracefs_events(candidate, &names, NULL) < 0)
			continue;
		snprintf(before, sizeof before, "%.80s:", candidate);
		for (size_t k = 0; k < names.list.count; k++)
			consider(&s, names.list.items[k], before, "");
	}
	append_found(err, s.count ? &s : &of_system);
}
