/* Samples of events that record into the trace (aux-output): PEBS records, which are blocks of items. Source of the items: Intel SDM
 * vol. 3, "Intel Processor Trace", section on the block item packet; behaviour: perf 6.12's output for such recordings. */
#include <string.h>

#include "abi/time_conv.h"
#include "data/evlist.h"
#include "session/trace_record.h"

#define MISC_EXACT_IP (1u << 14)
#define DATA_SRC_UNKNOWN 0x1e05080021u /* all of its parts: "not available" */

enum { RIP = 1, RAX = 2, VECTOR_FIRST = 32 };
enum { BASIC_IP, BASIC_COUNTERS, BASIC_TSC };
enum { MEMORY_ADDRESS, MEMORY_INFO, MEMORY_LATENCY, MEMORY_TSX };
enum { NO_ITEM = 255 };

/* Branches: blocks, entries of a block, words and counters of an entry. */
enum { BRANCH_BLOCKS = 3, BRANCHES = 10, BRANCH_WORDS = 4 };
/* All fields but the call chain: registers, branches, and less than 32 others. */
enum { FIELDS_WORDS = 1 + 64 + BRANCH_BLOCKS * BRANCHES * BRANCH_WORDS + 32 };

static bool has(const struct pt_decoder *d, enum pt_blocks type, unsigned item)
{
	return d->blocks[type].present >> item & 1;
}

static uint64_t item(const struct pt_decoder *d, enum pt_blocks type, unsigned number)
{
	return has(d, type, number) ? d->blocks[type].values[number] : 0;
}

void trace_pebs_begin(struct trace *trace, const struct evlist *evlist)
{
	if (!trace->options.itrace.other_events || trace->bts)
		return;
	for (size_t i = 0; i < evlist->events.count; i++)
		if (attr_flag(&evlist->events.items[i].attr, ATTR_AUX_OUTPUT))
			vec_push(&trace->pebs, (uint32_t)i);
}

void trace_pebs_counter(struct trace *trace, const struct sample *trailer, uint64_t counter)
{
	for (size_t i = 0; i < trace->queues.count; i++) {
		struct trace_queue *queue = trace->queues.items[i];
		bool own = queue->cpu >= 0 ? queue->cpu == (int32_t)trailer->cpu : queue->own_tid == (int32_t)trailer->tid;
		for (size_t k = 0; own && counter < TRACE_COUNTERS && k < trace->pebs.count; k++) {
			const struct evsel *evsel = &trace->evlist->events.items[trace->pebs.items[k]];
			for (size_t id = 0; id < evsel->id_count; id++)
				if (evsel->ids[id] == trailer->id)
					queue->pebs_of[counter] = (uint32_t)k + 1;
		}
	}
}

static bool chosen(uint64_t set, uint64_t bit)
{
	return set & bit;
}

/* Values are not in the trace. */
static void put_read(struct trace_record *record, uint64_t format)
{
	unsigned words = 1 + chosen(format, READ_TOTAL_TIME_ENABLED) + chosen(format, READ_TOTAL_TIME_RUNNING);
	if (!(format & READ_GROUP))
		words += chosen(format, READ_ID) + chosen(format, READ_LOST);
	while (words--)
		trace_put(record, 0);
}

/* The item of a register, by the numbers of perf_regs.h. */
static unsigned register_item(unsigned number)
{
	static const uint8_t items[24] = { 2, 5, 3, 4, 8, 9, 7, 6, 1, 0, NO_ITEM, NO_ITEM, NO_ITEM, NO_ITEM, NO_ITEM, NO_ITEM,
		10, 11, 12, 13, 14, 15, 16, 17 };
	return number < sizeof items ? items[number] : NO_ITEM;
}

static void put_registers(struct trace_record *record, const struct pt_decoder *d, uint64_t mask)
{
	enum { ABI_64 = 2 };
	bool known = d->blocks[PT_BLOCKS_REGISTERS].present || d->blocks[PT_BLOCKS_VECTORS].present;
	trace_put(record, known ? ABI_64 : 0);
	for (unsigned number = 0; known && number < 64; number++) {
		if (!(mask >> number & 1))
			continue;
		unsigned at = register_item(number);
		trace_put(record, number >= VECTOR_FIRST ? item(d, PT_BLOCKS_VECTORS, number - VECTOR_FIRST) :
			at == NO_ITEM ? 0 : item(d, PT_BLOCKS_REGISTERS, at));
	}
}

