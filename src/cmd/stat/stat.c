#include "analysis/stat/stat_records.h"
#include "cmd/clock_remark.h"
#include "cmd/iostat.h"
#include "cmd/stat/cgroups.h"
#include "cmd/stat/stat.h"
#include "os/cpus.h"
#include "os/file.h"
#include "os/process.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/event_files.h"
#include "cmd/stat/metrics.h"
#include "event/event_pfm.h"

extern const struct command command_stat;


enum { INTERVAL_MS_SMALL = 100, TIMEOUT_MS_MIN = 10 };

static int usage_about(const struct cli *cli, const char *option, const char *text)
{
	struct error err = { .kind = ERROR_OPTION };
	snprintf(err.hint, sizeof err.hint, "%s%s", option[1] ? "--" : "", option);
	if (text)
		cli_warn(cli, "%s", text);
	cli_usage(cli, &command_stat, &err);
	return EXIT_INVALID;
}

static bool is_core(struct stat_run *run, const struct event *event)
{
	struct pmu *pmu = event->pmu ? pmus_named(&run->events.pmus, event->pmu) : NULL;
	return pmu && pmu->core;
}

/* --cputype: drops the events from `first` on that count on another kind of cores. Groups have events of one PMU. */
static void drop_other_cores(struct stat_run *run, size_t first)
{
	struct events *events = &run->events;
	size_t to = first;
	for (size_t i = first; i < events->list.count; i++) {
		struct event event = events->list.items[i];
		if (is_core(run, &event) && strcmp(event.pmu, run->cpu_type) != 0)
			continue;
		event.leader -= (uint32_t)(i - to);
		events->list.items[to++] = event;
	}
	events->list.count = to;
}

static int parse_events(struct stat_run *run, const char *text)
{
	struct event_error why;
	struct writer out;
	size_t first = run->events.list.count;
	run->events.counts = true;
	event_files_set(run->cli, &run->events.pmus);
	int status = events_parse(&run->events, text, &why);
	event_files_remarks(run->cli, &run->events.pmus);
	if (status == 0) {
		if (run->cpu_type)
			drop_other_cores(run, first);
		return 0;
	}
	writer_open(&out, -1, 0);
	event_error_print(&why, &out);
	cli_warn(run->cli, "%.*s", (int)out.len - 1, out.buffer);
	writer_fini(&out);
	usage_about(run->cli, "e", NULL);
	return EXIT_USAGE;
}

static int add_filter(struct stat_run *run, const char *text)
{
	size_t count = run->events.list.count;
	for (size_t i = run->first_of_last; i < count; i++) {
		if (run->events.list.items[i].attr.type != ATTR_TRACEPOINT || run->events.list.items[i].filter) {
			count = 0;
			break;
		}
		run->events.list.items[i].filter = text;
	}
	if (count)
		return 0;
	usage_about(run->cli, "filter", "--filter option should follow a -e tracepoint or HW tracer option");
	return EXIT_USAGE;
}

/* A list gives each event its cgroup in turn; one name is meant for all. */
static int add_cgroups(struct stat_run *run, const char *text)
{
	struct error err;
	size_t count = run->events.list.count;
	bool single = !strchr(text, ',');
	if (!count) {
		usage_about(run->cli, "cgroup", "must define events before cgroups");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(text, ",");
		const char *name = arena_string(&run->events.arena, text, length);
		if (length && event_set_cgroup(&run->events, i, name, &err) < 0)
			return cli_complain(run->cli, &err), EXIT_USAGE;
		if (!single && !text[length])
			break;
		text += single ? 0 : length + 1;
	}
	return 0;
}

static int take_words(struct stat_run *run, bool cgroups)
{
	struct error err;
	for (size_t i = 0; i < run->o->words.count; i++) {
		const struct stat_word *word = &run->o->words.items[i];
		int status = 0;
		if (word->kind == STAT_WORD_EVENT) {
			run->first_of_last = run->events.list.count;
			status = parse_events(run, word->text);
		} else if (word->kind == STAT_WORD_FILTER) {
			status = add_filter(run, word->text);
		} else if (word->kind == STAT_WORD_PFM) {
			run->first_of_last = run->events.list.count;
			status = events_parse_pfm(&run->events, word->text, &err) < 0 ? cli_complain(run->cli, &err), EXIT_USAGE : 0;
		} else if (word->kind == STAT_WORD_CGROUP && cgroups) {
			status = add_cgroups(run, word->text);
		}
		if (status)
			return status;
	}
	return 0;
}

