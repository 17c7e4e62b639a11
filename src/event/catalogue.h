/* All events of this machine as values: names, PMU, unit, encoding, description, topic. What prints them is not known here. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "event/pmu.h"

enum catalogue_kind {
	CATALOGUE_HARDWARE,    /* generic events of the processor that the kernel supports */
	CATALOGUE_SOFTWARE,
	CATALOGUE_TOOL,        /* measured without the kernel */
	CATALOGUE_CACHE,
	CATALOGUE_PMU,         /* the named events of PMUs, of the kernel and of vendors' files */
	CATALOGUE_RAW,         /* the forms of raw events */
	CATALOGUE_BREAKPOINT,
	CATALOGUE_TRACEPOINT,
	CATALOGUE_KINDS,
};

/* Texts are NULL where they are absent, and valid as long as the catalogue. */
struct catalogue_event {
	enum catalogue_kind kind;
	const char *name, *alias;      /* both are valid for -e, except of CATALOGUE_RAW and CATALOGUE_BREAKPOINT */
	const char *pmu, *topic;
	const char *type_text;         /* "Hardware event" */
	const char *scale_unit;        /* "2.32831E-10Joules" */
	const char *description, *long_description;
	const char *encoding;          /* "cpu/event=0x3c/" */
	bool deprecated, core;         /* core: of a PMU of the cores */
};

struct catalogue {
	VEC(struct catalogue_event) list;
	struct pmus pmus;
	struct arena arena;
	bool every_pmu;                /* also the second and further PMUs of a family: uncore_imc_1 beside uncore_imc_0 */
	bool encodings;                /* fill those of tracepoints, which cost a file each */
};

void catalogue_fini(struct catalogue *catalogue);
/* Appends the events of one kind, in perf's order. < 0: they cannot be read, and *err says why; what was appended remains. */
int catalogue_add(struct catalogue *catalogue, enum catalogue_kind kind, struct error *err);
/* Whether the kernel counts the event on this machine. */
bool catalogue_supports(uint32_t type, uint64_t config);
