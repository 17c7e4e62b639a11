/* Events of a trace → records of samples. Names, attributes and ids of their events are those that perf 6.12 makes. */
#include <string.h>

#include "abi/time_conv.h"
#include "data/evlist.h"
#include "session/trace_internal.h"

#define TYPE_SYNTHESIZED 0x80000000u
/* Of the trace's own event, what its samples inherit. */
#define INHERITED_TYPES (SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER)

enum { CONFIG_CYCLES = 0, CONFIG_INSTRUCTIONS = 1, CONFIG_BRANCHES = 4, CONFIG_POWER_EVENTS = 1 << 4, ID_DISTANCE = 1000000000 };

/* Numbers of events of TYPE_SYNTHESIZED. */
enum { SYNTHESIZED_PTWRITE, SYNTHESIZED_MWAIT, SYNTHESIZED_PWRE, SYNTHESIZED_EXSTOP, SYNTHESIZED_PWRX, SYNTHESIZED_CBR, SYNTHESIZED_PSB,
	SYNTHESIZED_EVENT };

struct event_row {
	const char *name;
	uint32_t type, config;
	uint64_t adds;           /* sample types */
};

static const struct event_row rows[TRACE_SAMPLES] = {
	[TRACE_SAMPLE_BRANCH] = { "branches", ATTR_HARDWARE, CONFIG_BRANCHES, SAMPLE_PERIOD | SAMPLE_ADDR },
	[TRACE_SAMPLE_INSTRUCTION] = { "instructions", ATTR_HARDWARE, CONFIG_INSTRUCTIONS, SAMPLE_PERIOD },
	[TRACE_SAMPLE_CYCLES] = { "cycles", ATTR_HARDWARE, CONFIG_CYCLES, SAMPLE_PERIOD },
	[TRACE_SAMPLE_TRANSACTION] = { "transactions", ATTR_HARDWARE, CONFIG_INSTRUCTIONS, 0 },
	[TRACE_SAMPLE_PTWRITE] = { "ptwrite", TYPE_SYNTHESIZED, SYNTHESIZED_PTWRITE, SAMPLE_RAW },
	[TRACE_SAMPLE_CBR] = { "cbr", TYPE_SYNTHESIZED, SYNTHESIZED_CBR, SAMPLE_RAW },
	[TRACE_SAMPLE_PSB] = { "psb", TYPE_SYNTHESIZED, SYNTHESIZED_PSB, SAMPLE_RAW },
	[TRACE_SAMPLE_MWAIT] = { "mwait", TYPE_SYNTHESIZED, SYNTHESIZED_MWAIT, SAMPLE_RAW },
	[TRACE_SAMPLE_PWRE] = { "pwre", TYPE_SYNTHESIZED, SYNTHESIZED_PWRE, SAMPLE_RAW },
	[TRACE_SAMPLE_EXSTOP] = { "exstop", TYPE_SYNTHESIZED, SYNTHESIZED_EXSTOP, SAMPLE_RAW },
	[TRACE_SAMPLE_PWRX] = { "pwrx", TYPE_SYNTHESIZED, SYNTHESIZED_PWRX, SAMPLE_RAW },
	[TRACE_SAMPLE_EVENT] = { "evt", TYPE_SYNTHESIZED, SYNTHESIZED_EVENT, SAMPLE_RAW },
};

static bool row_is_on(const struct trace *trace, enum trace_sample kind, uint64_t config)
{
	const struct itrace *itrace = &trace->options.itrace;
	switch (kind) {
	case TRACE_SAMPLE_BRANCH:
		return itrace->branches;
	case TRACE_SAMPLE_INSTRUCTION:
		return itrace->instructions;
	case TRACE_SAMPLE_CYCLES:
		return itrace->cycles;
	case TRACE_SAMPLE_TRANSACTION:
		return itrace->transactions;
	case TRACE_SAMPLE_PTWRITE:
		return itrace->ptwrites;
	case TRACE_SAMPLE_CBR:
	case TRACE_SAMPLE_PSB:
		return itrace->power_events;
	case TRACE_SAMPLE_EVENT:
		return itrace->interrupt_events && config >> 31 & 1;
	default:
		return itrace->power_events && config & CONFIG_POWER_EVENTS;
	}
}

