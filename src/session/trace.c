#include "session/trace.h"

#include <stdlib.h>

#include "base/pool.h"
#include "data/source.h"
#include "decode/intel_bts/bts.h"
#include "model/module.h"
#include "session/resolved.h"
#include "session/trace_internal.h"

enum {
	AUX_TRUNCATED = 1,       /* flag of AUX: bytes are lost behind it */
	CPUS_MAX = 1 << 16,
	QUEUES_MAX = 1 << 13,    /* as many as the kernel supports CPUs; each has a decoder */
	BLOCKS_MAX = 1 << 24,    /* of decoded code, in all queues together */
	DROP_BYTES = 2 << 20,    /* of a trace, between two releases of its memory … */
	DROP_AGAIN = 256 << 10,  /* … and so many before: segments read what precedes them, and the kernel maps what surrounds it */
	GAPS_MAX = 256,          /* modules whose gaps are counted */
	PERIOD_TICKS_MIN = 1 << 14, /* between samples of a trace that is decoded in segments */
	BATCH_BYTES = 8 << 20,   /* of samples, which may have long call chains */
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
	queue->lane.trace = trace;
	queue->lane.queue = queue;
	queue->pid = queue->tid = -1;
	queue->index = index;
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
	if (trace->options.log)
		trace->options.log(trace->options.log_context, record, (struct span){ bytes, (size_t)size }, trace->bts);
	struct trace_queue *queue = queue_of(trace, index);
	if (!queue)
		return;
	queue->cpu = cpu;
	queue->own_tid = tid;
	struct pt_piece piece = { .bytes = { bytes, (size_t)size }, .near = reference, .follows = queue->pieces.count > 0 };
	if (queue->pieces.count && trace->info.snapshot) {
		size_t old = trace->bts ? bts_overlap(queue->whole, piece.bytes) : pt_overlap(queue->whole, piece.bytes, &piece.follows);
		queue->whole = piece.bytes;
		piece.bytes.data += old;
		piece.bytes.len -= old;
		piece.repeated = old;
	} else {
		queue->whole = piece.bytes;
	}
	if (piece.bytes.len)
		vec_push(&queue->pieces, piece);
	if (size >= DROP_BYTES)
		source_drop_payload(trace->source, bytes, size); /* the kernel maps what surrounds the record */
}

/* The event whose trace it is: several may have the PMU, each with its terms. */
static uint32_t own_event(const struct trace *trace, const struct evlist *evlist)
{
	if (trace->traced)
		return trace->traced - 1;
	for (size_t i = 0; i < evlist->events.count; i++)
		if (evlist->events.items[i].attr.type == trace->info.pmu_type)
			return (uint32_t)i;
	return UINT32_MAX;
}

/* The code of a module around an offset, or that which begins there. */
static struct module_code *known_code(const struct trace_lane *lane, uint32_t last, uint64_t offset, const struct trace_code *code)
{
	for (uint32_t i = last; i != IDMAP_NONE; i = lane->codes.items[i]->before) {
		struct module_code *known = lane->codes.items[i];
		if (code ? known->offset == code->offset && known->code.bytes == code->bytes.data
			 : offset >= known->offset && (!known->code.bytes || offset - known->offset < known->code.size))
			return known;
	}
	return NULL;
}

/* Whose code is limited together. */
static size_t lane_count(const struct trace *trace)
{
	return trace->queues.count + trace_workers(trace);
}

static struct module_code *code_of(struct trace_lane *lane, const struct map *map, uint64_t offset)
{
	uint32_t last = idmap_get(&lane->code_of, map->module);
	struct module_code *known = known_code(lane, last, offset, NULL);
	if (known)
		return known;
	struct trace_code code = { 0 };
	const struct module *module = modules_get(&lane->model->modules, map->module);
	bool found = lane->trace->options.code(lane->trace->options.context, module, offset, &code);
	/* a mapping may be larger than its file: then the file's code does not have the offset */
	if (found && (known = known_code(lane, last, offset, &code)))
		return known;
	struct module_code *added = memory_zero(1, sizeof *added);
	added->before = last;
	added->code.blocks_max = (uint32_t)(BLOCKS_MAX / lane_count(lane->trace));
	added->code.blocks_total = &lane->blocks;
	if (found) {
		added->offset = code.offset;
		added->code.bytes = code.bytes.data;
		added->code.size = code.bytes.len;
	}
	idmap_set(&lane->code_of, map->module, (uint32_t)lane->codes.count);
	vec_push(&lane->codes, added);
	return added;
}

