#include <stdlib.h>
#include <string.h>

#include "cmd/trace/trace.h"

const struct call *trace_call_of(struct trace_run *run, int64_t number, bool compat)
{
	return calls_get(&run->calls[compat], number);
}

static void count_line(struct trace_run *run)
{
	const struct trace_command *options = run->options;
	if (options->max_events_given && options->max_events && run->text.printed >= options->max_events)
		run->finished = true;
}

void trace_take_entry(struct trace_run *run, struct trace_task *task)
{
	task->events++;
	trace_text_enter(&run->text, task);
	count_line(run);
}

void trace_take_return(struct trace_run *run, struct trace_task *task, uint32_t number, uint64_t left, int64_t result, bool whole)
{
	struct pending_call *entry = &task->entry;
	task->events += whole ? 2 : 1;
	if (run->options->summary)
		call_sums_add(&run->sums, task->tid, number, entry->entered ? left - entry->entered : 0, result);
	trace_tasks_returned(&run->tasks, task, result);
	if (whole)
		trace_text_call(&run->text, task, left, result);
	else
		trace_text_leave(&run->text, task, left, result);
	count_line(run);
}

void trace_print_sample(struct trace_run *run, const char *event, uint64_t time, const char *comm, int pid, int tid, int cpu)
{
	writer_printf(&run->out, "%22s %10.3f ", event, (double)time / 1e6);
	writer_name(&run->out, comm, strlen(comm));
	writer_printf(&run->out, " %d/%d [%d]\n", pid, tid, cpu);
}

/* The tracepoints of which a record of the programs was made. */
static void print_samples(struct trace_run *run, const struct trace_task *task, const struct trace_call *call)
{
	if (call->kind != TRACE_LEFT)
		trace_print_sample(run, "raw_syscalls:sys_enter", call->entered, task->comm, task->tgid, task->tid, call->cpu);
	if (call->kind != TRACE_ENTERED)
		trace_print_sample(run, "raw_syscalls:sys_exit", call->left, task->comm, task->tgid, task->tid, call->cpu);
}

/* A return that BPF programs have sent. */
static void take_return(struct trace_run *run, struct trace_task *task, const struct trace_call *call)
{
	struct call_chain *chain = &task->chain;
	bool has_chain = chain->waits && chain->number == (uint32_t)call->number && chain->time >= call->entered && chain->time <= call->left;
	uint64_t before = run->text.printed;
	chain->waits = false;
	if (has_chain && chain->short_one) {
		task->entry.pending = task->entry.open = false;
		return trace_tasks_returned(&run->tasks, task, call->result);
	}
	trace_take_return(run, task, (uint32_t)call->number + (call->compat ? SYSCALL_NUMBERS : 0), call->left, call->result,
		call->kind == TRACE_WHOLE);
	if (has_chain && run->text.printed > before)
		writer_add(&run->out, str_text(&chain->lines), chain->lines.len);
}

static void take_task(struct trace_run *run, const struct trace_task_record *record)
{
	struct trace_task *task = trace_tasks_get(&run->tasks, (int32_t)record->tid, (int32_t)record->tgid);
	if (record->cgroup)
		task->cgroup = record->cgroup;
	if (record->event == TRACE_TASK_ENDED)
		return trace_tasks_end(&run->tasks, task);
	if (task->ended) { /* the id belongs to another task now */
		task->ended = task->entry.pending = false;
		task->entry.call = NULL;
	}
	trace_task_name(task, record->comm, sizeof record->comm);
	if (record->event == TRACE_TASK_FORKED)
		trace_tasks_fork(&run->tasks, (int32_t)record->parent, task);
	else if (record->event == TRACE_TASK_EXECUTED)
		trace_tasks_exec(&run->tasks, task);
}

static void take_payload(struct trace_task *task, const struct trace_call *call)
{
	const struct trace_item *item;
	const uint8_t *bytes;
	for (size_t at = 0; trace_item_next(call, &at, &item, &bytes);) {
		if (item->failed || item->argument >= CALL_ARGUMENTS || !task->entry.call)
			continue;
		bool string = task->entry.call->arguments[item->argument].kind == ARGUMENT_FILENAME;
		pending_call_add(&task->entry, item->argument, bytes, string ? strnlen((const char *)bytes, item->size) : item->size);
	}
}

