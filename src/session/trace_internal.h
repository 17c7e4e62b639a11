/* Shared by the files of session/trace*.c. */
#pragma once
#include "abi/sample.h"
#include "base/arena.h"
#include "base/vec.h"
#include "decode/intel_pt/decoder.h"
#include "decode/intel_pt/info.h"
#include "decode/intel_pt/overlap.h"
#include "decode/intel_pt/segment.h"
#include "model/model.h"
#include "session/order.h"
#include "session/trace.h"
#include "session/trace_stack.h"

struct evlist;
struct pool;

struct module_code {
	uint64_t offset;
	uint32_t before;             /* another one of the same module; IDMAP_NONE: none */
	struct pt_code code;
};

/* The code that one thread decodes: of a queue, or of a worker for segments of all queues. */
struct trace_lane {
	const struct trace *trace;
	const struct model *model;
	const struct map_node *user_root, *kernel_root;
	const struct map_node *guest_user_root, *guest_kernel_root; /* of the virtual machine that runs; NULL: no code is known */
	VEC(struct module_code *) codes;
	struct idmap code_of;        /* module → its last one in codes */
	size_t blocks;               /* in all codes */
	const struct pt_decoder *decoder;
	struct trace_queue *queue;   /* of calls; NULL: of a worker */
	struct pt_segment *segment;  /* of a worker: that is decoded now */
	bool replays;                /* calls are known, and counted … */
	size_t replayed;             /* … with events here */
};

/* Counters of a CPU. */
enum { TRACE_COUNTERS = 64 };

struct running {
	int32_t pid, tid;
};

struct trace_counts {
	uint64_t instructions, cycles;
};

/* Where a CPU is between the two halves of a context switch: the instruction (the first of __switch_to) and the record. */
enum trace_switch { SWITCH_UNTRACED, SWITCH_UNKNOWN, SWITCH_RUNS, SWITCH_NEEDS_RECORD, SWITCH_NEEDS_INSTRUCTION };

struct trace_queue {
	int32_t cpu, own_tid;        /* -1: any */
	VEC(struct pt_piece) pieces;
	struct span whole;           /* the last snapshot, with what it shares with the one before */
	struct pt_decoder *decoder;  /* NULL: not begun */
	struct pt_event event;
	struct pt_moment moment;     /* of event */
	uint64_t instructions;       /* the same */
	bool has_event;
	bool paused;                 /* event is no event, but the time up to which segments without one were decoded */
	struct trace_segments *segments; /* NULL: none yet */
	bool begun;                  /* an event had a time */
	uint64_t ticks;              /* of event; of a trace without times: the index */
	uint32_t index;              /* in AUXTRACE records */
	struct pt_place dropped;     /* the memory of the trace before it is free */
	int32_t pid, tid;
	uint64_t model_changes;
	size_t gap;                  /* index + 1 of its last one; 0: in no module */
	struct trace *trace;
	struct trace_lane lane;
	struct trace_counts branch_counts, period_counts, cycle_counts; /* at the last sample with cycles of each kind */
	uint64_t sampled_instructions; /* at the last sample of instructions */
	uint32_t bus_ratio;
	enum trace_switch switching;
	bool waits;                  /* SWITCH_NEEDS_RECORD: it is not in the heap */
	bool switches;               /* it follows context switches by instruction */
	struct running next;         /* SWITCH_NEEDS_INSTRUCTION: the thread behind it; tid -1: none */
	uint32_t pebs_of[TRACE_COUNTERS]; /* counter → index in trace.pebs, + 1; 0: unknown */
	struct trace_stack *stack;   /* of tid; NULL: not looked up since it changed */
};

/* An event that samples belong to. */
struct trace_event {
	uint64_t id, sample_type;
	uint32_t words;              /* of a record, header included; 0: it has parts of any size */
	bool on;
};

enum trace_sample { TRACE_SAMPLE_BRANCH, TRACE_SAMPLE_INSTRUCTION, TRACE_SAMPLE_CYCLES, TRACE_SAMPLE_TRANSACTION, TRACE_SAMPLE_PTWRITE,
	TRACE_SAMPLE_CBR, TRACE_SAMPLE_PSB, TRACE_SAMPLE_MWAIT, TRACE_SAMPLE_PWRE, TRACE_SAMPLE_EXSTOP, TRACE_SAMPLE_PWRX,
	TRACE_SAMPLE_EVENT, TRACE_SAMPLE_IFLAG, TRACE_SAMPLES };

/* Queues by the time of their events. Equal times have the order of perf's heap. */
struct trace_heap {
	VEC(struct trace_queue *) items;
};