/* Only where the decoder looks for its next block: it refers to none then. */
static void limit_blocks(struct trace_lane *lane)
{
	if (lane->blocks < BLOCKS_MAX / lane_count(lane->trace))
		return;
	for (size_t i = 0; i < lane->codes.count; i++)
		pt_code_drop(&lane->codes.items[i]->code);
}

/* The mapping of code; NULL: none is known. */
static const struct map *map_of_code(const struct trace_lane *lane, bool guest, uint64_t ip)
{
	if (guest)
		return map_find(ip >> 63 ? lane->guest_kernel_root : lane->guest_user_root, ip);
	return map_find(ip >> 63 ? lane->kernel_root : lane->user_root, ip);
}

bool trace_locate(void *context, uint64_t ip, struct pt_range *range)
{
	struct trace_lane *lane = context;
	return trace_locate_in(lane, lane->decoder->non_root, ip, range);
}

bool trace_locate_in(struct trace_lane *lane, bool guest, uint64_t ip, struct pt_range *range)
{
	const struct map *map = map_of_code(lane, guest, ip);
	if (!map)
		return false;
	limit_blocks(lane);
	uint64_t offset = map_offset(map, ip);
	struct module_code *code = code_of(lane, map, offset);
	*range = (struct pt_range){ .start = map->start, .end = map->end, .base = ip - (offset - code->offset),
		.code = code->code.bytes ? &code->code : NULL };
	if (code->code.bytes && range->end - range->base > code->code.size)
		range->end = range->base + code->code.size;
	if (range->base > range->start && range->base <= ip)
		range->start = range->base;
	return true;
}

bool trace_lacks_code(struct trace_queue *queue, const struct pt_event *event)
{
	uint64_t ip = event->from;
	const struct map *map = map_of_code(&queue->lane, event->guest, ip);
	if (!map)
		return false;
	if (idmap_get(&queue->trace->missed, map->module) != IDMAP_NONE)
		return true;
	if (!code_of(&queue->lane, map, map_offset(map, ip))->code.bytes)
		idmap_set(&queue->trace->missed, map->module, 1);
	return false;
}

static struct trace_gaps *gaps_of(struct trace_queue *queue, const struct pt_event *event)
{
	struct trace *trace = queue->trace;
	uint64_t ip = event->from;
	const struct map *map = map_of_code(&queue->lane, event->guest, ip);
	uint32_t module = map ? map->module : MODULE_ID_NONE;
	for (size_t i = 0; i < trace->gaps.count; i++)
		if (trace->gaps.items[i].module == module)
			return &trace->gaps.items[i];
	if (trace->gaps.count == GAPS_MAX)
		return NULL;
	struct trace_gaps *gaps = vec_add(&trace->gaps);
	*gaps = (struct trace_gaps){ .module = module, .first = ip };
	return gaps;
}

void trace_count_error(struct trace_queue *queue, const struct pt_event *event)
{
	struct trace_losses *losses = &queue->trace->losses;
	bool missing = event->error == PT_ERROR_NO_CODE || event->lacks_call, mismatch = event->error == PT_ERROR_MISMATCH && !missing;
	losses->missing += missing;
	losses->mismatches += mismatch;
	losses->bad_packets += event->error == PT_ERROR_BAD_PACKET;
	losses->overflows += event->error == PT_ERROR_OVERFLOW;
	losses->loops += event->error == PT_ERROR_LOOP;
	if (event->lacks_call)
		return; /* the gap before it goes on */
	struct trace_gaps *gaps = missing || mismatch ? gaps_of(queue, event) : NULL;
	queue->gap = gaps ? (size_t)(gaps - queue->trace->gaps.items) + 1 : 0;
	if (!gaps)
		return;
	gaps->missing += missing;
	gaps->mismatches += mismatch;
	gaps->first = event->from < gaps->first ? event->from : gaps->first;
	gaps->last = event->from > gaps->last ? event->from : gaps->last;
}

void trace_count_lost(struct trace_queue *queue, uint64_t instructions)
{
	queue->trace->losses.instructions += instructions;
	if (queue->gap)
		queue->trace->gaps.items[queue->gap - 1].instructions += instructions;
}

struct trace_losses trace_losses(const struct trace *trace)
{
	struct trace_losses losses = trace->losses;
	losses.gaps = trace->gaps.items;
	losses.gap_count = trace->gaps.count;
	losses.cut_stacks = trace->stacks.cut;
	return losses;
}

