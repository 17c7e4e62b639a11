#include "session/chain.h"

#include "base/memory.h"
#include "session/stitch.h"
#include "session/worker.h"


bool chain_marker_mode(uint64_t marker, unsigned *cpumode)
{
	switch (marker) {
	case CONTEXT_HV:
		*cpumode = RECORD_MISC_HYPERVISOR;
		return true;
	case CONTEXT_KERNEL:
		*cpumode = RECORD_MISC_KERNEL;
		return true;
	case CONTEXT_USER:
	case CONTEXT_USER_DEFERRED:
		*cpumode = RECORD_MISC_USER;
		return true;
	default:
		return false;
	}
}

/* A chain under construction, in the requested order. */
struct walk {
	const struct resolved *r;
	enum chain_direction direction;
	size_t limit;                  /* frames of the recorded callchain */
	const struct location **frames;
	size_t count;
	bool damaged;                  /* an unknown marker was found */
	uint64_t located_from, located_count; /* entries of the recorded callchain that were located ahead */
};

static struct walk walk_begin(const struct resolved *r, enum chain_direction direction, size_t limit)
{
	struct walk walk = { .r = r, .direction = direction, .limit = limit };
	if (r->located_count && r->located_chain == r->sample->callchain) {
		walk.located_from = r->located_from;
		walk.located_count = r->located_count;
	}
	return walk;
}

static void walk_add(struct walk *walk, unsigned cpumode, uint64_t address)
{
	walk->frames[walk->count++] = resolved_locate(walk->r, cpumode, address);
}

/* Adds an address of the recorded callchain, entry i. */
static inline __attribute__((always_inline)) void walk_add_entry(struct walk *walk, uint64_t i, unsigned cpumode, uint64_t address)
{
	if (i - walk->located_from < walk->located_count && cpumode == RECORD_MISC_USER)
		walk->frames[walk->count++] = &walk->r->located[i - walk->located_from];
	else
		walk_add(walk, cpumode, address);
}

/* Adds one entry of the recorded callchain: an address, or a marker that sets the mode of the addresses after it. Inlined: a call for each
 * entry costs a tenth of the time of `script`. */
static inline __attribute__((always_inline)) void walk_entry(struct walk *walk, uint64_t i, unsigned *cpumode)
{
	uint64_t address = sample_chain_at(walk->r->sample, i);
	if (address < CONTEXT_MAX)
		walk_add_entry(walk, i, *cpumode, address);
	else
		walk->damaged = !chain_marker_mode(address, cpumode);
}

static struct chain walk_end(const struct walk *walk)
{
	walk->r->worker->callchains.asked += walk->count;
	return (struct chain){ walk->frames, walk->count, walk->damaged };
}

/* Adds the entries of the recorded callchain that were located ahead, which begin at the current one. Returns their number. */
static uint64_t walk_located(struct walk *walk)
{
	size_t room = walk->limit - walk->count, count = walk->located_count < room ? walk->located_count : room;
	const struct location **frames = walk->frames + walk->count, *located = walk->r->located;
	for (size_t i = 0; i < count; i++)
		frames[i] = &located[i];
	walk->count += count;
	return count;
}

static void walk_inward_out(struct walk *walk)
{
	unsigned cpumode = RECORD_MISC_USER;
	uint64_t i = 0;
	while (i < walk->r->sample->callchain_count && walk->count < walk->limit && !walk->damaged)
		if (i == walk->located_from && walk->located_count && cpumode == RECORD_MISC_USER)
			i += walk_located(walk);
		else
			walk_entry(walk, i++, &cpumode);
}

/* Finds the mode that the marker below entry `end` sets, if there is a marker; false: an unknown marker. */
static bool mode_below(const struct sample *sample, uint64_t end, unsigned *cpumode)
{
	while (end-- > 0)
		if (sample_chain_at(sample, end) >= CONTEXT_MAX)
			return chain_marker_mode(sample_chain_at(sample, end), cpumode);
	return true;
}

