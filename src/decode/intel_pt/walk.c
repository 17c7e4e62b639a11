#include "decode/intel_pt/walk.h"

#include <string.h>

/* All instructions of the block are executed: its branch is due. */
static bool branch_is_due(const struct pt_decoder *d)
{
	return walk_has_block(d) && d->done && d->done == walk_branch(d)->instructions;
}

/* The range of d->ip: one of those that were left recently, otherwise by config.locate. */
static bool find_range(struct pt_decoder *d)
{
	struct pt_range left = d->range;
	if (d->forgotten)
		memset(d->ranges, 0, sizeof d->ranges);
	else if (left.code)
		d->ranges[d->range_next++ % PT_RANGES] = left;
	d->forgotten = false;
	for (unsigned i = 0; i < PT_RANGES; i++)
		if (d->ip >= d->ranges[i].start && d->ip < d->ranges[i].end) {
			d->range = d->ranges[i];
			d->ranges[i].end = 0; /* it is the current one */
			return true;
		}
	d->range = (struct pt_range){ 0 };
	return d->config.locate(d->config.context, d->ip, &d->range);
}

bool walk_find_block(struct pt_decoder *d)
{
	if ((d->forgotten || d->ip < d->range.start || d->ip >= d->range.end) && !find_range(d))
		return false;
	if (!d->range.code)
		return false;
	d->block_index = pt_code_block(d->range.code, d->ip - d->range.base, d->mode);
	d->block_generation = d->range.code->generation;
	d->done = d->done_bytes = 0;
	return true;
}

bool walk_knows(struct pt_decoder *d, uint64_t ip)
{
	struct pt_range range = { 0 };
	struct instruction instruction;
	return d->config.locate(d->config.context, ip, &range) && range.code &&
		pt_code_instruction(range.code, ip - range.base, d->mode, &instruction);
}

void walk_to(struct pt_decoder *d, uint64_t ip)
{
	d->ip = ip;
	d->ip_known = true;
	d->block_index = PT_NO_BLOCK;
	d->done = d->done_bytes = 0;
}

/* Continues at ip; `linked` caches its block in the block that was left. */
static void follow(struct pt_decoder *d, uint64_t ip, bool taken)
{
	uint32_t from = d->block_index;
	if (d->forgotten || ip < d->range.start || ip >= d->range.end) {
		walk_to(d, ip);
		return;
	}
	struct pt_block_code *block = &d->range.code->blocks.items[from];
	uint32_t known = taken ? block->taken : block->next;
	d->ip = ip;
	d->done = d->done_bytes = 0;
	if (known != PT_NO_BLOCK) {
		d->block_index = known;
		return;
	}
	uint32_t generation = d->block_generation;
	if (walk_find_block(d) && d->block_generation == generation) {
		block = &d->range.code->blocks.items[from];
		*(taken ? &block->taken : &block->next) = d->block_index;
	}
}

void walk_target(struct pt_decoder *d, uint64_t ip)
{
	uint32_t from = d->block_index, generation = d->block_generation;
	if (d->forgotten || ip < d->range.start || ip >= d->range.end) {
		walk_to(d, ip);
		return;
	}
	struct pt_block_code *blocks = d->range.code->blocks.items;
	uint32_t known = blocks[from].taken;
	d->ip = ip;
	d->done = d->done_bytes = 0;
	if (known != PT_NO_BLOCK && blocks[known].offset == ip - d->range.base && !d->mode_changed) {
		d->block_index = known;
		return;
	}
	if (walk_find_block(d) && d->block_generation == generation && !d->mode_changed)
		d->range.code->blocks.items[from].taken = d->block_index;
}

static uint64_t branch_target(const struct pt_decoder *d)
{
	uint64_t target = d->ip + (uint64_t)(int64_t)walk_branch(d)->displacement;
	return d->mode == 64 ? target : (uint32_t)target;
}

void walk_take(struct pt_decoder *d)
{
	follow(d, branch_target(d), true);
}

void walk_next(struct pt_decoder *d)
{
	follow(d, d->ip, false);
}

