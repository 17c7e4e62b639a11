/* One run of `trace`: its state, shared by the ways in which events arrive. */
#pragma once
#include "analysis/filter/event_switch.h"
#include "analysis/trace/summary.h"
#include "bpf/kernel_structs.h"
#include "bpf/trace_programs.h"
#include "cmd/trace/options.h"
#include "os/place.h"
#include "render/trace/summary_text.h"
#include "render/trace/trace_text.h"

extern const struct command command_trace;

enum { TRACE_SETTLED_NS = 250000000 };   /* what happened so long ago has arrived from all CPUs */

struct trace_run {
	struct cli *cli;
	struct trace_command *options;
	const char *const *command;          /* to be started, ends with NULL; NULL: none */
	struct call_selection selection;
	struct calls calls[2];               /* native, 32-bit */
	struct kernel_structs types;         /* opened when they are first asked for a structure */
	bool types_asked;
	struct call_types call_types;
	struct trace_tasks tasks;
	struct call_sums sums;
	struct strtab cgroups;               /* paths, with --summary-mode=cgroup */
	struct idmap cgroup_paths;           /* id → path */
	struct trace_text text;
	struct writer out;
	int file;                            /* descriptor of -o; -1: standard error */
	uint64_t lost, events;               /* events: all that arrived; 0: the sum over tasks */
	uint64_t asked_files;                /* descriptors that were looked up in /proc */
	struct event_switch switches;
	bool finished;                       /* --max-events is reached */
	bool traces_calls;                   /* not only other events */
	bool refused;                        /* the programs cannot be used, and nothing was started */
	struct error refusal;                /* why */
	bool opened;                         /* the events of a measurement were opened */
	bool complained;                     /* exit_code is to be returned without a further message */
	int exit_code;                       /* of the command; 0 if --max-events ended it */
};

/* Traces by BPF programs; after a failure `refused` says whether tracepoints may do. */
int trace_run_programs(struct trace_run *run, struct error *err);

struct target;
/* Opens the programs for a target, or for a command from its exec on. */
int trace_open_programs(struct trace_run *run, struct trace_programs *programs, const struct target *target, pid_t command, int cgroup,
	struct error *err);

/* Of --delay: when it is over, on CLOCK_MONOTONIC; 0: the option is not given. */
uint64_t trace_begin_ns(const struct trace_run *run);
/* How many milliseconds to wait at most; *begin_ns becomes 0 when its time has come, and calls are to be traced now. */
int trace_wait_ms(uint64_t *begin_ns);

struct workload;
/* Of a command that has ended; 0 if a signal (ended_by) or --max-events ended the trace. */
int trace_exit_code(const struct trace_run *run, const struct workload *workload, int ended_by);

/* The kernel's types, read when they are first asked for, which takes 35 ms; NULL: they cannot be read. */
struct kernel_structs *trace_types(struct trace_run *run);

/* The line of --print-sample. */
void trace_print_sample(struct trace_run *run, const char *event, uint64_t time, const char *comm, int pid, int tid, int cpu);

/* -s: the sums of calls, as text or as a table. */
void trace_print_summary(struct trace_run *run);

/* A record of the programs' ring. */
void trace_take_record(void *run, const void *record, size_t size);
void trace_take_sums(struct trace_run *run, struct trace_programs *programs);
/* Rules for the programs: which calls, and what is copied of their arguments. */
void trace_fill_rules(struct trace_run *run, struct trace_rule *rules);

const struct call *trace_call_of(struct trace_run *run, int64_t number, bool compat);
/* Entry and return of a call from any source. Sums and lines are made of them. */
void trace_take_entry(struct trace_run *run, struct trace_task *task);
void trace_take_return(struct trace_run *run, struct trace_task *task, uint32_t number, uint64_t left, int64_t result, bool whole);
