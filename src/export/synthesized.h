/* The payloads of a hardware trace's own events (ptwrite, frequency, power states) as rows. Source: the layouts of perf's synthesized
 * events, perf-script-python(1) and perf-intel-pt(1). */
#pragma once
#include "abi/attr.h"
#include "export/database.h"

enum { SYNTHESIZED_BYTES = 12 };

bool event_is_synthesized(const struct attr *attr);
/* sample: the row that the payload belongs to. Payloads that are too short have no row. */
void synthesized_add(struct database *database, uint64_t sample, uint64_t number, const uint8_t *raw, size_t size);
