/* The options of trace, as its table fills them, and the system calls that they choose. */
#pragma once
#include "analysis/trace/summary.h"
#include "base/options.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/event_words.h"
#include "cmd/format_option.h"
#include "record/acquire/configure.h"
#include "record/acquire/target.h"
#include "render/trace/trace_text.h"
#include "syscalls/call.h"

enum { TRACE_FAULTS_MAJOR = 1, TRACE_FAULTS_MINOR = 2 };

struct trace_command {
	VEC(struct event_word) words;        /* events that are no system calls, in order */
	VEC(char *) selected;                /* words of -e that are calls, globs or groups; the others are in `words` */
	VEC(char *) events;                  /* texts of `words` */
	bool all_but_selected;               /* -e '!…' */
	struct target_options target;
	struct sampling sampling;
	VEC(pid_t) hidden;                   /* --filter-pids */
	const char *output, *input, *hidden_text, *switch_on, *switch_off, *cgroup;
	uint64_t max_events;
	bool max_events_given;
	uint64_t least_ns;
	size_t pages;
	bool pages_rounded;
	int verbose, delay_ms;
	unsigned min_stack, max_stack, map_timeout_ms;
	unsigned faults;                     /* -F */
	bool comm, tool_stats, sched, full_time, failures, summary_only, summary, error_summary, syscalls, force, libtraceevent,
		kernel_graph, sort_events, print_sample, force_btf, show_switch_events;
	struct trace_text_options text;      /* from the configuration */
	const struct format *format;
	enum summary_mode summary_mode;
	unsigned max_summary;                /* calls of a row of the sums; 0: all */
	bool bpf_summary;                    /* has no effect: programs make the sums where it is possible */
	bool bpf_refused;                    /* tracepoints are used instead of BPF programs */
};

/* Which numbers of the tables are traced. */
struct call_selection {
	bool shown[2][SYSCALL_NUMBERS];      /* native, 32-bit */
	bool all;
};

extern const struct option trace_table[];
extern const char *const trace_usage[];
void trace_defaults(void *target, const struct cli *cli);
/* Of this machine. */
enum syscalls trace_native_table(void);
void trace_options_fini(struct trace_command *options);

/* The calls of -e; without any, all. The tables: native and 32-bit. */
void call_selection_make(struct call_selection *selection, const struct trace_command *options, const enum syscalls tables[2]);
/* Whether a word of -e names calls: a name, a glob that matches one, an alias or a group of them. */
bool call_word(const char *word, enum syscalls table);
