/* Queues of Intel BTS: each record is an event. Behaviour: perf 6.12's output for such recordings. */
#include "abi/record.h"
#include "decode/intel_bts/bts.h"
#include "session/trace_internal.h"

static bool in_kernel(uint64_t ip)
{
	return ip >> 63;
}

static struct pt_event branch_of(const struct bts_branch *branch)
{
	return (struct pt_event){ .kind = PT_EVENT_BRANCH, .branch = INSTRUCTION_JUMP, .from = branch->from, .to = branch->to,
		.ends = !branch->to };
}

void trace_bts_decode(struct trace_queue *queue)
{
	struct pt_decoder *decoder = queue->decoder;
	struct pt_event *event = &queue->event;
	struct instruction instruction;
	struct pt_range range = { 0 };
	if (event->branch != INSTRUCTION_JUMP || !event->from || !event->to)
		return;
	if (!decoder->config.locate(&queue->lane, event->from, &range) || !range.code ||
		!pt_code_instruction(range.code, event->from - range.base, decoder->mode, &instruction)) {
		event->kind = PT_EVENT_ERROR;
		event->error = PT_ERROR_NO_CODE;
		return;
	}
	queue->moment = (struct pt_moment){ .code = range.code, .base = range.base, .mode = (uint8_t)decoder->mode };
	event->branch = instruction.kind;
	event->size = instruction.size;
	event->async = !in_kernel(event->from) && in_kernel(event->to) && instruction.kind != INSTRUCTION_SYSCALL;
}

/* Branches may be missing between two pieces. */
static void forget_calls(struct trace_queue *queue)
{
	struct trace_stack *stack = trace_stacks_get(&queue->trace->stacks, queue->tid);
	stack->frames.count = stack->untraced = 0;
}

bool trace_bts_next(struct trace_queue *queue)
{
	struct pt_place *place = &queue->decoder->place;
	if (queue->has_event && queue->event.kind == PT_EVENT_ERROR) { /* then the branch, of an unknown kind */
		queue->event.kind = PT_EVENT_BRANCH;
		queue->event.branch = INSTRUCTION_OTHER;
		return true;
	}
	for (; place->piece < queue->pieces.count; place->piece++, place->at = 0) {
		const struct pt_piece *piece = &queue->pieces.items[place->piece];
		struct bts_branch branch;
		if (!place->at && queue->trace->stacks_wanted)
			forget_calls(queue);
		while (bts_next(piece->bytes, &place->at, &branch)) {
			place->position += BTS_RECORD_BYTES;
			if (!branch.from && !branch.to)
				continue;
			queue->event = branch_of(&branch);
			queue->ticks = piece->near;
			return true;
		}
	}
	return false;
}

bool trace_thread_ends(struct trace *trace, const struct record *record)
{
	enum { TID_AT = 8 };
	if (!trace->bts || record->type != RECORD_EXIT || record->body_len < TID_AT + 4)
		return false;
	bool found = false;
	int32_t tid = (int32_t)load_u32(record->body + TID_AT);
	struct trace_heap rest = { 0 };
	for (struct trace_queue *queue; (queue = trace_heap_take(&trace->heap));) {
		if (queue->own_tid == tid) {
			queue->ticks = 0;
			for (size_t i = queue->decoder->place.piece; i < queue->pieces.count; i++)
				queue->pieces.items[i].near = 0;
			found = true;
		}
		vec_push(&rest.items, queue);
	}
	for (size_t i = 0; i < rest.items.count; i++)
		trace_heap_add(&trace->heap, rest.items.items[i]);
	vec_fini(&rest.items);
	return found;
}