#define CPU_EVENTS "/sys/bus/event_source/devices/cpu/events/"
static const char *const stalls[2] = { "stalled-cycles-frontend", "stalled-cycles-backend" };
static const char *const stall_files[2] = { CPU_EVENTS "stalled-cycles-frontend", CPU_EVENTS "stalled-cycles-backend" };

/* What perf counts if nobody names an event, and what -d adds. */
static int add_defaults(struct stat_run *run, size_t first)
{
	static const char *const detailed[] = {
		"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
		"L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
		"L1-dcache-prefetches,L1-dcache-prefetch-misses",
	};
	bool named = run->events.list.count > first;
	int status = 0;
	if (!named)
		status = parse_events(run, run->system_wide ? "cpu-clock" : "task-clock");
	if (!named && !status)
		status = parse_events(run, "context-switches,cpu-migrations,page-faults,cycles");
	for (int i = 0; i < 2 && !named && !status; i++)
		status = file_exists(stall_files[i]) ? parse_events(run, stalls[i]) : 0;
	if (!named && !status)
		status = parse_events(run, "instructions,branches,branch-misses");
	for (int i = 0; i < run->o->detail && i < 3 && !status; i++)
		status = parse_events(run, detailed[i]);
	run->defaults = named ? 0 : run->events.list.count;
	return status;
}

/* The events of the user, or the default ones, from `first` on. */
static int take_events(struct stat_run *run, size_t first, bool cgroups)
{
	int status = take_words(run, cgroups);
	if (!status)
		status = stat_metrics_take(run);
	return status || run->o->null_run ? status : add_defaults(run, first);
}

static int take_cgroup(struct stat_run *run, const char *name)
{
	struct error err;
	size_t first = run->events.list.count;
	int status = take_events(run, first, false);
	for (size_t i = first; !status && i < run->events.list.count; i++)
		if (event_set_cgroup(&run->events, i, name, &err) < 0)
			return cli_complain(run->cli, &err), EXIT_INVALID;
	return status;
}

static int take_each_cgroup(struct stat_run *run)
{
	struct error err;
	struct cgroup_names names = { 0 };
	int status = 0;
	if (cgroup_names_find(&names, &run->events.arena, run->o->each_cgroup, &err) < 0) {
		cli_complain(run->cli, &err);
		status = EXIT_INVALID;
	}
	for (size_t i = 0; i < names.list.count && !status; i++)
		status = take_cgroup(run, names.list.items[i]);
	vec_fini(&names.list);
	return status;
}

/* Of several grains perf takes the finest, whatever their order. */
enum stat_grain stat_grain_of(const struct stat_report_options *o)
{
	const struct {
		bool given;
		enum stat_grain grain;
	} rows[] = {
		{ o->per_node, STAT_NODE }, { o->per_socket, STAT_SOCKET }, { o->per_die, STAT_DIE }, { o->per_cluster, STAT_CLUSTER },
		{ o->per_cache, STAT_CACHE }, { o->per_core, STAT_CORE }, { o->per_thread, STAT_THREAD }, { o->no_aggregation, STAT_CPU },
	};
	enum stat_grain grain = STAT_ALL;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].given)
			grain = rows[i].grain;
	return grain;
}

