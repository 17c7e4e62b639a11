/* The map of a just-in-time compiler's code: lines "START SIZE NAME" (hex, hex, text) in /tmp/perf-PID.map, as specified in Linux's
 * tools/perf/Documentation/jit-interface.txt. Any user can write such a file: its content is untrusted. Knows no path. */
#pragma once
#include <stddef.h>

#include "symbol/table.h"

/* Takes ownership of text (malloc'ed, len bytes and room for one more); *owned holds the names as long as the table is used. */
void perf_map_parse(char *text, size_t len, struct symbol_table *table, char **owned);