static void configure(struct trace *trace, uint64_t config)
{
	pt_info_clock(&trace->info, config, &trace->config.clock);
	trace->has_mtc = config & trace->info.mtc_bit;
	trace->config.return_compression = !(config & trace->info.noretcomp_bit);
	trace->config.interrupts = trace->info.event_trace;
	trace->config.locate = trace_locate;
	trace->config.quick = trace->options.itrace.quick;
	trace->config.paging = trace->options.itrace.paging;
	const struct itrace *itrace = &trace->options.itrace;
	trace->stacks.branches_max = (itrace->last_branch || itrace->add_last_branch) && !trace->bts ? itrace->last_branch_size : 0;
	trace->stacks_wanted = itrace->call_chain || itrace->add_call_chain || itrace->call_depth || trace->stacks.branches_max;
	if (trace->bts) {
		trace->options.itrace.branches |= trace->options.itrace.by_default;
		trace->timeless = !trace->info.time.known;
		return;
	}
	trace->timeless = !trace->info.tsc_bit || !(config & trace->info.tsc_bit) || !trace->info.time.known ||
		trace->options.itrace.timeless;
}

/* The first record of the kernel about the trace names its event. */
static void note_event(struct trace *trace, const struct record *record)
{
	const struct evlist *evlist = &trace->source->header.evlist;
	uint32_t event = evlist_event_of(evlist, record);
	if (!trace->traced && event != UINT32_MAX && evlist->events.items[event].attr.type == trace->info.pmu_type)
		trace->traced = event + 1;
}

/* Nothing of a trace is older than its start. */
static void note_start(struct trace *trace, const struct record *record)
{
	const struct evlist *evlist = &trace->source->header.evlist;
	uint32_t event = evlist_event_of(evlist, record);
	struct sample trailer;
	if (event == UINT32_MAX)
		return;
	sample_decode_trailer(&trailer, &evlist->events.items[event].layout, record);
	if (trailer.present & SAMPLE_TIME && (!trace->start_ns || trailer.time < trace->start_ns))
		trace->start_ns = trailer.time;
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
			described = pt_info_read(&trace->info, &record) || (trace->bts = bts_info_read(&trace->info, &record));
		else if (record.type == RECORD_AUXTRACE && described)
			add_piece(trace, &record);
		else if (record.type == RECORD_ITRACE_START)
			note_start(trace, &record);
		if (described && (record.type == RECORD_ITRACE_START || record.type == RECORD_AUX))
			note_event(trace, &record);
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

struct trace *trace_open(struct source *source, const struct trace_options *options, struct pool *pool)
{
	if (source->header.pipe || !may_have_trace(&source->header))
		return NULL;
	struct trace *trace = memory_zero(1, sizeof *trace);
	trace->options = *options;
	trace->pool = pool;
	const struct source_options plain = { .force = true, .same = source }; /* the owner was checked when it was opened first */
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
	trace->kernel_traced = !(source->header.evlist.events.items[own].attr.flags & 1ull << ATTR_EXCLUDE_KERNEL);
	trace_add_events(trace, &source->header.evlist, own);
	trace_add_begin(trace, &source->header.evlist);
	trace_pebs_begin(trace, &source->header.evlist);
	return trace;
}

void trace_lane_fini(struct trace_lane *lane)
{
	for (size_t i = 0; i < lane->codes.count; i++) {
		pt_code_fini(&lane->codes.items[i]->code);
		free(lane->codes.items[i]);
	}
	vec_fini(&lane->codes);
	idmap_fini(&lane->code_of);
}

static void queue_free(struct trace_queue *queue)
{
	trace_segments_free(queue);
	trace_lane_fini(&queue->lane);
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
	for (unsigned i = 0; trace->lanes && i < trace_workers(trace); i++)
		trace_lane_fini(&trace->lanes[i]);
	free(trace->lanes);
	vec_fini(&trace->queues);
	vec_fini(&trace->heap.items);
	idmap_fini(&trace->queue_of);
	trace_stacks_fini(&trace->stacks);
	vec_fini(&trace->running);
	idmap_fini(&trace->missed);
	vec_fini(&trace->gaps);
	vec_fini(&trace->recorded);
	vec_fini(&trace->pebs);
	arena_fini(&trace->bytes);
	arena_fini(&trace->handed);
	source_close(trace->source);
	free(trace);
}

void trace_set_running(struct trace *trace, int32_t cpu, struct running running)
{
	if (cpu < 0 || cpu >= CPUS_MAX)
		return;
	while (trace->running.count <= (size_t)cpu)
		vec_push(&trace->running, ((struct running){ -1, -1 }));
	trace->running.items[cpu] = running;
}

void trace_note_record(struct trace *trace, const struct record *record, const struct sample *trailer, struct entries *batch)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	bool out = record->misc & RECORD_MISC_SWITCH_OUT;
	int32_t cpu = (int32_t)trailer->cpu;
	struct running own = { (int32_t)trailer->pid, (int32_t)trailer->tid }, of_record;
	switch (record->type) {
	case RECORD_AUX:
		take(&c, 16); /* offset, size */
		if (take_u64(&c) & AUX_TRUNCATED)
			trace_lost(trace, trailer, batch);
		break;
	case RECORD_AUX_OUTPUT_HW_ID:
		trace_pebs_counter(trace, trailer, take_u64(&c));
		break;
	case RECORD_COMM:
		if (record->misc & RECORD_MISC_COMM_EXEC) {
			of_record.pid = (int32_t)take_u32(&c);
			trace_stacks_exec(&trace->stacks, (int32_t)take_u32(&c));
		}
		break;
	case RECORD_ITRACE_START:
		of_record.pid = (int32_t)take_u32(&c);
		of_record.tid = (int32_t)take_u32(&c);
		trace_set_running(trace, cpu, of_record);
		break;
	case RECORD_SWITCH:
		if (!out)
			trace_set_running(trace, cpu, own);
		break;
	case RECORD_SWITCH_CPU_WIDE:
		of_record.pid = (int32_t)take_u32(&c);
		of_record.tid = (int32_t)take_u32(&c);
		if (trace->info.have_switches != 3 && !out)
			trace_set_running(trace, cpu, own);
		else if (trace->info.have_switches == 3 && out)
			trace_switch_out(trace, cpu, of_record, pt_info_ticks(&trace->info, trailer->time));
		else if (trace->info.have_switches == 3)
			trace_switch_in(trace, cpu, own);
		break;
	default:
		break;
	}
}

