/* Context switches by instruction. The record of a switch has a time, which is too coarse for a trace: the thread changes where the kernel
 * enters __switch_to. The one that comes first waits for the other one. The states are perf's, so that samples have the same thread. */
#include "model/module.h"
#include "session/trace_internal.h"

enum { HAVE_CPU_WIDE_RECORDS = 3 };

static uint64_t kernel_symbol(const struct trace *trace, const struct model *model, uint64_t clock, const char *name)
{
	for (size_t i = 0; i < model->modules.list.count; i++) {
		const struct module *kernel = model->modules.list.items[i];
		uint64_t offset;
		if (kernel->kind != MODULE_KERNEL || kernel->guest || !trace->options.symbol(trace->options.symbol_context, kernel, name, &offset))
			continue;
		const struct map *map = map_find(model_kernel_root(model, clock), kernel->start);
		uint64_t ip = map ? map->start + offset - map_offset(map, map->start) : 0;
		return map && ip >= map->start && ip < map->end ? ip : 0;
	}
	return 0;
}

void trace_switches_begin(struct trace *trace, const struct model *model, uint64_t clock)
{
	if (!trace->options.symbol || !trace->kernel_traced || !trace->info.per_cpu || trace->timeless ||
		trace->info.have_switches != HAVE_CPU_WIDE_RECORDS)
		return;
	trace->switch_ip = kernel_symbol(trace, model, clock, "__switch_to");
	trace->out_ip = kernel_symbol(trace, model, clock, "__perf_event_task_sched_out");
	for (size_t i = 0; i < trace->queues.count && trace->switch_ip; i++) {
		struct trace_queue *queue = trace->queues.items[i];
		queue->switches = true;
		queue->switching = SWITCH_UNKNOWN;
		queue->next.tid = -1;
	}
}

void trace_switches_end(struct trace *trace)
{
	for (size_t i = 0; i < trace->queues.count; i++) {
		struct trace_queue *queue = trace->queues.items[i];
		if (queue->waits)
			trace_heap_add(&trace->heap, queue);
		queue->waits = false;
	}
}

static bool is_switch(const struct trace_queue *queue, uint32_t flags)
{
	return queue->event.to && queue->event.to == queue->trace->switch_ip &&
		!(flags & (TRACE_CONDITIONAL | TRACE_ASYNC | TRACE_INTERRUPT | TRACE_ABORT));
}

static void run_next(struct trace_queue *queue)
{
	if (queue->next.tid != -1)
		trace_set_running(queue->trace, queue->cpu, queue->next);
	queue->next.tid = -1;
}

bool trace_switch_branch(struct trace_queue *queue, uint32_t flags)
{
	if (is_switch(queue, flags)) {
		if (queue->switching == SWITCH_RUNS || queue->switching == SWITCH_NEEDS_RECORD) {
			queue->switching = SWITCH_NEEDS_RECORD;
			return true;
		}
		run_next(queue);
		queue->switching = SWITCH_RUNS;
	} else if (!queue->event.to) {
		queue->switching = SWITCH_UNTRACED;
	} else if (queue->switching == SWITCH_UNTRACED) {
		queue->switching = SWITCH_UNKNOWN;
	} else if (queue->switching == SWITCH_UNKNOWN && queue->event.to == queue->trace->out_ip && flags & TRACE_CALL) {
		queue->switching = SWITCH_RUNS;
	}
	return false;
}

void trace_switch_lost(struct trace_queue *queue)
{
	queue->switches = false;
	run_next(queue);
}

bool trace_switch_is_blind(const struct trace_queue *queue, uint32_t flags)
{
	return queue->switches && queue->switching == SWITCH_UNKNOWN && queue->next.tid == -1 && is_switch(queue, flags);
}

static struct trace_queue *queue_of_cpu(const struct trace *trace, int32_t cpu)
{
	for (size_t i = 0; i < trace->queues.count; i++)
		if (trace->queues.items[i]->cpu == cpu && trace->queues.items[i]->switches)
			return trace->queues.items[i];
	return NULL;
}

void trace_switch_out(struct trace *trace, int32_t cpu, struct running next, uint64_t ticks)
{
	struct trace_queue *queue = queue_of_cpu(trace, cpu);
	if (queue && (queue->switching == SWITCH_UNKNOWN || queue->switching == SWITCH_RUNS)) {
		queue->next = next;
		queue->switching = SWITCH_NEEDS_INSTRUCTION;
		return;
	}
	if (queue && queue->switching == SWITCH_NEEDS_RECORD) {
		if (queue->waits) {
			queue->ticks = ticks;
			queue->waits = false;
			trace_heap_add(&trace->heap, queue);
		}
		queue->switching = SWITCH_RUNS;
	}
	if (queue)
		queue->next.tid = -1;
	trace_set_running(trace, cpu, next);
}

void trace_switch_in(struct trace *trace, int32_t cpu, struct running now)
{
	struct trace_queue *queue = queue_of_cpu(trace, cpu);
	if (queue) {
		queue->next.tid = -1;
		if (queue->switching == SWITCH_NEEDS_RECORD || queue->switching == SWITCH_NEEDS_INSTRUCTION)
			queue->switching = SWITCH_RUNS;
	}
	trace_set_running(trace, cpu, now);
}
