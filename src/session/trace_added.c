/* Call chains and last branches for the samples of other events (--itrace=G, L). A sample is recorded some time after its event: what the
 * trace has behind the event is left out, as in perf 6.12. */
#include <string.h>

#include "abi/sample.h"
#include "data/evlist.h"
#include "session/trace_internal.h"

/* Branches between a sample's event and its record, as many as in perf. */
enum { LATE_BRANCHES = 1, LATE_KERNEL_BRANCHES = 1024 };
enum { HEADER_BYTES = 8, SIZE_MAX_BYTES = 0xfff8, FLAG_IN_TX = 1 << 2, FLAG_ABORT = 1 << 3 };

static bool in_kernel(uint64_t ip)
{
	return ip >> 63;
}

void trace_add_begin(struct trace *trace, struct evlist *evlist)
{
	const struct itrace *itrace = &trace->options.itrace;
	trace->evlist = evlist;
	if (itrace->add_last_branch && trace->stacks.branches_max)
		trace->stacks.branches_max += trace->kernel_traced ? LATE_KERNEL_BRANCHES : LATE_BRANCHES;
	for (size_t i = 0; i < evlist->events.count; i++) {
		struct evsel *evsel = &evlist->events.items[i];
		struct attr *attr = &evsel->attr;
		uint64_t adds = (itrace->add_call_chain ? SAMPLE_CALLCHAIN : 0) | (itrace->add_last_branch ? SAMPLE_BRANCH_STACK : 0);
		vec_push(&trace->recorded, evsel->layout);
		adds &= ~attr->sample_type;
		if (evsel->decoded || trace->bts || !adds)
			continue;
		attr->sample_type |= adds;
		if (adds & SAMPLE_BRANCH_STACK)
			attr->branch_sample_type = BRANCH_HW_INDEX;
		sample_layout_init(&evsel->layout, attr);
	}
	for (size_t i = 0; i < trace->recorded.count; i++)
		evlist->events.items[i].recorded = &trace->recorded.items[i];
}

static size_t put_chain(const struct trace *trace, const struct trace_stack *stack, uint64_t ip, uint64_t *words, size_t room)
{
	unsigned size = trace->options.itrace.call_chain_size;
	size_t most = size && size + 1 < room ? size + 1 : room, count = 0;
	words[0] = 0;
	if (room < 3)
		return 1;
	count = trace_stack_late_chain(stack, ip, words + 1, most);
	words[0] = count;
	return count + 1;
}

/* Whether the first branch before a sample is this one; next: the branch behind it, NULL: none. */
static bool precedes(const struct trace_branch *branch, const struct trace_branch *next, uint64_t ip)
{
	if (!in_kernel(ip))
		return branch->to && !in_kernel(branch->to);
	return !in_kernel(branch->from) || (next && ip >= branch->to && ip <= next->from);
}

static size_t put_branches(const struct trace *trace, const struct trace_stack *stack, uint64_t ip, uint64_t *words, size_t room)
{
	uint64_t most = trace->stacks.branches_max, count = stack->branch_count < most ? stack->branch_count : most;
	uint64_t shown = trace->options.itrace.last_branch_size;
	const struct trace_branch *next = NULL;
	size_t at = 2;
	bool begun = false;
	words[0] = 0;
	words[1] = UINT64_MAX;
	for (uint64_t i = 0; i < count && words[0] < shown && at + 3 <= room; i++) {
		const struct trace_branch *branch = &stack->branches[(stack->branch_count - 1 - i) % most];
		begun = begun || precedes(branch, next, ip);
		next = branch;
		if (!begun)
			continue;
		words[at++] = branch->from;
		words[at++] = branch->to;
		words[at++] = (branch->flags & TRACE_IN_TX ? FLAG_IN_TX : 0) | (branch->flags & TRACE_ABORT ? FLAG_ABORT : 0);
		words[0]++;
	}
	return at;
}

struct entry trace_complete(struct trace *trace, const struct entry *entry)
{
	const struct record record = entry_record(entry);
	uint32_t event = record.type == RECORD_SAMPLE ? evlist_event_of(trace->evlist, &record) : UINT32_MAX;
	if (event >= trace->recorded.count)
		return *entry;
	const struct sample_layout *recorded = &trace->recorded.items[event];
	uint64_t adds = trace->evlist->events.items[event].layout.sample_type & ~recorded->sample_type;
	struct sample sample;
	struct sample_extents extents;
	if (!adds || sample_decode(&sample, recorded, &record, NULL) < 0 || sample_extents(&extents, recorded, &record) < 0)
		return *entry;
	size_t size = HEADER_BYTES + record.body_len, chain_at = extents.chain, branches_at = extents.regs;
	uint64_t words[SIZE_MAX_BYTES / 8];
	size_t left = size < SIZE_MAX_BYTES ? (SIZE_MAX_BYTES - size) / 8 : 0, chain = 0, branches = 0;
	if (left < 3)
		return *entry; /* it is counted as a damaged sample */
	const struct trace_stack *stack = trace_stacks_get(&trace->stacks, (int32_t)sample.tid);
	if (adds & SAMPLE_BRANCH_STACK)
		branches = put_branches(trace, stack, sample.ip, words, left - 1);
	if (adds & SAMPLE_CALLCHAIN)
		chain = put_chain(trace, stack, sample.ip, words + branches, left - branches - 1);
	uint8_t *made = arena_alloc(&trace->bytes, size + (chain + branches) * 8), *to = made;
	uint16_t whole = (uint16_t)(size + (chain + branches) * 8);
	memcpy(to, entry->body - HEADER_BYTES, HEADER_BYTES);
	memcpy(to + HEADER_BYTES - sizeof whole, &whole, sizeof whole);
	to += HEADER_BYTES;
	memcpy(to, record.body, chain_at);
	memcpy(to += chain_at, words + branches, chain * 8);
	memcpy(to += chain * 8, record.body + chain_at, branches_at - chain_at);
	memcpy(to += branches_at - chain_at, words, branches * 8);
	memcpy(to += branches * 8, record.body + branches_at, record.body_len - branches_at);
	struct entry completed = *entry;
	completed.body = made + HEADER_BYTES;
	return completed;
}
