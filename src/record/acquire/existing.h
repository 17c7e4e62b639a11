/* Makes the records around those of the rings: before them, about what existed when the measurement began; after them, about samples that
 * found no room. A reader of the rings' records needs both. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/writer.h"
#include "record/acquire/measurement.h"
#include "record/acquire/synthesize.h"

/* Appends the records, with time 0, and the mark that ends them, to out. synthesis: what to leave out (no_tasks …) and the limit of
 * time; its other members are set here, among them the number of incomplete processes. Reads the loaded BPF programs into
 * measurement->programs. names: with the names of the events, for a reader without a header. */
void existing_write(struct synthesis *synthesis, struct measurement *measurement, bool names, struct writer *out);
/* Appends a LOST_SAMPLES record for each counter with samples that found no room in their ring. Returns their sum. */
uint64_t existing_write_lost(const struct measurement *measurement, struct writer *out);
