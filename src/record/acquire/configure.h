/* Turns options into the attributes of the events: periods, fields of samples, inheritance. The choices are perf's, so that recordings
 * are alike. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "record/acquire/target.h"

enum { SAMPLING_FREQ_DEFAULT = 4000 };

static inline void set_attr_flag(struct attr *attr, enum attr_flag bit, bool on)
{
	attr->flags &= ~((uint64_t)1 << bit);
	attr->flags |= (uint64_t)on << bit;
}

struct sampling {
	uint64_t freq;               /* Hz; 0: by period */
	uint64_t period;
	bool rate_given;             /* -F or -c: also for events with a default period (tracepoints, breakpoints) */
	enum call_graph call_graph;
	uint64_t stack_size;
	bool stack_given;            /* the user chose it */
	uint64_t stack_most;         /* of copies that the recorder unwinds, whose size the rate determines; 0: stack_size */
	uint32_t max_stack;
	uint64_t branch;             /* bits of enum branch_sample_type; 0: none */
	uint64_t regs_user, regs_intr;
	int32_t clockid;
	int delay_ms;                /* 0: none; -1: the events start disabled */
	bool fields[SAMPLE_BITS_MAX]; /* of samples, by number of the bit */
	bool use_clockid, no_samples, address, no_time, time_given, period_bit, no_period, cpu;
	bool identifier, raw, no_inherit, inherit_given, inherit_stat, no_buffering, switch_events, namespaces;
	bool switch_events_given;    /* --switch-events or --no-switch-events */
	bool trace;                  /* an event traces: any event may get samples of any layout later, from a decoder */
	bool data_maps, data_maps_given; /* record the mappings of data; not given: where addresses of data are recorded */
	bool text_poke;              /* a follower records changes of the kernel's code, and its symbols */
	bool cgroups, build_id_mmap, no_bpf_event, all_user, all_kernel, kernel_callchains, user_callchains, running_time, overwrite;
	uint64_t regs_mask;          /* the registers that DWARF unwinding needs on this machine */
};

/* Adds the default event to an empty list, and the event that only provides side-band if one is needed. */
void configure_defaults(struct events *events, const struct sampling *sampling, const struct target *target);
/* Fills attributes. warnings: sentences about problems that are not errors, appended; may be NULL. */
int configure_events(struct events *events, const struct sampling *sampling, const struct target *target, struct str *warnings,
	struct error *err);
/* The attributes as the file has them: samples that the recorder unwinds have call chains there, of user code too. Their stacks are empty,
 * except for samples that the reader unwinds. */
struct attr configure_written(const struct event *event);
/* Whether it is the event of record --off-cpu, whose samples the recorder makes. */
bool configure_is_off_cpu(const struct event *event);
/* Adds it; to an empty list, the default event, too. raw: its samples have a payload (abi/off_cpu.h). */
void configure_add_off_cpu(struct events *events, bool raw);
/* Whether the recorder unwinds the stacks of an event. */
bool configure_unwinds(const struct events *events);
/* The size of the largest copy of a stack in its samples; 0: they have no copies. */
uint32_t configure_stack_bytes(const struct events *events);
/* The index of the event that carries side-band records. */
uint32_t configure_tracking(const struct events *events);
/* Whether the kernel enables the events when the command is executed. */
bool configure_enable_on_exec(const struct sampling *sampling, const struct target *target);

/* Registers by the names of --user-regs and --intr-regs ("ax,ip"); NULL text: all that the kernel provides. */
int registers_parse(const char *text, bool user, uint64_t *mask, struct error *err);
/* "available registers: AX BX …" */
void registers_list(bool user, struct str *out);
uint64_t registers_for_dwarf(void);
/* The instruction and stack pointers, which unwinding requires. */
uint64_t registers_minimal(void);
