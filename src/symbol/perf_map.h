/* What a just-in-time compiler says about its code: lines "START SIZE NAME" (hex, hex, text) in /tmp/perf-PID.map, the
 * file of Linux's tools/perf/Documentation/jit-interface.txt. Anyone may write such a file: nothing in it is trusted.
 * Knows no path. */
#pragma once
#include <stddef.h>

#include "symbol/table.h"

/* Takes text over (malloc'ed, len bytes and room for one more); *owned holds the names as long as the table is used. */
void perf_map_parse(char *text, size_t len, struct symbol_table *table, char **owned);