void walk_push(struct pt_decoder *d, uint64_t ip)
{
	d->returns[d->return_top++ % PT_RETURNS] = ip;
	if (d->return_count < PT_RETURNS)
		d->return_count++;
}

bool walk_pop(struct pt_decoder *d, uint64_t *ip)
{
	if (!d->return_count)
		return false;
	d->return_count--;
	*ip = d->returns[--d->return_top % PT_RETURNS];
	return true;
}

/* The goal is the address d->target. */
static bool has_destination(const struct pt_decoder *d)
{
	return d->goal >= PT_GOAL_IP;
}

/* Executes one instruction of the block. */
static bool step(struct pt_decoder *d)
{
	struct instruction instruction;
	const struct pt_block_code *block = walk_branch(d);
	if (!pt_code_known(d->range.code, block->offset + d->done_bytes, d->mode, &instruction))
		return false;
	d->done++;
	d->done_bytes += instruction.size;
	d->ip += instruction.size;
	d->instructions++;
	return true;
}

/* Executes instructions of the block until one condition ends it; false: the instruction count was not reached. */
static bool step_to_count(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t last = d->ip;
	while (d->instructions < d->stop_at) {
		last = d->ip;
		if (!step(d))
			return false;
	}
	uint8_t kind = d->done == walk_branch(d)->instructions ? walk_branch(d)->kind : INSTRUCTION_OTHER;
	bool branches = kind != INSTRUCTION_OTHER && kind != INSTRUCTION_PTWRITE &&
		kind != INSTRUCTION_JUMP && kind != INSTRUCTION_CALL;
	if (branches)
		walk_pass_time(d);
	*event = (struct pt_event){ .kind = PT_EVENT_INSTRUCTION, .branch = kind, .from = last, .in_transaction = d->transaction, .has_ip = true,
		.ends = branches && d->goal == PT_GOAL_END, .timed = branches && walk_will_be_timed(d) };
	if (d->stop_every)
		d->stop_at = d->instructions + d->stop_every;
	return true;
}

/* Steps to the address that the goal names, if it begins an instruction of the rest of this block. */
static bool steps_to_target(const struct pt_decoder *d, uint32_t *instructions)
{
	const struct pt_block_code *block = walk_branch(d);
	uint32_t at = d->done_bytes, done = d->done;
	uint64_t distance = d->target - d->ip;
	if (distance >= block->size - d->done_bytes)
		return false;
	for (struct instruction instruction; at - d->done_bytes < distance; at += instruction.size, done++)
		if (!pt_code_known(d->range.code, block->offset + at, d->mode, &instruction))
			return false;
	*instructions = done - d->done;
	return at - d->done_bytes == distance;
}

uint32_t walk_to_paging(struct pt_decoder *d, uint64_t *ip)
{
	enum { INSTRUCTIONS_MAX = 256 };
	struct instruction instruction;
	struct pt_range range = { 0 };
	*ip = d->ip;
	if (d->mode != 64)
		return 0;
	for (uint32_t count = 1; count <= INSTRUCTIONS_MAX; count++) {
		bool located = range.code && *ip >= range.start && *ip < range.end;
		if (!located && !(d->config.locate(d->config.context, *ip, &range) && range.code))
			return 0;
		uint64_t offset = *ip - range.base;
		if (!pt_code_instruction(range.code, offset, d->mode, &instruction))
			return 0;
		if (instruction_sets_cr3(range.code->bytes + offset, instruction.size))
			return count;
		*ip += instruction.size;
		if (instruction.kind == INSTRUCTION_JUMP || instruction.kind == INSTRUCTION_CALL)
			*ip += (uint64_t)(int64_t)instruction.displacement;
		else if (instruction.kind != INSTRUCTION_OTHER && instruction.kind != INSTRUCTION_PTWRITE)
			return 0;
	}
	return 0;
}

static void execute(struct pt_decoder *d, uint32_t instructions, uint32_t bytes)
{
	d->instructions += instructions;
	d->done += instructions;
	d->done_bytes += bytes;
	d->ip += bytes;
}

static bool is_endless(struct pt_decoder *d)
{
	return ++d->loops > walk_loop_max(d);
}

