/* Records of a recording as text: what follows the words "PERF_RECORD_MMAP2" in the raw dump and in `script --show-*-events`.
 * Knows the layout of every record but SAMPLE, and nothing of who asks. */
#pragma once
#include <stdbool.h>

#include "abi/record.h"
#include "base/writer.h"

/* Writes the text with its newline; false: this kind of record has no text. Text from the recording is written as it is, but for
 * ends of lines. id: of the record's trailer, shown with LOST_SAMPLES. */
bool record_text(const struct record *record, uint64_t id, struct writer *out);

/* A list of CPUs as records store it (CPU_MAP, EVENT_UPDATE), as "0-3,8"; false: unknown form. */
bool cpu_map_text(const uint8_t *bytes, size_t len, struct writer *out);
