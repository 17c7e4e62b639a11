#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/stat/stat_records.h"
#include "cmd/stat/aggregates.h"
#include "cmd/stat/busy_threads.h"
#include "cmd/stat/stat.h"

enum { HEADING_EVERY = 25, CHECKPOINT_MS_FIRST = 100, CHECKPOINT_MS_MAX = 1000 };

/* One execution of the command. */
struct execution {
	struct stat_run *run;
	struct counting counting;
	struct aggregates aggregates;
	struct counts before, now;
	struct busy_threads busy;        /* if idle threads are left out */
	VEC(struct stat_count) values;   /* of the counters of busy threads, or of all */
	unsigned printed;                /* intervals */
	struct stat_table interval;      /* of the last interval */
};

/* A recording in a pipe is the only output. */
static bool is_silent(const struct stat_run *run)
{
	return run->o->quiet || (run->records && run->recording.output.pipe);
}

static bool hides_defaults(const struct stat_run *run)
{
	return run->defaults && run->style.format == STAT_TEXT;
}

/* Without a PMU, hardware events that nobody named are one line instead of rows. */
static void take_states(struct execution *e)
{
	struct stat_run *run = e->run;
	bool any = false;
	CLEANUP_STR struct str names = { 0 };
	for (size_t i = 0; i < run->events.list.count; i++) {
		const struct event *event = &run->events.list.items[i];
		bool hardware = event->attr.type == ATTR_HARDWARE || event->attr.type == ATTR_HW_CACHE;
		run->unsupported[i] = e->counting.measurement.counters.states.items[i] == COUNTER_UNSUPPORTED;
		any |= hardware && !run->unsupported[i];
		if (run->o->verbose && run->unsupported[i])
			cli_warn(run->cli, "Warning:\n%s event is not supported by the kernel.", event->name);
	}
	for (size_t i = 0; i < run->defaults && hides_defaults(run) && !any; i++) {
		const struct event *event = &run->events.list.items[i];
		run->hidden[i] = run->unsupported[i] && (event->attr.type == ATTR_HARDWARE || event->attr.type == ATTR_HW_CACHE);
		if (run->hidden[i])
			str_printf(&names, "%s%s", names.len ? ", " : "", event->name);
	}
	if (names.len && !run->reported && !is_silent(run))
		cli_warn(run->cli, "This machine or kernel has no PMU, so these are not counted: %s", str_text(&names));
	run->reported = true;
}

/* Rows of threads without counts are not printed, and most threads of a machine are idle. */
static bool leaves_out_idle(const struct stat_run *run)
{
	if (!run->style.hide_zero || run->grain != STAT_THREAD || run->o->repeat != 1 || run->o->verbose || run->plan.list.count)
		return false;
	for (size_t i = 0; i < run->events.list.count; i++)
		if (run->unsupported[i] && !run->hidden[i])
			return false;
	return true;
}

static struct stat_count count_of(const struct execution *e, size_t i, bool since_last)
{
	const struct counters *counters = &e->counting.measurement.counters;
	const struct count *now = &e->now.list.items[i];
	struct stat_count count = {
		now->value, now->enabled, now->running, counters->states.items[counters->list.items[i].event] != COUNTER_OPENED,
	};
	/* a latency is that of all samples so far */
	bool latency = e->counting.latencies.counters.list.count && e->run->events.list.items[counters->list.items[i].event].retire_latency;
	if (since_last && e->before.list.count && !latency) {
		const struct count *before = &e->before.list.items[i];
		count.value -= before->value;
		count.enabled -= before->enabled;
		count.running -= before->running;
	}
	return count;
}

static void add_values(struct execution *e, bool since_last)
{
	const struct aggregates *a = &e->aggregates;
	bool some = leaves_out_idle(e->run);
	vec_clear(&e->values);
	if (some)
		busy_threads_begin(&e->busy, a);
	for (size_t i = 0; some && i < e->now.list.count; i++)
		if (count_of(e, i, since_last).value)
			busy_threads_mark(&e->busy, a->places.items[i].aggregate);
	if (some)
		busy_threads_number(&e->busy, a);
	else
		vec_reserve(&e->values, e->now.list.count);
	for (size_t i = 0; i < e->now.list.count; i++)
		if (!some || busy_threads_place(&e->busy, &a->places.items[i]))
			vec_push(&e->values, count_of(e, i, since_last));
}