void trace_set_window(struct trace *trace, uint64_t from, uint64_t until)
{
	if (trace->timeless)
		return;
	trace->from = from ? pt_info_ticks(&trace->info, from) : 0;
	trace->until = until ? pt_info_ticks(&trace->info, until + 1) : 0;
}

static bool returns_to_user(const struct pt_event *event)
{
	return (event->from >> 63 || !event->from) && event->to && !(event->to >> 63);
}

static uint64_t estimate(const struct trace_queue *queue)
{
	const struct pt_moment *moment = &queue->moment;
	uint32_t nominal = queue->trace->config.clock.non_turbo_ratio;
	uint64_t ticks = (queue->instructions - moment->instructions_at_time) * 2;
	if (moment->bus_ratio && nominal)
		ticks = ticks * nominal / moment->bus_ratio;
	return moment->time + ticks;
}

/* Sets the ticks of the queue's event. As in perf, what precedes the first event with a time is skipped: its position among the records is
 * unknown. False: the event is skipped. */
static bool take_time(struct trace_queue *queue)
{
	uint64_t ticks = queue->moment.time;
	queue->has_event = false;
	if (!queue->trace->timeless && !queue->begun && (!ticks || queue->event.kind == PT_EVENT_ERROR))
		return false;
	queue->begun = true;
	if (queue->trace->timeless) { /* one queue after the other, as in perf */
		queue->ticks = queue->index;
		queue->has_event = true;
		return true;
	}
	/* perf's estimate where the kernel returns: two ticks an instruction since the last timed packet */
	if (queue->event.kind == PT_EVENT_BRANCH && (returns_to_user(&queue->event) ||
		(queue->switches && trace_switch_is_blind(queue, trace_branch_flags(&queue->event)))))
		queue->ticks = estimate(queue);
	else if (ticks > queue->ticks)
		queue->ticks = ticks;
	queue->has_event = !queue->trace->until || queue->ticks <= queue->trace->until;
	return true;
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
	if (tid == queue->tid && queue->lane.model == model && queue->model_changes == model->changes)
		return;
	uint32_t thread = tid == -1 ? THREAD_NONE : model_thread(model, tid, clock);
	if (thread == THREAD_NONE && tid != -1 && tid == queue->tid && queue->lane.user_root)
		return; /* it has ended; the rest of its trace was written before */
	if (pid == -1 && thread != THREAD_NONE)
		pid = model->threads.items[thread]->pid;
	const struct map_node *user = model_root(model, pid, thread, clock), *kernel = model_kernel_root(model, clock);
	const struct map_node *guest_user = model->guests == GUESTS_CODE ? model_root(model, pid, THREAD_NONE, clock) : NULL;
	const struct map_node *guest_kernel = model_guest_root(model, pid, clock);
	const struct trace_lane *lane = &queue->lane;
	bool same = user == lane->user_root && kernel == lane->kernel_root && guest_user == lane->guest_user_root &&
		guest_kernel == lane->guest_kernel_root;
	if (!same && trace_segments_drop(queue))
		take_time(queue);
	queue->lane.model = model;
	queue->model_changes = model->changes;
	queue->stack = tid == queue->tid ? queue->stack : NULL;
	queue->tid = tid;
	queue->pid = pid;
	queue->lane.user_root = user;
	queue->lane.kernel_root = kernel;
	queue->lane.guest_user_root = guest_user;
	queue->lane.guest_kernel_root = guest_kernel;
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
	config.context = &queue->lane;
	queue->decoder = memory_alloc(sizeof *queue->decoder);
	pt_decoder_init(queue->decoder, &config, queue->pieces.items, queue->pieces.count);
	if (trace->from && !trace->bts)
		pt_decoder_seek(queue->decoder, trace->from);
	queue->dropped = queue->decoder->place;
	queue->lane.decoder = queue->decoder;
	const struct itrace *itrace = &trace->options.itrace;
	bool few = itrace->calls || itrace->returns; /* samples of jumps are not wanted */
	bool jumps = (itrace->branches && !few) || trace->stacks.branches_max || trace->events[TRACE_SAMPLE_IFLAG].on || queue->switches;
	queue->decoder->errors_only = !itrace->branches && !jumps && !trace->stacks_wanted;
	queue->decoder->calls_only = !jumps && (itrace->branches || trace->stacks_wanted);
	queue->decoder->config.call = itrace->branches ? NULL : trace_note_call;
	trace->cuts &= !(itrace->branches || jumps) || trace_workers(trace) > 2; /* storing each branch costs more than two workers save */
	if (!itrace->instructions && !itrace->cycles)
		return;
	uint64_t period = itrace->unit == ITRACE_NANOSECONDS && trace->info.time.known ?
		pt_info_duration(&trace->info, itrace->period) : itrace->period;
	if (itrace->unit == ITRACE_INSTRUCTIONS || !period)
		queue->decoder->stop_at = queue->decoder->stop_every = trace_period(trace);
	else
		queue->decoder->tick_period = period;
	/* instructions in a number are counted from the first one on, and short slots of time depend on much of the trace; to store each
	 * instruction costs as much as to store each branch */
	trace->cuts &= queue->decoder->tick_period ? queue->decoder->tick_period >= PERIOD_TICKS_MIN && trace_workers(trace) > 1 :
		trace_period(trace) == 1 && trace_workers(trace) > 2;
}