static int take_grain(struct stat_run *run)
{
	const struct stat_options *o = run->o;
	const struct stat_report_options rows = {
		.no_aggregation = o->no_aggregation, .per_core = o->per_core, .per_cluster = o->per_cluster, .per_cache = o->per_cache,
		.per_die = o->per_die, .per_socket = o->per_socket, .per_node = o->per_node, .per_thread = o->target.per_thread,
	};
	run->grain = stat_grain_of(&rows);
	bool attached = o->target.pids || o->target.tids;
	if (o->target.per_thread && !attached && (!run->system_wide || o->target.cpus)) {
		cli_warn(run->cli, "The --per-thread option is only available when monitoring via -p -t -a options or only --per-thread.\n"
			"    -p, --pid <pid>       count running processes\n    -t, --tid <tid>       count running threads");
		return EXIT_INVALID;
	}
	if ((run->grain != STAT_ALL && run->grain != STAT_THREAD && !run->system_wide) || (o->each_cgroup && !run->system_wide))
		return usage_about(run->cli, "all-cpus", "both cgroup and no-aggregation modes only available in system-wide mode");
	return 0;
}

/* As perf names them: a PMU, or the kind of cores without "cpu_". */
static int find_cpu_type(struct stat_run *run)
{
	const char *asked = run->o->cpu_type;
	struct pmus *pmus = &run->events.pmus;
	pmus_read(pmus);
	for (size_t i = 0; i < pmus->list.count && !run->cpu_type; i++) {
		const char *name = pmus->list.items[i]->name;
		bool same = strcmp(name, asked) == 0 || (strncmp(name, "cpu_", 4) == 0 && strcmp(name + 4, asked) == 0) ||
			(strncmp(name, "uncore_", 7) == 0 && strcmp(name + 7, asked) == 0);
		run->cpu_type = same ? name : NULL;
	}
	if (run->cpu_type)
		return 0;
	char text[128];
	snprintf(text, sizeof text, "--cputype %.64s is not supported!", asked);
	usage_about(run->cli, "cputype", text);
	return EXIT_USAGE;
}

/* Options that need hardware which this machine may lack. */
static int check_machine(struct stat_run *run)
{
	const struct stat_options *o = run->o;
	struct error err;
	if (o->iostat) { /* see count_ports */
		usage_about(run->cli, "iostat", "Unsupported uncore pmu configuration");
		return EXIT_USAGE;
	}
	if (o->control && control_open(&run->control, o->control, &err) < 0) {
		usage_about(run->cli, "control", err.text);
		return EXIT_USAGE;
	}
	return o->cpu_type ? find_cpu_type(run) : 0;
}

static int check_times(const struct stat_run *run)
{
	const struct stat_options *o = run->o;
	if (o->repeat < 0)
		return usage_about(run->cli, "r", "Run count must be a positive number");
	if (o->interval_count && !o->interval_ms)
		return usage_about(run->cli, "interval-count", "interval-count option should be used together with interval-print.");
	if (o->timeout_ms && o->timeout_ms < TIMEOUT_MS_MIN)
		return usage_about(run->cli, "timeout", "timeout must be >= 10ms.");
	if (o->timeout_ms && o->interval_ms)
		return usage_about(run->cli, "timeout", "timeout option is not supported with interval-print.");
	if (o->timeout_ms && o->timeout_ms < INTERVAL_MS_SMALL)
		cli_warn(run->cli, "timeout < 100ms. The overhead percentage could be high in some cases. Please proceed with caution.");
	if (o->table && o->repeat <= 1)
		return usage_about(run->cli, "table", "--table is only supported with -r");
	if (o->robust && o->repeat <= 1)
		return usage_about(run->cli, "stats", "--stats is only supported with -r");
	if (o->repeat != 1 && !run->command)
		return usage_about(run->cli, "r", "-r needs a command");
	return 0;
}

static int check_cpus(const struct stat_run *run)
{
	struct error err;
	struct cpus cpus = { 0 };
	int status = run->o->target.cpus ? cpus_parse(&cpus, run->o->target.cpus, &err) : 0;
	cpus_fini(&cpus);
	return status < 0 ? usage_about(run->cli, "C", err.text) : 0;
}

/* Options whose order perf refuses while it reads them. */
static int check_order(const struct stat_run *run)
{
	if (run->o->cgroup_late)
		usage_about(run->cli, "cgroup", "--cgroup and --for-each-cgroup cannot be used together");
	else if (run->o->cpu_type_late)
		usage_about(run->cli, "cputype", "Must define cputype before events/metrics");
	return run->o->cgroup_late || run->o->cpu_type_late ? EXIT_USAGE : 0;
}

