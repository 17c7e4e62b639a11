/* Events of a trace → records of samples. Names, attributes and ids of their events are those that perf 6.12 makes. */
#include <string.h>

#include "abi/branch.h"
#include "abi/time_conv.h"
#include "data/evlist.h"
#include "session/trace_internal.h"
#include "session/trace_record.h"

#define TYPE_SYNTHESIZED 0x80000000u
/* Of the trace's own event, what its samples inherit. */
#define INHERITED_TYPES (SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER)

enum { CONFIG_CYCLES = 0, CONFIG_INSTRUCTIONS = 1, CONFIG_BRANCHES = 4, CONFIG_POWER_EVENTS = 1 << 4, ID_DISTANCE = 1000000000 };

/* Numbers of events of TYPE_SYNTHESIZED. */
enum { SYNTHESIZED_PTWRITE, SYNTHESIZED_MWAIT, SYNTHESIZED_PWRE, SYNTHESIZED_EXSTOP, SYNTHESIZED_PWRX, SYNTHESIZED_CBR, SYNTHESIZED_PSB,
	SYNTHESIZED_EVENT, SYNTHESIZED_IFLAG };

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
	[TRACE_SAMPLE_IFLAG] = { "iflag", TYPE_SYNTHESIZED, SYNTHESIZED_IFLAG, SAMPLE_RAW },
};

static bool row_is_on(const struct trace *trace, enum trace_sample kind, uint64_t config)
{
	const struct itrace *itrace = &trace->options.itrace;
	if (trace->bts && kind != TRACE_SAMPLE_BRANCH)
		return false;
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
	case TRACE_SAMPLE_IFLAG:
		return itrace->interrupt_events && trace->info.event_trace;
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
	if (kind == TRACE_SAMPLE_BRANCH ? itrace->own_branch && !trace->bts : itrace->last_branch) {
		attr.sample_type |= SAMPLE_BRANCH_STACK;
		attr.branch_sample_type |= BRANCH_HW_INDEX;
	}
	if (kind == TRACE_SAMPLE_INSTRUCTION || kind == TRACE_SAMPLE_CYCLES)
		attr.sample_period = itrace->unit == ITRACE_NANOSECONDS && trace->info.time.known ?
			pt_info_duration(&trace->info, itrace->period) : itrace->period;
	uint32_t event = evlist_add(evlist, &attr, &id, 1, row->type == ATTR_HARDWARE && kind != TRACE_SAMPLE_TRANSACTION ? NULL : row->name);
	evlist->events.items[event].decoded = true;
	const uint64_t parts = SAMPLE_CALLCHAIN | SAMPLE_RAW | SAMPLE_BRANCH_STACK; /* a word for each other type */
	uint32_t words = attr.sample_type & parts ? 0 : 1 + (uint32_t)__builtin_popcountll(attr.sample_type);
	trace->events[kind] = (struct trace_event){ .id = id, .sample_type = attr.sample_type, .words = words, .on = true };
}

