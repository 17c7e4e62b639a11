/* From what the user asked for to the attributes of the events: periods, what a sample carries, who is followed.
 * The choices are perf's, so that recordings look alike. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "record/acquire/target.h"

enum { SAMPLING_FREQ_DEFAULT = 4000 };

struct sampling {
	uint64_t freq;               /* Hz; 0: by period */
	uint64_t period;
	bool rate_given;             /* -F or -c: also for events with a rate of their own (tracepoints, breakpoints) */
	enum call_graph call_graph;
	uint64_t stack_size;
	uint32_t max_stack;
	uint64_t branch;             /* bits of enum branch_sample_type; 0: none */
	uint64_t regs_user, regs_intr;
	int32_t clockid;
	int delay_ms;                /* 0: none; -1: start disabled */
	bool use_clockid, no_samples, address, phys_addr, data_page_size, code_page_size, no_time, time_given, period_bit, no_period, cpu;
	bool identifier, raw, weight, transaction, no_inherit, inherit_given, inherit_stat, no_buffering, switch_events, namespaces;
	bool cgroups, build_id_mmap, no_bpf_event, all_user, all_kernel, kernel_callchains, user_callchains, running_time, overwrite;
	uint64_t regs_mask;          /* the registers dwarf unwinding needs on this machine */
};

/* Puts the default event in where there is none, and the event that follows processes where one is needed. */
void configure_defaults(struct events *events, const struct sampling *sampling, const struct target *target);
/* Fills attributes. warnings: sentences that do not stop anything, appended; may be NULL. */
int configure_events(struct events *events, const struct sampling *sampling, const struct target *target, struct str *warnings,
	struct error *err);
/* The attributes as the file tells them: what the recorder unwinds has call chains there, of user code, too. Stacks are empty, but of
 * samples that were left to the reader. */
struct attr configure_written(const struct event *event);
/* Whether there is an event whose stacks the recorder unwinds. */
bool configure_unwinds(const struct events *events);
/* The index of the event that carries side-band records. */
uint32_t configure_tracking(const struct events *events);
/* Events that start by themselves when the command is executed. */
bool configure_enable_on_exec(const struct sampling *sampling, const struct target *target);

/* Registers by the names of --user-regs and --intr-regs ("ax,ip"); NULL text: all that can be had. */
int registers_parse(const char *text, bool user, uint64_t *mask, struct error *err);
/* "available registers: AX BX …" */
void registers_list(bool user, struct str *out);
uint64_t registers_for_dwarf(void);
/* The instruction and stack pointers: without them there is no unwinding. */
uint64_t registers_minimal(void);