static void collect(struct execution *e, bool since_last)
{
	struct counts swapped = e->before;
	vec_clear(&e->now.list);
	counting_read(&e->counting, &e->now);
	if (e->run->records && (since_last || !e->run->o->interval_ms))
		stat_recording_add(&e->run->recording, &e->counting, &e->now);
	add_values(e, since_last);
	if (!since_last)
		return;
	e->before = e->now;
	e->now = swapped;
}

static void fill(struct execution *e, struct stat_table *table)
{
	struct stat_run *run = e->run;
	const struct aggregates *a = &e->aggregates;
	bool some = leaves_out_idle(run);
	table->strict = run->grain != STAT_ALL && run->grain != STAT_THREAD;
	table->skip_zero = run->style.hide_zero;
	table->keeps = run->style.robust;
	table->merged = run->merged;
	table->last = run->grain != STAT_ALL || table == &e->interval;
	run->style.labels = some ? e->busy.labels.items : a->labels.items;
	run->style.tids = some ? e->busy.tids.items : a->tids.items;
	stat_table_fill(table, &run->events, run->unsupported, (uint32_t)(some ? e->busy.labels.count : a->labels.count),
		some ? e->busy.places.items : a->places.items, e->values.items, e->values.count, run->o->scale);
	if (a->cores.count == a->labels.count)
		stat_table_percore(table, a->cores.items);
}

static void print_interval(struct execution *e)
{
	struct stat_run *run = e->run;
	struct stat_table *table = &e->interval;
	collect(e, true);
	if (leaves_out_idle(run)) /* the rows are of other threads each time */
		stat_table_fini(table), *table = (struct stat_table){ 0 };
	fill(e, table);
	stat_table_metrics(table, run->o->interval_ms * 1e6);
	uint64_t passed = now_ns() - e->counting.start_ns;
	if (run->records) {
		stat_recording_round(&run->recording, STAT_ROUND_INTERVAL, passed);
		stat_recording_flush(&run->recording);
	}
	if (is_silent(run))
		return;
	if (run->o->interval_clear && run->fd == STDERR_FILENO && run->cli->tty_err)
		writer_add_styled(&run->out, "\033[H\033[2J", 7);
	if (e->printed++ % HEADING_EVERY == 0 || run->o->interval_clear)
		stat_print_heading(table, &run->style, &run->out);
	stat_print(table, &run->style, passed, "", &run->out);
	writer_flush(&run->out, NULL);
}

static void switch_events(struct execution *e, bool on, const char *name)
{
	struct measurement *m = &e->counting.measurement;
	if (!*name)
		counting_switch(&e->counting, on);
	for (uint32_t i = 0; *name && i < m->events->list.count; i++)
		if (strcmp(m->events->list.items[i].name, name) == 0)
			counting_switch_event(&e->counting, i, on);
	if (e->run->o->interval_ms)
		print_interval(e);
}

static void take_command(void *context, const char *line)
{
	struct execution *e = context;
	const char *rest;
	bool known = true;
	if (control_is(line, "enable", &rest))
		switch_events(e, true, rest);
	else if (control_is(line, "disable", &rest))
		switch_events(e, false, rest);
	else if (control_is(line, "evlist", &rest))
		for (size_t i = 0; i < e->run->events.list.count; i++)
			cli_warn(e->run->cli, "%s", e->run->events.list.items[i].name);
	else /* as in perf, "stop" is acknowledged and changes nothing */
		known = strcmp(line, "ping") == 0 || strcmp(line, "stop") == 0;
	if (known)
		control_acknowledge(e->run->control.acknowledge);
}

