/* The summary of a trace in perf's layout. */
#pragma once
#include "analysis/trace/summary.h"
#include "base/writer.h"

struct summary_text_options {
	bool errors;                 /* below a call, how often it returned each error */
	size_t max_calls;            /* of a row; 0: all */
};

void summary_text_print(const struct trace_summary *summary, const struct summary_text_options *options, struct writer *out);
