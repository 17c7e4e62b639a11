#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/environment.h"
#include "cmd/servers.h"
#include "cmd/trace/samples.h"
#include "live/live_session.h"
#include "os/cgroup.h"
#include "os/machine.h"

enum { WAIT_MS = 100, RING_PAGES = 1024, MONOTONIC = 1 };

struct live_run {
	struct trace_run *run;
	struct events events;
	size_t named;                        /* the first events, which -e names */
	struct str filter, warnings;
	struct live_session live;
	struct trace_samples samples;
	bool with_programs;                  /* calls are read by BPF programs, other events from rings */
	struct trace_programs programs;
	int cgroup;
	uint64_t begin_ns;                   /* with --delay; 0: calls are traced */
};

/* A condition on the id of calls, and not on this process. The shorter of two lists: of the calls that are shown, or are not. */
static void make_filter(struct live_run *live)
{
	const bool *shown = live->run->selection.shown[0];
	size_t count = 0, known = 0;
	char name[SYSCALL_NAME_SIZE];
	for (int number = 0; number < SYSCALL_NUMBERS; number++) {
		known += syscall_name(live->run->calls[0].table, number, name);
		count += shown[number];
	}
	str_printf(&live->filter, "common_pid != %d", (int)getpid());
	if (live->run->selection.all)
		return;
	bool list_shown = count <= known - count;
	const char *before = " && (";
	for (int number = 0; number < SYSCALL_NUMBERS; number++) {
		if (shown[number] != list_shown || !syscall_name(live->run->calls[0].table, number, name))
			continue;
		str_printf(&live->filter, "%sid %s %d", before, list_shown ? "==" : "!=", number);
		before = list_shown ? " || " : " && ";
	}
	if (*before == ' ' && before[4] != '(')
		str_putc(&live->filter, ')');
}

static int add_event(struct live_run *live, const char *text, struct error *err)
{
	struct event_error wrong;
	if (events_parse(&live->events, text, &wrong) == 0)
		return 0;
	return error_set(err, ERROR_UNSUPPORTED, "the event %s cannot be used: is tracefs readable?", text);
}

/* Each occurrence is an event. */
static int add_each(struct live_run *live, const char *text, struct error *err)
{
	if (add_event(live, text, err) < 0)
		return -1;
	struct event *event = &live->events.list.items[live->events.list.count - 1];
	event->terms.set |= EVENT_TERM_PERIOD;
	event->terms.period = 1;
	return 0;
}

static int add_events(struct live_run *live, struct error *err)
{
	struct trace_run *run = live->run;
	struct trace_command *o = run->options;
	struct event_words words = { .cli = run->cli, .command = &command_trace, .events = &live->events };
	VEC(struct event_word) list = { 0 };
	for (size_t i = 0; i < o->words.count; i++)
		vec_push(&list, o->words.items[i]);
	int status = event_words_take(&words, list.items, list.count);
	vec_fini(&list);
	live->named = live->events.list.count;
	if (status == 0 && run->traces_calls && (!live->with_programs || o->sampling.call_graph)) {
		size_t first = live->events.list.count;
		status = add_event(live, live->with_programs ? "raw_syscalls:sys_exit" : "raw_syscalls:sys_enter,raw_syscalls:sys_exit", err);
		make_filter(live);
		for (size_t i = first; i < live->events.list.count; i++)
			live->events.list.items[i].filter = live->filter.text;
	}
	if (status == 0 && o->faults & TRACE_FAULTS_MAJOR)
		status = add_each(live, "major-faults", err);
	if (status == 0 && o->faults & TRACE_FAULTS_MINOR)
		status = add_each(live, "minor-faults", err);
	if (status == 0 && o->sched)
		status = add_event(live, "sched:sched_stat_runtime", err);
	const struct event_word cgroup = { WORD_CGROUP, o->cgroup };
	if (status == 0 && o->cgroup)
		status = event_words_take(&words, &cgroup, 1);
	event_words_fini(&words);
	if (status > 0) {
		run->complained = true;
		run->exit_code = status;
	}
	return status ? -1 : 0;
}

