#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/trace/trace.h"
#include "os/cgroup.h"
#include "os/file.h"
#include "os/process.h"
#include "os/tracefs.h"
#include "record/acquire/signals.h"
#include "record/acquire/target.h"
#include "record/acquire/workload.h"

enum { WAIT_MS = 100, LOOKS_FOR_TARGETS = 10, CALLS_ALONE = 3 };

/* What is open while the programs run. */
struct programs_run {
	struct trace_run *run;
	struct target target;
	struct signals signals;
	struct workload workload;
	struct trace_programs programs;
	int cgroup;
	uint64_t begin_ns;                   /* CLOCK_MONOTONIC, with --delay; 0: calls are traced */
	bool ended;
};

static bool target_named(const struct target_options *target)
{
	return target->pids || target->tids || target->uid || target->cpus || target->all_cpus;
}

static int open_target(struct programs_run *live, struct error *err)
{
	struct trace_run *run = live->run;
	struct target_options target = run->options->target;
	const char *warning = NULL;
	bool named = target_named(&target);
	target.command = run->command && !named;
	target.all_cpus |= !run->command && !named;
	if (target_open(&live->target, &target, &warning, err) < 0)
		return -1;
	if (warning)
		cli_warn(run->cli, "%s", warning);
	if (run->options->cgroup && (live->cgroup = cgroup_open(run->options->cgroup, err)) < 0)
		return -1;
	return 0;
}

/* Reads the files of a command's standard streams before the command can end. */
static void name_streams(struct trace_run *run, pid_t command)
{
	for (int fd = 0; fd <= 2 && run->tasks.follows_files; fd++)
		trace_file_name(&run->tasks, command, fd);
}

/* A short list is traced at tracepoints of the calls' own: attaching to one takes the kernel 30 ms. Returns 0 where it is not possible: a
 * call has no tracepoint of its name, or its return has none. */
static size_t calls_alone(struct trace_run *run, const char *names[CALLS_ALONE])
{
	size_t count = 0;
	for (int number = 0; number < SYSCALL_NUMBERS && !run->options->summary_only; number++) {
		const struct call *call = run->selection.shown[0][number] ? trace_call_of(run, number, false) : NULL;
		char event[SYSCALL_NAME_SIZE + 16];
		uint64_t id;
		if (!call)
			continue;
		snprintf(event, sizeof event, "sys_enter_%s", call->name);
		if (count == CALLS_ALONE || strcmp(call->name, "rt_sigreturn") == 0 || tracefs_id("syscalls", event, &id, NULL) < 0)
			return 0;
		names[count++] = call->name;
	}
	return count;
}

static bool compat_runs(const struct target *target)
{
	struct process_ids pids = { 0 };
	bool found = false;
	for (size_t i = 0; target->attached && i < target->threads.count && !found; i++)
		found = process_is_32bit(target->threads.items[i].tid);
	if (target->system_wide && process_list(&pids, NULL) == 0)
		for (size_t i = 0; i < pids.list.count && !found; i++)
			found = process_is_32bit(pids.list.items[i]);
	vec_fini(&pids.list);
	return found;
}

int trace_open_programs(struct trace_run *run, struct trace_programs *programs, const struct target *target, pid_t command, int cgroup,
	struct error *err)
{
	const struct trace_command *o = run->options;
	char mount[PATH_MAX];
	bool unified = false;
	if (o->summary_mode == SUMMARY_BY_CGROUP && !cgroup_mount(mount, sizeof mount, &unified))
		return error_set(err, ERROR_UNSUPPORTED, "--summary-mode=cgroup: no cgroup file system is mounted");
	CLEANUP_FREE struct trace_rule *rules = memory_zero(2 * TRACE_NUMBERS, sizeof *rules);
	VEC(pid_t) targets = { 0 };
	if (command > 0)
		name_streams(run, command);
	VEC(pid_t) hidden = { 0 };
	trace_fill_rules(run, rules);
	for (size_t i = 0; target->attached && i < target->threads.count; i++)
		vec_push(&targets, target->threads.items[i].tid);
	vec_push(&hidden, getpid());
	for (size_t i = 0; i < o->hidden.count; i++)
		vec_push(&hidden, o->hidden.items[i]);
	bool lines = !o->summary_only && !o->summary;
	const char *calls[CALLS_ALONE];
	/* call chains are sampled at the tracepoint that all calls pass, before the programs that are attached there */
	size_t call_count = o->delay_ms || o->sampling.call_graph ? 0 : calls_alone(run, calls);
	const struct trace_programs_options options = {
		.everything = target->system_wide, .targets = targets.items, .target_count = targets.count,
		.command = target->command ? command : 0, .hidden = hidden.items, .hidden_count = hidden.count,
		.cpus = target->cpus_given ? target->cpus.list.items : NULL,
		.cpu_count = target->cpus_given ? target->cpus.list.count : 0, .cgroup = cgroup,
		.no_inherit = o->sampling.no_inherit, .sums = o->summary_only, .error_sums = o->error_summary,
		.cgroup_ids = o->summary_mode == SUMMARY_BY_CGROUP, .unified = unified,
		.failures_only = o->failures && lines, .least_ns = lines ? o->least_ns : 0, .rules = rules,
		.delayed = o->delay_ms, .calls = calls, .call_count = call_count, .compat_runs = call_count && compat_runs(target),
		.sorted = o->sort_events, .ring_bytes = o->pages * (size_t)sysconf(_SC_PAGESIZE),
	};
	int status = trace_programs_open(programs, &options, err);
	vec_fini(&targets);
	vec_fini(&hidden);
	return status;
}