/* Branches as the processor's registers have them, newest first. */
static void put_recorded_branches(struct trace_record *record, const struct pt_decoder *d, size_t count_at)
{
	enum { CYCLES = 0xffff, CYCLES_AT = 4, ABORT = 1 << 3, IN_TX = 1 << 2, PREDICTED = 1 << 1, MISPREDICTED = 1 };
	for (unsigned type = PT_BLOCKS_BRANCHES; type < PT_BLOCKS_BRANCHES + BRANCH_BLOCKS; type++)
		for (unsigned i = 0; i < BRANCHES; i++) {
			const uint64_t *triple = &d->blocks[type].values[3 * i], info = triple[2];
			if ((d->blocks[type].present >> 3 * i & 7) != 7)
				continue;
			trace_put(record, triple[0]);
			trace_put(record, triple[1]);
			trace_put(record, (info >> 63 ? MISPREDICTED : PREDICTED) | (info >> 62 & 1 ? IN_TX : 0) | (info >> 61 & 1 ? ABORT : 0) |
				(info & CYCLES) << CYCLES_AT);
			record->words[count_at]++;
		}
}

static void put_branches(struct trace_record *record, const struct pt_decoder *d, uint64_t branch_type)
{
	size_t count_at = record->count;
	trace_put(record, 0);
	if (branch_type & BRANCH_HW_INDEX)
		trace_put(record, UINT64_MAX);
	put_recorded_branches(record, d, count_at);
	for (uint64_t i = 0; branch_type & BRANCH_COUNTERS && i < record->words[count_at]; i++)
		trace_put(record, 0);
}

/* Newer processors separate the latency of the cache, from bit 32 on, and that of the instruction. */
static uint64_t weight_of(const struct pt_decoder *d, bool parts)
{
	uint64_t latency = item(d, PT_BLOCKS_MEMORY, MEMORY_LATENCY), cache = latency >> 32 & 0xffff, word;
	uint64_t weight = cache ? cache : latency ? latency : (uint32_t)item(d, PT_BLOCKS_MEMORY, MEMORY_TSX);
	struct { uint32_t weight; uint16_t instruction, other; } fields = { (uint32_t)weight, cache ? (uint16_t)latency : 0, 0 };
	memcpy(&word, &fields, sizeof word);
	return parts ? word : weight;
}

static uint64_t transaction_of(const struct pt_decoder *d)
{
	enum { FLAGS_AT = 32, ABORT_AT = 32, ABORTED = 1 << 0, CODE_AT = 24 };
	uint64_t flags = item(d, PT_BLOCKS_MEMORY, MEMORY_TSX) >> FLAGS_AT & 0xff, rax = item(d, PT_BLOCKS_REGISTERS, RAX);
	return flags & 2 && rax & ABORTED ? flags | (rax >> CODE_AT & 0xff) << ABORT_AT : flags;
}

static uint64_t address_of(const struct pt_decoder *d, const struct pt_event *event)
{
	if (has(d, PT_BLOCKS_BASIC, BASIC_IP))
		return item(d, PT_BLOCKS_BASIC, BASIC_IP);
	return has(d, PT_BLOCKS_REGISTERS, RIP) ? item(d, PT_BLOCKS_REGISTERS, RIP) : event->from;
}

/* Of its records; trace_complete adds what --itrace requests. */
static uint64_t type_of(const struct trace *trace, const struct evsel *evsel)
{
	return trace->recorded.items[evsel - trace->evlist->events.items].sample_type;
}