static int open_live(struct live_run *live, struct error *err)
{
	struct trace_run *run = live->run;
	struct trace_command *o = run->options;
	bool copies = o->sampling.call_graph == CALL_GRAPH_DWARF || o->sampling.call_graph == CALL_GRAPH_UNWIND;
	struct image_options images = { .buildid_dir = environment_cache(run->cli, false), .living = true, .same_machine = true,
		.processes_until = INT64_MAX, .budget = run->cli->budget };
	struct target_options target = o->target;
	bool named = target.pids || target.tids || target.uid || target.cpus || target.all_cpus;
	target.command = run->command && !named;
	target.all_cpus |= !run->command && !named;
	o->sampling.freq = 1;
	o->sampling.cpu = true;
	o->sampling.address = o->faults != 0;
	o->sampling.delay_ms = o->delay_ms;
	o->sampling.use_clockid = true; /* the clock of the programs */
	o->sampling.clockid = MONOTONIC;
	o->sampling.user_callchains = !o->kernel_graph && o->sampling.call_graph != CALL_GRAPH_NONE;
	const struct live_session_options options = {
		.acquisition = {
			.measurement = { .sampling = o->sampling, .target = target, .events = &live->events, .command = run->command,
				.warnings = &live->warnings },
			.pages = o->pages ? o->pages : geteuid() == 0 ? RING_PAGES : 0, .map_timeout_ms = o->map_timeout_ms,
		},
		.session = { .budget = run->cli->budget, .images = copies ? &images : NULL },
	};
	return live_session_open(&live->live, &options, err);
}

static void open_symbols(struct live_run *live)
{
	struct cli *cli = live->run->cli;
	const struct symbols_options options = { .buildid_dir = environment_cache(cli, false), .same_machine = true, .processes_until = INT64_MAX,
		.debuginfod = servers_named(cli), .kernel_cache_dir = cli->user_cache_dir, .budget = cli->budget, .force = live->run->options->force };
	const struct evlist *evlist = session_evlist(&live->live.session);
	if (live->run->options->sampling.call_graph || live->run->options->faults)
		live->samples.symbols = symbols_new(&live->live.session.model.modules, &options);
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct attr *attr = &evlist->events.items[i].attr;
		if (attr->type != ATTR_TRACEPOINT)
			continue;
		if (!live->samples.tracepoints && tracepoints_open_live(&live->samples.tracepoints, NULL) < 0)
			return;
		tracepoints_load(live->samples.tracepoints, attr->config);
	}
}

/* Followers have no lines; raw_syscalls:sys_enter and sys_exit, if -e names them, have lines of their own and make none of calls. */
static void correct_roles(struct live_run *live)
{
	for (size_t i = 0; i < live->samples.events.count && i < live->events.list.count; i++) {
		enum sample_role *role = &live->samples.events.items[i].role;
		if (live->events.list.items[i].follower)
			*role = ROLE_SIDEBAND;
		else if (i < live->named && (*role == ROLE_ENTER || *role == ROLE_EXIT || *role == ROLE_CHAIN))
			*role = ROLE_OTHER;
	}
}

/* The measurement holds the command, which is traced from its exec on. */
static int open_programs(struct live_run *live, struct error *err)
{
	struct trace_run *run = live->run;
	const struct measurement *measurement = acquisition_measurement(live->live.acquisition);
	if (run->options->cgroup && (live->cgroup = cgroup_open(run->options->cgroup, err)) < 0)
		return -1;
	if (trace_open_programs(run, &live->programs, &measurement->target, measurement->workload.pid, live->cgroup, err) < 0)
		return run->refused = true, -1;
	live->samples.programs = &live->programs;
	return 0;
}

static void report_lost(struct live_run *live)
{
	uint64_t lost = live_session_lost(&live->live) + (live->samples.programs ? trace_programs_lost(&live->programs) : 0);
	if (lost > live->run->lost)
		trace_text_lost(&live->run->text, lost - live->run->lost);
	live->run->lost = lost;
}

/* Samples of these times have arrived. */
static void take_calls(struct live_run *live, uint64_t until)
{
	if (live->samples.programs)
		trace_programs_read(&live->programs, until, trace_take_record, live->run);
}

