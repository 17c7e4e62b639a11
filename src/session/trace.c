#include "session/trace.h"

#include <stdlib.h>

#include "data/source.h"
#include "model/module.h"
#include "session/resolved.h"
#include "session/trace_internal.h"

enum {
	CPUS_MAX = 1 << 16,
	QUEUES_MAX = 1 << 13,    /* as many as the kernel supports CPUs; each has a decoder */
	BLOCKS_MAX = 1 << 24,    /* of decoded code, in all queues together */
	BATCH_BYTES = 64 << 20,  /* of samples, which may have long call chains */
};

/* NULL: a hostile recording has too many. */
static struct trace_queue *queue_of(struct trace *trace, uint32_t index)
{
	uint32_t known = idmap_get(&trace->queue_of, index);
	if (known != IDMAP_NONE)
		return trace->queues.items[known];
	if (trace->queues.count == QUEUES_MAX)
		return NULL;
	idmap_set(&trace->queue_of, index, (uint32_t)trace->queues.count);
	struct trace_queue *queue = memory_zero(1, sizeof *queue);
	queue->trace = trace;
	queue->pid = queue->tid = -1;
	vec_push(&trace->queues, queue);
	return queue;
}

/* An AUXTRACE record: the bytes behind it are a piece of a queue. */
static void add_piece(struct trace *trace, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	uint64_t size = take_u64(&c);
	take_u64(&c); /* offset */
	uint64_t reference = take_u64(&c);
	uint32_t index = take_u32(&c);
	int32_t tid = (int32_t)take_u32(&c), cpu = (int32_t)take_u32(&c);
	const uint8_t *bytes = source_payload(trace->source, record, size);
	if (c.short_read || !bytes || !size)
		return;
	struct trace_queue *queue = queue_of(trace, index);
	if (!queue)
		return;
	queue->cpu = cpu;
	queue->own_tid = tid;
	struct pt_piece piece = { .bytes = { bytes, (size_t)size }, .near = reference, .follows = queue->pieces.count > 0 };
	if (queue->pieces.count && trace->info.snapshot) {
		size_t old = pt_overlap(queue->whole, piece.bytes, &piece.follows);
		queue->whole = piece.bytes;
		piece.bytes.data += old;
		piece.bytes.len -= old;
	} else {
		queue->whole = piece.bytes;
	}
	if (piece.bytes.len)
		vec_push(&queue->pieces, piece);
}

static uint32_t own_event(const struct trace *trace, const struct evlist *evlist)
{
	for (size_t i = 0; i < evlist->events.count; i++)
		if (evlist->events.items[i].attr.type == trace->info.pmu_type)
			return (uint32_t)i;
	return UINT32_MAX;
}

/* The code of a module around an offset, or that which begins there. */
static struct module_code *known_code(const struct trace_queue *queue, uint32_t last, uint64_t offset, const struct trace_code *code)
{
	for (uint32_t i = last; i != IDMAP_NONE; i = queue->codes.items[i]->before) {
		struct module_code *known = queue->codes.items[i];
		if (code ? known->offset == code->offset && known->code.bytes == code->bytes.data
			 : offset >= known->offset && (!known->code.bytes || offset - known->offset < known->code.size))
			return known;
	}
	return NULL;
}

static struct module_code *code_of(struct trace_queue *queue, const struct map *map, uint64_t offset)
{
	uint32_t last = idmap_get(&queue->code_of, map->module);
	struct module_code *known = known_code(queue, last, offset, NULL);
	if (known)
		return known;
	struct trace_code code = { 0 };
	const struct module *module = modules_get(&queue->model->modules, map->module);
	bool found = queue->trace->options.code(queue->trace->options.context, module, offset, &code);
	/* a mapping may be larger than its file: then the file's code does not have the offset */
	if (found && (known = known_code(queue, last, offset, &code)))
		return known;
	struct module_code *added = memory_zero(1, sizeof *added);
	added->before = last;
	added->code.blocks_max = (uint32_t)(BLOCKS_MAX / queue->trace->queues.count);
	added->code.blocks_total = &queue->blocks;
	if (found) {
		added->offset = code.offset;
		added->code.bytes = code.bytes.data;
		added->code.size = code.bytes.len;
	}
	idmap_set(&queue->code_of, map->module, (uint32_t)queue->codes.count);
	vec_push(&queue->codes, added);
	return added;
}