/* The place `bytes` before another one, in any piece; as far as the trace has them. */
static struct pt_place place_before(const struct trace_queue *queue, struct pt_place place, size_t bytes)
{
	while (place.at < bytes && place.piece) {
		bytes -= place.at;
		place.at = queue->pieces.items[--place.piece].bytes.len;
	}
	place.at -= place.at < bytes ? place.at : bytes;
	return place;
}

/* Frees the memory of the part of a long trace that is decoded. */
static void drop_decoded(struct trace_queue *queue)
{
	const struct pt_place *place = &queue->decoder->place;
	if (place->position - queue->dropped.position < DROP_BYTES)
		return;
	struct pt_place from = place_before(queue, queue->dropped, DROP_AGAIN);
	for (; from.piece <= place->piece && from.piece < queue->pieces.count; from.piece++, from.at = 0) {
		struct span bytes = queue->pieces.items[from.piece].bytes;
		size_t end = from.piece == place->piece ? place->at : bytes.len;
		if (end > from.at)
			source_drop_payload(queue->trace->source, bytes.data + from.at, end - from.at);
	}
	queue->dropped = *place;
}

/* Reads the queue's next event; `pause` is the time at which it stops at the latest. */
static void queue_next(struct trace_queue *queue, uint64_t pause)
{
	const struct trace *trace = queue->trace;
	drop_decoded(queue);
	if (trace->bts) {
		queue->has_event = trace_bts_next(queue);
		return;
	}
	queue->has_event = false;
	while (trace_segments_next(queue, trace->timeless ? UINT64_MAX : pause))
		if (take_time(queue))
			return;
	trace_count_lost(queue, queue->decoder->lost);
	queue->decoder->lost = 0;
}