/* Entries beyond the limit are the innermost ones. */
static void walk_outward_in(struct walk *walk)
{
	const struct sample *sample = walk->r->sample;
	unsigned cpumode = RECORD_MISC_USER;
	walk->damaged = !mode_below(sample, sample->callchain_count, &cpumode);
	for (uint64_t i = sample->callchain_count; i-- > 0 && walk->count < walk->limit && !walk->damaged;) {
		uint64_t address = sample_chain_at(sample, i);
		if (address < CONTEXT_MAX)
			walk_add_entry(walk, i, cpumode, address);
		else
			walk->damaged = !mode_below(sample, i, &cpumode);
	}
}

/* Adds the frames of the branches: the target of the last one, then the source of each. */
static void walk_branches(struct walk *walk)
{
	const struct sample *sample = walk->r->sample;
	uint64_t count = sample->branch_count;
	bool inward_out = walk->direction == CHAIN_INNERMOST_FIRST;
	if (count && inward_out)
		walk_add(walk, RECORD_MISC_USER, sample_branch(sample, 0).to);
	for (uint64_t i = 0; i < count; i++)
		walk_add(walk, RECORD_MISC_USER, sample_branch(sample, inward_out ? i : count - 1 - i).from);
	if (count && !inward_out)
		walk_add(walk, RECORD_MISC_USER, sample_branch(sample, 0).to);
}

static bool has_call_stack(const struct resolved *r)
{
	return r->evsel->attr.branch_sample_type & BRANCH_CALL_STACK && r->sample->present & SAMPLE_BRANCH_STACK;
}

/* The processor's call stack (--call-graph lbr) replaces the user part, whose marker is entry `user`. Limits do not shorten it. Outermost
 * first, perf meets the markers behind the addresses that they describe, and treats kernel addresses as user addresses. */
static void walk_call_stack(struct walk *walk, uint64_t user)
{
	bool inward_out = walk->direction == CHAIN_INNERMOST_FIRST;
	unsigned cpumode = RECORD_MISC_USER;
	if (!inward_out)
		walk_branches(walk);
	for (uint64_t i = 0; i <= user && !walk->damaged; i++)
		walk_entry(walk, inward_out ? i : user - i, &cpumode);
	if (inward_out && !walk->damaged)
		walk_branches(walk);
}

/* Adds the callers of the outermost branch that earlier samples know. */
static void walk_stitched(struct walk *walk, const uint64_t *addresses, size_t count)
{
	bool inward_out = walk->direction == CHAIN_INNERMOST_FIRST;
	for (size_t i = 0; i < count && !walk->damaged; i++)
		walk_add(walk, RECORD_MISC_USER, addresses[inward_out ? i : count - 1 - i]);
}

static size_t stitched(const struct resolved *r, uint64_t user, const uint64_t **addresses)
{
	struct session *session = r->session;
	if (!session->stitch || user == UINT64_MAX || !(r->evsel->attr.branch_sample_type & BRANCH_HW_INDEX))
		return 0;
	uint64_t thread = r->thread == THREAD_NONE ? (uint64_t)1 << 32 | (uint32_t)r->tid : r->thread;
	return stitch_join(session->stitch, &session->source->header, thread, r->clock, r->sample, addresses);
}

static uint64_t user_marker(const struct sample *sample, uint64_t limit)
{
	uint64_t end = sample->callchain_count < limit ? sample->callchain_count : limit, i = 0;
	while (i < end && sample_chain_at(sample, i) != CONTEXT_USER)
		i++;
	return i < end ? i : UINT64_MAX;
}

static const struct location **room(struct worker *worker, size_t count)
{
	if (count > worker->chain_capacity) {
		worker->chain_capacity = count + 64;
		worker->chain = memory_resize(worker->chain, worker->chain_capacity, sizeof *worker->chain);
	}
	return worker->chain;
}

struct chain resolved_chain_part(const struct resolved *r, enum chain_direction direction, uint64_t skip, uint64_t end, size_t limit)
{
	const struct sample *sample = r->sample;
	struct walk walk = walk_begin(r, direction, limit);
	unsigned cpumode = RECORD_MISC_USER;
	bool inward_out = direction == CHAIN_INNERMOST_FIRST;
	walk.frames = room(r->worker, sample->callchain_count);
	if (!inward_out)
		walk.damaged = !mode_below(sample, sample->callchain_count - skip, &cpumode);
	for (uint64_t i = skip; i < end && walk.count < limit && !walk.damaged; i++) {
		uint64_t at = inward_out ? i : sample->callchain_count - 1 - i;
		if (inward_out)
			walk_entry(&walk, at, &cpumode);
		else if (sample_chain_at(sample, at) < CONTEXT_MAX)
			walk_add_entry(&walk, at, cpumode, sample_chain_at(sample, at));
		else
			walk.damaged = !mode_below(sample, at, &cpumode);
	}
	return walk_end(&walk);
}