/* Only where the decoder looks for its next block: it refers to none then. */
static void limit_blocks(struct trace_queue *queue)
{
	if (queue->blocks < BLOCKS_MAX / queue->trace->queues.count)
		return;
	for (size_t i = 0; i < queue->codes.count; i++)
		pt_code_drop(&queue->codes.items[i]->code);
}

static bool locate(void *context, uint64_t ip, struct pt_range *range)
{
	struct trace_queue *queue = context;
	const struct map *map = map_find(ip >> 63 ? queue->kernel_root : queue->user_root, ip);
	if (!map)
		return false;
	limit_blocks(queue);
	uint64_t offset = map_offset(map, ip);
	struct module_code *code = code_of(queue, map, offset);
	*range = (struct pt_range){ .start = map->start, .end = map->end, .base = ip - (offset - code->offset),
		.code = code->code.bytes ? &code->code : NULL };
	if (code->code.bytes && range->end - range->base > code->code.size)
		range->end = range->base + code->code.size;
	if (range->base > range->start && range->base <= ip)
		range->start = range->base;
	return true;
}

bool trace_lacks_code(struct trace_queue *queue, uint64_t ip)
{
	const struct map *map = map_find(ip >> 63 ? queue->kernel_root : queue->user_root, ip);
	if (!map)
		return false;
	if (idmap_get(&queue->trace->missed, map->module) != IDMAP_NONE)
		return true;
	if (!code_of(queue, map, map_offset(map, ip))->code.bytes)
		idmap_set(&queue->trace->missed, map->module, 1);
	return false;
}

static void configure(struct trace *trace, uint64_t config)
{
	pt_info_clock(&trace->info, config, &trace->config.clock);
	trace->config.return_compression = !(config & trace->info.noretcomp_bit);
	trace->config.locate = locate;
	trace->timeless = !trace->info.tsc_bit || !(config & trace->info.tsc_bit) || !trace->info.time.known ||
		trace->options.itrace.timeless;
}

/* The description precedes the pieces, and is among the first records. */
static bool read_trace(struct trace *trace)
{
	enum { FIRST_RECORDS = 64 };
	struct record record;
	bool described = false;
	for (size_t i = 0; source_next(trace->source, &record, NULL) > 0; i++) {
		if (!described && i == FIRST_RECORDS)
			return false;
		if (record.type == RECORD_AUXTRACE_INFO)
			described = pt_info_read(&trace->info, &record);
		else if (record.type == RECORD_AUXTRACE && described)
			add_piece(trace, &record);
		source_release(trace->source, source_mark(trace->source));
	}
	return described && own_event(trace, &trace->source->header.evlist) != UINT32_MAX;
}

/* The recording of a recorder that was killed has no features. The number of a PMU that traces is not a fixed one. */
static bool may_have_trace(const struct header *header)
{
	bool may = header_has(header, FEATURE_AUXTRACE);
	for (size_t i = 0; i < header->evlist.events.count && !may; i++)
		may = header->evlist.events.items[i].attr.type > ATTR_BREAKPOINT;
	return may;
}

struct trace *trace_open(struct source *source, const struct trace_options *options)
{
	if (source->header.pipe || !may_have_trace(&source->header))
		return NULL;
	struct trace *trace = memory_zero(1, sizeof *trace);
	trace->options = *options;
	const struct source_options plain = { .force = true }; /* the owner was checked when it was opened first */
	if (source_open(&trace->source, source->path, &plain, NULL) < 0) {
		free(trace);
		return NULL;
	}
	if (!read_trace(trace)) {
		trace_free(trace);
		return NULL;
	}
	uint32_t own = own_event(trace, &source->header.evlist);
	configure(trace, source->header.evlist.events.items[own].attr.config);
	trace_add_events(trace, &source->header.evlist, own);
	return trace;
}

