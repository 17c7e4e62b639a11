/* Shared by the files of session/trace*.c. */
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include "decode/intel_pt/decoder.h"
#include "decode/intel_pt/info.h"
#include "decode/intel_pt/overlap.h"
#include "model/model.h"
#include "session/order.h"
#include "session/trace.h"
#include "session/trace_stack.h"

struct module_code {
	uint64_t offset;
	uint32_t before;             /* another one of the same module; IDMAP_NONE: none */
	struct pt_code code;
};

struct trace_queue {
	int32_t cpu, own_tid;        /* -1: any */
	VEC(struct pt_piece) pieces;
	struct span whole;           /* the last snapshot, with what it shares with the one before */
	struct pt_decoder *decoder;  /* NULL: not begun */
	struct pt_event event;
	bool has_event, ended;
	uint64_t ticks, last_ticks;  /* of event, never decreases; of the one before */
	int32_t pid, tid;
	const struct map_node *user_root, *kernel_root;
	uint64_t model_changes;
	struct trace *trace;
	const struct model *model;
	VEC(struct module_code *) codes;
	struct idmap code_of;        /* module → its last one in codes */
	size_t blocks;               /* in all codes */
	/* since the last sample of each kind */
	uint64_t branch_instructions, branch_cycles, period_instructions, period_cycles, sampled_instructions;
	uint32_t bus_ratio;
	struct trace_stack *stack;   /* of tid; NULL: not looked up since it changed */
};

/* An event that samples belong to. */
struct trace_event {
	uint64_t id, sample_type;
	bool on;
};

enum trace_sample { TRACE_SAMPLE_BRANCH, TRACE_SAMPLE_INSTRUCTION, TRACE_SAMPLE_CYCLES, TRACE_SAMPLE_TRANSACTION, TRACE_SAMPLE_PTWRITE,
	TRACE_SAMPLE_CBR, TRACE_SAMPLE_PSB, TRACE_SAMPLE_MWAIT, TRACE_SAMPLE_PWRE, TRACE_SAMPLE_EXSTOP, TRACE_SAMPLE_PWRX,
	TRACE_SAMPLE_EVENT, TRACE_SAMPLES };

struct running {
	int32_t pid, tid;
};

struct trace {
	struct source *source;       /* a second reader of the recording: owns the bytes of the pieces */
	struct trace_options options;
	struct pt_info info;
	struct pt_config config;
	bool timeless;
	VEC(struct trace_queue *) queues;
	struct trace_event events[TRACE_SAMPLES];
	VEC(struct running) running; /* by CPU */
	struct idmap queue_of;       /* index in AUXTRACE records → index in queues */
	bool begun;                  /* all queues have their first event */
	uint64_t soonest;            /* of the events when trace_advance returned false: no event is older */
	struct trace_stacks stacks;
	struct idmap missed;         /* modules whose missing code was reported by an error */
	struct arena bytes;          /* of the samples in the current batch */
};

/* Adds the events of samples to the evlist, after the trace's own event. */
void trace_add_events(struct trace *trace, struct evlist *evlist, uint32_t own);
/* Instructions between two samples, at least 1. */
uint64_t trace_period(const struct trace *trace);
/* Appends what the queue's event is to the user. */
void trace_sample(struct trace *trace, struct trace_queue *queue, struct entries *batch);
/* Whether an earlier error has reported the code at this address as unavailable; if not, notes it for the next call. */
bool trace_lacks_code(struct trace_queue *queue, uint64_t ip);
