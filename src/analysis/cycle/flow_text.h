/* Branch stacks as text: lines with the entries of `perf script -F brstack` or `brstacksym`, newest first:
 * FROM/TO/PREDICTED/IN_TX/ABORT/CYCLES…, where FROM and TO are addresses (0x…) or SYMBOL+0xOFFSET. */
#pragma once
#include "analysis/cycle/flow_graph.h"

/* Adds the stack of a line. Words without '/' are skipped; a word that has some, but is no entry, breaks the stack. Returns the number of
 * entries; *bad counts broken ones. */
size_t flow_text_line(struct flow_graph *graph, const char *line, size_t len, uint64_t *bad);