static void queue_free(struct trace_queue *queue)
{
	for (size_t i = 0; i < queue->codes.count; i++) {
		pt_code_fini(&queue->codes.items[i]->code);
		free(queue->codes.items[i]);
	}
	vec_fini(&queue->codes);
	idmap_fini(&queue->code_of);
	vec_fini(&queue->pieces);
	free(queue->decoder);
	free(queue);
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->queues.count; i++)
		queue_free(trace->queues.items[i]);
	vec_fini(&trace->queues);
	idmap_fini(&trace->queue_of);
	trace_stacks_fini(&trace->stacks);
	vec_fini(&trace->running);
	idmap_fini(&trace->missed);
	arena_fini(&trace->bytes);
	source_close(trace->source);
	free(trace);
}

static void set_running(struct trace *trace, uint32_t cpu, int32_t pid, int32_t tid)
{
	if (cpu >= CPUS_MAX)
		return;
	while (trace->running.count <= cpu)
		vec_push(&trace->running, ((struct running){ -1, -1 }));
	trace->running.items[cpu] = (struct running){ pid, tid };
}

void trace_note_record(struct trace *trace, const struct record *record, const struct sample *trailer)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	bool out = record->misc & RECORD_MISC_SWITCH_OUT;
	switch (record->type) {
	case RECORD_ITRACE_START: {
		int32_t pid = (int32_t)take_u32(&c), tid = (int32_t)take_u32(&c);
		set_running(trace, trailer->cpu, pid, tid);
		break;
	}
	case RECORD_SWITCH:
		if (!out)
			set_running(trace, trailer->cpu, (int32_t)trailer->pid, (int32_t)trailer->tid);
		break;
	case RECORD_SWITCH_CPU_WIDE: {
		int32_t pid = (int32_t)take_u32(&c), tid = (int32_t)take_u32(&c);
		if (trace->info.have_switches != 3 && !out)
			set_running(trace, trailer->cpu, (int32_t)trailer->pid, (int32_t)trailer->tid);
		else if (trace->info.have_switches == 3 && out)
			set_running(trace, trailer->cpu, pid, tid);
		break;
	}
	default:
		break;
	}
}

/* The thread and its address spaces of now. */
static void refresh_queue(struct trace_queue *queue, const struct model *model, uint64_t clock)
{
	struct trace *trace = queue->trace;
	int32_t tid = queue->own_tid, pid = -1;
	if ((tid == -1 || trace->info.have_switches) && queue->cpu >= 0 && (size_t)queue->cpu < trace->running.count) {
		tid = trace->running.items[queue->cpu].tid;
		pid = trace->running.items[queue->cpu].pid;
	}
	if (tid == queue->tid && queue->model == model && queue->model_changes == model->changes)
		return;
	uint32_t thread = tid == -1 ? THREAD_NONE : model_thread(model, tid, clock);
	if (thread == THREAD_NONE && tid != -1 && tid == queue->tid && queue->user_root)
		return; /* it has ended; the rest of its trace was written before */
	if (pid == -1 && thread != THREAD_NONE)
		pid = model->threads.items[thread]->pid;
	queue->model = model;
	queue->model_changes = model->changes;
	queue->stack = tid == queue->tid ? queue->stack : NULL;
	queue->tid = tid;
	queue->pid = pid;
	queue->user_root = model_root(model, pid, thread, clock);
	queue->kernel_root = model_kernel_root(model, clock);
	pt_decoder_forget(queue->decoder);
}

uint64_t trace_period(const struct trace *trace)
{
	return trace->options.itrace.period ? trace->options.itrace.period : 1;
}