uint64_t resolved_chain_joined(const struct resolved *r)
{
	const struct sample *sample = r->sample;
	uint64_t i = 0, count = sample->callchain_count;
	while (i < count && sample_chain_at(sample, i) != CONTEXT_USER)
		i++;
	for (uint64_t first = ++i; i < count; i++)
		if (sample_chain_at(sample, i) >= CONTEXT_MAX)
			return i > first && sample_chain_at(sample, i) == CONTEXT_USER ? i + 1 : 0;
	return 0;
}

bool resolved_chain_is_plain(const struct resolved *r)
{
	return !has_call_stack(r) && !user_stack_is(r);
}

/* The recorded callchain has only the kernel part; the user part is unwound, to as many frames again. Outermost first, the user part
 * precedes. */
static size_t unwind_user(struct worker *worker, const struct resolved *r, size_t limit)
{
	if (!user_stack_is(r))
		return 0;
	if (limit > USER_STACK_FRAMES_MAX)
		limit = USER_STACK_FRAMES_MAX;
	if (limit > worker->addresses_capacity) {
		worker->addresses_unwound = memory_resize(worker->addresses_unwound, limit, sizeof *worker->addresses_unwound);
		worker->addresses_capacity = limit;
	}
	return user_stack_addresses(r, &worker->user_stack, worker->addresses_unwound, limit);
}

static void walk_unwound(struct walk *walk, size_t unwound)
{
	const uint64_t *addresses = walk->r->worker->addresses_unwound;
	bool inward_out = walk->direction == CHAIN_INNERMOST_FIRST;
	for (size_t i = 0; i < unwound; i++)
		walk_add(walk, RECORD_MISC_USER, addresses[inward_out ? i : unwound - 1 - i]);
}

/* Whether the chain is entries that were located ahead, behind their marker. */
static bool is_located(const struct resolved *r, size_t limit)
{
	const struct sample *sample = r->sample;
	return r->located_count && r->located_chain == sample->callchain && r->located_from == 1 && limit > r->located_count &&
		r->located_count == sample->callchain_count - 1 && !r->session->stitch && resolved_chain_is_plain(r);
}

/* The same for such a chain: most chains are, where much is located ahead. */
static struct chain located_chain(const struct resolved *r)
{
	size_t count = r->located_count;
	const struct location **frames = room(r->worker, count);
	for (size_t i = 0; i < count; i++)
		frames[i] = &r->located[i];
	r->worker->callchains.asked += count;
	return (struct chain){ frames, count, false };
}

struct chain resolved_chain(const struct resolved *r, enum chain_direction direction, size_t limit)
{
	if (direction == CHAIN_INNERMOST_FIRST && is_located(r, limit))
		return located_chain(r);
	const struct sample *sample = r->sample;
	struct walk walk = walk_begin(r, direction, limit);
	size_t unwound = unwind_user(r->worker, r, limit);
	const uint64_t *below = NULL;
	uint64_t user = has_call_stack(r) ? user_marker(sample, limit) : UINT64_MAX;
	size_t stitches = stitched(r, user, &below);
	walk.frames = room(r->worker, sample->callchain_count + sample->branch_count + 1 + unwound + stitches);
	if (unwound && direction == CHAIN_OUTERMOST_FIRST) {
		walk_unwound(&walk, unwound);
		walk.limit = limit > SIZE_MAX - unwound ? SIZE_MAX : limit + unwound;
	}
	if (direction == CHAIN_OUTERMOST_FIRST)
		walk_stitched(&walk, below, stitches);
	if (user != UINT64_MAX)
		walk_call_stack(&walk, user);
	else if (direction == CHAIN_INNERMOST_FIRST)
		walk_inward_out(&walk);
	else
		walk_outward_in(&walk);
	if (direction == CHAIN_INNERMOST_FIRST) {
		walk_stitched(&walk, below, stitches);
		walk_unwound(&walk, unwound);
	}
	return walk_end(&walk);
}