bool walk_passes_call(const struct pt_decoder *d, const struct pt_event *event)
{
	if (!d->calls_only || !d->config.call || d->time >= d->pause)
		return false;
	bool is_return = event->branch == INSTRUCTION_RETURN;
	if (!is_return && event->branch != INSTRUCTION_CALL && event->branch != INSTRUCTION_CALL_INDIRECT)
		return false;
	d->config.call(d->config.context, is_return, event->from, event->to, event->size);
	return true;
}

static enum walk_end direct_branch(struct pt_decoder *d, struct pt_event *event)
{
	const struct pt_block_code *block = walk_branch(d);
	bool call = block->kind == INSTRUCTION_CALL;
	*event = (struct pt_event){ .kind = PT_EVENT_BRANCH, .branch = block->kind, .size = block->last_size,
		.guest = d->non_root, .in_transaction = d->transaction, .from = walk_last(d), .to = branch_target(d) };
	if (call && block->displacement)
		walk_push(d, d->ip);
	if (d->goal == PT_GOAL_END && d->has_target && d->target == event->to)
		return WALK_BRANCH; /* the target is where tracing ends */
	if (is_endless(d))
		return WALK_LOOP;
	walk_take(d);
	return d->errors_only || (d->calls_only && !call) || walk_passes_call(d, event) ? WALK_GO_ON : WALK_EVENT;
}

/* Sets stop_at to the instruction with which the next slot of time begins. */
static void find_slot(struct pt_decoder *d)
{
	uint64_t slot = walk_slot_ticks(d), time = d->clock.time + d->instructions - d->instructions_at_time, begin = time & ~(slot - 1);
	uint64_t left;
	if (d->in_slots && begin > d->last_slot) {
		d->stop_at = d->instructions + 1;
		d->slot_changes = true;
		return;
	}
	if (!d->in_slots) {
		begin = ++time & ~(slot - 1);
		if (begin > d->last_slot) {
			d->last_slot = begin;
			d->in_slots = true;
		}
	}
	left = begin < d->last_slot ? slot : slot - (time - begin);
	d->slot_changes = false;
	d->stop_at = d->instructions + left;
}

static void pass_slot(struct pt_decoder *d)
{
	uint64_t slot = walk_slot_ticks(d), time = d->clock.time + d->instructions - d->instructions_at_time, begin = time & ~(slot - 1);
	d->last_slot = begin > d->last_slot ? begin : d->last_slot + slot;
}

enum walk_end walk(struct pt_decoder *d, struct pt_event *event)
{
	enum walk_end end;
	if (d->tick_period)
		find_slot(d);
	for (;;) {
		if (!walk_has_block(d) && !(has_destination(d) && d->ip == d->target) && !walk_find_block(d))
			return WALK_NO_CODE;
		if (has_destination(d) && d->ip == d->target && !branch_is_due(d))
			return WALK_AT_IP;
		const struct pt_block_code *block = walk_branch(d);
		uint32_t left = block->instructions - d->done, bytes = block->size - d->done_bytes;
		if (has_destination(d) && left) {
			uint32_t before;
			if (steps_to_target(d, &before)) {
				left = before;
				bytes = (uint32_t)(d->target - d->ip);
			}
		}
		if (left && d->stop_at - d->instructions <= left) {
			if (step_to_count(d, event)) {
				if (d->tick_period)
					pass_slot(d);
				return WALK_EVENT;
			}
			return WALK_NO_CODE;
		}
		execute(d, left, bytes);
		if (has_destination(d) && d->done < block->instructions)
			continue; /* arrived */
		if (block->broken)
			return WALK_NO_CODE;
		switch (block->kind) {
		case INSTRUCTION_OTHER:
		case INSTRUCTION_PTWRITE:
			if (is_endless(d)) /* gigabytes of a hostile file without a branch */
				return WALK_LOOP;
			walk_next(d);
			continue;
		case INSTRUCTION_JUMP:
		case INSTRUCTION_CALL:
			end = direct_branch(d, event);
			if (end != WALK_GO_ON)
				return end;
			if (d->tick_period)
				find_slot(d);
			continue;
		default:
			return WALK_BRANCH;
		}
	}
}