void trace_take_record(void *context, const void *record, size_t size)
{
	struct trace_run *run = context;
	const struct trace_call *call = record;
	if (run->finished)
		return;
	if (call->kind == TRACE_TASK)
		return take_task(run, record);
	const struct call *known = run->switches.is_off ? NULL : trace_call_of(run, call->number, call->compat);
	if (!known)
		return;
	struct trace_task *task = trace_tasks_get(&run->tasks, (int32_t)call->tid, 0);
	bool whole = call->kind == TRACE_WHOLE;
	trace_text_begin(&run->text, call->entered ? call->entered : call->left);
	if (call->kind == TRACE_ENTERED || whole || !task->entry.open || task->entry.call != known) {
		/* of a return whose entry was not seen, or lost: no argument is known */
		pending_call_set(&task->entry, known, call->entered, (const uint64_t *)call->arguments, call->arguments_sent);
		if (call->kind == TRACE_LEFT)
			task->entry.pending = false;
	}
	take_payload(task, call);
	if (run->options->print_sample)
		print_samples(run, task, call);
	if (call->kind == TRACE_ENTERED)
		trace_take_entry(run, task);
	else
		take_return(run, task, call);
}

static void take_sum(void *context, const struct trace_sum_key *key, const struct trace_sum *from)
{
	struct trace_run *run = context;
	const struct call_sum sum = { .number = (uint32_t)key->number, .calls = from->calls, .errors = from->errors, .total_ns = from->total,
		.min_ns = from->min, .max_ns = from->max, .squares = (long double)from->squares + (long double)from->squares_carry * 0x1p64L +
		(long double)from->large_squares * 0x1p32L };
	struct trace_task *task = trace_tasks_get(&run->tasks, (int32_t)key->tid, 0);
	call_sums_merge(&run->sums, (int32_t)key->tid, &sum);
	task->events += 2 * from->calls - from->unseen + from->unfinished;
}

static void take_error(void *context, const struct trace_error_key *key, uint64_t count)
{
	struct trace_run *run = context;
	call_sums_add_error(&run->sums, (int32_t)key->of.tid, (uint32_t)key->of.number, (int)key->error, count);
}

void trace_take_sums(struct trace_run *run, struct trace_programs *programs)
{
	trace_programs_sums(programs, take_sum, take_error, run);
}

static void fill_rule(struct trace_rule *rule, const struct call *call, bool copies)
{
	*rule = (struct trace_rule){ .flags = TRACE_RULE_SHOWN, .arguments = call->described ? call->count : 0 };
	for (unsigned i = 0; copies && i < call->count; i++) {
		static const uint8_t copy[] = { TRACE_COPY_NONE, TRACE_COPY_STRING, TRACE_COPY_FIXED, TRACE_COPY_COUNTED, TRACE_COPY_STRINGS,
			TRACE_COPY_ELEMENTS };
		rule->copies[i] = copy[argument_copy_of(&call->arguments[i], &rule->sizes[i])];
		if (rule->copies[i] == TRACE_COPY_ELEMENTS)
			rule->element = call->arguments[i].typed_size;
		rule->copied |= (uint8_t)((rule->copies[i] != TRACE_COPY_NONE) << i);
	}
	if (call->flags & CALL_ENDS)
		rule->flags |= TRACE_RULE_ENDS;
}

void trace_fill_rules(struct trace_run *run, struct trace_rule *rules)
{
	for (int table = 0; table < 2; table++) {
		for (int number = 0; number < SYSCALL_NUMBERS; number++) {
			const struct call *call = run->selection.shown[table][number] ? calls_get(&run->calls[table], number) : NULL;
			if (call && table)
				rules[number].flags |= TRACE_RULE_COMPAT_SHOWN;
			if (call)
				fill_rule(&rules[table * TRACE_NUMBERS + number], call, !run->options->summary_only);
		}
	}
}