/* Waits until the time or the end, and executes the commands that arrive. */
static void wait_until(struct execution *e, uint64_t until_ns)
{
	struct stat_run *run = e->run;
	for (;;) {
		uint64_t now = now_ns();
		int left = until_ns == UINT64_MAX ? -1 : until_ns > now ? (int)((until_ns - now + 999999) / 1000000) : 0;
		if (left == 0 || counting_ended(&e->counting))
			return;
		if (counting_wait(&e->counting, left) && control_read(run->control.fd, &run->control_line, take_command, e) < 0)
			measurement_unwatch(&e->counting.measurement, run->control.fd);
	}
}

/* Prints each interval at its time, until the end or as often as was asked for. */
static void wait_intervals(struct execution *e)
{
	const struct stat_options *o = e->run->o;
	uint64_t step = (uint64_t)o->interval_ms * 1000000, due = e->counting.start_ns + step;
	for (int times = 0; !counting_ended(&e->counting) && (o->interval_count <= 0 || times < o->interval_count); times++) {
		wait_until(e, due);
		if (counting_ended(&e->counting))
			break;
		print_interval(e);
		due += step;
	}
}

/* Waits until the time or the end; a recording has the counts up to now at growing steps. */
static void wait_recording(struct execution *e, uint64_t until_ns)
{
	uint64_t step = CHECKPOINT_MS_FIRST * 1000000ull, due = now_ns() + step;
	while (e->run->records && !counting_ended(&e->counting) && due < until_ns) {
		wait_until(e, due);
		if (counting_ended(&e->counting))
			return;
		vec_clear(&e->now.list);
		counting_read(&e->counting, &e->now);
		stat_recording_checkpoint(&e->run->recording, &e->counting, &e->now, now_ns() - e->counting.start_ns);
		step = step < CHECKPOINT_MS_MAX * 1000000ull ? 2 * step : step;
		due = now_ns() + step;
	}
	wait_until(e, until_ns);
}

static void print_verbose(const struct execution *e)
{
	for (size_t i = 0; i < e->run->events.list.count && e->run->o->verbose; i++) {
		struct stat_count sum = { 0 };
		for (size_t k = 0; k < e->values.count; k++) {
			if (e->counting.measurement.counters.list.items[k].event != i)
				continue;
			sum.value += e->values.items[k].value;
			sum.enabled += e->values.items[k].enabled;
			sum.running += e->values.items[k].running;
		}
		if (e->run->unsupported[i])
			cli_warn(e->run->cli, "failed to read counter %s", e->run->events.list.items[i].name);
		else
			cli_warn(e->run->cli, "%s: %llu %llu %llu", e->run->events.list.items[i].name, (unsigned long long)sum.value,
				(unsigned long long)sum.enabled, (unsigned long long)sum.running);
	}
}

static void take_end(struct execution *e, struct stat_table *table)
{
	struct stat_run *run = e->run;
	struct counting *c = &e->counting;
	bool stopped_early = run->o->interval_ms && run->o->interval_count > 0 && !counting_ended(c);
	bool asked = run->o->timeout_ms && !counting_ended(c);
	if (!(stopped_early && run->command))
		counting_end(c, asked || c->measurement.signals.ended_by != 0);
	else { /* the command goes on to its end, uncounted by lines */
		wait_until(e, UINT64_MAX);
		counting_end(c, c->measurement.signals.ended_by != 0);
	}
	if (run->o->interval_ms && !stopped_early)
		print_interval(e);
	collect(e, false);
	print_verbose(e);
	if (counting_lost(c))
		cli_warn(run->cli, "%llu threads began that are not counted: the list of the BPF programs is full", (unsigned long long)counting_lost(c));
	uint64_t unsure_ns, missed = counting_missed(c, &unsure_ns);
	if (missed)
		cli_warn(run->cli, "the kernel did not report %llu switches between threads: the counts of %.1f ms may be those of other threads",
			(unsigned long long)missed, (double)unsure_ns / 1e6);
	if (c->latencies.counters.rings.count && run->style.format == STAT_TEXT && !run->o->quiet) /* scripts look for its first words */
		cli_warn(run->cli, "[ perf record: Captured %llu samples of retire latencies ]", (unsigned long long)latencies_samples(&c->latencies));
	fill(e, table);
	double elapsed = (double)(c->end_ns - c->start_ns);
	stat_spread_add(&run->elapsed_ns, elapsed);
	vec_push(&run->elapsed_list, elapsed);
	run->user_ns = c->user_ns;
	run->system_ns = c->system_ns;
	run->status = c->measurement.workload.reaped ? c->measurement.workload.status : 0;
	run->signal = c->measurement.signals.ended_by;
	if (WIFSIGNALED(run->status) && !run->signal)
		cli_warn(run->cli, "%s: %s", run->command[0], strsignal(WTERMSIG(run->status)));
}