static void add_event(struct trace *trace, struct evlist *evlist, const struct attr *base, enum trace_sample kind, uint64_t id)
{
	const struct event_row *row = &rows[kind];
	struct attr attr = *base;
	attr.type = row->type;
	attr.config = row->config;
	attr.sample_type |= row->adds;
	attr.sample_period = 1;
	const struct itrace *itrace = &trace->options.itrace;
	if (itrace->call_chain && kind != TRACE_SAMPLE_BRANCH)
		attr.sample_type |= SAMPLE_CALLCHAIN;
	if (kind == TRACE_SAMPLE_INSTRUCTION || kind == TRACE_SAMPLE_CYCLES)
		attr.sample_period = itrace->unit == ITRACE_NANOSECONDS && trace->info.time.known ?
			pt_info_duration(&trace->info, itrace->period) : itrace->period;
	uint32_t event = evlist_add(evlist, &attr, &id, 1, row->type == ATTR_HARDWARE && kind != TRACE_SAMPLE_TRANSACTION ? NULL : row->name);
	evlist->events.items[event].decoded = true;
	trace->events[kind] = (struct trace_event){ .id = id, .sample_type = attr.sample_type, .on = true };
}

void trace_add_events(struct trace *trace, struct evlist *evlist, uint32_t own)
{
	const struct evsel *evsel = &evlist->events.items[own];
	uint64_t config = evsel->attr.config, id = (evsel->id_count ? evsel->ids[0] : 0) + ID_DISTANCE;
	struct attr base = { .size = evsel->attr.size, .read_format = evsel->attr.read_format };
	base.sample_type = (evsel->attr.sample_type & INHERITED_TYPES) | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME;
	if (trace->timeless)
		base.sample_type &= ~(uint64_t)SAMPLE_TIME;
	if (!trace->info.per_cpu)
		base.sample_type &= ~(uint64_t)SAMPLE_CPU;
	for (unsigned flag = 0; flag < ATTR_FLAG_COUNT; flag++)
		if (flag == ATTR_EXCLUDE_USER || flag == ATTR_EXCLUDE_KERNEL || flag == ATTR_EXCLUDE_HV || flag == ATTR_EXCLUDE_HOST ||
			flag == ATTR_EXCLUDE_GUEST || flag == ATTR_SAMPLE_ID_ALL)
			base.flags |= evsel->attr.flags & 1ull << flag;
	for (unsigned kind = 0; kind < TRACE_SAMPLES; kind++)
		if (row_is_on(trace, kind, config))
			add_event(trace, evlist, &base, kind, id++);
}

/* A record that is written field by field: a header, a body of u64s, and the note behind it. */
enum { CHAIN_MAX = 8000, BODY_MAX = CHAIN_MAX + 32, HEADER_BYTES = 8 };

struct sample_record {
	uint64_t words[1 + BODY_MAX];
	size_t count;            /* with the header */
};

static void put(struct sample_record *record, uint64_t word)
{
	record->words[record->count++] = word;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
	uint32_t halves[2] = { low, high };
	uint64_t word;
	memcpy(&word, halves, sizeof word);
	return word;
}

static void set_header(struct sample_record *record, uint32_t type, uint16_t misc)
{
	struct { uint32_t type; uint16_t misc, size; } header = { type, misc, (uint16_t)(record->count * 8) };
	memcpy(record->words, &header, sizeof header);
}

static void append(struct trace *trace, const struct sample_record *record, const struct trace_note *note, uint64_t time,
	struct entries *batch)
{
	size_t size = record->count * 8;
	uint8_t *bytes = arena_alloc(&trace->bytes, size + sizeof *note);
	memcpy(bytes, record->words, size);
	memcpy(bytes + size, note, sizeof *note);
	vec_push(batch, ((struct entry){ .time = time, .body = bytes + HEADER_BYTES }));
}

static bool in_kernel(uint64_t ip)
{
	return ip >> 63;
}

static uint64_t time_of(const struct trace *trace, uint64_t ticks)
{
	return trace->timeless ? UINT64_MAX : time_conv_time(&trace->info.time, ticks);
}

