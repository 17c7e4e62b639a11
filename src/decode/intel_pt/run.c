/* Execution without events: most packets, where only errors, or calls, are wanted. */
#include "decode/intel_pt/packets.h"
#include "decode/intel_pt/walk.h"

/* Blocks that are executed one after the other, and what changes with each of them. */
struct run {
	const struct pt_block_code *blocks, *block; /* block: the next one */
	uint64_t base, low, size; /* of the range: of offset 0, its first offset, its bytes */
	uint64_t left;            /* instructions, of which the last one makes an event */
	uint64_t loops, loop_max;
	uint64_t bits, bit_count;
	bool jumps;               /* calls and returns are events */
};

/* Whether calls and returns are events, and jumps are not. */
static bool only_jumps(const struct pt_decoder *d)
{
	return d->calls_only && !d->config.call;
}

/* Instructions up to the next one that makes an event, with it; 0: only walk knows. */
static uint64_t quiet_instructions(const struct pt_decoder *d)
{
	if (!d->tick_period)
		return d->stop_at - d->instructions;
	uint64_t slot = walk_slot_ticks(d), time = d->clock.time + d->instructions - d->instructions_at_time + !d->in_slots;
	if ((time & ~(slot - 1)) > d->last_slot)
		return 0;
	uint64_t left = d->last_slot + slot - time;
	return left < slot ? left : slot;
}

static inline bool next_bit(const struct run *run)
{
	return run->bits >> (run->bit_count - 1) & 1;
}

/* Executes the block, up to the one that is linked to it. False: none is, in this range, or an event is due. */
static inline bool pass_to(struct run *run, uint32_t index)
{
	if (index == PT_NO_BLOCK || run->block->instructions >= run->left || run->blocks[index].offset - run->low >= run->size)
		return false;
	run->left -= run->block->instructions;
	run->block = &run->blocks[index];
	return true;
}

static inline void note_bit(struct pt_decoder *d, struct run *run)
{
	walk_pass_time(d);
	if (next_bit(run))
		walk_is_timed(d);
	d->cycles_counted = false;
	run->bit_count--;
	run->loops = 0;
}

static inline uint64_t block_end(const struct run *run, const struct pt_block_code *block)
{
	return run->base + block->offset + block->size;
}

static void note_call(struct pt_decoder *d, const struct run *run, const struct pt_block_code *from)
{
	if (d->calls_only)
		d->config.call(d->config.context, from->kind == INSTRUCTION_RETURN, block_end(run, from) - from->last_size,
			run->base + run->block->offset, from->last_size);
}

static inline bool pass_return(struct pt_decoder *d, struct run *run)
{
	const struct pt_block_code *from = run->block;
	uint64_t ip;
	if (!run->bit_count || !next_bit(run) || !d->config.return_compression || !d->return_count || from->taken == PT_NO_BLOCK ||
		d->returns[(d->return_top - 1) % PT_RETURNS] != run->base + run->blocks[from->taken].offset || !pass_to(run, from->taken))
		return false;
	note_bit(d, run);
	walk_pop(d, &ip);
	note_call(d, run, from);
	return true;
}

static inline bool pass_call(struct pt_decoder *d, struct run *run)
{
	const struct pt_block_code *from = run->block;
	if (run->loops >= run->loop_max || !pass_to(run, from->taken))
		return false;
	run->loops++;
	if (from->displacement)
		walk_push(d, block_end(run, from));
	note_call(d, run, from);
	return true;
}

static inline bool pass_conditional(struct pt_decoder *d, struct run *run)
{
	if (!run->bit_count)
		return false;
	/* branches, not a choice between two values: the processor then need not wait for the bit */
	if (next_bit(run)) {
		if (!pass_to(run, run->block->taken))
			return false;
		note_bit(d, run);
		return true;
	}
	if (!pass_to(run, run->block->next))
		return false;
	note_bit(d, run);
	return true;
}

/* False: walk decides about the block. */
static inline bool pass_block(struct pt_decoder *d, struct run *run)
{
	if (__builtin_expect(run->block->kind == INSTRUCTION_CONDITIONAL, 1))
		return pass_conditional(d, run);
	switch (run->block->kind) {
	case INSTRUCTION_CALL:
		return !run->jumps && pass_call(d, run);
	case INSTRUCTION_RETURN:
		return !run->jumps && pass_return(d, run);
	case INSTRUCTION_JUMP:
	case INSTRUCTION_OTHER:
	case INSTRUCTION_PTWRITE:
		if (run->loops >= run->loop_max || run->block->broken ||
			!pass_to(run, run->block->kind == INSTRUCTION_JUMP ? run->block->taken : run->block->next))
			return false;
		run->loops++;
		return true;
	default:
		return false;
	}
}