static bool any_percore(const struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].terms.set & EVENT_TERM_PERCORE)
			return true;
	return false;
}

static void make_aggregates(struct execution *e)
{
	const struct measurement *m = &e->counting.measurement;
	VEC(struct stat_counter) counters = { 0 };
	VEC(struct aggregate_thread) threads = { 0 };
	vec_reserve(&counters, m->counters.list.count);
	for (size_t i = 0; i < m->counters.list.count; i++) {
		const struct counter *counter = &m->counters.list.items[i];
		const uint32_t event = e->run->merged[counter->event];
		vec_push(&counters, ((struct stat_counter){ event, counter->cpu, counting_thread(&e->counting, i) }));
	}
	for (size_t i = 0; i < m->target.threads.count; i++)
		vec_push(&threads, ((struct aggregate_thread){ m->target.threads.items[i].tid, m->target.threads.items[i].comm }));
	const struct aggregates_input input = {
		.counters = counters.items, .count = counters.count, .threads = threads.items, .thread_count = threads.count,
		.grain = e->run->grain, .cache_level = e->run->o->cache_level, .cores = any_percore(&e->run->events),
	};
	aggregates_make(&e->aggregates, &input);
	vec_fini(&counters);
	vec_fini(&threads);
}

static int begin_recording(struct execution *e, struct error *err)
{
	static const enum stat_aggregation aggregations[] = {
		[STAT_ALL] = STAT_BY_NOTHING, [STAT_CPU] = STAT_BY_CPU, [STAT_CORE] = STAT_BY_CORE, [STAT_CLUSTER] = STAT_BY_CLUSTER,
		[STAT_CACHE] = STAT_BY_CACHE, [STAT_DIE] = STAT_BY_DIE, [STAT_SOCKET] = STAT_BY_SOCKET, [STAT_NODE] = STAT_BY_NODE,
		[STAT_THREAD] = STAT_BY_THREAD,
	};
	const struct stat_options *o = e->run->o;
	const struct stat_recording_options options = {
		.aggregation = aggregations[e->run->grain], .interval_ms = (int)o->interval_ms, .scale = o->scale,
		.cache_level = o->cache_level ? o->cache_level : STAT_CACHE_LEVEL_MAX + 1,
	};
	return stat_recording_begin(&e->run->recording, &e->counting, &options, err);
}

static int refuse_target(const struct stat_run *run, const struct error *err)
{
	const struct target_options *target = &run->o->target;
	if (err->sys == ESRCH && target->pids) {
		cli_warn(run->cli, "Problems finding threads of monitor: %s", target->pids);
		return EXIT_INVALID;
	}
	cli_complain(run->cli, err);
	if (target->cpus && err->kind == ERROR_USAGE) /* what newer versions of perf say of CPUs that are not online */
		cli_warn(run->cli, "No supported events found.");
	return err->kind == ERROR_OPTION && target->tids ? EXIT_INVALID : EXIT_FAILED;
}

/* Once for all runs. */
static void print_warnings(struct stat_run *run, const struct str *warnings)
{
	static const char heading[] = "Warning:\n";
	const char *text = str_text(warnings);
	bool headed = strncmp(text, heading, sizeof heading - 1) == 0;
	if (*text && !run->reported) /* perf prints it without the heading of its other commands */
		cli_warn(run->cli, "%.*s", (int)strcspn(text + (headed ? sizeof heading - 1 : 0), "\n"), text + (headed ? sizeof heading - 1 : 0));
}

