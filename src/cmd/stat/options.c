#include "cmd/stat/options.h"

#include <string.h>

#define S struct stat_options

static int set_event(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	S *o = target;
	vec_push(&o->words, ((struct stat_word){ STAT_WORD_EVENT, arg }));
	return 0;
}

static int set_filter(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	S *o = target;
	vec_push(&o->words, ((struct stat_word){ STAT_WORD_FILTER, arg }));
	return 0;
}

/* perf looks at --cputype when it reads the events that follow. */
static int set_cpu_type(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	S *o = target;
	for (size_t i = 0; i < o->words.count; i++)
		o->cpu_type_late |= o->words.items[i].kind == STAT_WORD_EVENT;
	o->cpu_type = arg;
	return 0;
}

static int set_latency_choice(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	static const char *const words[] = { [LATENCY_MEAN] = "mean", [LATENCY_MIN] = "min", [LATENCY_MAX] = "max", [LATENCY_LAST] = "last" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], arg) == 0) {
			((S *)target)->latency_choice = (enum latency_choice)i;
			return 0;
		}
	return error_set(err, ERROR_OPTION, "--tpebs-mode is 'mean', 'min', 'max' or 'last', not '%s'", arg);
}

static int set_statistics(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	S *o = target;
	o->robust = strcmp(arg, "robust") == 0;
	return o->robust || strcmp(arg, "mean") == 0 ? 0 : error_set(err, ERROR_OPTION, "--stats is 'mean' or 'robust', not '%s'", arg);
}

static int set_iostat(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	S *o = target;
	o->iostat = true;
	o->iostat_ports = arg;
	return 0;
}

static int set_cgroup(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	S *o = target;
	o->cgroup_late |= o->each_cgroup != NULL;
	vec_push(&o->words, ((struct stat_word){ STAT_WORD_CGROUP, arg }));
	return 0;
}

static int set_metrics(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	S *o = target;
	vec_push(&o->words, ((struct stat_word){ STAT_WORD_METRICS, arg }));
	return 0;
}

static int set_pfm(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	S *o = target;
	vec_push(&o->words, ((struct stat_word){ STAT_WORD_PFM, arg }));
	return 0;
}

/* "L2"; without it the last level */
static int cache_level(const char *arg, int *level, struct error *err)
{
	enum { LEVEL_MAX = 4 };
	*level = 0;
	if (!arg)
		return 0;
	if (strlen(arg) != 2 || (*arg != 'L' && *arg != 'l') || arg[1] < '1' || arg[1] > '9')
		return error_set(err, ERROR_OPTION, "Cache level must be of form L[1-%d], or l[1-%d]", LEVEL_MAX, LEVEL_MAX);
	*level = arg[1] - '0';
	return *level <= LEVEL_MAX ? 0 : error_set(err, ERROR_OPTION, "perf only supports max cache level of %d.", LEVEL_MAX);
}

static int set_cache(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	S *o = target;
	o->per_cache = !unset;
	return cache_level(unset ? NULL : arg, &o->cache_level, err);
}

static int set_report_cache(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct stat_report_options *o = target;
	o->per_cache = !unset;
	return cache_level(unset ? NULL : arg, &o->cache_level, err);
}

void stat_defaults_set(struct stat_options *o)
{
	o->scale = o->big_num = true;
	o->repeat = 1;
}

#define R struct stat_report_options
const struct option stat_report_table[] = {
	OPT_STRING('i', "input", R, input, "file", "the recording (default: perf.data)"),
	OPT_BOOL(0, "per-thread", R, per_thread, "a row for each thread"),
	OPT_BOOL(0, "per-socket", R, per_socket, "a row for each socket"),
	OPT_BOOL(0, "per-die", R, per_die, "a row for each die"),
	OPT_BOOL(0, "per-cluster", R, per_cluster, "a row for each cluster of cores"),
	OPT_CALLBACK_FLAGS(0, "per-cache", R, per_cache, "cache level", "a row for each cache of a level: L2; default: the last",
		set_report_cache, OPTION_OPTARG),
	OPT_BOOL(0, "per-core", R, per_core, "a row for each core"),
	OPT_BOOL(0, "per-node", R, per_node, "a row for each NUMA node"),
	OPT_BOOL('A', "no-aggr", R, no_aggregation, "a row for each CPU"),
	OPT_END(),
};
#undef R