void trace_add_events(struct trace *trace, struct evlist *evlist, uint32_t own)
{
	const struct evsel *evsel = &evlist->events.items[own];
	uint64_t config = evsel->attr.config, id = (evsel->id_count ? evsel->ids[0] : 0) + ID_DISTANCE;
	struct attr base = { .size = evsel->attr.size, .read_format = evsel->attr.read_format };
	base.sample_type = (evsel->attr.sample_type & INHERITED_TYPES) | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME;
	if (trace->timeless || trace->bts)
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

/* Of an entry of last branches. */
enum { BRANCH_WORDS = 3, FIELDS_WORDS = 32 /* all other fields */, ENTRY_IN_TX = 1 << 2, ENTRY_ABORT = 1 << 3 };
_Static_assert(BRANCH_WORDS * ITRACE_LAST_BRANCH_MAX + FIELDS_WORDS < TRACE_RECORD_WORDS / 2, "room for a call chain");

_Static_assert(TRACE_STACK_CHAIN_MAX + FIELDS_WORDS < TRACE_RECORD_WORDS, "room for the deepest chain");

uint16_t trace_cpumode(const struct pt_event *event, uint64_t ip)
{
	if (event->guest)
		return ip >> 63 ? RECORD_MISC_GUEST_KERNEL : RECORD_MISC_GUEST_USER;
	return ip >> 63 ? RECORD_MISC_KERNEL : RECORD_MISC_USER;
}

uint64_t trace_time(const struct trace *trace, uint64_t ticks)
{
	return trace->timeless || trace->bts ? UINT64_MAX : time_conv_time(&trace->info.time, ticks);
}

static void put_raw(struct trace_record *record, const void *raw, uint32_t size)
{
	uint8_t bytes[64] = { 0 };
	memcpy(bytes, &size, sizeof size);
	memcpy(bytes + sizeof size, raw, size);
	for (size_t at = 0; at < size + sizeof size; at += 8) {
		uint64_t word;
		memcpy(&word, bytes + at, sizeof word);
		trace_put(record, word);
	}
}

static struct trace_stack *trace_stack_of(struct trace_queue *queue)
{
	if (!queue->stack)
		queue->stack = trace_stacks_get(&queue->trace->stacks, queue->tid);
	return queue->stack;
}

void trace_note_call(void *context, bool is_return, uint64_t from, uint64_t to, unsigned size)
{
	struct trace_lane *lane = context;
	struct trace_queue *queue = lane->queue;
	if (!queue) {
		pt_segment_call(lane->segment, is_return, from, to, size);
		return;
	}
	if (lane->replays) {
		lane->replayed++;
		return;
	}
	struct trace *trace = queue->trace;
	if (!trace->timeless && !queue->begun && !queue->decoder->time)
		return; /* as events without a time at the beginning */
	queue->begun = true;
	trace_stacks_branch(&trace->stacks, trace_stack_of(queue), TRACE_BRANCH | (is_return ? TRACE_RETURN : TRACE_CALL), from, to, size);
}

void trace_put_chain(struct trace_record *record, struct trace_queue *queue, uint64_t ip, size_t others)
{
	unsigned size = queue->trace->options.itrace.call_chain_size;
	size_t room = TRACE_RECORD_WORDS - others, most = size && size < room ? size + 1 : room;
	size_t at = record->count++, excess = size ? 0 : trace_stack_excess(trace_stack_of(queue));
	record->words[at] = trace_stack_chain(trace_stack_of(queue), ip, excess, record->words + at + 1, most);
	queue->trace->stacks.cut += excess != 0;
	record->count += record->words[at];
}

void trace_put_branches(struct trace_record *record, struct trace_queue *queue)
{
	const struct trace_stack *stack = trace_stack_of(queue);
	uint64_t most = queue->trace->stacks.branches_max, shown = queue->trace->options.itrace.last_branch_size;
	uint64_t count = stack->branch_count < shown ? stack->branch_count : shown;
	trace_put(record, count);
	trace_put(record, UINT64_MAX);
	for (uint64_t i = 0; i < count; i++) {
		const struct trace_branch *branch = &stack->branches[(stack->branch_count - 1 - i) % most];
		trace_put(record, branch->from);
		trace_put(record, branch->to);
		trace_put(record, branch_flags_encode((branch->flags & TRACE_IN_TX ? ENTRY_IN_TX : 0) |
						      (branch->flags & TRACE_ABORT ? ENTRY_ABORT : 0)));
	}
}

/* As in perf: reports by branches need a branch stack of each event. */
static void put_own_branch(struct trace_record *record, uint64_t from, uint64_t to)
{
	const uint64_t words[] = { 1, UINT64_MAX, from, to, 0 };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		trace_put(record, words[i]);
}

struct sample_values {
	uint64_t ip, addr, period;
	const void *raw;
	uint32_t raw_size;
};

/* Returns the sample's note, for the caller to fill. */
static struct trace_note *add_sample(struct trace_queue *queue, enum trace_sample kind, const struct sample_values *values,
	struct entries *batch)
{
	struct trace *trace = queue->trace;
	const struct itrace *itrace = &trace->options.itrace;
	const struct trace_event *event = &trace->events[kind];
	uint64_t type = event->sample_type, ip = values->ip ? values->ip : values->addr;
	uint64_t words[1 + TRACE_RECORD_WORDS];
	struct trace_record record = { .words = words, .count = 1 };
	if (event->words)
		record = trace_record_of(trace, event->words);
	uint64_t time = trace_time(trace, queue->ticks);
	if (type & SAMPLE_IDENTIFIER)
		trace_put(&record, event->id);
	trace_put(&record, values->ip);
	trace_put(&record, trace_pair((uint32_t)queue->pid, (uint32_t)queue->tid));
	if (type & SAMPLE_TIME)
		trace_put(&record, time);
	if (type & SAMPLE_ADDR)
		trace_put(&record, values->addr);
	if (type & SAMPLE_ID)
		trace_put(&record, event->id);
	if (type & SAMPLE_STREAM_ID)
		trace_put(&record, event->id);
	if (type & SAMPLE_CPU)
		trace_put(&record, trace_pair((uint32_t)queue->cpu, 0));
	if (type & SAMPLE_PERIOD)
		trace_put(&record, values->period);
	if (type & SAMPLE_CALLCHAIN)
		trace_put_chain(&record, queue, values->ip, FIELDS_WORDS + (itrace->last_branch ? BRANCH_WORDS * itrace->last_branch_size : 0));
	if (type & SAMPLE_RAW)
		put_raw(&record, values->raw, values->raw_size);
	if (type & SAMPLE_BRANCH_STACK && kind == TRACE_SAMPLE_BRANCH)
		put_own_branch(&record, values->ip, values->addr);
	else if (type & SAMPLE_BRANCH_STACK)
		trace_put_branches(&record, queue);
	trace_put_header(&record, RECORD_SAMPLE, trace_cpumode(&queue->event, ip));
	struct trace_note *note = trace_append(trace, &record, time, batch);
	note->all_cycles = queue->moment.cycles;
	note->time_stamp = trace->timeless || trace->bts ? 0 : queue->ticks;
	return note;
}

uint32_t trace_branch_flags(const struct pt_event *event)
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
		[INSTRUCTION_VM_ENTRY] = TRACE_BRANCH | TRACE_CALL | TRACE_VM_ENTRY, [INSTRUCTION_PTWRITE] = 0, [INSTRUCTION_OTHER] = 0,
	};
	uint32_t flags;
	if (event->aborts)
		flags = TRACE_BRANCH | TRACE_ABORT;
	else if (event->async)
		flags = TRACE_BRANCH | TRACE_ASYNC | (!event->to ? TRACE_END : TRACE_CALL |
			(event->leaves_guest ? TRACE_VM_EXIT : TRACE_INTERRUPT));
	else
		flags = event->from ? kinds[event->branch] : TRACE_BRANCH | TRACE_BEGIN;
	if (event->in_transaction)
		flags |= TRACE_IN_TX;
	flags |= (event->interrupts_off ? TRACE_INTERRUPTS_OFF : 0) | (event->interrupts_toggled ? TRACE_INTERRUPTS_TOGGLED : 0);
	return flags | (event->begins ? TRACE_BEGIN : 0) | (event->ends ? TRACE_END : 0);
}