static void put_raw(struct sample_record *record, const void *raw, uint32_t size)
{
	uint8_t bytes[64] = { 0 };
	memcpy(bytes, &size, sizeof size);
	memcpy(bytes + sizeof size, raw, size);
	for (size_t at = 0; at < size + sizeof size; at += 8) {
		uint64_t word;
		memcpy(&word, bytes + at, sizeof word);
		put(record, word);
	}
}

static struct trace_stack *stack_of(struct trace_queue *queue)
{
	if (!queue->stack)
		queue->stack = trace_stacks_get(&queue->trace->stacks, queue->tid);
	return queue->stack;
}

static void put_chain(struct sample_record *record, struct trace_queue *queue, uint64_t ip)
{
	unsigned size = queue->trace->options.itrace.call_chain_size;
	size_t most = size && size < CHAIN_MAX ? size + 1 : CHAIN_MAX;
	size_t at = record->count++;
	record->words[at] = trace_stack_chain(stack_of(queue), ip, record->words + at + 1, most);
	record->count += record->words[at];
}

struct sample_values {
	uint64_t ip, addr, period;
	const void *raw;
	uint32_t raw_size;
	bool early;              /* of the time of the event before */
};

static void add_sample(struct trace_queue *queue, enum trace_sample kind, const struct sample_values *values, const struct trace_note *note,
	struct entries *batch)
{
	struct trace *trace = queue->trace;
	const struct trace_event *event = &trace->events[kind];
	struct sample_record record; /* words are set before they are read */
	record.count = 1;
	uint64_t type = event->sample_type, ip = values->ip ? values->ip : values->addr;
	uint64_t time = time_of(trace, values->early && queue->last_ticks ? queue->last_ticks : queue->ticks);
	if (type & SAMPLE_IDENTIFIER)
		put(&record, event->id);
	put(&record, values->ip);
	put(&record, pair((uint32_t)queue->pid, (uint32_t)queue->tid));
	if (type & SAMPLE_TIME)
		put(&record, time);
	if (type & SAMPLE_ADDR)
		put(&record, values->addr);
	if (type & SAMPLE_ID)
		put(&record, event->id);
	if (type & SAMPLE_STREAM_ID)
		put(&record, event->id);
	if (type & SAMPLE_CPU)
		put(&record, pair((uint32_t)queue->cpu, 0));
	if (type & SAMPLE_PERIOD)
		put(&record, values->period);
	if (type & SAMPLE_CALLCHAIN)
		put_chain(&record, queue, values->ip);
	if (type & SAMPLE_RAW)
		put_raw(&record, values->raw, values->raw_size);
	set_header(&record, RECORD_SAMPLE, in_kernel(ip) ? RECORD_MISC_KERNEL : RECORD_MISC_USER);
	append(trace, &record, note, time, batch);
}

static uint32_t branch_flags(const struct pt_event *event)
{
	static const uint32_t kinds[] = {
		[INSTRUCTION_CONDITIONAL] = TRACE_BRANCH | TRACE_CONDITIONAL, [INSTRUCTION_JUMP] = TRACE_BRANCH,
		[INSTRUCTION_CALL] = TRACE_BRANCH | TRACE_CALL, [INSTRUCTION_JUMP_INDIRECT] = TRACE_BRANCH,
		[INSTRUCTION_CALL_INDIRECT] = TRACE_BRANCH | TRACE_CALL, [INSTRUCTION_RETURN] = TRACE_BRANCH | TRACE_RETURN,
		[INSTRUCTION_FAR_CALL] = TRACE_BRANCH | TRACE_CALL, [INSTRUCTION_FAR_JUMP] = TRACE_BRANCH,
		[INSTRUCTION_FAR_RETURN] = TRACE_BRANCH | TRACE_RETURN,
		[INSTRUCTION_INTERRUPT] = TRACE_BRANCH | TRACE_CALL | TRACE_INTERRUPT,
		[INSTRUCTION_INTERRUPT_RETURN] = TRACE_BRANCH | TRACE_RETURN | TRACE_INTERRUPT,
		[INSTRUCTION_SYSCALL] = TRACE_BRANCH | TRACE_CALL | TRACE_SYSCALL,
		[INSTRUCTION_SYSRET] = TRACE_BRANCH | TRACE_RETURN | TRACE_SYSCALL,
		[INSTRUCTION_VM_ENTRY] = TRACE_BRANCH | TRACE_CALL | TRACE_VM_ENTRY, [INSTRUCTION_PTWRITE] = 0,
	};
	uint32_t flags;
	if (event->aborts)
		flags = TRACE_BRANCH | TRACE_ABORT;
	else if (event->async)
		flags = TRACE_BRANCH | TRACE_ASYNC | (event->to ? TRACE_CALL | TRACE_INTERRUPT : TRACE_END);
	else
		flags = event->from ? kinds[event->branch] : TRACE_BRANCH | TRACE_BEGIN;
	if (event->in_transaction)
		flags |= TRACE_IN_TX;
	return flags | (event->begins ? TRACE_BEGIN : 0) | (event->ends ? TRACE_END : 0);
}