/* -b: these programs are the target, wherever they run. */
static int take_programs(struct stat_run *run)
{
	struct target_options *target = &run->o->target;
	if (target->cpus || target->pids || target->tids)
		cli_warn(run->cli, "-b counts BPF programs on all CPUs: -C, -p and -t have no effect");
	*target = (struct target_options){ .all_cpus = true };
	for (const char *text = run->o->bpf_programs;; text++) {
		char *end;
		unsigned long id = strtoul(text, &end, 10);
		if (end == text || !isdigit((unsigned char)*text) || !id || id > UINT32_MAX || (*end && *end != ','))
			return usage_about(run->cli, "bpf-prog", "-b needs the ids of BPF programs, with commas between them");
		vec_push(&run->programs, (uint32_t)id);
		text = end;
		if (!*end)
			return 0;
	}
}

static int check_options(struct stat_run *run)
{
	struct stat_options *o = run->o;
	if (o->output && o->log_given && o->log_fd > 0)
		return usage_about(run->cli, "log-fd", "cannot use both --output and --log-fd");
	if (o->log_given && o->log_fd < 0)
		return usage_about(run->cli, "log-fd", "argument to --log-fd must be a > 0");
	if (o->separator && o->big_num_given && o->big_num)
		return usage_about(run->cli, "B", "-B option not supported with -x");
	if (o->separator && strcmp(o->separator, "\\t") == 0)
		o->separator = "\t";
	int status = o->bpf_programs ? take_programs(run) : 0;
	if (status)
		return status;
	if (!run->command && !o->target.pids && !o->target.tids && !o->target.cpus)
		o->target.all_cpus = true;
	run->system_wide = (o->target.all_cpus || o->target.cpus) && !o->target.pids && !o->target.tids;
	run->plain_command = run->command && !run->system_wide && !o->target.pids && !o->target.tids && o->repeat == 1;
	o->target.command = run->command != NULL;
	for (size_t i = 0; i < o->words.count && o->each_cgroup; i++)
		if (o->words.items[i].kind == STAT_WORD_CGROUP)
			return usage_about(run->cli, "for-each-cgroup", "--cgroup and --for-each-cgroup cannot be used together");
	status = check_cpus(run);
	if (!status)
		status = check_times(run);
	if (!status)
		status = stat_metrics_check(run);
	return status ? status : take_grain(run);
}

/* Events that one word of the user made for several PMUs: of memory channels …, of kinds of cores only on request. */
static bool is_alias(struct stat_run *run, const struct event *a, const struct event *b)
{
	bool same = a->pmu && b->pmu && strcmp(a->pmu, b->pmu) != 0 && strcmp(a->name, b->name) == 0 && a->scale == b->scale &&
		a->terms.metric_id == b->terms.metric_id &&
		strcmp(a->unit ? a->unit : "", b->unit ? b->unit : "") == 0 && stat_is_clock(a) == stat_is_clock(b) &&
		strcmp(a->cgroup ? a->cgroup : "", b->cgroup ? b->cgroup : "") == 0;
	return same && is_core(run, a) == is_core(run, b) && (!is_core(run, a) || run->o->hybrid_merge);
}

static bool several_cores(struct stat_run *run)
{
	for (size_t i = 0; i < run->events.list.count; i++)
		if (run->events.list.items[i].attr.type != ATTR_SOFTWARE && run->events.list.items[i].attr.type != ATTR_TRACEPOINT)
			return pmus_core_count(&run->events.pmus) > 1;
	return false;
}

static void find_merged(struct stat_run *run)
{
	const struct event *list = run->events.list.items;
	for (uint32_t i = 0; i < run->events.list.count; i++) {
		uint32_t first = 0;
		while (first < i && (run->merged[first] != first || !is_alias(run, &list[first], &list[i])))
			first++;
		run->merged[i] = run->grain == STAT_CPU ? i : first;
		run->hidden[i] = run->merged[i] != i;
	}
}