/* The instruction at an address that was just executed. */
static void note_instruction(struct trace_queue *queue, uint64_t ip, struct trace_note *note)
{
	const struct pt_moment *moment = &queue->moment;
	struct pt_range range = { .code = (struct pt_code *)(uintptr_t)moment->code, .base = moment->base };
	struct instruction instruction;
	if (!range.code && !queue->trace->bts && !trace_locate_in(&queue->lane, queue->event.guest, ip, &range))
		return;
	if (!range.code || !pt_code_known(range.code, ip - range.base, moment->mode, &instruction))
		return;
	note->instruction_size = instruction.size;
	note->has_instruction = true;
	memcpy(note->instruction, range.code->bytes + (ip - range.base), instruction.size);
}

/* Cycles and instructions since the last sample that had cycles. They are exact where a packet of time belongs to the event; without CYC
 * packets, cycles are those up to the last such packet. */
static void count_cycles(struct trace_queue *queue, struct trace_counts *last, struct trace_note *note)
{
	const struct pt_moment *moment = &queue->moment;
	bool approximate = queue->trace->options.itrace.approximate_ipc;
	if (!approximate && !queue->event.timed && moment->have_cycles)
		return;
	uint64_t cycles = approximate ? moment->cycles : moment->exact_cycles;
	note->cycles = cycles - last->cycles;
	if (!note->cycles)
		return;
	note->instructions = queue->instructions - last->instructions;
	*last = (struct trace_counts){ .instructions = queue->instructions, .cycles = cycles };
}

