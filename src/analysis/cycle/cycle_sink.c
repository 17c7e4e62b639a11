#include "analysis/cycle/cycle_sink.h"

#include <stdlib.h>
#include <string.h>

#include "abi/branch.h"
#include "arch/x86/instruction.h"
#include "data/evlist.h"
#include "decode/intel_pt/code.h"

enum { CONFIG_BRANCHES = 4, PENDING_MAX = 256, BLOCK_MAX = 4096, MODE = 64 };

/* A branch whose cycles are not known yet. */
struct pending {
	uint32_t edge;
	uint64_t instructions;
};

/* The branches of one CPU or thread. */
struct queue {
	int64_t key;
	uint32_t before;             /* edge of the last branch; FLOW_NONE: unknown */
	uint64_t at;                 /* where the code continues behind it; 0: unknown */
	uint64_t ended;              /* a system call that left the trace; 0: none */
	uint64_t held;               /* cycles up to an end of tracing: they belong to the branch that follows */
	struct pending pending[PENDING_MAX];
	unsigned pending_count;
};

struct cycle_sink {
	struct cycle_options options;
	struct flow_graph *graph;
	VEC(struct queue *) queues;
	struct cycle_facts facts;
};

struct cycle_sink *cycle_sink_new(const struct cycle_options *options, struct flow_graph *graph)
{
	struct cycle_sink *sink = memory_zero(1, sizeof *sink);
	sink->options = *options;
	sink->graph = graph;
	return sink;
}

struct cycle_facts cycle_sink_free(struct cycle_sink *sink)
{
	struct cycle_facts facts = sink->facts;
	for (size_t i = 0; i < sink->queues.count; i++)
		free(sink->queues.items[i]);
	vec_fini(&sink->queues);
	free(sink);
	return facts;
}

static struct queue *queue_of(struct cycle_sink *sink, int64_t key)
{
	for (size_t i = 0; i < sink->queues.count; i++)
		if (sink->queues.items[i]->key == key)
			return sink->queues.items[i];
	struct queue *queue = memory_zero(1, sizeof *queue);
	queue->key = key;
	queue->before = FLOW_NONE;
	vec_push(&sink->queues, queue);
	return queue;
}

static const struct module *module_of(const struct resolved *r, const struct location *location)
{
	return location->map ? modules_get(&r->session->model.modules, location->module) : NULL;
}

static void set_place(struct cycle_sink *sink, const struct resolved *r, struct flow_place *place)
{
	const struct location *location = resolved_locate_any(r, place->address);
	const struct module *module = module_of(r, location);
	uint32_t id = module ? symbols_lookup(sink->options.symbols, module, location->offset) : 0;
	if (!id)
		return;
	const char *name = symbols_name(sink->options.symbols, module, id);
	place->function = strtab_add_line(&sink->graph->names, name, strlen(name));
	place->offset = (uint32_t)(location->offset - symbols_get(sink->options.symbols, module, id)->start);
}

/* The instruction at an address; false: its code is not available. */
static bool instruction_at(const struct cycle_sink *sink, const struct resolved *r, uint64_t address, struct instruction *instruction)
{
	const struct location *location = resolved_locate_any(r, address);
	const struct module *module = module_of(r, location);
	struct trace_code code;
	if (!module || !sink->options.code || !sink->options.code(sink->options.code_context, module, location->offset, &code) ||
		location->offset < code.offset)
		return false;
	const struct pt_code bytes = { .bytes = code.bytes.data, .size = code.bytes.len };
	return location->offset - code.offset < bytes.size && pt_code_instruction(&bytes, location->offset - code.offset, MODE, instruction);
}

/* The type that the processor or the kernel recorded (record -j save_type); FLOW_KINDS: none. */
static enum flow_kind recorded_kind(uint64_t flags)
{
	static const struct {
		const char *type;
		enum flow_kind kind;
	} types[] = { { "CALL", FLOW_CALL }, { "IND_CALL", FLOW_CALL }, { "COND_CALL", FLOW_CALL }, { "RET", FLOW_RETURN },
		{ "COND_RET", FLOW_RETURN }, { "SYSCALL", FLOW_SYSCALL }, { "SYSRET", FLOW_RESUME }, { "COND", FLOW_JUMP }, { "UNCOND", FLOW_JUMP } };
	const char *type = branch_type_name(flags);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(type, types[i].type) == 0)
			return types[i].kind;
	return FLOW_KINDS;
}

