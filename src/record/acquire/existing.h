/* The records around those of the rings: before them, about what existed when the measurement began; behind them, about samples that
 * found no room. A reader of the rings' records needs both, whether they go to a file or not. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/writer.h"
#include "record/acquire/configure.h"
#include "record/acquire/counters.h"
#include "record/acquire/programs.h"
#include "record/acquire/synthesize.h"

/* All borrowed. */
struct existing {
	const struct events *events;      /* configured and opened */
	const struct counters *counters;
	const struct target *target;
	const struct sampling *sampling;
	struct bpf_programs *programs;    /* read anew; NULL: none */
	bool names;                       /* with the names of the events, for a reader that has no header */
	pid_t command;                    /* a command that waits for its exec; 0: none */
};

/* Appends the records, of time 0, and the mark that ends them, to out. synthesis: what is left out (no_tasks …) and the limit of
 * time; its other members are set here, among them what was cut. */
void existing_write(struct synthesis *synthesis, const struct existing *existing, struct writer *out);
/* Appends a LOST_SAMPLES record for each counter that the kernel had no room for. Returns their sum. */
uint64_t existing_write_lost(const struct events *events, const struct counters *counters, struct writer *out);