/* As in perf, changes of frequency among the samples at the beginning are shown up to four samples earlier, and not counted. */
static bool is_skipped(struct trace *trace, enum trace_sample kind)
{
	enum { EARLY = 4 };
	uint64_t skip = trace->options.itrace.skip;
	if (!skip)
		return false;
	if (trace->bts)
		return trace->skipped <= skip && trace->skipped++ <= skip; /* one more than requested, as in perf */
	if (kind == TRACE_SAMPLE_CBR)
		return trace->skipped + EARLY < skip;
	return trace->skipped < skip && trace->skipped++ < skip;
}

/* As in perf, the two ends of a branch between a host and a guest are two samples. */
static void add_other_end(struct trace_queue *queue, const struct trace_note *note, struct entries *batch)
{
	struct pt_event *event = &queue->event;
	event->guest = !event->guest;
	struct trace_note *end = add_sample(queue, TRACE_SAMPLE_BRANCH, &(struct sample_values){ .addr = event->to, .period = 1 }, batch);
	event->guest = !event->guest;
	end->flags = note->flags;
	end->depth = note->depth;
}

static void branch_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct pt_event *event = &queue->event;
	const struct itrace *itrace = &queue->trace->options.itrace;
	uint32_t flags = trace_branch_flags(event);
	uint32_t wanted = (itrace->calls ? TRACE_CALL | TRACE_ASYNC | TRACE_END : 0) | (itrace->returns ? TRACE_RETURN | TRACE_BEGIN : 0);
	if ((wanted && !(wanted & flags)) || is_skipped(queue->trace, TRACE_SAMPLE_BRANCH))
		return;
	const bool crosses = event->crosses && event->from && event->to;
	const struct sample_values values = { .ip = event->from, .addr = crosses ? 0 : event->to, .period = 1 };
	struct trace_note *note = add_sample(queue, TRACE_SAMPLE_BRANCH, &values, batch);
	note->flags = flags;
	note->instruction_size = event->size;
	if (queue->trace->bts ? event->size > 0 : itrace->branch_code && event->from)
		note_instruction(queue, event->from, note);
	if (itrace->call_depth)
		note->depth = (uint32_t)trace_stack_of(queue)->frames.count;
	count_cycles(queue, &queue->branch_counts, note);
	if (crosses)
		add_other_end(queue, note, batch);
}

/* The instruction is behind those that are counted so far. */
static void point_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct pt_event *event = &queue->event;
	struct trace_counts *last = &queue->branch_counts, now = { queue->instructions + event->extra, queue->moment.cycles + event->payload };
	const struct trace_counts since = { now.instructions - last->instructions, now.cycles - last->cycles };
	if (now.cycles <= last->cycles || now.instructions < last->instructions)
		return;
	*last = now;
	uint64_t ticks = queue->ticks;
	queue->ticks = queue->trace->timeless ? ticks : event->to;
	struct trace_note *note = add_sample(queue, TRACE_SAMPLE_BRANCH, &(struct sample_values){ .ip = event->from, .period = 1 }, batch);
	note->flags = TRACE_POINT;
	note->cycles = since.cycles;
	note->instructions = since.instructions;
	queue->ticks = ticks;
}