/* The instruction at an address that was just executed. */
static void note_instruction(const struct trace_queue *queue, uint64_t ip, struct trace_note *note)
{
	const struct pt_range *range = &queue->decoder->range;
	struct instruction instruction;
	if (!range->code || ip < range->start || ip >= range->end ||
		!pt_code_instruction(range->code, ip - range->base, queue->decoder->mode, &instruction))
		return;
	note->instruction_size = instruction.size;
	memcpy(note->instruction, range->code->bytes + (ip - range->base), instruction.size);
}

static void branch_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct pt_event *event = &queue->event;
	const struct itrace *itrace = &queue->trace->options.itrace;
	const struct pt_decoder *decoder = queue->decoder;
	struct trace_note note = { .flags = branch_flags(event), .instruction_size = event->size };
	uint32_t wanted = (itrace->calls ? TRACE_CALL | TRACE_ASYNC | TRACE_END : 0) | (itrace->returns ? TRACE_RETURN | TRACE_BEGIN : 0);
	if (wanted && !(wanted & note.flags))
		return;
	if (itrace->call_depth)
		note.depth = (uint32_t)stack_of(queue)->frames.count;
	if (event->timed || itrace->approximate_ipc)
		note.cycles = decoder->cycles - queue->branch_cycles;
	if (note.cycles) {
		note.instructions = decoder->instructions - queue->branch_instructions;
		queue->branch_instructions = decoder->instructions;
		queue->branch_cycles = decoder->cycles;
	}
	add_sample(queue, TRACE_SAMPLE_BRANCH, &(struct sample_values){ .ip = event->from, .addr = event->to, .period = 1 }, &note, batch);
}

static void instruction_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct pt_event *event = &queue->event;
	const struct pt_decoder *decoder = queue->decoder;
	struct trace_note note = { 0 };
	if (event->timed || queue->trace->options.itrace.approximate_ipc)
		note.cycles = decoder->cycles - queue->period_cycles;
	if (note.cycles) {
		note.instructions = decoder->instructions - queue->period_instructions;
		queue->period_instructions = decoder->instructions;
		queue->period_cycles = decoder->cycles;
	}
	note_instruction(queue, event->from, &note);
	uint64_t period = decoder->instructions - queue->sampled_instructions;
	queue->sampled_instructions = decoder->instructions;
	add_sample(queue, TRACE_SAMPLE_INSTRUCTION, &(struct sample_values){ .ip = event->from, .period = period }, &note, batch);
}

/* Payloads of TYPE_SYNTHESIZED: a word of flags, then a value. Source: perf's dumps of such samples. */
static void value_sample(struct trace_queue *queue, enum trace_sample kind, uint32_t head, uint64_t value, struct entries *batch)
{
	uint8_t raw[12];
	memcpy(raw, &head, sizeof head);
	memcpy(raw + sizeof head, &value, sizeof value);
	const struct sample_values values = { .ip = queue->event.from, .raw = raw, .raw_size = kind == TRACE_SAMPLE_EXSTOP ? 4 : 12,
		.early = kind == TRACE_SAMPLE_CBR };
	if (queue->trace->events[kind].on)
		add_sample(queue, kind, &values, &(struct trace_note){ 0 }, batch);
}

/* The frequency of the core, when it changed. */
static void cbr_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct trace *trace = queue->trace;
	const struct pt_decoder *decoder = queue->decoder;
	uint32_t ratio = decoder->clock.bus_ratio, nominal = trace->info.non_turbo_ratio;
	if (ratio == queue->bus_ratio)
		return;
	queue->bus_ratio = ratio;
	uint64_t khz = nominal && trace->info.time.known ? pt_info_duration(&trace->info, 1000000000) / nominal / 1000 : 0;
	value_sample(queue, TRACE_SAMPLE_CBR, (ratio & 0xff) | (nominal & 0xff) << 16, (uint32_t)(ratio * khz), batch);
}