static void begin_queue(struct trace_queue *queue)
{
	struct trace *trace = queue->trace;
	struct pt_config config = trace->config;
	config.context = queue;
	queue->decoder = memory_alloc(sizeof *queue->decoder);
	pt_decoder_init(queue->decoder, &config, queue->pieces.items, queue->pieces.count);
	const struct itrace *itrace = &trace->options.itrace;
	queue->decoder->errors_only = !itrace->branches && !itrace->call_chain; /* call_depth is of branches */
	if (!itrace->instructions && !itrace->cycles)
		return;
	uint64_t period = itrace->unit == ITRACE_NANOSECONDS && trace->info.time.known ?
		pt_info_duration(&trace->info, itrace->period) : itrace->period;
	if (itrace->unit == ITRACE_INSTRUCTIONS || !period)
		queue->decoder->stop_at = trace_period(trace);
	else
		queue->decoder->tick_period = period;
}

static bool returns_to_user(const struct pt_event *event)
{
	return (event->from >> 63 || !event->from) && event->to && !(event->to >> 63);
}

static uint64_t estimate(const struct pt_decoder *decoder)
{
	uint64_t ticks = (decoder->instructions - decoder->instructions_at_time) * 2;
	if (decoder->clock.bus_ratio && decoder->clock.config.non_turbo_ratio)
		ticks = ticks * decoder->clock.config.non_turbo_ratio / decoder->clock.bus_ratio;
	return decoder->time + ticks;
}

/* Reads the queue's next event; events without a time are skipped, as their position among the records is unknown. */
static void queue_next(struct trace_queue *queue)
{
	queue->has_event = false;
	queue->last_ticks = queue->ticks;
	while (pt_decoder_next(queue->decoder, &queue->event) > 0) {
		uint64_t ticks = queue->decoder->time;
		if (!ticks && !queue->trace->timeless)
			continue;
		/* perf's estimate where the kernel returns: two ticks an instruction since the last timed packet */
		if (queue->event.kind == PT_EVENT_BRANCH && returns_to_user(&queue->event))
			ticks = estimate(queue->decoder);
		if (ticks > queue->ticks)
			queue->ticks = ticks;
		queue->has_event = true;
		return;
	}
	queue->ended = true;
}

/* The queue with the oldest event below the limit, and how far it may run. */
static struct trace_queue *oldest(struct trace *trace, uint64_t *limit)
{
	struct trace_queue *first = NULL;
	uint64_t second = *limit;
	for (size_t i = 0; i < trace->queues.count; i++) {
		struct trace_queue *queue = trace->queues.items[i];
		if (!queue->has_event)
			continue;
		if (!first || queue->ticks < first->ticks) {
			if (first && first->ticks < second)
				second = first->ticks;
			first = queue;
		} else if (queue->ticks < second) {
			second = queue->ticks;
		}
	}
	trace->soonest = first ? first->ticks : UINT64_MAX;
	if (trace->soonest >= *limit)
		return NULL;
	*limit = second;
	return first;
}

bool trace_advance(struct trace *trace, const struct model *model, uint64_t until, uint64_t clock, size_t full, struct entries *batch)
{
	uint64_t end = until == UINT64_MAX || trace->timeless ? until : pt_info_ticks(&trace->info, until);
	if (trace->timeless && until != UINT64_MAX)
		return false;
	if (trace->begun && end <= trace->soonest)
		return false;
	for (size_t i = 0; i < trace->queues.count && !trace->begun; i++) {
		struct trace_queue *queue = trace->queues.items[i];
		begin_queue(queue);
		refresh_queue(queue, model, clock);
		queue_next(queue);
	}
	trace->begun = true;
	for (;;) {
		uint64_t limit = end;
		struct trace_queue *queue = oldest(trace, &limit);
		if (!queue)
			return false;
		refresh_queue(queue, model, clock);
		do {
			if (batch->count >= full || trace->bytes.bytes >= BATCH_BYTES)
				return true;
			trace_sample(trace, queue, batch);
			queue_next(queue);
		} while (queue->has_event && queue->ticks < limit);
	}
}

void trace_release(struct trace *trace)
{
	arena_clear(&trace->bytes);
}

const struct trace_note *trace_note_of(const struct resolved *r)
{
	if (!r->evsel || !r->evsel->decoded || r->record->type != RECORD_SAMPLE)
		return NULL;
	return (const struct trace_note *)(const void *)(r->record->body + r->record->body_len);
}
