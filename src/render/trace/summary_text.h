/* The summary of a trace in perf's layout. */
#pragma once
#include "analysis/trace/summary.h"
#include "base/writer.h"

/* errors: below a call, how often it returned each error. */
void summary_text_print(const struct trace_summary *summary, bool errors, struct writer *out);