static int execute(struct execution *e, struct stat_table *table)
{
	struct stat_run *run = e->run;
	struct stat_options *o = run->o;
	struct error err = { 0 };
	struct target_options target = o->target;
	CLEANUP_STR struct str warnings = { 0 };
	target.all_threads = target.per_thread && (target.all_cpus || target.cpus);
	const struct counting_options options = {
		.target = target, .events = &run->events,
		.command = run->command, .no_inherit = o->no_inherit, .all_user = o->all_user, .all_kernel = o->all_kernel,
		.delay_ms = o->delay_ms, .latencies = o->record_latencies, .latency_choice = o->latency_choice,
		.warnings = &warnings, .with_ids = run->records,
		.apart = run->records || run->control.fd >= 0,
		.shared = o->bpf_counters || run->programs.count, .registry = o->bpf_map,
		.programs = run->programs.items, .program_count = run->programs.count,
		.command_to_stderr = run->records && run->recording.output.pipe,
	};
	int opened = counting_open(&e->counting, &options, &err);
	print_warnings(run, &warnings);
	if (opened < 0) {
		return refuse_target(run, &err);
	}
	take_states(e);
	make_aggregates(e);
	if (run->records && begin_recording(e, &err) < 0) {
		cli_complain(run->cli, &err);
		return EXIT_FAILED;
	}
	run->style.cores = o->percore_threads ? NULL : e->aggregates.cores.items;
	run->style.core_labels = e->aggregates.core_labels.items;
	if (o->delay_ms)
		cli_warn(run->cli, "Events disabled");
	if (run->control.fd >= 0) /* a descriptor that cannot be waited for gives no commands, as in perf */
		measurement_watch(&e->counting.measurement, run->control.fd, 0, NULL);
	if (counting_start(&e->counting, &err) < 0) {
		cli_warn(run->cli, "Workload failed: %s", err.sys ? strerror(err.sys) : err.text);
		return EXIT_FAILED;
	}
	if (o->delay_ms > 0)
		cli_warn(run->cli, "Events enabled");
	if (o->interval_ms)
		wait_intervals(e);
	else
		wait_recording(e, o->timeout_ms ? e->counting.start_ns + (uint64_t)o->timeout_ms * 1000000 : UINT64_MAX);
	take_end(e, table);
	return 0;
}

/* Once, after the last run. */
static void finish_table(struct stat_run *run, struct stat_table *table)
{
	double wall_ns = run->elapsed_ns.mean;
	if (run->style.robust) {
		struct stat_robust unused;
		wall_ns = stat_robust_of(run->elapsed_list.items, run->elapsed_list.count, &unused);
		stat_table_robust(table);
	}
	stat_table_metrics(table, wall_ns);
}

/* The labels of the aggregates are needed until the table is printed. */
static void print_end(struct execution *e, struct stat_table *table, bool last)
{
	struct stat_run *run = e->run;
	const struct stat_options *o = run->o;
	CLEANUP_STR struct str prefix = { 0 };
	if (last)
		finish_table(run, table);
	if (!last || is_silent(run) || (o->interval_ms && !o->summary))
		return;
	if (o->summary && !o->no_csv_summary)
		str_printf(&prefix, "%s%s", "summary", run->style.separator ? run->style.separator : "");
	stat_output_counts(run, table, str_text(&prefix), !o->interval_ms);
}

int stat_run_once(struct stat_run *run, struct stat_table *table)
{
	struct execution e = { .run = run };
	int status = execute(&e, table);
	bool last = status == 0 && (run->signal || (run->o->repeat > 0 && (int)run->elapsed_ns.runs >= run->o->repeat));
	if (run->o->repeat == 0 && status == 0) {
		run->style.repeated = false;
		last = true;
	}
	print_end(&e, table, last);
	aggregates_fini(&e.aggregates);
	vec_fini(&e.before.list);
	vec_fini(&e.now.list);
	vec_fini(&e.values);
	stat_table_fini(&e.interval);
	busy_threads_fini(&e.busy);
	if (run->o->repeat != 1) {
		counters_close(&run->kept);
		run->kept = e.counting.measurement.counters;
		e.counting.measurement.counters = (struct counters){ 0 };
	}
	counting_close(&e.counting);
	return status;
}