/* What precedes the parts of variable size. */
static void put_head(struct trace_record *record, const struct trace_queue *queue, const struct evsel *evsel, uint64_t ip, uint64_t time)
{
	const struct attr *attr = &evsel->attr;
	uint64_t type = type_of(queue->trace, evsel), id = evsel->id_count ? evsel->ids[0] : 0;
	const struct { uint64_t bit, word; } fields[] = { { SAMPLE_IDENTIFIER, id }, { SAMPLE_IP, ip },
		{ SAMPLE_TID, trace_pair((uint32_t)queue->pid, (uint32_t)queue->tid) }, { SAMPLE_TIME, time },
		{ SAMPLE_ADDR, item(queue->decoder, PT_BLOCKS_MEMORY, MEMORY_ADDRESS) }, { SAMPLE_ID, id }, { SAMPLE_STREAM_ID, id },
		{ SAMPLE_CPU, trace_pair((uint32_t)queue->cpu, 0) }, { SAMPLE_PERIOD, attr_flag(attr, ATTR_FREQ) ? 0 : attr->sample_period } };
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (type & fields[i].bit)
			trace_put(record, fields[i].word);
}

static void put_rest(struct trace_record *record, struct trace_queue *queue, const struct evsel *evsel, uint64_t ip)
{
	const struct attr *attr = &evsel->attr;
	const struct pt_decoder *d = queue->decoder;
	uint64_t type = type_of(queue->trace, evsel);
	if (type & SAMPLE_READ)
		put_read(record, attr->read_format);
	if (type & SAMPLE_CALLCHAIN && queue->trace->options.itrace.call_chain)
		trace_put_chain(record, queue, ip, FIELDS_WORDS);
	else if (type & SAMPLE_CALLCHAIN)
		trace_put(record, 0);
	if (type & SAMPLE_RAW)
		trace_put(record, trace_pair(sizeof(uint32_t), 0));
	if (type & SAMPLE_BRANCH_STACK)
		put_branches(record, d, attr->branch_sample_type);
	for (unsigned words = chosen(type, SAMPLE_REGS_USER) + chosen(type, SAMPLE_STACK_USER); words; words--)
		trace_put(record, 0);
	if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		trace_put(record, weight_of(d, type & SAMPLE_WEIGHT_STRUCT));
	if (type & SAMPLE_DATA_SRC)
		trace_put(record, DATA_SRC_UNKNOWN);
	if (type & SAMPLE_TRANSACTION)
		trace_put(record, transaction_of(d));
	if (type & SAMPLE_REGS_INTR)
		put_registers(record, d, attr->sample_regs_intr);
	static const uint64_t absent[] = { SAMPLE_PHYS_ADDR, SAMPLE_CGROUP, SAMPLE_DATA_PAGE_SIZE, SAMPLE_CODE_PAGE_SIZE, SAMPLE_AUX };
	for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
		if (type & absent[i])
			trace_put(record, 0);
}

static void add_sample(struct trace_queue *queue, uint32_t number, struct entries *batch)
{
	struct trace *trace = queue->trace;
	const struct pt_decoder *d = queue->decoder;
	const struct evsel *evsel = &trace->evlist->events.items[trace->pebs.items[number]];
	uint64_t words[1 + TRACE_RECORD_WORDS];
	struct trace_record record = { .words = words, .count = 1 };
	uint64_t ip = address_of(d, &queue->event);
	uint64_t time = trace_time(trace, has(d, PT_BLOCKS_BASIC, BASIC_TSC) ? item(d, PT_BLOCKS_BASIC, BASIC_TSC) : queue->ticks);
	put_head(&record, queue, evsel, ip, time);
	put_rest(&record, queue, evsel, ip);
	trace_put_header(&record, RECORD_SAMPLE, (uint16_t)(trace_cpumode(&queue->event, ip) | MISC_EXACT_IP));
	trace_append(trace, &record, time, batch);
	struct entry *last = &batch->items[batch->count - 1];
	*last = trace_complete(trace, last);
}

void trace_pebs_sample(struct trace_queue *queue, struct entries *batch)
{
	const struct pt_decoder *d = queue->decoder;
	struct trace *trace = queue->trace;
	if (!trace->pebs.count)
		return;
	uint64_t counters = trace->pebs.count > 1 ? item(d, PT_BLOCKS_BASIC, BASIC_COUNTERS) : 0;
	for (unsigned counter = 0; counter < TRACE_COUNTERS; counter++) {
		if (!(counters >> counter & 1))
			continue;
		if (!queue->pebs_of[counter]) {
			counters = 0;
			break;
		}
		add_sample(queue, queue->pebs_of[counter] - 1, batch);
	}
	if (!counters) /* the first event's, as in perf */
		add_sample(queue, 0, batch);
}