/* When the delay is over, events and then calls are traced: a call chain arrives before its call. */
static int wait_for_begin(struct live_run *live, struct error *err)
{
	if (!live->begin_ns)
		return WAIT_MS;
	int wait_ms = trace_wait_ms(&live->begin_ns);
	if (live->begin_ns)
		return wait_ms;
	live_session_enable(&live->live);
	return live->samples.programs && trace_programs_begin(&live->programs, err) < 0 ? -1 : wait_ms;
}

static int follow(struct live_run *live, struct error *err)
{
	const struct sink sink = trace_samples_sink(&live->samples);
	/* samples take calls, too; a call chain must arrive before its call */
	const uint64_t settled_ns = live->run->options->sampling.call_graph ? 4ull * TRACE_SETTLED_NS : TRACE_SETTLED_NS;
	int status;
	live_session_begin(&live->live, &sink);
	live->begin_ns = trace_begin_ns(live->run);
	do {
		uint32_t ready = 0;
		int wait_ms = wait_for_begin(live, err);
		status = wait_ms < 0 ? -1 : live_session_step(&live->live, wait_ms, &ready, err);
		take_calls(live, status > 0 ? clock_now_ns(MONOTONIC) - settled_ns : 0);
		report_lost(live);
		writer_flush(&live->run->out, NULL);
	} while (status > 0 && !live->run->finished && !live->run->out.failed);
	if (status >= 0 && live_session_end(&live->live, err) < 0)
		status = -1;
	take_calls(live, UINT64_MAX);
	if (live->samples.programs) {
		live->run->events = 0; /* those of the programs are counted by task */
		if (live->run->options->summary_only)
			trace_take_sums(live->run, &live->programs);
	}
	report_lost(live);
	if (status >= 0 && !live->run->finished && !live->run->out.failed)
		acquisition_wait_command(live->live.acquisition);
	const struct measurement *measurement = acquisition_measurement(live->live.acquisition);
	live->run->exit_code = trace_exit_code(live->run, &measurement->workload, measurement->signals.ended_by);
	return status < 0 ? -1 : 0;
}

static void close_run(struct live_run *live)
{
	trace_samples_close(&live->samples);
	if (live->samples.programs)
		trace_programs_close(&live->programs);
	if (live->cgroup >= 0)
		close(live->cgroup);
	symbols_free(live->samples.symbols);
	tracepoints_close(live->samples.tracepoints);
	live_session_close(&live->live);
	events_fini(&live->events);
	str_fini(&live->filter);
	str_fini(&live->warnings);
	free(live);
}

static int measure(struct trace_run *run, bool with_programs, struct error *err)
{
	struct live_run *live = memory_zero(1, sizeof *live);
	live->run = run;
	live->cgroup = -1;
	live->with_programs = with_programs;
	int status = add_events(live, err) < 0 || open_live(live, err) < 0 || (with_programs && open_programs(live, err) < 0) ? -1 : 0;
	run->opened = status == 0;
	if (status == 0) {
		if (run->refused)
			cli_warn(run->cli, "Calls are read by tracepoints, without strings: %s", run->refusal.text);
		if (live->warnings.len)
			cli_warn(run->cli, "%.*s", (int)live->warnings.len - 1, live->warnings.text);
		open_symbols(live);
		status = trace_samples_open(&live->samples, run, &live->live.session, err);
		correct_roles(live);
	}
	if (status == 0)
		status = follow(live, err);
	close_run(live);
	return status;
}

int trace_run_tracepoints(struct trace_run *run, struct error *err)
{
	const struct trace_command *o = run->options;
	/* the kernel's sums cannot be switched on */
	bool switched = o->switch_on || o->switch_off;
	bool mixed = run->traces_calls && !run->refused && !(o->print_sample && o->summary_only) && !(switched && o->summary);
	if (!mixed)
		return measure(run, false, err);
	if (measure(run, true, err) == 0)
		return 0;
	if (!run->refused)
		return -1;
	run->refusal = *err;
	memset(err, 0, sizeof *err);
	return measure(run, false, err);
}