const struct option stat_table[] = {
	OPT_BOOL('T', "transaction", S, transaction, "count transactions, where the processor has metrics about them"),
	OPT_CALLBACK('e', "event", S, words, "event", "an event, or several with commas; see 'perf list'", set_event),
	OPT_CALLBACK_FLAGS(0, "pfm-events", S, words, "event", "events by the names of libpfm4", set_pfm, OPTION_OWN | OPTION_NONEG),
	OPT_CALLBACK(0, "filter", S, words, "filter", "the condition of the tracepoints of the last -e", set_filter),
	OPT_BOOL('i', "no-inherit", S, no_inherit, "do not count the children of the tasks"),
	OPT_STRING('p', "pid", S, target.pids, "pid", "count running processes"),
	OPT_STRING('t', "tid", S, target.tids, "tid", "count running threads"),
	OPT_BOOL('a', "all-cpus", S, target.all_cpus, "count on all CPUs"),
	OPT_BOOL(0, "scale", S, scale, "estimate what was missed while a counter did not run (the default; --no-scale: do not)"),
	OPT_INCR('v', "verbose", S, verbose, "print the values of every counter, and why events are not supported"),
	OPTION_ROW(INT, 'r', "repeat", S, repeat, "run the command n times and print means and their errors; 0: until a signal arrives",
		.arg = "n", .was_set = OPTION_GIVEN(S, repeat_given)),
	OPT_CALLBACK_FLAGS(0, "stats", S, robust, "mean|robust",
		"with -r: robust prints medians, their spread (MAD) and a 95% interval by bootstrap, instead of means", set_statistics,
		OPTION_OWN | OPTION_NONEG),
	OPT_BOOL(0, "table", S, table, "with -r: print the time of each run"),
	OPT_BOOL('n', "null", S, null_run, "count nothing but time"),
	OPT_INCR('d', "detailed", S, detail, "count more events; up to three times"),
	OPT_BOOL('S', "sync", S, sync, "call sync(2) before each run"),
	OPTION_ROW(BOOL, 'B', "big-num", S, big_num, "separate thousands as the locale does (--no-big-num: do not)",
		.was_set = OPTION_GIVEN(S, big_num_given)),
	OPT_STRING('C', "cpu", S, target.cpus, "cpu", "count on these CPUs: 0-3,7"),
	OPT_BOOL('A', "no-aggr", S, no_aggregation, "a row for each CPU"),
	OPT_BOOL(0, "no-merge", S, no_aggregation, "the same as -A"),
	OPT_BOOL(0, "hybrid-merge", S, hybrid_merge, "add up events of different kinds of cores"),
	OPT_STRING('x', "field-separator", S, separator, "separator", "print values with this between them; \\t is a tab"),
	OPT_BOOL('j', "json-output", S, json, "print a JSON object for each row"),
	OPT_CALLBACK('G', "cgroup", S, words, "name", "count the events so far in this cgroup only, or in a list of them", set_cgroup),
	OPT_STRING(0, "for-each-cgroup", S, each_cgroup, "name", "count all events in each of these cgroups"),
	OPT_STRING('o', "output", S, output, "file", "write to a file"),
	OPT_BOOL(0, "append", S, append, "with -o: add to the file"),
	OPTION_ROW(INT, 0, "log-fd", S, log_fd, "write to this descriptor", .arg = "n", .was_set = OPTION_GIVEN(S, log_given)),
	OPT_STRING(0, "pre", S, pre, "command", "a shell command before each run"),
	OPT_STRING(0, "post", S, post, "command", "a shell command after each run"),
	OPT_UINT('I', "interval-print", S, interval_ms, "print the counts of each n ms"),
	OPT_INT(0, "interval-count", S, interval_count, "with -I: stop counting after n times"),
	OPT_BOOL(0, "interval-clear", S, interval_clear, "with -I: clear the screen before each time"),
	OPT_UINT(0, "timeout", S, timeout_ms, "end the command after n ms (>= 10)"),
	OPT_BOOL(0, "per-socket", S, per_socket, "a row for each socket"),
	OPT_BOOL(0, "per-die", S, per_die, "a row for each die"),
	OPT_BOOL(0, "per-cluster", S, per_cluster, "a row for each cluster of cores"),
	OPT_CALLBACK_FLAGS(0, "per-cache", S, per_cache, "cache level", "a row for each cache of a level: L2; default: the last", set_cache,
		OPTION_OPTARG),
	OPT_BOOL(0, "per-core", S, per_core, "a row for each core"),
	OPT_BOOL(0, "per-thread", S, target.per_thread, "a row for each thread"),
	OPT_BOOL(0, "per-node", S, per_node, "a row for each NUMA node"),
	OPT_INT('D', "delay", S, delay_ms, "count after the first n ms only"),
	OPTION_ROW(BOOL, 0, "metric-only", S, metric_only, "print metrics alone", .was_set = OPTION_GIVEN(S, metric_only_given)),
	OPT_BOOL(0, "metric-no-group", S, metric_no_group, "do not group the events of metrics"),
	OPT_BOOL(0, "metric-no-merge", S, metric_no_merge, "do not share events between metrics"),
	OPT_BOOL(0, "metric-no-threshold", S, metric_no_threshold, "do not compare metrics with thresholds"),
	OPT_BOOL(0, "topdown", S, topdown, "count how the slots of the pipeline are used"),
	OPT_UINT(0, "td-level", S, topdown_level, "the level of --topdown"),
	OPT_BOOL(0, "smi-cost", S, smi_cost, "count what system management interrupts cost"),
	OPT_CALLBACK('M', "metrics", S, words, "metric/metric group list", "count the events of metrics, and print them", set_metrics),
	OPTION_ROW(BOOL, 0, "all-kernel", S, all_kernel, "count kernel code only", .flags = OPTION_EXCLUSIVE),
	OPTION_ROW(BOOL, 0, "all-user", S, all_user, "count user code only", .flags = OPTION_EXCLUSIVE),
	OPT_BOOL(0, "percore-show-thread", S, percore_threads, "with the term percore and -A: the sum of the core for each of its CPUs"),
	OPT_BOOL(0, "summary", S, summary, "with -I: print the sums at the end"),
	OPT_BOOL(0, "no-csv-summary", S, no_csv_summary, "the rows of --summary do not begin with a word"),
	OPT_BOOL(0, "quiet", S, quiet, "print nothing"),
	OPT_CALLBACK(0, "cputype", S, cpu_type, "hybrid cpu type", "count events of the following -e on this kind of cores only", set_cpu_type),
	OPT_CALLBACK_FLAGS(0, "iostat", S, iostat_ports, "default", "count the traffic of PCIe ports", set_iostat, OPTION_OPTARG),
	OPT_STRING(0, "control", S, control, "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
		"take commands from a descriptor: enable, disable, ping, each optionally acknowledged"),
	OPT_BOOL(0, "record-tpebs", S, record_latencies, "sample the retire latency of events with the modifier R"),
	OPTION_ROW(CALLBACK, 0, "tpebs-mode", S, latency_choice, "which retire latency is the count (default: mean)",
		.arg = "mean|min|max|last", .set = set_latency_choice, .flags = OPTION_OWN | OPTION_NONEG),
	OPTION_ROW(BOOL, 0, "no-affinity", S, no_affinity, "accepted without effect: no counter is read on another CPU", .flags = OPTION_OWN),
	OPTION_ROW(BOOL, 0, "bpf-counters", S, bpf_counters, "count by BPF programs and counters of the CPUs, which concurrent runs share",
		.flags = OPTION_OWN),
	OPTION_ROW(STRING, 'b', "bpf-prog", S, bpf_programs, "count while these BPF programs run", .arg = "bpf-prog-id", .flags = OPTION_OWN),
	OPTION_ROW(STRING, 0, "bpf-attr-map", S, bpf_map, "the pinned map by which runs with --bpf-counters find the counters that they share",
		.arg = "path", .flags = OPTION_OWN),
	OPT_END(),
};
