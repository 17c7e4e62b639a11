/* Decodes a queue's trace ahead, in segments. What is cut depends on the trace, not on the number of workers. */
#include <stdlib.h>

#include "base/pool.h"
#include "session/trace_internal.h"

enum {
	SEGMENTS_MIN = 4,        /* if the trace is long */
	SEGMENTS_MAX = 16,       /* of a queue at once … */
	ALL_SEGMENTS_MAX = 128,  /* … and of all queues */
	SEGMENT_BYTES_MIN = 32 << 10,
	SEGMENT_BYTES_MAX = 256 << 10,
	SEGMENT_BYTES_LIMIT = 4 << 20, /* of a trace without synchronization points: it is not cut */
	STEPS_WANTED = 64 << 10, /* of a segment: fewer bytes are decoded ahead where they yield more */
	ALL_STEPS_WANTED = 256 << 10, /* of a queue's segments: fewer are cut where a segment has more */
	STEPS_MAX = 128 << 10,   /* beyond which it fails */
	WARM_BYTES_MIN = 24 << 10, /* in front of a segment, in which its time is found … */
	WARM_BYTES_MAX = 48 << 10, /* … or more, if that was not enough */
	FAILURES_MAX = 10,       /* 1 << failures: synchronization points without segments */
};

struct trace_segments {
	struct pt_segment *list[SEGMENTS_MAX];
	size_t count, current, step, call; /* step, call: the next ones of the current segment */
	size_t taken;            /* events and calls of it so far */
	size_t wanted;           /* number of segments to cut next */
	uint64_t bytes, warm;    /* of each */
	unsigned rest, failures; /* rest: synchronization points to pass without segments */
	unsigned misfits;        /* among the current ones */
	bool synchronized;       /* the decoder has just delivered a synchronization point */
	bool verified;           /* the current segment fits … */
	bool serial;             /* … or not: the decoder passes it alone */
	uint64_t pause;          /* of the last call */
};

unsigned trace_workers(const struct trace *trace)
{
	return trace->pool ? pool_workers(trace->pool) : 1;
}

static struct trace_segments *segments_of(struct trace_queue *queue)
{
	if (!queue->segments) {
		queue->segments = memory_zero(1, sizeof *queue->segments);
		queue->segments->wanted = 2;
		queue->segments->bytes = SEGMENT_BYTES_MIN;
		queue->segments->warm = WARM_BYTES_MIN;
	}
	return queue->segments;
}

static void free_list(struct trace_segments *s)
{
	for (size_t i = 0; i < SEGMENTS_MAX && s->list[i]; i++) {
		pt_segment_fini(s->list[i]);
		free(s->list[i]);
		s->list[i] = NULL;
	}
}

/* The memory of segments stays for the next ones, unless queues are many. */
static void release(struct trace_queue *queue)
{
	if (queue->trace->queues.count > ALL_SEGMENTS_MAX / SEGMENTS_MAX)
		free_list(queue->segments);
	struct trace_segments *s = queue->segments;
	queue->trace->segments -= s->count;
	s->count = s->current = s->step = s->call = s->taken = s->misfits = 0;
	s->verified = s->serial = false;
}

void trace_segments_free(struct trace_queue *queue)
{
	if (!queue->segments)
		return;
	free_list(queue->segments);
	free(queue->segments);
}

/* Gives the segments up: they are not what follows. */
static void fail(struct trace_queue *queue)
{
	struct trace_segments *s = queue->segments;
	s->rest = 1u << s->failures;
	s->failures += s->failures < FAILURES_MAX;
	s->wanted = 2;
	release(queue);
}

/* Cuts the part of the trace behind the decoder. */
static void cut(struct trace_queue *queue)
{
	struct trace_segments *s = queue->segments;
	const struct trace *trace = queue->trace;
	const struct pt_decoder *decoder = queue->decoder;
	uint64_t position = decoder->place.position;
	struct pt_place from = decoder->place, next;
	while (s->count < s->wanted && trace->segments + s->count < ALL_SEGMENTS_MAX) {
		bool more = pt_segment_cut(decoder, position + s->bytes, &next);
		if (more && next.position - position > SEGMENT_BYTES_LIMIT)
			break;
		if (more && trace->until && s->count && pt_segment_time(decoder, from) > trace->until)
			break;
		if (!s->list[s->count])
			s->list[s->count] = memory_zero(1, sizeof **s->list);
		struct pt_segment *segment = s->list[s->count];
		pt_segment_init(segment, decoder, s->count == 0);
		segment->from = segment->warm = from;
		if (s->count && !pt_segment_cut(decoder, position > s->warm ? position - s->warm : 0, &segment->warm))
			break;
		segment->until = more ? next.position : UINT64_MAX;
		segment->steps_max = STEPS_MAX;
		segment->bytes_max = SEGMENT_BYTES_LIMIT;
		s->count++;
		if (!more)
			break;
		from = next;
		position = next.position;
	}
}

