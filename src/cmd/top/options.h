/* The options of `top`, of its command line and the configuration. */
#pragma once
#include "base/options.h"
#include "base/vec.h"
#include "cmd/chain_option.h"
#include "cmd/event_words.h"
#include "cmd/filter.h"
#include "cmd/format_option.h"
#include "record/acquire/configure.h"
#include "record/acquire/target.h"
#include "symbol/types.h"

struct top_options {
	/* What is measured: */
	struct sampling sampling;
	bool call_graph_mode;          /* --call-graph names how chains are recorded */
	struct target_options target;
	VEC(struct event_word) words;
	const char *freq_text;         /* -F, also "max" */
	uint64_t count;                /* -c */
	bool count_given, pages_rounded;
	size_t pages;
	unsigned map_timeout_ms, synthesis_threads;
	int realtime;                  /* 0: not given */
	/* What is shown: */
	struct filter_options filter;
	struct symbols_options symbols;
	struct chain_option chain;
	const char *sort, *fields, *default_sort, *ignore_callees, *column_widths, *switch_on, *switch_off;
	int max_stack, group_sort_index, verbose;
	double percent_limit;
	bool children, inverted, hierarchy, relative, raw_trace, show_samples, show_period, branch_history, show_switch_events, stitch_lbr;
	bool hide_kernel, hide_user, zero, count_filter_given;
	int delay_s, entries, count_filter; /* entries 0: as many as the terminal has room for */
	bool stdio, tui;
	const struct format *format;   /* NULL: text */
	/* Accepted without effect, or for annotations: */
	const char *annotate, *disassembler_style, *objdump, *addr2line, *prefix, *prefix_strip;
	bool dump_symbols, force, source, asm_raw;
};

extern const struct option top_table[];
extern const char *const top_usage[];
void top_defaults(void *target, const struct cli *cli);