/* Follows linked blocks up to the last bit, or up to a branch that needs a target. */
static void pass_linked(struct pt_decoder *d)
{
	const struct pt_block_code *blocks = d->range.code->blocks.items;
	struct run run = { .blocks = blocks, .block = &blocks[d->block_index], .base = d->range.base, .low = d->range.start - d->range.base,
		.size = d->range.end - d->range.start, .left = quiet_instructions(d), .loops = d->loops, .loop_max = walk_loop_max(d),
		.bits = d->bits, .bit_count = d->goal == PT_GOAL_BITS ? d->bit_count : 0, .jumps = only_jumps(d) };
	uint64_t left = run.left;
	bool target = d->goal == PT_GOAL_TARGET;
	while ((run.bit_count || target) && pass_block(d, &run))
		;
	d->instructions += left - run.left;
	d->loops = run.loops;
	d->block_index = (uint32_t)(run.block - blocks);
	d->ip = d->range.base + run.block->offset;
	if (target)
		return;
	d->bit_count = run.bit_count;
	if (!d->bit_count)
		d->goal = PT_GOAL_PACKET;
}

/* Where the branch of the block leads, if it is a return by a bit, or needs a target, and makes no event. */
static bool find_target(const struct pt_decoder *d, const struct pt_block_code *block, uint64_t *to)
{
	if (block->instructions >= quiet_instructions(d) || (only_jumps(d) && block->kind != INSTRUCTION_JUMP_INDIRECT))
		return false;
	if (d->goal == PT_GOAL_BITS) {
		*to = d->returns[(d->return_top - 1) % PT_RETURNS];
		return block->kind == INSTRUCTION_RETURN && d->config.return_compression && d->return_count && d->bits >> (d->bit_count - 1) & 1;
	}
	*to = d->target;
	return (block->kind == INSTRUCTION_RETURN || block->kind == INSTRUCTION_CALL_INDIRECT || block->kind == INSTRUCTION_JUMP_INDIRECT) &&
		(!(d->ip >> 63) || *to >> 63); /* one that leaves the kernel is an event */
}

/* Follows a branch whose target is not linked. False: walk decides about it. */
static bool pass_branch(struct pt_decoder *d)
{
	const struct pt_block_code block = *walk_branch(d);
	uint64_t to, popped;
	if (!find_target(d, &block, &to))
		return false;
	walk_pass_time(d);
	walk_is_timed(d);
	d->instructions += block.instructions;
	d->ip += block.size;
	uint64_t from = d->ip - block.last_size;
	if (d->goal == PT_GOAL_TARGET)
		d->interrupts_toggled = false;
	if (d->goal == PT_GOAL_TARGET || !--d->bit_count)
		d->goal = PT_GOAL_PACKET;
	d->loops = 0;
	if (block.kind == INSTRUCTION_CALL_INDIRECT)
		walk_push(d, d->ip);
	else if (block.kind == INSTRUCTION_RETURN)
		walk_pop(d, &popped);
	d->mode_changed = false;
	walk_target(d, to);
	if (d->calls_only && block.kind != INSTRUCTION_JUMP_INDIRECT)
		d->config.call(d->config.context, block.kind == INSTRUCTION_RETURN, from, to, block.last_size);
	return true;
}

bool run_code(struct pt_decoder *d)
{
	do {
		bool known = walk_has_block(d);
		if (known ? d->done || d->forgotten : !walk_find_block(d))
			return false;
		pass_linked(d);
	} while (d->goal != PT_GOAL_PACKET && pass_branch(d) && d->goal != PT_GOAL_PACKET);
	return d->goal == PT_GOAL_PACKET;
}

/* Takes the address of a packet: of `size` bytes, which has one. */
static bool take_target(struct pt_decoder *d, const uint8_t *bytes, size_t *size)
{
	struct pt_packet packet;
	*size = packets_address_size(*bytes);
	return *size > 1 && pt_packet_decode(bytes, *size, PT_BLOCK_NONE, &packet) == *size && pt_address_take(&d->address, &packet, &d->target);
}

/* Neither what waits for a packet nor what a packet has changed is to be considered. */
static bool may_run(const struct pt_decoder *d)
{
	return (d->errors_only || d->calls_only) && d->ip_known && !d->async && !d->overflowed && !d->waiting_count && !d->pending_mode &&
		!d->interrupts_change && d->non_root == d->next_non_root && d->in_block == PT_BLOCK_NONE && !d->config.quick &&
		d->place.piece < d->piece_count;
}

void run_packets(struct pt_decoder *d)
{
	if (!may_run(d))
		return;
	const struct span bytes = d->pieces[d->place.piece].bytes;
	while (bytes.len - d->place.at > PT_PACKET_SIZE_MAX && d->clock.time < d->pause) {
		const uint8_t *at = bytes.data + d->place.at;
		size_t size = 1;
		if (packets_is_cycles(*at)) {
			packets_count_cycles(d, *at >> 3);
		} else if (packets_is_bits(*at)) {
			d->bit_count = 30 - (unsigned)__builtin_clz(*at);
			d->bits = *at >> 1;
			d->goal = PT_GOAL_BITS;
			d->clock.last_type = PT_PACKET_TNT;
		} else if ((*at & 0x1f) == 0x0d && d->address.known && take_target(d, at, &size)) {
			d->has_target = true;
			d->goal = PT_GOAL_TARGET;
			d->clock.last_type = PT_PACKET_TIP;
		} else {
			return;
		}
		d->place.at += size;
		d->place.position += size;
		d->loops = 0;
		if (d->goal != PT_GOAL_PACKET && !run_code(d))
			return;
	}
}
