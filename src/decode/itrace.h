/* What samples to make of a hardware trace: the text of --itrace. Source: perf-script(1) and itrace.txt of perf 6.12's manual. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum itrace_unit { ITRACE_DEFAULT, ITRACE_INSTRUCTIONS, ITRACE_TICKS, ITRACE_NANOSECONDS };

struct itrace {
	bool instructions, cycles, branches, calls, returns, transactions, ptwrites, power_events, interrupt_events, other_events, errors,
		call_chain, last_branch, add_call_chain, add_last_branch, approximate_ipc, dump_log, first_level_cache, last_level_cache, tlb,
		memory, remote_access, timeless, virtual_time;
	bool by_default;         /* not from a text */
	bool call_depth;         /* not a letter: samples of branches know the depth of the call stack */
	bool paging;             /* not a letter: moves to CR3 whose cycles are known are samples among the branches (TRACE_POINT) */
	bool own_branch;         /* not a letter: samples of branches have a branch stack, of this branch alone */
	bool branch_code;        /* not a letter: samples of branches have the bytes of their instructions */
	enum itrace_unit unit;
	uint64_t period;         /* in unit */
	unsigned call_chain_size; /* 0: all frames */
	unsigned last_branch_size;
	uint64_t skip;           /* events to leave out at the beginning */
	unsigned quick;          /* number of q */
	uint32_t errors_shown, errors_hidden; /* masks of the letters after e: bit n is letter 'a' + n */
};

enum { ITRACE_CALL_CHAIN_MAX = 1024, ITRACE_LAST_BRANCH_DEFAULT = 64, ITRACE_LAST_BRANCH_MAX = 1024 };

/* Without an option. Listings of samples show branches (branches), reports show instructions by period. */
void itrace_default(struct itrace *itrace, bool branches);
/* text NULL: as itrace_default; "": nothing. */
int itrace_parse(struct itrace *itrace, const char *text, bool branches, struct error *err);
/* The most frames of a call chain to show where a trace is decoded, for a limit that was given or is the default: at least the size
 * after g, as in perf; without a size, the default does not limit. */
unsigned itrace_max_stack(const struct itrace *itrace, unsigned limit, bool given);