static void instruction_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct pt_event *event = &queue->event;
	if (is_skipped(queue->trace, TRACE_SAMPLE_INSTRUCTION))
		return;
	uint64_t period = queue->trace->config.quick ? 1 : queue->instructions - queue->sampled_instructions;
	queue->sampled_instructions = queue->instructions;
	const struct sample_values values = { .ip = event->from, .addr = event->async ? event->to : 0, .period = period };
	struct trace_note *note = add_sample(queue, TRACE_SAMPLE_INSTRUCTION, &values, batch);
	note->flags = trace_branch_flags(event);
	count_cycles(queue, &queue->period_counts, note);
	note_instruction(queue, event->from, note);
}

/* Where cycles are known: a sample of the cycles since the one before. */
static void cycles_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct pt_event *event = &queue->event;
	struct trace_note counted = { 0 };
	struct trace_counts counts = queue->cycle_counts;
	count_cycles(queue, &counts, &counted);
	if (!counted.cycles || is_skipped(queue->trace, TRACE_SAMPLE_CYCLES))
		return;
	queue->cycle_counts = counts;
	const struct sample_values values = { .ip = event->from, .period = counted.cycles };
	struct trace_note *note = add_sample(queue, TRACE_SAMPLE_CYCLES, &values, batch);
	note->flags = trace_branch_flags(event);
	note->cycles = counted.cycles;
	note->instructions = counted.instructions;
	note_instruction(queue, event->from, note);
}

/* Payloads of TYPE_SYNTHESIZED: a word of flags, then a value. Source: perf's dumps of such samples. */
static void value_sample(struct trace_queue *queue, enum trace_sample kind, uint32_t head, uint64_t value, struct entries *batch)
{
	uint8_t raw[12];
	memcpy(raw, &head, sizeof head);
	memcpy(raw + sizeof head, &value, sizeof value);
	const struct sample_values values = { .ip = queue->event.from, .raw = raw, .raw_size = kind == TRACE_SAMPLE_EXSTOP ? 4 : 12 };
	if (queue->trace->events[kind].on && !is_skipped(queue->trace, kind))
		add_sample(queue, kind, &values, batch);
}

/* An interrupt event: its packet, then its data. */
static void interrupt_sample(struct trace_queue *queue, struct entries *batch)
{
	enum { WITH_IP = 1 << 7, VECTOR_AT = 8, COUNT_AT = 16 };
	struct { uint32_t head, words[4 * PT_INTERRUPT_DATA_MAX]; } raw;
	const struct pt_event *event = &queue->event;
	const struct pt_decoder *decoder = queue->decoder;
	unsigned count = decoder->interrupt_data_count;
	raw.head = ((uint32_t)event->payload & 31) | (event->has_ip ? WITH_IP : 0) | (event->extra & 0xff) << VECTOR_AT | count << COUNT_AT;
	for (unsigned i = 0; i < count; i++) {
		uint64_t words[2] = { decoder->interrupt_data[i].type, decoder->interrupt_data[i].payload };
		memcpy(&raw.words[4 * i], words, sizeof words);
	}
	const struct sample_values values = { .ip = event->from, .raw = &raw, .raw_size = 4 + 16 * count };
	if (queue->trace->events[TRACE_SAMPLE_EVENT].on && !is_skipped(queue->trace, TRACE_SAMPLE_EVENT))
		add_sample(queue, TRACE_SAMPLE_EVENT, &values, batch);
}

static void iflag_sample(struct trace_queue *queue, struct entries *batch)
{
	enum { VIA_BRANCH = 1 << 1 };
	const struct pt_event *event = &queue->event;
	bool branch = event->kind == PT_EVENT_BRANCH;
	value_sample(queue, TRACE_SAMPLE_IFLAG, event->interrupts_off | (branch ? VIA_BRANCH : 0), branch ? event->to : 0, batch);
}