static void error_record(struct trace_queue *queue, struct entries *batch)
{
	static const char *const words[] = {
		[PT_ERROR_BAD_PACKET] = "Bad packet", [PT_ERROR_NO_CODE] = "Failed to get instruction",
		[PT_ERROR_MISMATCH] = "Trace doesn't match instruction", [PT_ERROR_OVERFLOW] = "Overflow packet",
		[PT_ERROR_LOST] = "Lost trace data", [PT_ERROR_LOOP] = "Never-ending loop (refer perf config intel-pt.max-loops)",
	};
	enum { ITRACE_ERROR = 1, FORMAT = 1, MESSAGE_WORDS = 8 };
	struct trace *trace = queue->trace;
	const struct pt_event *event = &queue->event;
	char message[MESSAGE_WORDS * 8] = { 0 };
	uint64_t time = time_of(trace, queue->ticks);
	strncpy(message, words[event->error], sizeof message - 1);
	struct sample_record record;
	record.count = 1;
	put(&record, pair(ITRACE_ERROR, event->error));
	put(&record, pair((uint32_t)queue->cpu, (uint32_t)queue->pid));
	put(&record, pair((uint32_t)queue->tid, FORMAT));
	put(&record, event->from);
	put(&record, trace->timeless ? 0 : time);
	for (size_t i = 0; i < MESSAGE_WORDS; i++) {
		uint64_t word;
		memcpy(&word, message + i * 8, sizeof word);
		put(&record, word);
	}
	set_header(&record, RECORD_AUXTRACE_ERROR, 0);
	if (trace->options.itrace.errors && !(event->error == PT_ERROR_NO_CODE && trace_lacks_code(queue, event->from)))
		append(trace, &record, &(struct trace_note){ 0 }, time, batch);
}

void trace_sample(struct trace *trace, struct trace_queue *queue, struct entries *batch)
{
	const struct pt_event *event = &queue->event;
	if (event->kind == PT_EVENT_PSB)
		value_sample(queue, TRACE_SAMPLE_PSB, 0, event->payload, batch);
	if (trace->events[TRACE_SAMPLE_CBR].on)
		cbr_sample(queue, batch);
	switch (event->kind) {
	case PT_EVENT_BRANCH:
		if (trace->options.itrace.call_chain || trace->options.itrace.call_depth)
			trace_stacks_branch(&trace->stacks, stack_of(queue), branch_flags(event), event->from, event->to, event->size);
		if (trace->events[TRACE_SAMPLE_BRANCH].on)
			branch_sample(queue, batch);
		break;
	case PT_EVENT_INSTRUCTION:
		if (!queue->decoder->tick_period)
			queue->decoder->stop_at = queue->decoder->instructions + trace_period(trace);
		if (trace->events[TRACE_SAMPLE_INSTRUCTION].on)
			instruction_sample(queue, batch);
		break;
	case PT_EVENT_PTWRITE:
		value_sample(queue, TRACE_SAMPLE_PTWRITE, event->has_ip, event->payload, batch);
		break;
	case PT_EVENT_MWAIT:
		value_sample(queue, TRACE_SAMPLE_MWAIT, 0, event->payload, batch);
		break;
	case PT_EVENT_PWRE:
		value_sample(queue, TRACE_SAMPLE_PWRE, 0, event->payload, batch);
		break;
	case PT_EVENT_EXSTOP:
		value_sample(queue, TRACE_SAMPLE_EXSTOP, event->has_ip, 0, batch);
		break;
	case PT_EVENT_PWRX:
		value_sample(queue, TRACE_SAMPLE_PWRX, 0, event->payload, batch);
		break;
	case PT_EVENT_ERROR:
		if (trace->options.itrace.call_chain || trace->options.itrace.call_depth)
			stack_of(queue)->frames.count = stack_of(queue)->untraced = 0; /* calls and returns were missed */
		error_record(queue, batch);
		break;
	default:
		break;
	}
}
