/* The options of a profile: kind of rows, chains, filters. */
#pragma once
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/filter/event_switch.h"
#include "analysis/filter/sample_filter.h"
#include "symbol/lines.h"

struct columns;

enum chain_mode { CHAIN_NONE, CHAIN_FLAT, CHAIN_GRAPH, CHAIN_FRACTAL, CHAIN_FOLDED };
enum chain_order { CHAIN_CALLEE, CHAIN_CALLER };
enum chain_key { CHAIN_FUNCTION, CHAIN_ADDRESS, CHAIN_SRCLINE };
enum chain_value { CHAIN_PERCENT, CHAIN_PERIOD, CHAIN_COUNT };

struct chain_options {
	enum chain_mode mode;
	enum chain_order order;
	enum chain_key key;
	enum chain_value value;
	double min_percent;
	uint32_t print_limit;        /* 0: unlimited */
};

/* The reasons why an entry is filtered: bits of tally.filtered. */
enum entry_filter {
	FILTER_DSO = 1 << 0, FILTER_THREAD = 1 << 1, FILTER_PARENT = 1 << 2, FILTER_SYMBOL = 1 << 3, FILTER_GUEST = 1 << 4,
	FILTER_HOST = 1 << 5, FILTER_SOCKET = 1 << 6,
};

enum profile_iteration {
	ITERATE_SAMPLES,             /* one row per sample */
	ITERATE_CALLERS,             /* and one per frame of its chain (--children) */
	ITERATE_BRANCHES,            /* one row per branch record */
	ITERATE_MEMORY,              /* as SAMPLES, weight for period */
};

/* Instructions per cycle of a function, by its branches with cycles, and the percentage of its instructions that end a block of these. */
struct function_ipc {
	double ipc, coverage;
};

struct profile_options {
	struct columns *columns;
	struct chain_options chain;
	enum profile_iteration iteration;
	bool branch_history;         /* branches are woven into chains */
	bool branch_marks;           /* … and their branch marks are shown */
	bool use_chains;             /* chains are collected (and shown) */
	bool at_end;                 /* the profile is not read before the session's end: samples may be added then */
	bool skip_idle;              /* samples in the kernel's idle loop do not count (top) */
	bool hide_unresolved, exclude_other, hierarchy, event_group, relative, nanoseconds, skip_empty, raw_trace;
	bool symbol_first;           /* --sort sym...: chains do not repeat the symbol */
	bool force_group;            /* all events are one event group if the recording has none */
	bool show_reference;         /* chains also for events without */
	int group_sort_index;
	int verbose;
	unsigned max_stack;
	uint64_t time_quantum_ns;
	float min_percent;           /* rows below are not shown */
	struct sample_filter filter; /* borrowed */
	const char *symbol_filter;   /* part of a name; first event only */
	int socket_filter;           /* -1: no filter */
	const regex_t *parent, *ignore_callees; /* NULL: not asked */
	struct event_switch switches;  /* between which events samples count */
	const char *separator;       /* -t; NULL: not given */
	bool fixed_widths;           /* -w was given */
	bool full_source_path;       /* source files by whole path */
	enum inline_frames inlines;
	struct function_ipc (*ipc)(void *context, uint32_t module, uint32_t symbol); /* NULL: not computed */
	void *ipc_context;
};
