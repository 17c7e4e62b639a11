/* A part of a trace that is decoded before the parts in front of it are: from a PSB to a later one. What a decoder knows at a PSB besides
 * its PSB+ (time, cycles, slots) is found by reading the packets in front of it without their code; the events are valid only where
 * pt_segment_fits confirms that the decoder in front of the segment has arrived in the same state. Counts begin at 0 in a segment. Pure:
 * segments are decoded by several threads, each with separate code. Knows no queue. */
#pragma once
#include "base/vec.h"
#include "decode/intel_pt/decoder.h"

/* What a decoder's user reads beside an event. Many events share one. */
struct pt_moment {
	uint64_t time, cycles, exact_cycles, instructions_at_time;
	const struct pt_code *code; /* with instructions: the code of the event … */
	uint64_t base;              /* … and the address of its first byte */
	uint32_t bus_ratio;
	uint8_t mode;
	bool have_cycles;
};

struct pt_step {
	struct pt_event event;
	uint32_t instructions;      /* executed at the event, since the segment began */
	uint32_t moment;
	uint32_t calls;             /* before it */
};

/* What config.call receives. */
struct pt_call {
	uint64_t from, to, time;
	uint8_t size;
	bool is_return;
};

#define PT_STATE_WORDS 48
/* exact_cycles of a segment, before it has an own value: that of the decoder in front of it. */
#define PT_EXACT_BEFORE UINT64_MAX

struct pt_segment {
	struct pt_decoder decoder;  /* at its end, after pt_segment_decode */
	struct pt_place warm;       /* a PSB before it, from which packets are read without code */
	struct pt_place from;       /* its own PSB */
	uint64_t until;             /* it ends with the first PSB at or behind this position */
	bool exact;                 /* the decoder is the one in front of it: nothing precedes */
	size_t steps_max, bytes_max; /* beyond which it fails */
	bool failed;
	bool ended;                 /* by the end of the trace */
	uint64_t state[PT_STATE_WORDS]; /* in which it begins */
	bool in_slots;              /* the same, of the decoder; where it is a guess and wrong: */
	size_t slot_step;           /* a step that is not made then; SIZE_MAX: no step depends on it */
	bool slots_stay;            /* in_slots does not change up to the end */
	bool slots_matter;          /* other steps depend on it, too */
	VEC(struct pt_step) steps;
	VEC(struct pt_call) calls;
	VEC(struct pt_moment) moments;
};

/* The first PSB of the trace at or behind a position; false: none. */
bool pt_segment_cut(const struct pt_decoder *decoder, uint64_t position, struct pt_place *place);
/* The time of the PSB at a place; 0: its PSB+ has none. */
uint64_t pt_segment_time(const struct pt_decoder *decoder, struct pt_place place);
/* Makes a segment that follows the decoder, which has just delivered PT_EVENT_PSB, or some time later (exact: at once). */
void pt_segment_init(struct pt_segment *segment, const struct pt_decoder *decoder, bool exact);
/* Decodes it. locate's context, and the receiver of calls, are config's. */
void pt_segment_decode(struct pt_segment *segment, const struct pt_config *config);
/* Appends a call or return: for config.call. */
void pt_segment_call(struct pt_segment *segment, bool is_return, uint64_t from, uint64_t to, unsigned size);
/* Whether the decoder, which has just delivered PT_EVENT_PSB, is in the state in which the segment begins. */
bool pt_segment_fits(const struct pt_segment *segment, const struct pt_decoder *decoder);
/* What is read beside a decoder's event. */
static inline struct pt_moment pt_moment_of(const struct pt_decoder *d)
{
	bool instructions = d->tick_period || d->stop_at != UINT64_MAX;
	return (struct pt_moment){ .time = d->time, .cycles = d->cycles, .exact_cycles = d->exact_cycles,
		.instructions_at_time = d->instructions_at_time, .code = instructions ? d->range.code : NULL,
		.base = instructions ? d->range.base : 0, .bus_ratio = d->clock.bus_ratio, .mode = (uint8_t)d->mode,
		.have_cycles = d->clock.have_cycles };
}
/* The same of a step; decoder: in front of the segment. */
static inline struct pt_moment pt_segment_moment(const struct pt_segment *s, const struct pt_step *step, const struct pt_decoder *d)
{
	const struct pt_moment *known = &s->moments.items[step->moment];
	return (struct pt_moment){ .time = known->time, .cycles = known->cycles + d->traced_cycles,
		.exact_cycles = known->exact_cycles == PT_EXACT_BEFORE ? d->exact_cycles : d->traced_cycles + known->exact_cycles,
		.instructions_at_time = known->instructions_at_time + d->instructions, .code = known->code, .base = known->base,
		.bus_ratio = known->bus_ratio, .mode = known->mode, .have_cycles = known->have_cycles };
}
/* Moves the decoder in front of the segment to its end. */
void pt_segment_pass(const struct pt_segment *segment, struct pt_decoder *decoder);
/* Whether the step is one for the decoder in front of the segment. */
static inline bool pt_segment_has(const struct pt_segment *segment, size_t step, const struct pt_decoder *decoder)
{
	return step != segment->slot_step || decoder->in_slots == segment->in_slots;
}

void pt_segment_fini(struct pt_segment *segment); /* accepts a zeroed one */
