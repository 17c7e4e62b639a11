/* From a sample's call chain to a stack: the frames in the order that the report asks for, and a memory of chains seen before. */
#include <stdlib.h>

#include "abi/sample.h"
#include "analysis/collector.h"
#include "base/hash.h"
#include "base/memory.h"

static bool marker_mode(uint64_t marker, uint8_t *mode)
{
	switch (marker) {
	case CONTEXT_HV:
		*mode = RECORD_MISC_HYPERVISOR;
		return true;
	case CONTEXT_KERNEL:
		*mode = RECORD_MISC_KERNEL;
		return true;
	case CONTEXT_USER:
		*mode = RECORD_MISC_USER;
		return true;
	default:
		return false;
	}
}

static void reserve_frames(struct collector *c, size_t count)
{
	if (count <= c->frame_capacity)
		return;
	c->frame_capacity = count + 64;
	c->frames = memory_resize(c->frames, c->frame_capacity, sizeof *c->frames);
}

/* What a walk has found: frames in c->frames. An unknown marker makes the whole chain worthless, though what stood before it has
 * been looked at. */
struct walked {
	size_t count;
	bool damaged;
};

/* Innermost first. */
static struct walked walk_callee(struct collector *c, const struct resolved *r)
{
	const struct sample *sample = r->sample;
	struct walked walked = { 0 };
	uint8_t mode = RECORD_MISC_USER;
	for (uint64_t i = 0; i < sample->callchain_count && walked.count < c->profile->options.max_stack && !walked.damaged; i++) {
		uint64_t address = sample_chain_at(sample, i);
		if (address < CONTEXT_MAX)
			c->frames[walked.count++] = resolved_locate(r, mode, address);
		else
			walked.damaged = !marker_mode(address, &mode);
	}
	return walked;
}

/* The mode that the marker below entry `end` sets, where there is one; false: an unknown marker. */
static bool mode_below(const struct sample *sample, size_t end, uint8_t *mode)
{
	while (end-- > 0)
		if (sample_chain_at(sample, end) >= CONTEXT_MAX)
			return marker_mode(sample_chain_at(sample, end), mode);
	return true;
}

/* Outermost first; what goes beyond the limit is the innermost. */
static struct walked walk_caller(struct collector *c, const struct resolved *r)
{
	const struct sample *sample = r->sample;
	struct walked walked = { 0 };
	uint8_t mode = RECORD_MISC_USER;
	walked.damaged = !mode_below(sample, sample->callchain_count, &mode);
	for (uint64_t i = sample->callchain_count; i-- > 0 && walked.count < c->profile->options.max_stack && !walked.damaged;) {
		uint64_t address = sample_chain_at(sample, i);
		if (address < CONTEXT_MAX)
			c->frames[walked.count++] = resolved_locate(r, mode, address);
		else
			walked.damaged = !mode_below(sample, i, &mode);
	}
	return walked;
}

/* Entries of the recorded chain up to its user part, one by one. */
static void lbr_kernel_part(struct collector *c, const struct resolved *r, size_t end, bool callee, struct walked *walked)
{
	uint8_t mode = RECORD_MISC_USER;
	for (size_t i = 0; i <= end && !walked->damaged; i++) {
		uint64_t address = sample_chain_at(r->sample, callee ? i : end - i);
		if (address < CONTEXT_MAX)
			c->frames[walked->count++] = resolved_locate(r, mode, address);
		else
			walked->damaged = !marker_mode(address, &mode);
	}
}

static void lbr_user_part(struct collector *c, const struct resolved *r, bool callee, struct walked *walked)
{
	const struct sample *sample = r->sample;
	size_t branches = sample->branch_count;
	if (callee && branches)
		c->frames[walked->count++] = resolved_locate(r, RECORD_MISC_USER, sample_branch(sample, 0).to);
	for (size_t i = 0; i < branches; i++) {
		struct branch_entry branch = sample_branch(sample, callee ? i : branches - 1 - i);
		c->frames[walked->count++] = resolved_locate(r, RECORD_MISC_USER, branch.from);
	}
	if (!callee && branches)
		c->frames[walked->count++] = resolved_locate(r, RECORD_MISC_USER, sample_branch(sample, 0).to);
}

/* The hardware's call stack stands for the user part. Returns false where there is none. */
static bool walk_lbr(struct collector *c, const struct resolved *r, struct walked *walked)
{
	const struct sample *sample = r->sample;
	bool callee = c->profile->options.chain.order == CHAIN_CALLEE;
	size_t max = c->profile->options.max_stack;
	size_t limit = sample->callchain_count < max ? sample->callchain_count : max, user = 0;
	while (user < limit && sample_chain_at(sample, user) != CONTEXT_USER)
		user++;
	if (user == limit)
		return false;
	*walked = (struct walked){ 0 };
	if (!callee)
		lbr_user_part(c, r, false, walked);
	lbr_kernel_part(c, r, user, callee, walked);
	if (callee && !walked->damaged)
		lbr_user_part(c, r, true, walked);
	return true;
}