static void begin_queues(struct trace *trace, const struct model *model, uint64_t clock)
{
	trace_switches_begin(trace, model, clock);
	/* the data of interrupts and blocks is read from the decoder */
	trace->cuts = !trace->bts && !trace->config.quick && !trace->config.interrupts && !trace->pebs.count;
	for (size_t i = 0; i < trace->queues.count; i++) {
		struct trace_queue *queue = trace->queues.items[i];
		begin_queue(queue);
		refresh_queue(queue, model, clock);
		queue_next(queue, 0);
		if (queue->has_event)
			trace_heap_add(&trace->heap, queue);
	}
	trace->begun = true;
}

/* Selects the queue with the oldest event below `end`, and how far it may run: until its events are newer than those of the next queue. */
static bool select_queue(struct trace *trace, uint64_t end)
{
	if (!trace->heap.items.count || trace->heap.items.items[0]->ticks >= end)
		return false;
	trace->current = trace_heap_take(&trace->heap);
	trace->current_limit = end;
	if (trace->heap.items.count && trace->heap.items.items[0]->ticks < end)
		trace->current_limit = trace->heap.items.items[0]->ticks + 1;
	return true;
}

/* After the queue's event was delivered. True: the queue waits for the record of a switch. */
static bool follow_switches(struct trace_queue *queue, const struct model *model, uint64_t clock)
{
	const struct pt_event *event = &queue->event;
	bool waits = false;
	if (!queue->switches)
		return false;
	if (event->kind == PT_EVENT_ERROR && event->from >> 63)
		trace_switch_lost(queue);
	else if (event->kind == PT_EVENT_BRANCH)
		waits = trace_switch_branch(queue, trace_branch_flags(event));
	refresh_queue(queue, model, clock);
	return waits;
}

bool trace_advance(struct trace *trace, const struct model *model, uint64_t until, uint64_t clock, size_t full, struct entries *batch)
{
	uint64_t end = until == UINT64_MAX || trace->timeless ? until : pt_info_ticks(&trace->info, until);
	if (trace->bytes.bytes >= BATCH_BYTES)
		return true;
	if (trace->timeless && until != UINT64_MAX)
		return false;
	if (!trace->begun)
		begin_queues(trace, model, clock);
	if (until == UINT64_MAX)
		trace_switches_end(trace);
	end += trace->bts && end != UINT64_MAX; /* perf has BTS up to the time itself */
	while (trace->current || select_queue(trace, end)) {
		struct trace_queue *queue = trace->current;
		refresh_queue(queue, model, clock);
		do {
			if (batch->count >= full || trace->bytes.bytes >= BATCH_BYTES)
				return true;
			if (queue->has_event && queue->ticks >= trace->current_limit)
				break; /* it was decoded again, as mappings have changed */
			if (queue->has_event && trace->bts)
				trace_bts_decode(queue);
			if (queue->has_event && !queue->paused)
				trace_sample(trace, queue, batch);
			queue->waits = queue->has_event && !queue->paused && follow_switches(queue, model, clock);
			if (!queue->waits)
				queue_next(queue, trace->current_limit);
		} while (!queue->waits && queue->has_event && queue->ticks < trace->current_limit);
		trace->current = NULL;
		if (queue->waits)
			queue->has_event = false; /* it was delivered */
		else if (queue->has_event)
			trace_heap_add(&trace->heap, queue);
	}
	return false;
}

void trace_hand_over(struct trace *trace)
{
	struct arena unused = trace->handed;
	trace->handed = trace->bytes;
	trace->bytes = unused;
}

void trace_release(struct trace *trace)
{
	arena_clear(&trace->handed);
}

void trace_before_pool(struct trace *trace, void (*run)(void *context), void *context)
{
	trace->before_pool = run;
	trace->before_context = context;
}

const struct trace_note *trace_note_of(const struct resolved *r)
{
	if (!r->evsel || !r->evsel->decoded || r->record->type != RECORD_SAMPLE)
		return NULL;
	return (const struct trace_note *)(const void *)(r->record->body + r->record->body_len);
}
