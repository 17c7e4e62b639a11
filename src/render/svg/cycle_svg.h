/* A cycle of a flow graph as a ring: its calls in order, IPC in windows of equal cycles, where system calls begin and end. */
#pragma once
#include "analysis/cycle/cycle_tables.h"
#include "base/writer.h"

void cycle_svg_write(const struct cycle_result *result, struct writer *out);