void stat_style_set(struct stat_run *run)
{
	const struct stat_options *o = run->o;
	size_t count = run->events.list.count;
	run->unsupported = calloc(count + 1, sizeof *run->unsupported);
	run->hidden = calloc(count + 1, sizeof *run->hidden);
	run->merged = calloc(count + 1, sizeof *run->merged);
	bool cores = several_cores(run);
	if (run->events.by_pattern || cores || run->plan.list.count)
		find_merged(run);
	else
		for (uint32_t i = 0; i < count; i++)
			run->merged[i] = i;
	run->style = (struct stat_style){
		.format = o->json ? STAT_JSON : o->separator ? STAT_CSV : STAT_TEXT, .grain = run->grain, .separator = o->separator,
		.thousands = run->thousands, .repeated = o->repeat > 1, .robust = o->robust && o->repeat > 1,
		.hidden = run->hidden, .with_pmu = run->grain == STAT_CPU,
		.with_core = cores && !o->hybrid_merge,
		.hide_zero = run->grain == STAT_THREAD && run->system_wide, .colors = run->cli->tty_out, .by_cgroup = o->each_cgroup != NULL,
		.plan = run->plan.list.count ? &run->plan : NULL, .metric_only = o->metric_only,
	};
	for (size_t i = 0; i < count; i++)
		run->style.cgroups |= run->events.list.items[i].cgroup != NULL;
}

static int around(struct stat_run *run, const char *command)
{
	int status = command ? system(command) : 0;
	if (status)
		cli_warn(run->cli, "the command of --%s failed: it is not measured", command == run->o->pre ? "pre" : "post");
	return status ? EXIT_FAILED : 0;
}

static int repeat(struct stat_run *run)
{
	struct stat_table table = { 0 };
	int status = 0;
	do {
		if (run->o->repeat == 0)
			stat_table_fini(&table), table = (struct stat_table){ 0 }, run->elapsed_ns = (struct stat_spread){ 0 };
		if (run->o->sync)
			sync();
		status = around(run, run->o->pre);
		if (!status)
			status = stat_run_once(run, &table);
		if (!status)
			status = around(run, run->o->post);
	} while (!status && !run->signal && (run->o->repeat == 0 || (int)run->elapsed_ns.runs < run->o->repeat));
	stat_table_fini(&table);
	return status;
}

static int end_recording(struct stat_run *run)
{
	struct error err;
	struct process_words words = { 0 };
	process_words_read(&words, run->cli->program);
	stat_recording_kernel(&run->recording);
	if (!run->o->interval_ms)
		stat_recording_round(&run->recording, STAT_ROUND_FINAL, (uint64_t)run->elapsed_ns.mean);
	int status = stat_recording_finish(&run->recording, &run->events, words.list.items, &err);
	process_words_fini(&words);
	if (status < 0)
		cli_complain(run->cli, &err);
	return status < 0 ? EXIT_FAILED : 0;
}

/* The end of the command is ours, and so is the signal that asked for it. */
static int end_run(struct stat_run *run)
{
	struct error err;
	if (writer_flush(&run->out, &err) < 0)
		return cli_complain(run->cli, &err);
	int status = run->records ? end_recording(run) : 0;
	if (run->signal) {
		signal(run->signal, SIG_DFL);
		kill(getpid(), run->signal);
	}
	return status ? status : WIFEXITED(run->status) ? WEXITSTATUS(run->status) : 0;
}

static int open_outputs(struct stat_run *run)
{
	struct error err;
	int status = stat_output_open(run, run->records ? NULL : run->o->output);
	if (status || !run->records || stat_recording_open(&run->recording, run->o->output, &err) == 0)
		return status;
	cli_complain(run->cli, &err);
	return EXIT_FAILED;
}