static void decode(void *context, size_t job, unsigned worker)
{
	struct trace_queue *queue = context;
	struct trace_lane *lane = &queue->trace->lanes[worker];
	struct pt_segment *segment = queue->segments->list[job];
	lane->trace = queue->trace;
	lane->model = queue->lane.model;
	lane->user_root = queue->lane.user_root;
	lane->kernel_root = queue->lane.kernel_root;
	lane->guest_user_root = queue->lane.guest_user_root;
	lane->guest_kernel_root = queue->lane.guest_kernel_root;
	lane->decoder = &segment->decoder;
	lane->segment = segment;
	struct pt_config config = queue->decoder->config;
	config.context = lane;
	pt_segment_decode(segment, &config);
}

static void plan(struct trace_queue *queue)
{
	struct trace_segments *s = queue->segments;
	struct trace *trace = queue->trace;
	cut(queue);
	if (s->count < 2) {
		s->count = 0;
		return;
	}
	trace->segments += s->count;
	if (!trace->lanes)
		trace->lanes = memory_zero(trace_workers(trace), sizeof *trace->lanes);
	if (trace->pool && trace->before_pool)
		trace->before_pool(trace->before_context);
	if (trace->pool)
		pool_run(trace->pool, s->count, decode, queue);
	else
		for (size_t i = 0; i < s->count; i++)
			decode(queue, i, 0);
}

/* All segments were taken: the next ones have about as many steps as wanted. */
static void finish(struct trace_queue *queue)
{
	struct trace_segments *s = queue->segments;
	size_t steps = 0;
	for (size_t i = 0; i < s->count; i++) {
		size_t own = s->list[i]->steps.count + s->list[i]->calls.count;
		steps = own > steps ? own : steps;
	}
	if (steps > STEPS_WANTED)
		s->bytes = s->bytes / 2 + 1;
	else if (steps < STEPS_WANTED / 4 && s->bytes < SEGMENT_BYTES_MAX)
		s->bytes *= 2;
	s->wanted = s->wanted * 2 < SEGMENTS_MAX ? s->wanted * 2 : SEGMENTS_MAX;
	while (s->wanted > SEGMENTS_MIN && s->wanted * steps > ALL_STEPS_WANTED)
		s->wanted--;
	s->failures = 0;
	s->synchronized = true;
	release(queue);
}

/* The decoder arrives at the end of the current segment. False: the trace ends. */
static bool pass(struct trace_queue *queue)
{
	struct trace_segments *s = queue->segments;
	const struct pt_segment *segment = s->list[s->current];
	bool ended = segment->ended;
	pt_segment_pass(segment, queue->decoder);
	s->step = s->call = s->taken = 0;
	s->verified = false;
	if (++s->current == s->count)
		finish(queue);
	else if (ended)
		release(queue);
	return !ended;
}

static bool is_silent(const struct pt_decoder *decoder)
{
	return decoder->errors_only || decoder->calls_only;
}

/* Nothing happens up to `pause`, after which other mappings may hold: returns as an event does. */
static bool wait_until(struct trace_queue *queue, uint64_t pause)
{
	queue->event = (struct pt_event){ .kind = PT_EVENT_BRANCH };
	queue->moment.time = pause;
	queue->paused = true;
	return true;
}

/* The current segment is not what follows: the next one may be. */
static void misfit(struct trace_queue *queue)
{
	struct trace_segments *s = queue->segments;
	const struct pt_segment *segment = s->list[s->current];
	if (!segment->failed && s->warm < WARM_BYTES_MAX)
		s->warm *= 2;
	if (++s->misfits > 1 + s->count / 4 || s->current + 1 == s->count)
		fail(queue);
	else
		s->serial = true;
}

