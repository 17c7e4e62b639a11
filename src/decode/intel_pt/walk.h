/* Steps of a decoder through code, between two packets, and what replaces them without code. Shared by the files of the decoder. */
#pragma once
#include "decode/intel_pt/decoder.h"

enum walk_end {
	WALK_EVENT,    /* *event is filled: a direct branch, or the instruction count was reached; walk again */
	WALK_BRANCH,   /* the instruction before decoder->ip is executed, and a packet determines its target */
	WALK_AT_IP,    /* PT_GOAL_IP, _PSB: the next instruction is the one at decoder->target */
	WALK_NO_CODE,  /* no code is known at decoder->ip */
	WALK_GO_ON,    /* internal */
	WALK_LOOP,     /* more direct branches than config.loop_max */
};

enum walk_end walk(struct pt_decoder *d, struct pt_event *event);
/* The current block: the branch at which walk ended. */
static inline const struct pt_block_code *walk_branch(const struct pt_decoder *d)
{
	return &d->range.code->blocks.items[d->block_index];
}

/* Whether the next instruction is in a block that is known. */
static inline bool walk_has_block(const struct pt_decoder *d)
{
	return d->block_index != PT_NO_BLOCK && d->block_generation == d->range.code->generation;
}

/* Blocks in a row that need no packet, beyond which a trace is wrong. */
static inline uint64_t walk_loop_max(const struct pt_decoder *d)
{
	return d->config.loop_max ? d->config.loop_max : 100000;
}

/* Makes the block at d->ip the current one; false: there is no code. */
bool walk_find_block(struct pt_decoder *d);

/* The address of the instruction that was executed last. */
static inline uint64_t walk_last(const struct pt_decoder *d)
{
	return d->ip - walk_branch(d)->last_size;
}

/* Whether the call or return, whose event is filled, is passed to config.call instead. */
bool walk_passes_call(const struct pt_decoder *d, const struct pt_event *event);
/* Continues at an address: the target of the branch at which walk ended (taken: at its displacement; next: behind it), or anywhere. */
void walk_take(struct pt_decoder *d);
void walk_next(struct pt_decoder *d);
void walk_to(struct pt_decoder *d, uint64_t ip);
/* As walk_to, to the target of the indirect branch or return at which walk ended: remembers its last target. */
void walk_target(struct pt_decoder *d, uint64_t ip);
/* How many instructions from here on, in code without a branch that a packet decides, end with the next move to CR3, which is at *ip.
 * 0: none is found. */
uint32_t walk_to_paging(struct pt_decoder *d, uint64_t *ip);
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

/* The largest power of two that is no more than the period: slots of time begin at its multiples. */
static inline uint64_t walk_slot_ticks(const struct pt_decoder *d)
{
	return 1ull << (63 - __builtin_clzll(d->tick_period));
}

/* Whether cycles are exact at the instruction whose event is made now; the event of its branch follows. */
static inline bool walk_will_be_timed(struct pt_decoder *d)
{
	if (d->cycles_counted)
		d->exact_cycles = d->traced_cycles;
	return d->cycles_counted;
}

/* The same of an event after which they are not. */
static inline bool walk_is_timed(struct pt_decoder *d)
{
	bool timed = walk_will_be_timed(d);
	d->cycles_counted = false;
	return timed;
}

/* Execution that makes no event (run.c). run_code follows code to the last bit of a packet or to its target (PT_GOAL_BITS, _TARGET) as far
 * as no event is due; then the goal is PT_GOAL_PACKET, and the result true. Otherwise, walk goes on. run_packets does so with the packets
 * that follow, as long as these are short TNT and CYC packets and targets. What both leave undone, they leave as it was. */
bool run_code(struct pt_decoder *d);
void run_packets(struct pt_decoder *d);

/* Without code (config.quick), the addresses in packets are the only known instructions, each an event PT_EVENT_INSTRUCTION, as in perf's
 * quick mode. */
enum quick { QUICK_DELIVER, QUICK_GO_ON, QUICK_NOT }; /* *event is filled; nothing to deliver; the packet is treated as with code */

/* What decoder->packet, which is not in PSB+, is. */
enum quick quick_packet(struct pt_decoder *d, struct pt_event *event);
/* The instruction at which execution was left, if a branch follows (decoder->async) with its target. */
struct pt_event quick_left(const struct pt_decoder *d, uint64_t ip);
/* Appends the instruction at an address to the events that wait, and delivers them. */
void quick_instruction(struct pt_decoder *d, uint64_t ip);
