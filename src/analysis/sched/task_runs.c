#include "analysis/sched/task_runs.h"

#include <stdlib.h>

struct task_run_state {
	const char *comm;              /* at the start of the current run */
	bool again;
	uint64_t in, out;              /* of the run before */
	struct run_sum sum;
	VEC(uint64_t) lengths;         /* of all runs, for the median */
};

static struct task_run_state *task_at(struct task_runs *runs, uint32_t index)
{
	while (runs->tasks.count <= index)
		(void)vec_add(&runs->tasks);
	return &runs->tasks.items[index];
}

static void on_begin(void *context, uint32_t index, __attribute__((unused)) const struct turn *turn)
{
	struct task_runs *runs = context;
	const struct sched_event *event = runs->reader.event;
	bool named = event && event->kind == SCHED_SWITCH && event->change.next == runs->reader.states.tasks.items[index].tid;
	task_at(runs, index)->comm = named ? sched_event_comm(&runs->reader, event, SCHED_NEXT_COMM) : NULL;
}

static void keep_greater(uint64_t *most, uint64_t value)
{
	*most = value > *most ? value : *most;
}

static void add_to_sum(struct task_run_state *task, const struct run *run)
{
	struct run_sum *sum = &task->sum;
	uint64_t ns = run->out - run->in;
	sum->pid = run->pid;
	sum->tid = run->tid;
	sum->comm = run->comm;
	if (!sum->count || ns < sum->min_ns)
		sum->min_ns = ns;
	if (!sum->count || ns > sum->max_ns) {
		sum->max_ns = ns;
		sum->max_at = run->in;
	}
	sum->count++;
	sum->total_ns += ns;
	vec_push(&task->lengths, ns);
	if (!run->again)
		return;
	if (!sum->again || run->out_in > sum->out_in) {
		sum->out_in = run->out_in;
		sum->out_in_at = run->in;
	}
	sum->again = true;
	keep_greater(&sum->out_out, run->out_out);
	keep_greater(&sum->in_in, run->in_in);
	keep_greater(&sum->in_out, run->in_out);
}

static void on_end(void *context, uint32_t index, const struct turn *turn)
{
	struct task_runs *runs = context;
	const struct task *state = &runs->reader.states.tasks.items[index];
	const struct sched_event *event = runs->reader.event;
	struct task_run_state *task = task_at(runs, index);
	if (task_is_idle(state) || !turn->in || turn->out < turn->in || turn->run_lost || turn->inferred || turn->in < runs->options.start ||
	    turn->out > runs->options.stop)
		return;
	bool own = event && event->kind == SCHED_SWITCH && event->tid == state->tid;
	struct run run = { .in = turn->in, .out = turn->out, .cpu = turn->cpu, .tid = state->tid,
		.pid = own ? event->pid : sched_task_pid(&runs->reader, index),
		.comm = task->comm && *task->comm ? task->comm : sched_task_name(&runs->reader, index) };
	run.again = task->again && task->out <= run.in; /* a task is on one CPU at a time: else events are missing */
	if (run.again) {
		run.out_in = run.in - task->out;
		run.out_out = run.out - task->out;
		run.in_in = run.in - task->in;
		run.in_out = run.out - task->in;
	}
	task->again = true;
	task->in = run.in;
	task->out = run.out;
	if (runs->options.sums)
		add_to_sum(task, &run);
	if (runs->run)
		runs->run(runs->context, &run);
}

void task_runs_init(struct task_runs *runs, const struct task_runs_options *options)
{
	*runs = (struct task_runs){ .options = *options };
	sched_reader_init(&runs->reader, &(struct sched_analysis){ .context = runs, .kinds = 1u << SCHED_SWITCH, .turn_begins = on_begin,
		.turn_ends = on_end }, false);
}

void task_runs_fini(struct task_runs *runs)
{
	for (size_t i = 0; i < runs->tasks.count; i++)
		vec_fini(&runs->tasks.items[i].lengths);
	vec_fini(&runs->tasks);
	vec_fini(&runs->sums);
	sched_reader_fini(&runs->reader);
}

static int compare_lengths(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Thread ids that are used again: in the order of their lives. */
static int compare_sums(const void *a, const void *b)
{
	const struct run_sum *x = a, *y = b;
	return x->tid != y->tid ? (x->tid > y->tid) - (x->tid < y->tid) : (x->max_at > y->max_at) - (x->max_at < y->max_at);
}

void task_runs_finish(struct task_runs *runs)
{
	vec_clear(&runs->sums);
	for (size_t i = 0; i < runs->tasks.count; i++) {
		struct task_run_state *task = &runs->tasks.items[i];
		size_t count = task->lengths.count;
		if (!count)
			continue;
		qsort(task->lengths.items, count, sizeof *task->lengths.items, compare_lengths);
		task->sum.median_sum = task->lengths.items[(count - 1) / 2] + task->lengths.items[count / 2];
		vec_push(&runs->sums, task->sum);
	}
	if (runs->sums.count)
		qsort(runs->sums.items, runs->sums.count, sizeof *runs->sums.items, compare_sums);
}
