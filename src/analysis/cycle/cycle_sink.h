/* The sink of `cycle`: branch stacks (LBR) or the branches of a hardware trace → a flow graph. Of a recording with a trace, the session
 * must decode branches and errors (itrace "be"). */
#pragma once
#include "analysis/cycle/flow_graph.h"
#include "analysis/filter/sample_filter.h"
#include "session/session.h"
#include "session/trace.h"
#include "symbol/symbol.h"

struct cycle_options {
	struct symbols *symbols;
	struct sample_filter filter;
	/* The code of modules, for kinds of branches and numbers of instructions (trace_options.code). NULL: it is not x86-64. */
	bool (*code)(void *context, const struct module *module, uint64_t offset, struct trace_code *code);
	void *code_context;
};

struct cycle_facts {
	uint64_t stacks, branches, errors;  /* samples with a branch stack; branches of a trace; errors of its decoding */
	uint64_t switches;
};

struct cycle_sink;

struct cycle_sink *cycle_sink_new(const struct cycle_options *options, struct flow_graph *graph);
struct sink cycle_sink_of(struct cycle_sink *sink);
struct cycle_facts cycle_sink_free(struct cycle_sink *sink);