static bool has_call_stack(const struct resolved *r)
{
	return r->evsel->attr.branch_sample_type & BRANCH_CALL_STACK && r->sample->present & SAMPLE_BRANCH_STACK;
}

uint32_t collector_frame(struct collector *c, const struct location *location)
{
	struct site *site = collector_site(c, location);
	if (site->frame)
		return site->frame - 1;
	const struct profile *profile = c->profile;
	bool in_map = location->map;
	struct place place = {
		.symbol = site->symbol, .module = location->module, .ip = location->address, .map = location->map,
		.key_ip = site->symbol && !profile->by_address ? 0 : location->address,
		.key_map = profile->by_map ? (uintptr_t)location->map : 0,
		.level = !in_map ? 0 : location->cpumode == RECORD_MISC_KERNEL ? 'k' : '.',
	};
	uint32_t id = stacks_place(&c->stacks, &place);
	c->wild |= !place.symbol && address_is_wild(place.ip);
	site->frame = id + 1;
	return id;
}

/* What --parent, --ignore-callees and --hide-unresolved make of the frames, in the order of the walk. */
static size_t sift(struct collector *c, size_t count, struct chain_found *found)
{
	const struct profile_options *options = &c->profile->options;
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		const struct location *location = c->frames[i];
		const struct site *site = collector_site(c, location);
		const char *name = site->symbol ? profile_symbol_name(c->profile, location->module, site->symbol) : NULL;
		if (name && options->parent && options->columns->has_parent && !found->parent_site &&
		    regexec(options->parent, name, 0, NULL, 0) == 0) {
			found->parent_site = location->id + 1;
		} else if (name && options->ignore_callees && regexec(options->ignore_callees, name, 0, NULL, 0) == 0) {
			found->root_site = location->id + 1;
			kept = 0;
		}
		if (!options->hide_unresolved || name)
			c->frames[kept++] = location;
	}
	return kept;
}

static uint32_t push_frames(struct collector *c, size_t count)
{
	uint32_t node = STACK_ROOT;
	bool outermost_first = c->profile->options.chain.order == CHAIN_CALLER;
	for (size_t i = 0; i < count; i++)
		node = stacks_push(&c->stacks, node, collector_frame(c, c->frames[outermost_first ? i : count - 1 - i]));
	return node;
}

static struct chain_found walk(struct collector *c, const struct resolved *r)
{
	struct chain_found found = { .node = STACK_ROOT };
	const struct profile_options *options = &c->profile->options;
	struct walked walked;
	reserve_frames(c, r->sample->callchain_count + r->sample->branch_count + 2);
	if (!has_call_stack(r) || !walk_lbr(c, r, &walked))
		walked = options->chain.order == CHAIN_CALLEE ? walk_callee(c, r) : walk_caller(c, r);
	if (options->parent || options->ignore_callees || options->hide_unresolved)
		walked.count = sift(c, walked.count, &found);
	if (!walked.damaged)
		found.node = push_frames(c, walked.count);
	return found;
}

static void memo_keep(struct chain_memo *memo, const struct resolved *r, uint64_t hash, const struct chain_found *found)
{
	const struct sample *sample = r->sample;
	uint32_t count = (uint32_t)sample->callchain_count;
	if (count > memo->capacity) {
		memo->capacity = count + 8;
		memo->words = memory_resize(memo->words, memo->capacity, sizeof *memo->words);
	}
	if (count)
		memcpy(memo->words, sample->callchain, count * sizeof *memo->words);
	memo->word_count = count;
	memo->hash = hash;
	memo->user_root = r->user_root;
	memo->kernel_root = r->kernel_root;
	memo->node = found->node;
	memo->parent_site = found->parent_site;
	memo->root_site = found->root_site;
}

struct chain_found collector_chain(struct collector *c, const struct resolved *r)
{
	const struct sample *sample = r->sample;
	if (has_call_stack(r))
		return walk(c, r);
	size_t bytes = sample->callchain_count * 8;
	uint64_t hash = hash_bytes(sample->callchain, bytes) ^ hash_pair((uintptr_t)r->user_root, (uintptr_t)r->kernel_root);
	struct chain_memo *memo = &c->memos[hash & (CHAIN_MEMOS - 1)];
	if (memo->words && memo->hash == hash && memo->word_count == sample->callchain_count && memo->user_root == r->user_root &&
	    memo->kernel_root == r->kernel_root && memcmp(memo->words, sample->callchain, bytes) == 0)
		return (struct chain_found){ memo->node, memo->parent_site, memo->root_site };
	struct chain_found found = walk(c, r);
	memo_keep(memo, r, hash, &found);
	return found;
}
