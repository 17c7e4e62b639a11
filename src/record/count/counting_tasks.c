#include "record/count/counting_tasks.h"

#include <stdlib.h>
#include <string.h>

/* attr.config of software events (linux/perf_event.h). */
enum { CPU_CLOCK, TASK_CLOCK, PAGE_FAULTS, CONTEXT_SWITCHES, CPU_MIGRATIONS, PAGE_FAULTS_MINOR, PAGE_FAULTS_MAJOR, SOFTWARE_EVENTS };

/* An event of its own whose counter would count what the task does in every mode. */
static bool is_countable(const struct event *event, uint32_t index)
{
	static const enum attr_flag modes[] = {
		ATTR_EXCLUDE_USER, ATTR_EXCLUDE_KERNEL, ATTR_EXCLUDE_HV, ATTR_EXCLUDE_IDLE, ATTR_EXCLUDE_HOST, ATTR_PINNED, ATTR_EXCLUSIVE,
	};
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (attr_flag(&event->attr, modes[i]))
			return false;
	return event->attr.type == ATTR_SOFTWARE && event->attr.config < SOFTWARE_EVENTS && event->leader == index && event->members < 2 &&
		!(event->terms.set & ~(uint32_t)EVENT_TERM_NAME) && !event->bpf_counter && !event->filter && !event->cgroup && !event->exclude_gh;
}

static bool choose_events(struct events *events, struct task_counts_options *chosen)
{
	bool any = false;
	for (uint32_t i = 0; i < events->list.count; i++) {
		struct event *event = &events->list.items[i];
		event->task_counted = is_countable(event, i);
		if (!event->task_counted)
			continue;
		any = true;
		chosen->faults[TASK_FAULT_ANY] |= event->attr.config == PAGE_FAULTS;
		chosen->faults[TASK_FAULT_MINOR] |= event->attr.config == PAGE_FAULTS_MINOR;
		chosen->faults[TASK_FAULT_MAJOR] |= event->attr.config == PAGE_FAULTS_MAJOR;
	}
	return any;
}

static void copy_list(const struct counting *c, struct target_options *target)
{
	enum { KERNEL_WORKER = 0x20 }; /* PF_WQ_WORKER: /proc adds what it works on to its name */
	struct target_thread *threads = memory_zero(c->by_task.list.count, sizeof *threads);
	for (size_t i = 0; i < c->by_task.list.count; i++) {
		const struct task_found *found = &c->by_task.list.items[i];
		threads[i].tid = found->tid;
		memcpy(threads[i].comm, found->comm, sizeof threads[i].comm);
		if (found->flags & KERNEL_WORKER)
			task_name(found->tgid, found->tid, threads[i].comm);
	}
	target->listed = threads;
	target->listed_count = c->by_task.list.count;
}

void counting_open_tasks(struct counting *c, const struct counting_options *options, struct target_options *target)
{
	struct task_counts_options chosen = { .follow = !options->no_inherit };
	bool plain = target->all_threads && !options->shared && !options->apart && !options->with_ids;
	if (!plain || options->all_user || options->all_kernel || !choose_events(options->events, &chosen))
		return;
	c->has_task_counts = task_counts_open(&c->by_task, &chosen, NULL) == 0;
	for (uint32_t i = 0; i < options->events->list.count && !c->has_task_counts; i++)
		options->events->list.items[i].task_counted = false;
	if (c->has_task_counts)
		copy_list(c, target);
}

void counting_leave_out_command(struct counting *c)
{
	if (c->has_task_counts && c->measurement.workload.pid)
		task_counts_leave_out(&c->by_task, c->measurement.workload.pid);
}

void counting_switch_tasks(struct counting *c, bool on)
{
	if (c->has_task_counts)
		task_counts_switch(&c->by_task, on);
}

struct count counting_task_count(const struct counting *c, size_t counter)
{
	const struct event *event = &c->measurement.events->list.items[c->measurement.counters.list.items[counter].event];
	const struct task_sum sum = task_counts_sum(&c->by_task, counting_thread(c, counter));
	const uint64_t values[SOFTWARE_EVENTS] = {
		[CPU_CLOCK] = sum.runtime_ns, [TASK_CLOCK] = sum.runtime_ns, [CONTEXT_SWITCHES] = sum.switches, [CPU_MIGRATIONS] = sum.migrations,
		[PAGE_FAULTS] = sum.faults[TASK_FAULT_ANY], [PAGE_FAULTS_MINOR] = sum.faults[TASK_FAULT_MINOR],
		[PAGE_FAULTS_MAJOR] = sum.faults[TASK_FAULT_MAJOR],
	};
	/* a counter of a task is enabled while the task runs */
	return (struct count){ values[event->attr.config], sum.runtime_ns, sum.runtime_ns };
}

void counting_close_tasks(struct counting *c)
{
	if (c->has_task_counts)
		task_counts_close(&c->by_task);
	c->has_task_counts = false;
}