static void transaction_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct pt_event *event = &queue->event;
	if (!queue->trace->events[TRACE_SAMPLE_TRANSACTION].on || is_skipped(queue->trace, TRACE_SAMPLE_TRANSACTION))
		return;
	const struct sample_values values = { .ip = event->from, .addr = event->async ? event->to : 0 };
	struct trace_note *note = add_sample(queue, TRACE_SAMPLE_TRANSACTION, &values, batch);
	note->flags = trace_branch_flags(event);
}

/* The frequency of the core, when it changed. */
static void cbr_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct trace *trace = queue->trace;
	uint32_t ratio = queue->moment.bus_ratio, nominal = trace->info.non_turbo_ratio;
	if (ratio == queue->bus_ratio || is_skipped(queue->trace, TRACE_SAMPLE_CBR))
		return; /* what is skipped is shown later, as in perf */
	queue->bus_ratio = ratio;
	uint64_t khz = nominal && trace->info.time.known ? pt_info_duration(&trace->info, 1000000000) / nominal / 1000 : 0;
	value_sample(queue, TRACE_SAMPLE_CBR, (ratio & 0xff) | (nominal & 0xff) << 16, (uint32_t)(ratio * khz), batch);
}

struct trace_error {
	int32_t cpu, pid, tid;
	enum pt_error error;
	uint64_t ip, time;
};

/* Errors that were requested, except for those that letters after `e` hide. */
static bool error_is_shown(const struct itrace *itrace, enum pt_error error)
{
	char letter = error == PT_ERROR_OVERFLOW ? 'o' : error == PT_ERROR_LOST ? 'l' : 0;
	return itrace->errors && !(letter && itrace->errors_hidden >> (letter - 'a') & 1);
}

static void error_record(struct trace *trace, const struct trace_error *error, struct entries *batch)
{
	static const char *const words[] = {
		[PT_ERROR_BAD_PACKET] = "Bad packet", [PT_ERROR_NO_CODE] = "Failed to get instruction",
		[PT_ERROR_MISMATCH] = "Trace doesn't match instruction", [PT_ERROR_OVERFLOW] = "Overflow packet",
		[PT_ERROR_LOST] = "Lost trace data", [PT_ERROR_LOOP] = "Never-ending loop (refer perf config intel-pt.max-loops)",
	};
	enum { ITRACE_ERROR = 1, FORMAT = 1, MESSAGE_WORDS = 8, BTS_LOST = 9 };
	uint32_t number = trace->bts && error->error == PT_ERROR_LOST ? BTS_LOST : error->error;
	char message[MESSAGE_WORDS * 8] = { 0 };
	strncpy(message, words[error->error], sizeof message - 1);
	uint64_t room[16];
	struct trace_record record = { .words = room, .count = 1 };
	_Static_assert(6 + MESSAGE_WORDS <= sizeof room / sizeof *room, "room for the header, five words and the message");
	trace_put(&record, trace_pair(ITRACE_ERROR, number));
	trace_put(&record, trace_pair((uint32_t)error->cpu, (uint32_t)error->pid));
	trace_put(&record, trace_pair((uint32_t)error->tid, FORMAT));
	trace_put(&record, error->ip);
	trace_put(&record, trace->timeless || error->time == UINT64_MAX ? 0 : error->time);
	for (size_t i = 0; i < MESSAGE_WORDS; i++) {
		uint64_t word;
		memcpy(&word, message + i * 8, sizeof word);
		trace_put(&record, word);
	}
	trace_put_header(&record, RECORD_AUXTRACE_ERROR, 0);
	trace_append(trace, &record, error->time, batch);
}