static uint8_t kind_of(const struct cycle_sink *sink, const struct resolved *r, const struct flow_edge *edge, uint64_t flags)
{
	bool from_kernel = edge->from.address >> 63, to_kernel = edge->to.address >> 63;
	struct instruction instruction;
	if (from_kernel != to_kernel)
		return to_kernel ? FLOW_SYSCALL : FLOW_RESUME;
	enum flow_kind recorded = recorded_kind(flags);
	if (recorded != FLOW_KINDS)
		return (uint8_t)recorded;
	if (!instruction_at(sink, r, edge->from.address, &instruction))
		return edge->to.function && !edge->to.offset ? FLOW_CALL : FLOW_JUMP;
	switch (instruction.kind) {
	case INSTRUCTION_CALL:
	case INSTRUCTION_CALL_INDIRECT:
	case INSTRUCTION_FAR_CALL:
		return FLOW_CALL;
	case INSTRUCTION_RETURN:
	case INSTRUCTION_FAR_RETURN:
		return FLOW_RETURN;
	case INSTRUCTION_SYSCALL:
		return FLOW_SYSCALL;
	default: /* a jump to another function's start is a tail call, or passes a linkage table */
		return edge->to.function && !edge->to.offset && edge->to.function != edge->from.function ? FLOW_CALL : FLOW_JUMP;
	}
}

static uint32_t edge_of(struct cycle_sink *sink, const struct resolved *r, uint64_t from, uint64_t to, uint64_t flags)
{
	bool added;
	uint32_t index = flow_graph_edge(sink->graph, from, to, &added);
	if (added) {
		struct flow_edge edge = sink->graph->edges.items[index];
		set_place(sink, r, &edge.from);
		set_place(sink, r, &edge.to);
		edge.kind = kind_of(sink, r, &edge, flags);
		sink->graph->edges.items[index] = edge;
	}
	return index;
}

/* Instructions from an address up to and with the one at `last`; 0: unknown. *syscalls: how many of them, before the last one, are system
 * calls. */
static uint64_t instructions_between(const struct cycle_sink *sink, const struct resolved *r, uint64_t from, uint64_t last,
	uint64_t *syscalls)
{
	uint64_t count = 1;
	*syscalls = 0;
	struct instruction instruction;
	if (from > last || last - from > BLOCK_MAX)
		return 0;
	for (uint64_t at = from; at != last; at += instruction.size, count++) {
		if (at > last || !instruction_at(sink, r, at, &instruction) || !instruction.size)
			return 0;
		*syscalls += instruction.kind == INSTRUCTION_SYSCALL;
	}
	return count;
}

/* The code between the branch before, which led to `at`, and an edge from `last`. Returns its instructions; 0: unknown. */
static uint64_t add_block(struct cycle_sink *sink, const struct resolved *r, uint32_t edge, uint64_t at, uint64_t last)
{
	uint64_t syscalls, instructions = at ? instructions_between(sink, r, at, last, &syscalls) : 0;
	if (!instructions)
		return 0;
	flow_graph_add_instructions(sink->graph, edge, instructions);
	sink->graph->edges.items[edge].syscalls += syscalls;
	return instructions;
}

static void take_stack(struct cycle_sink *sink, const struct resolved *r)
{
	uint32_t before = FLOW_NONE;
	uint64_t at = 0, cycles = 0, entries = 0;
	for (uint64_t i = r->sample->branch_count; i-- > 0;) {
		const struct branch_entry branch = sample_branch(r->sample, i);
		if (!branch.from || !branch.to) {
			before = FLOW_NONE;
			at = 0;
			continue;
		}
		uint32_t edge = edge_of(sink, r, branch.from, branch.to, branch.flags);
		flow_graph_add(sink->graph, edge, before);
		if (branch_cycles(branch.flags))
			flow_graph_add_cycles(sink->graph, edge, (double)branch_cycles(branch.flags));
		add_block(sink, r, edge, at, branch.from);
		cycles += branch_cycles(branch.flags);
		entries++;
		before = edge;
		at = branch.to;
	}
	if (entries)
		flow_graph_add_stack(sink->graph, entries, cycles);
	sink->facts.stacks += entries > 0;
}