/* The decoder, which has passed a segment alone, is at a synchronization point. */
static void resume(struct trace_queue *queue)
{
	struct trace_segments *s = queue->segments;
	uint64_t until = s->list[s->current]->until;
	if (queue->event.payload < until)
		return;
	s->serial = false;
	s->current++;
	if (queue->event.payload > until)
		fail(queue);
}

/* Passes the calls up to one on; false: it is not before the pause. */
static bool take_calls(struct trace_queue *queue, const struct pt_segment *segment, size_t until, uint64_t pause)
{
	struct trace_segments *s = queue->segments;
	for (; s->call < until; s->call++, s->taken++) {
		const struct pt_call *call = &segment->calls.items[s->call];
		if (call->time >= pause)
			return false;
		trace_note_call(&queue->lane, call->is_return, call->from, call->to, call->size);
	}
	return true;
}

static int take_step(struct trace_queue *queue, const struct pt_segment *segment, const struct pt_step *step)
{
	queue->event = step->event;
	queue->moment = pt_segment_moment(segment, step, queue->decoder);
	queue->instructions = queue->decoder->instructions + step->instructions;
	queue->segments->step++;
	queue->segments->taken++;
	return 1;
}

/* The next step of the segments. 1: an event; 0: the trace ends; -1: no segment is left. */
static int next_step(struct trace_queue *queue, uint64_t pause)
{
	struct trace_segments *s = queue->segments;
	while (s->count && !s->serial) {
		const struct pt_segment *segment = s->list[s->current];
		if (!s->verified && !pt_segment_fits(segment, queue->decoder)) {
			misfit(queue);
			break;
		}
		s->verified = true;
		bool waits = is_silent(queue->decoder);
		for (; s->step < segment->steps.count; s->step++) {
			const struct pt_step *step = &segment->steps.items[s->step];
			if (!take_calls(queue, segment, step->calls, pause))
				return wait_until(queue, pause);
			if (!pt_segment_has(segment, s->step, queue->decoder))
				continue;
			if (waits && segment->moments.items[step->moment].time >= pause)
				return wait_until(queue, pause);
			return take_step(queue, segment, step);
		}
		if (!take_calls(queue, segment, segment->calls.count, pause))
			return wait_until(queue, pause);
		if (segment->ended && waits && segment->decoder.clock.time >= pause)
			return wait_until(queue, pause);
		if (!pass(queue))
			return 0;
	}
	return -1;
}

bool trace_segments_next(struct trace_queue *queue, uint64_t pause)
{
	struct trace_segments *s = segments_of(queue);
	struct pt_decoder *decoder = queue->decoder;
	const struct trace *trace = queue->trace;
	bool cuts = trace->cuts && (queue->begun || trace->timeless);
	queue->paused = false;
	s->pause = pause;
	do {
		if (cuts && s->synchronized && !s->count) {
			if (s->rest)
				s->rest--;
			else
				plan(queue);
		}
		if (s->synchronized && s->serial)
			resume(queue);
		s->synchronized = false;
		int step = s->count ? next_step(queue, pause) : -1;
		if (step >= 0)
			return step;
	} while (s->synchronized);
	decoder->pause = pause;
	if (pt_decoder_next(decoder, &queue->event) <= 0)
		return false;
	queue->moment = pt_moment_of(decoder);
	queue->instructions = decoder->instructions;
	s->synchronized = queue->event.kind == PT_EVENT_PSB;
	return true;
}

/* The decoder in front of the current segment reads what was taken of it again. */
bool trace_segments_drop(struct trace_queue *queue)
{
	struct trace_segments *s = queue->segments;
	if (!s || !s->count)
		return false;
	if (s->serial) {
		fail(queue);
		return false;
	}
	struct pt_decoder *decoder = queue->decoder;
	struct trace_lane *lane = &queue->lane;
	size_t taken = s->taken;
	bool paused = queue->paused, more = true;
	fail(queue);
	decoder->pause = s->pause;
	lane->replays = true;
	for (lane->replayed = 0; more && lane->replayed < taken + paused; lane->replayed++)
		more = pt_decoder_next(decoder, &queue->event) > 0;
	lane->replays = queue->paused = false;
	if (!paused)
		return false;
	queue->has_event = more;
	queue->moment = pt_moment_of(decoder);
	queue->instructions = decoder->instructions;
	return more;
}