struct trace {
	struct source *source;       /* a second reader of the recording: owns the bytes of the pieces */
	struct trace_options options;
	struct pt_info info;
	struct pt_config config;
	bool timeless;
	bool has_mtc;                /* the trace has MTC packets */
	uint32_t traced;             /* index + 1 of the event whose trace it is, as records of the kernel say; 0: unknown */
	uint64_t start_ns;           /* of the first ITRACE_START record; 0: unknown */
	bool bts;                    /* Intel BTS: the queues' decoders hold places alone */
	VEC(struct trace_queue *) queues;
	struct trace_event events[TRACE_SAMPLES];
	VEC(struct running) running; /* by CPU */
	struct idmap queue_of;       /* index in AUXTRACE records → index in queues */
	uint64_t from, until;        /* TSC; 0: open */
	bool begun;                  /* all queues have their first event */
	struct trace_heap heap;      /* the queues with an event, except for `current` */
	struct trace_queue *current; /* that runs up to current_limit; NULL: none */
	uint64_t current_limit;
	uint64_t switch_ip, out_ip;  /* first instructions of the kernel's functions for a switch and for its record; 0: unknown */
	struct trace_stacks stacks;
	struct trace_losses losses;  /* without gaps */
	VEC(struct trace_gaps) gaps;
	struct idmap missed;         /* modules whose missing code was reported by an error */
	struct arena bytes;          /* of the samples that are being made */
	struct arena handed;         /* of those that are in use */
	uint64_t skipped;            /* samples that itrace.skip has left out */
	bool kernel_traced;
	bool stacks_wanted;          /* call stacks or last branches are shown */
	struct evlist *evlist;
	VEC(struct sample_layout) recorded; /* by event: before chains and branches were added */
	VEC(uint32_t) pebs;          /* the events that record into the trace, if their samples are wanted */
	struct pool *pool;           /* decodes segments; NULL: the caller's thread does */
	void (*before_pool)(void *context);
	void *before_context;
	struct trace_lane *lanes;    /* of its workers; NULL: none yet */
	size_t segments;             /* in all queues */
	bool cuts;                   /* traces may be cut into segments */
};

/* The parts of a queue's trace that are decoded ahead, in parallel. They are valid while the mappings of the queue are those of now, and
 * if each begins where and as the one before ends. What does not is decoded again, serially, so that results do not depend on segments. */
struct trace_segments;

unsigned trace_workers(const struct trace *trace);
/* The queue's next event and moment; pause: as pt_decoder.pause. False: its trace ends. */
bool trace_segments_next(struct trace_queue *queue, uint64_t pause);
/* Before the mappings of the queue change: its decoder moves to where the last event was taken. True: the queue has another event. */
bool trace_segments_drop(struct trace_queue *queue);
void trace_segments_free(struct trace_queue *queue);

/* Adds the events of samples to the evlist, after the trace's own event. */
void trace_add_events(struct trace *trace, struct evlist *evlist, uint32_t own);
/* Instructions between two samples, at least 1. */
uint64_t trace_period(const struct trace *trace);
void trace_heap_add(struct trace_heap *heap, struct trace_queue *queue);
struct trace_queue *trace_heap_take(struct trace_heap *heap); /* the queue with the oldest event; NULL: empty */
/* Appends the error of bytes that are lost, if errors are requested; cpu, pid, tid and time are those of the record that reports it. */
void trace_lost(struct trace *trace, const struct sample *trailer, struct entries *batch);
/* Samples of the recorded events get what itrace.add_call_chain and add_last_branch add. */
void trace_add_begin(struct trace *trace, struct evlist *evlist);
/* Events that record into the trace: their blocks become samples of theirs. counter: of a CPU, which an event (trailer->id) has now. */
void trace_pebs_begin(struct trace *trace, const struct evlist *evlist);
void trace_pebs_counter(struct trace *trace, const struct sample *trailer, uint64_t counter);
void trace_pebs_sample(struct trace_queue *queue, struct entries *batch);
/* Intel BTS: the queue's next event, with the time at which its piece was written; false: none. */
bool trace_bts_next(struct trace_queue *queue);
/* Before the event is delivered: the kind of its instruction, by the mappings of now; or an error, behind which the event without a kind is
 * next. */
void trace_bts_decode(struct trace_queue *queue);
/* Appends what the queue's event is to the user. */
void trace_sample(struct trace *trace, struct trace_queue *queue, struct entries *batch);
/* pt_config.call: the call stack of the queue's thread follows. */
void trace_note_call(void *context, bool is_return, uint64_t from, uint64_t to, unsigned size);
/* pt_config.locate: finds code by the mappings of a lane. */
bool trace_locate(void *context, uint64_t ip, struct pt_range *range);
/* The same, of the host's code or of a guest's. */
bool trace_locate_in(struct trace_lane *lane, bool guest, uint64_t ip, struct pt_range *range);
/* The mode of a sample of an event, whose address is ip. */
uint16_t trace_cpumode(const struct pt_event *event, uint64_t ip);
void trace_lane_fini(struct trace_lane *lane);
/* Counts an error of decoding; instructions of the gap that the last one began. */
void trace_count_error(struct trace_queue *queue, const struct pt_event *event);
void trace_count_lost(struct trace_queue *queue, uint64_t instructions);
/* Whether an earlier error has reported the code at the address of an error as unavailable; if not, notes it for the next call. */
bool trace_lacks_code(struct trace_queue *queue, const struct pt_event *event);
/* Which thread a CPU runs. */
void trace_set_running(struct trace *trace, int32_t cpu, struct running running);

/* Context switches by instruction, where the trace has the kernel and records of all CPUs: the queues follow them. */
void trace_switches_begin(struct trace *trace, const struct model *model, uint64_t clock);
/* No record follows: no queue waits any longer. */
void trace_switches_end(struct trace *trace);
/* After a branch, or an error in the kernel. True: the queue waits for the record of the switch. */
bool trace_switch_branch(struct trace_queue *queue, uint32_t flags);
void trace_switch_lost(struct trace_queue *queue);
/* A branch at an estimated time: nothing else is known about its switch. */
bool trace_switch_is_blind(const struct trace_queue *queue, uint32_t flags);
/* A record of a switch on a CPU, to a thread (out) or of it (in), at a time (TSC). */
void trace_switch_out(struct trace *trace, int32_t cpu, struct running next, uint64_t ticks);
void trace_switch_in(struct trace *trace, int32_t cpu, struct running now);
/* Kinds of branch that an event is: enum trace_flag. */
uint32_t trace_branch_flags(const struct pt_event *event);