static void error_event(struct trace_queue *queue, struct entries *batch)
{
	struct trace *trace = queue->trace;
	const struct pt_event *event = &queue->event;
	trace_count_error(queue, event);
	if (trace->bts ? !trace->options.itrace.errors : !error_is_shown(&trace->options.itrace, event->error) ||
		event->lacks_call || (event->error == PT_ERROR_NO_CODE && trace_lacks_code(queue, event)))
		return;
	error_record(trace, &(struct trace_error){ queue->cpu, queue->pid, queue->tid, event->error, event->from,
		trace_time(trace, queue->ticks) }, batch);
}

void trace_lost(struct trace *trace, const struct sample *trailer, struct entries *batch)
{
	if (error_is_shown(&trace->options.itrace, PT_ERROR_LOST))
		error_record(trace, &(struct trace_error){ (int32_t)trailer->cpu, (int32_t)trailer->pid, (int32_t)trailer->tid,
			PT_ERROR_LOST, 0, trailer->time }, batch);
}

static void branch_event(struct trace *trace, struct trace_queue *queue, struct entries *batch)
{
	const struct pt_event *event = &queue->event;
	if (event->begins)
		trace_count_lost(queue, event->extra);
	if (event->interrupts_toggled)
		iflag_sample(queue, batch);
	if (trace->stacks_wanted)
		trace_stacks_branch(&trace->stacks, trace_stack_of(queue), trace_branch_flags(event), event->from, event->to, event->size);
	if (trace->events[TRACE_SAMPLE_BRANCH].on)
		branch_sample(queue, batch);
}

void trace_sample(struct trace *trace, struct trace_queue *queue, struct entries *batch)
{
	static const uint8_t values[] = { [PT_EVENT_PSB] = TRACE_SAMPLE_PSB, [PT_EVENT_PTWRITE] = TRACE_SAMPLE_PTWRITE,
		[PT_EVENT_MWAIT] = TRACE_SAMPLE_MWAIT, [PT_EVENT_PWRE] = TRACE_SAMPLE_PWRE, [PT_EVENT_EXSTOP] = TRACE_SAMPLE_EXSTOP,
		[PT_EVENT_PWRX] = TRACE_SAMPLE_PWRX };
	const struct pt_event *event = &queue->event;
	if (event->kind == PT_EVENT_PSB || event->kind == PT_EVENT_ERROR)
		trace_count_lost(queue, event->extra);
	if (event->kind == PT_EVENT_PSB)
		value_sample(queue, TRACE_SAMPLE_PSB, 0, event->payload, batch);
	if (trace->events[TRACE_SAMPLE_CBR].on)
		cbr_sample(queue, batch);
	switch (event->kind) {
	case PT_EVENT_BRANCH:
		branch_event(trace, queue, batch);
		break;
	case PT_EVENT_PAGING:
		if (trace->events[TRACE_SAMPLE_BRANCH].on)
			point_sample(queue, batch);
		break;
	case PT_EVENT_INSTRUCTION:
		if (trace->events[TRACE_SAMPLE_INSTRUCTION].on)
			instruction_sample(queue, batch);
		if (trace->events[TRACE_SAMPLE_CYCLES].on)
			cycles_sample(queue, batch);
		break;
	case PT_EVENT_PTWRITE:
	case PT_EVENT_EXSTOP:
		value_sample(queue, values[event->kind], event->apart, event->payload, batch);
		break;
	case PT_EVENT_MWAIT:
	case PT_EVENT_PWRE:
	case PT_EVENT_PWRX:
		value_sample(queue, values[event->kind], 0, event->payload, batch);
		break;
	case PT_EVENT_INTERRUPT:
		interrupt_sample(queue, batch);
		break;
	case PT_EVENT_IFLAG:
		iflag_sample(queue, batch);
		break;
	case PT_EVENT_BLOCK:
		trace_pebs_sample(queue, batch);
		break;
	case PT_EVENT_TSX:
		transaction_sample(queue, batch);
		break;
	case PT_EVENT_ERROR:
		if (trace->stacks_wanted && !trace->bts)
			trace_stack_of(queue)->frames.count = trace_stack_of(queue)->untraced = 0; /* calls and returns were missed */
		error_event(queue, batch);
		break;
	default:
		break;
	}
}
