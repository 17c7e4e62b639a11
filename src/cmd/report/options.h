/* The options of `report`, of its command line and the configuration. */
#pragma once
#include "decode/itrace.h"
#include "analysis/profile/profile.h"
#include "cmd/command.h"
#include "cmd/filter.h"
#include "cmd/format_option.h"
#include "cmd/input.h"
#include "cmd/view_option.h"

struct report_options {
	struct input_options input;
	struct filter_options filter;
	const char *pretty, *sort, *fields, *parent, *ignore_callees;
	const char *symbol_filter, *column_widths, *separator, *disassembler_style, *prefix, *prefix_strip;
	struct itrace itrace;
	const char *objdump, *addr2line, *switch_on, *switch_off, *percent_type, *default_sort;
	int max_stack, group_sort_index, socket_filter, saved_samples;
	bool quiet, dump, stats, tasks, mmaps, modules, show_samples, threads, tui, gtk, stdio, header, header_only;
	bool cpu_utilization, exclude_other, children, inverted, hide_unresolved, show_info, source, asm_raw, show_period;
	bool group, group_given, branch_history, memory, full_source_path, show_reference, stitch_lbr;
	bool raw_trace, hierarchy, inline_names, inline_given, nanoseconds, show_switch_events, total_cycles, disable_order, skip_empty;
	bool relative, max_stack_given;
	int branch_mode;             /* -1: as the recording is */
	enum colour_option colour;
	struct chain_options chain;
	bool chain_given;            /* -g with a kind of chain: chains are wanted */
	bool chain_none;             /* -g none, --no-call-graph */
	bool chain_order_given, chain_branch;
	double percent_limit;
	const struct format *format; /* NULL: text */
	uint64_t time_quantum_ns;
};

extern const struct option report_table[];
extern const char *const report_usage[];
void report_defaults(void *target, const struct cli *cli);
