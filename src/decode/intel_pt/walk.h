/* Steps of a decoder through code, between two packets. Shared by the files of the decoder. */
#pragma once
#include "decode/intel_pt/decoder.h"

enum walk_end {
	WALK_EVENT,    /* *event is filled: a direct branch, or the instruction count was reached; walk again */
	WALK_BRANCH,   /* the instruction before decoder->ip is executed, and a packet determines its target */
	WALK_AT_IP,    /* PT_GOAL_IP: the next instruction is the one at decoder->target */
	WALK_NO_CODE,  /* no code is known at decoder->ip */
	WALK_GO_ON,    /* internal */
	WALK_LOOP,     /* more direct branches than config.loop_max */
};

enum walk_end walk(struct pt_decoder *d, struct pt_event *event);
/* The branch at which walk ended. */
static inline const struct pt_block_code *walk_branch(const struct pt_decoder *d)
{
	return &d->range.code->blocks.items[d->block_index];
}

/* The address of the instruction that was executed last. */
static inline uint64_t walk_last(const struct pt_decoder *d)
{
	return d->ip - walk_branch(d)->last_size;
}

/* Continues at an address: the target of the branch at which walk ended (taken: at its displacement; next: behind it), or anywhere. */
void walk_take(struct pt_decoder *d);
void walk_next(struct pt_decoder *d);
void walk_to(struct pt_decoder *d, uint64_t ip);
/* As walk_to, to the target of the indirect branch or return at which walk ended: remembers its last target. */
void walk_target(struct pt_decoder *d, uint64_t ip);
/* Whether code is known at an address. */
bool walk_knows(struct pt_decoder *d, uint64_t ip);
/* The return address that the last call left; false: none is known. */
bool walk_pop(struct pt_decoder *d, uint64_t *ip);
void walk_push(struct pt_decoder *d, uint64_t ip);
/* An event that a packet makes has the packet's time. */
static inline void walk_pass_time(struct pt_decoder *d)
{
	d->time = d->clock.time;
	d->cycles = d->traced_cycles;
}