static void report_lost(struct programs_run *live)
{
	uint64_t lost = trace_programs_lost(&live->programs);
	if (lost == live->run->lost)
		return;
	trace_text_lost(&live->run->text, lost - live->run->lost);
	live->run->lost = lost;
}

/* Passes on what has arrived up to this time, and writes the lines. */
static size_t take_until(struct programs_run *live, uint64_t until)
{
	size_t count = trace_programs_read(&live->programs, until, trace_take_record, live->run);
	report_lost(live);
	writer_flush(&live->run->out, NULL);
	return count;
}

static void look(struct programs_run *live, unsigned waits)
{
	if (live->signals.ended_by || live->run->finished || live->run->out.failed)
		live->ended = true;
	if (live->workload.pid && workload_ended(&live->workload))
		live->ended = true;
	if (live->target.attached && waits % LOOKS_FOR_TARGETS == 0 && !target_lives(&live->target))
		live->ended = true;
}

uint64_t trace_begin_ns(const struct trace_run *run)
{
	int delay_ms = run->options->delay_ms;
	if (delay_ms <= 0)
		return delay_ms ? UINT64_MAX : 0;
	return now_ns() + (uint64_t)delay_ms * 1000000;
}

int trace_wait_ms(uint64_t *begin_ns)
{
	uint64_t now = now_ns();
	if (*begin_ns <= now)
		return *begin_ns = 0, WAIT_MS;
	uint64_t rest_ms = (*begin_ns - now) / 1000000 + 1;
	return rest_ms < WAIT_MS ? (int)rest_ms : WAIT_MS;
}

/* Begins to trace calls when the delay is over; returns how long to wait at most. */
static int wait_for_begin(struct programs_run *live, struct error *err)
{
	if (!live->begin_ns)
		return WAIT_MS;
	int wait_ms = trace_wait_ms(&live->begin_ns);
	return !live->begin_ns && trace_programs_begin(&live->programs, err) < 0 ? -1 : wait_ms;
}

static int follow(struct programs_run *live, struct error *err)
{
	struct pollfd fds[] = {
		{ .fd = trace_programs_fd(&live->programs), .events = POLLIN },
		{ .fd = live->signals.fd, .events = POLLIN },
	};
	for (unsigned waits = 0; !live->ended; waits++) {
		int wait_ms = wait_for_begin(live, err);
		if (wait_ms < 0)
			return -1;
		trace_programs_sleep(&live->programs);
		if (poll(fds, 2, wait_ms) < 0 && errno != EINTR)
			break;
		trace_programs_wake(&live->programs);
		if (fds[1].revents)
			signals_read(&live->signals);
		take_until(live, live->run->options->sort_events ? now_ns() - TRACE_SETTLED_NS : UINT64_MAX);
		look(live, waits);
	}
	return 0;
}

static int start(struct programs_run *live, struct error *err)
{
	struct trace_run *run = live->run;
	if (open_target(live, err) < 0 || signals_open(&live->signals, false, err) < 0)
		return -1;
	if (run->command && workload_start(&live->workload, run->command, false, &live->signals, err) < 0)
		return -1;
	if (trace_open_programs(run, &live->programs, &live->target, live->workload.pid, live->cgroup, err) < 0)
		return run->refused = true, -1;
	live->begin_ns = trace_begin_ns(run);
	return run->command ? workload_run(&live->workload, err) : 0;
}

int trace_exit_code(const struct trace_run *run, const struct workload *workload, int ended_by)
{
	if (!workload->reaped || run->finished || ended_by)
		return 0;
	return WIFSIGNALED(workload->status) ? 128 + WTERMSIG(workload->status) : WEXITSTATUS(workload->status);
}

int trace_run_programs(struct trace_run *run, struct error *err)
{
	struct programs_run live = { .run = run, .cgroup = -1, .signals.fd = -1 };
	int status = start(&live, err);
	if (status == 0)
		status = follow(&live, err);
	if (status == 0) {
		if (run->finished && live.workload.pid)
			workload_stop(&live.workload);
		while (take_until(&live, UINT64_MAX) && !run->finished)
			;
		if (run->options->summary_only)
			trace_take_sums(run, &live.programs);
		uint64_t unsummed = run->options->summary_only ? trace_programs_unsummed(&live.programs) : 0;
		if (unsummed)
			cli_warn(run->cli, "%llu calls are missing in the sums: there were too many threads", (unsigned long long)unsummed);
		if (live.programs.compat_late)
			cli_warn(run->cli, "the first calls of a 32-bit program are missing; with more than %d calls after -e they are not", CALLS_ALONE);
	}
	trace_programs_close(&live.programs);
	if (live.workload.pid) {
		int ended_by = live.signals.ended_by;
		workload_stop(&live.workload);
		workload_wait(&live.workload, &live.signals);
		run->exit_code = trace_exit_code(run, &live.workload, ended_by);
	}
	signals_close(&live.signals);
	target_close(&live.target);
	if (live.cgroup >= 0)
		close(live.cgroup);
	return status;
}