/* The cycles of a timed range, spread over its branches by their instructions. */
static void spread_cycles(struct cycle_sink *sink, struct queue *queue, uint64_t cycles)
{
	uint64_t all = 0;
	for (unsigned i = 0; i < queue->pending_count; i++)
		all += queue->pending[i].instructions;
	for (unsigned i = 0; i < queue->pending_count; i++)
		flow_graph_add_cycles(sink->graph, queue->pending[i].edge, (double)cycles * (double)queue->pending[i].instructions / (double)all);
	queue->pending_count = 0;
}

static void add_traced(struct cycle_sink *sink, const struct resolved *r, struct queue *queue, uint64_t from, uint64_t to)
{
	uint32_t edge = edge_of(sink, r, from, to, 0);
	flow_graph_add(sink->graph, edge, queue->before);
	uint64_t instructions = add_block(sink, r, edge, queue->at, from);
	if (queue->pending_count < PENDING_MAX)
		queue->pending[queue->pending_count++] = (struct pending){ edge, instructions ? instructions : 1 };
	queue->before = edge;
	queue->at = to;
}

static void take_branch(struct cycle_sink *sink, const struct resolved *r, const struct trace_note *note)
{
	bool per_cpu = r->evsel->attr.sample_type & SAMPLE_CPU;
	struct queue *queue = queue_of(sink, per_cpu ? (int64_t)r->sample->cpu : r->tid);
	uint64_t from = r->sample->ip, to = r->sample->addr;
	sink->facts.branches++;
	if (from && to) {
		add_traced(sink, r, queue, from, to);
	} else if (from) {
		/* an interrupt interrupts the block: it continues where tracing resumes */
		queue->ended = note->flags & TRACE_SYSCALL ? from : 0;
		if (!queue->ended && !(note->flags & TRACE_ASYNC))
			queue->before = FLOW_NONE;
	} else if (queue->ended) {
		add_traced(sink, r, queue, queue->ended, to);
		sink->graph->edges.items[queue->before].kind = FLOW_SYSCALL;
		queue->ended = 0;
	} else if (queue->before == FLOW_NONE) {
		queue->at = to;
	}
	if (!from || !to) {
		queue->held += note->cycles;
	} else if (note->cycles) {
		spread_cycles(sink, queue, queue->held + note->cycles);
		queue->held = 0;
	}
}

static void take_record(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct cycle_sink *sink = context;
	const struct sample_filter *filter = &sink->options.filter;
	char buffer[16];
	if (r->record->type == RECORD_AUXTRACE_ERROR) {
		sink->facts.errors++;
		for (size_t i = 0; i < sink->queues.count; i++) {
			sink->queues.items[i]->before = FLOW_NONE;
			sink->queues.items[i]->at = sink->queues.items[i]->ended = 0;
		}
	}
	sink->facts.switches += r->record->type == RECORD_SWITCH || r->record->type == RECORD_SWITCH_CPU_WIDE;
	if (r->record->type != RECORD_SAMPLE || !r->evsel || time_filter_drops(&filter->time, r->sample->time)
		|| !cpu_filter_has(&filter->cpus, r->sample->cpu) || (filter->tids && !number_list_has(filter->tids, r->tid))
		|| (filter->pids && !number_list_has(filter->pids, r->pid))
		|| (filter->comms && !name_list_has(filter->comms, resolved_comm(r, buffer, sizeof buffer))))
		return;
	const struct trace_note *note = trace_note_of(r);
	if (note && !r->evsel->name && r->evsel->attr.config == CONFIG_BRANCHES)
		take_branch(sink, r, note);
	else if (r->sample->branch_count)
		take_stack(sink, r);
}

struct sink cycle_sink_of(struct cycle_sink *sink)
{
	return (struct sink){ .context = sink, .record = take_record, .want_records = true, .serial = true };
}
