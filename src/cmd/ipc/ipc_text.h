/* The results of `ipc` as text for people. */
#pragma once
#include "analysis/ipc/ipc_tables.h"
#include "base/writer.h"

/* The line above a table: what was read. */
void ipc_text_head(const struct ipc_result *result, const struct ipc_grid *grid, struct writer *out);
/* One line for each track: linear IPC by window, scaled to the largest; a gap is '!', a pause ' '. */
void ipc_text_sparklines(const struct ipc_result *result, const struct ipc_grid *grid, struct writer *out);