/* A recording has counts by the kernel's ids of counters, which shared ones and means of samples lack. */
static bool can_record(const struct stat_run *run)
{
	bool shared = run->o->bpf_counters || run->o->bpf_programs;
	for (size_t i = 0; i < run->events.list.count; i++)
		shared |= run->events.list.items[i].bpf_counter;
	if (run->records && shared)
		cli_warn(run->cli, "stat record does not store what BPF programs count (--bpf-counters, the modifier b)");
	bool sampled = run->o->record_latencies && latencies_wanted(&run->events);
	if (run->records && sampled)
		cli_warn(run->cli, "stat record does not store what samples measure (--record-tpebs, the modifier R)");
	return !run->records || !(shared || sampled);
}

static int stat_count(struct stat_run *run)
{
	int status = check_order(run);
	if (!status)
		status = check_options(run);
	if (!status)
		status = check_machine(run);
	if (!status)
		status = run->o->each_cgroup ? take_each_cgroup(run) : take_events(run, 0, true);
	if (status)
		return status;
	if (!can_record(run))
		return EXIT_FAILED;
	struct clock_remark clock;
	clock_remark_begin(&clock);
	stat_style_set(run);
	status = open_outputs(run);
	if (!status)
		status = repeat(run);
	if (!status)
		status = end_run(run);
	stat_recording_close(&run->recording);
	stat_output_close(run);
	clock_remark_end(run->cli, &clock, !run->o->quiet && run->style.format == STAT_TEXT);
	return status;
}

/* As in perf, "rec" and "repo" are enough. */
static bool is_word(const char *word, const char *whole)
{
	return strlen(word) > 2 && strncmp(word, whole, strlen(word)) == 0;
}

/* The options after "record" are those of `stat`. */
static int begin_record(struct stat_run *run, int argc, const char **argv)
{
	struct error err;
	int left = options_parse(stat_table, run->o, argc, argv, OPTIONS_STOP_AT_NON_OPTION, &err);
	if (left < 0)
		return cli_usage(run->cli, &command_stat, left == OPTIONS_BAD ? &err : NULL);
	run->command = left ? argv : NULL;
	run->records = true;
	if (run->o->repeat == 1)
		return 0;
	cli_warn(run->cli, "Cannot use -r option with perf stat record.");
	return EXIT_FAILED;
}

/* --iostat, on a machine that has the PMUs for it. */
static int count_ports(const struct stat_run *run)
{
	const struct stat_options *o = run->o;
	const struct iostat_request request = { .ports = o->iostat_ports, .separator = o->separator, .interval_ms = (unsigned)o->interval_ms,
		.argv = run->command };
	if (o->words.count)
		cli_warn(run->cli, "The -e and -M options are not supported.All chosen events/metrics will be dropped"); /* perf's words */
	return iostat_run_request(run->cli, &command_stat, &request);
}

static int stat_main(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct stat_run run = { .cli = cli, .o = filled, .command = argc ? argv : NULL, .control = { .fd = -1, .acknowledge = -1 } };
	int status = 0;
	if (argc && is_word(argv[0], "report")) {
		status = stat_report(&run, argc - 1, argv + 1);
	} else {
		if (argc && is_word(argv[0], "record"))
			status = begin_record(&run, argc - 1, argv + 1);
		if (!status)
			status = run.o->iostat && iostat_is_supported() ? count_ports(&run) : stat_count(&run);
	}
	control_close(&run.control);
	counters_close(&run.kept);
	free(run.unsupported);
	free(run.hidden);
	free(run.merged);
	vec_fini(&run.elapsed_list);
	vec_fini(&run.programs);
	metric_plan_fini(&run.plan);
	events_fini(&run.events);
	return status;
}

static void stat_defaults(void *options, const struct cli *cli)
{
	(void)cli;
	stat_defaults_set(options);
}

static void stat_release(void *options)
{
	struct stat_options *o = options;
	vec_fini(&o->words);
}

static const char *const stat_subcommands[] = { "record", "report", NULL };
static const char *const stat_usage[] = { "perf stat [<options>] [<command>]", NULL };

const struct command command_stat = {
	.name = "stat",
	.summary = "run a command and count its events",
	.usage = stat_usage,
	.options = stat_table,
	.options_size = sizeof(struct stat_options),
	.defaults = stat_defaults,
	.subcommands = stat_subcommands,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = stat_main,
	.release = stat_release,
};
