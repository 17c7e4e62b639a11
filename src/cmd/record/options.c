/* The table of record's options, and what their arguments mean. */
#include "cmd/record/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cmd/sampling.h"
#include "os/machine.h"

#define S struct record_command

static int add_word(struct record_command *o, enum event_word_kind kind, const char *text)
{
	vec_push(&o->words, ((struct event_word){ kind, text }));
	return 0;
}

static int set_event(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	return add_word(target, WORD_EVENT, arg);
}

static int set_pfm_event(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	return add_word(target, WORD_PFM_EVENT, arg);
}

static int set_off_cpu_details(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct off_cpu_options *off = &((struct record_command *)target)->record.off_cpu;
	off->wakers |= strcmp(arg, "wakers") == 0;
	off->futexes |= strcmp(arg, "futexes") == 0;
	off->details = true;
	return off->wakers || off->futexes || strcmp(arg, "state") == 0 ? 0 :
		error_set(err, ERROR_USAGE, "--off-cpu-details takes state, wakers or futexes, not '%s'", arg);
}

static int set_filter(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	return add_word(target, WORD_FILTER, arg);
}

static int set_exclude_self(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	return add_word(target, WORD_EXCLUDE_SELF, NULL);
}

static int set_cgroup(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	return add_word(target, WORD_CGROUP, arg);
}

static int set_graph(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	struct sampling *s = &o->record.sampling;
	o->call_graph = !unset;
	if (unset)
		s->call_graph = CALL_GRAPH_NONE;
	else if (s->call_graph == CALL_GRAPH_NONE)
		s->call_graph = CALL_GRAPH_FP;
	return 0;
}

static int set_call_graph(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	struct sampling *s = &o->record.sampling;
	o->call_graph = o->call_graph_mode = !unset;
	if (unset) {
		s->call_graph = CALL_GRAPH_NONE;
		return 0;
	}
	s->stack_given = strchr(arg, ',') != NULL;
	return call_graph_parse(arg, &s->call_graph, &s->stack_size, &s->max_stack, err);
}

/* "pages[,pages of AUX]" */
static int set_pages(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	const char *comma = unset ? NULL : strchr(arg, ',');
	if (pages_parse(unset ? NULL : arg, &o->record.pages, &o->pages_rounded, err) < 0)
		return -1;
	o->record.trace.ring_pages_given |= *arg != ',';
	if (!comma)
		return 0;
	o->record.trace.pages = pages_of(comma + 1, strlen(comma + 1), &o->area_rounded);
	return o->record.trace.pages ? 0 : error_set(err, ERROR_USAGE, "Invalid argument for --mmap_pages/-m");
}

/* "e": also at the end; then the size in bytes. */
static int set_snapshot(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	struct trace_options *trace = &o->record.trace;
	char *end;
	trace->snapshot = !unset;
	trace->snapshot_at_exit = arg && *arg == 'e';
	trace->snapshot_size = 0;
	if (!arg || unset)
		return 0;
	const char *digits = arg + trace->snapshot_at_exit;
	trace->snapshot_size = strtoull(digits, &end, 0);
	o->snapshot_refused = *end || *digits == '-';
	return 0;
}

static int set_aux_sample(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	struct trace_options *trace = &o->record.trace;
	char *end = NULL;
	trace->sample = !unset;
	trace->sample_size = arg ? strtoul(arg, &end, 0) : 0;
	if (!arg || (!*end && trace->sample_size <= UINT32_MAX))
		return 0;
	o->refused = "aux-sample";
	error_set(&o->refusal, ERROR_USAGE, "Bad AUX area sampling option: '%s'", arg);
	return 0;
}

static int set_flush(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	bool plain;
	if (unset) {
		o->record.flush_bytes = 1;
		return 0;
	}
	if (!size_parse(arg, &o->record.flush_bytes, &plain))
		o->record.flush_bytes = 1; /* as perf */
	return 0;
}

static int set_max_size(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	bool plain;
	if (unset) {
		o->record.size_limit = 0;
		return 0;
	}
	if (!size_parse(arg, &o->record.size_limit, &plain) || plain || !o->record.size_limit)
		return error_set(err, ERROR_USAGE, "--max-size takes a size with its unit, such as 100M");
	return 0;
}

static int add_window(struct record_command *o, const char *text, const char **rest, struct error *err)
{
	char *end;
	unsigned long long from = strtoull(text, &end, 10), to = 0;
	bool good = end != text && *end == '-';
	if (good) {
		const char *second = end + 1;
		to = strtoull(second, &end, 10);
		good = end != second && (*end == ',' || *end == '\0') && from < to;
	}
	if (good && o->windows.count)
		good = from > o->windows.items[o->windows.count - 1].to_ms;
	if (!good || to > INT_MAX)
		return error_set(err, ERROR_USAGE, "-D takes milliseconds, -1, or ranges in order such as 10-20,30-40");
	vec_push(&o->windows, ((struct record_window){ from, to }));
	*rest = *end == ',' ? end + 1 : end;
	return 0;
}

static int set_delay(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	char *end;
	if (unset) {
		o->record.sampling.delay_ms = 0;
		return 0;
	}
	errno = 0;
	long ms = strtol(arg, &end, 10);
	if (end != arg && *end == '\0' && !errno && ms >= -1 && ms <= INT_MAX) {
		o->record.sampling.delay_ms = (int)ms;
		return 0;
	}
	vec_clear(&o->windows);
	for (const char *at = arg; *at;)
		if (add_window(o, at, &at, err) < 0)
			return -1;
	o->record.sampling.delay_ms = -1;
	return 0;
}

static int set_clockid(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	struct sampling *s = &o->record.sampling;
	char *end;
	s->use_clockid = !unset;
	if (unset)
		return 0;
	if (clock_by_name(arg, &s->clockid))
		return 0;
	long number = strtol(arg, &end, 10);
	if (end == arg || *end || number < 0 || number > 63)
		return error_set(err, ERROR_USAGE, "Warning:\nunknown clockid %s, check man page", arg);
	s->clockid = (int32_t)number;
	return 0;
}

static int set_registers(bool user, uint64_t *mask, const char *arg, struct error *err)
{
	CLEANUP_STR struct str list = { 0 };
	if (arg && strcmp(arg, "?") == 0) {
		registers_list(user, &list);
		return error_set(err, ERROR_USAGE, "%s", str_text(&list));
	}
	return registers_parse(arg, user, mask, err);
}

static int set_user_registers(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	o->record.sampling.regs_user = 0;
	return unset ? 0 : set_registers(true, &o->record.sampling.regs_user, arg, err);
}

static int set_interrupt_registers(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	o->record.sampling.regs_intr = 0;
	return unset ? 0 : set_registers(false, &o->record.sampling.regs_intr, arg, err);
}

static int set_branch_filter(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	return branch_filter_parse(arg ? arg : "any", &o->record.sampling.branch, err);
}

static int set_branch_any(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	o->record.sampling.branch = unset ? 0 : BRANCH_ANY;
	return 0;
}

static int set_compression(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	enum { LEVEL_DEFAULT = 1, LEVEL_MAX = 22 };
	struct record_command *o = target;
	const char *digits = arg && *arg == '=' ? arg + 1 : arg;
	long level = digits ? strtol(digits, NULL, 10) : LEVEL_DEFAULT;
	if (level < 0 || level > LEVEL_MAX)
		level = level < 0 ? LEVEL_DEFAULT : LEVEL_MAX;
	o->record.compression = unset ? 0 : level ? (int)level : LEVEL_DEFAULT;
	return 0;
}

static int set_synthesis(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	struct record_options *r = &o->record;
	static const char *const words[] = { "no", "task", "mmap", "cgroup", "all" };
	bool tasks = false, maps = false, cgroups = false;
	if (unset)
		return error_set(err, ERROR_USAGE, "--%s cannot be undone", option->long_name);
	for (const char *at = arg; *at;) {
		size_t length = strcspn(at, ","), i = 0;
		while (i < 5 && (strlen(words[i]) != length || memcmp(words[i], at, length) != 0))
			i++;
		if (i == 5)
			return error_set(err, ERROR_USAGE, "--synth takes no, all, task, mmap or cgroup, not %s", at);
		tasks |= i == 1 || i == 2 || i == 4; /* mappings are recorded with their tasks */
		maps |= i == 2 || i == 4;
		cgroups |= i == 3 || i == 4;
		at += length + (at[length] == ',');
	}
	r->no_tasks = !tasks;
	r->no_maps = !maps;
	r->no_cgroups = !cgroups;
	return 0;
}

/* "signal", "100M", "30s" */
static int set_switch(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	struct record_command *o = target;
	struct record_switch *switching = &o->record.switching;
	uint64_t bytes;
	bool plain;
	char *end;
	switching->on_signal = false;
	switching->bytes = switching->seconds = 0;
	if (unset)
		return 0;
	if (!arg || strcmp(arg, "signal") == 0) {
		switching->on_signal = true;
		return 0;
	}
	unsigned long long number = strtoull(arg, &end, 10);
	for (size_t i = 0; end != arg && number && number < INT_MAX && i < sizeof units / sizeof units[0]; i++)
		if (*end == units[i].unit && end[1] == '\0')
			switching->seconds = number * units[i].seconds;
	if (!switching->seconds && size_parse(arg, &bytes, &plain) && !plain)
		switching->bytes = bytes;
	if (switching->seconds || switching->bytes)
		return 0;
	o->refused = "switch-output";
	error_set(&o->refusal, ERROR_USAGE, "--switch-output takes signal, a size such as 100M, or a time such as 30s, 5m, 1h, 1d");
	return 0;
}

static int set_affinity(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	if (!unset && strcasecmp(arg, "node") == 0)
		o->record.affinity = AFFINITY_NODE;
	else if (!unset && strcasecmp(arg, "cpu") == 0)
		o->record.affinity = AFFINITY_CPU;
	return 0;
}

static int set_aio(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	o->aio = !unset;
	return 0;
}

static int set_threads(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	reader_groups_fini(&o->groups);
	o->record.groups = unset ? NULL : &o->groups;
	if (!unset && reader_groups_parse(&o->groups, arg && *arg == '=' ? arg + 1 : arg, &o->refusal) < 0)
		o->refused = "threads";
	return 0;
}

static int set_control(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct record_command *o = target;
	if (unset)
		return error_set(err, ERROR_USAGE, "--%s cannot be undone", option->long_name);
	if (strncmp(arg, "fd:", 3) != 0 && strncmp(arg, "fifo:", 5) != 0)
		return error_set(err, ERROR_USAGE, "--control takes fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]");
	o->control_text = arg;
	return 0;
}

const struct option record_table[] = {
	OPT_BOOL('a', "all-cpus", S, record.target.all_cpus, "record everything that runs, on all CPUs"),
	OPT_CALLBACK_FLAGS('b', "branch-any", S, branch_any, NULL, "record any taken branches with each sample", set_branch_any,
		OPTION_NOARG),
	{ .kind = OPTION_BOOL, .short_name = 'B', .long_name = "no-buildid", .help = "leave the build-ids out of the recording",
		.offset = OPTION_AT_BOOL(S, record.no_build_ids), .was_set = OPTION_GIVEN(S, no_ids_given) },
	{ .kind = OPTION_U64, .short_name = 'c', .long_name = "count", .arg = "n", .help = "take a sample every n events",
		.offset = OPTION_AT_U64(S, count), .was_set = OPTION_GIVEN(S, count_given) },
	OPT_STRING('C', "cpu", S, record.target.cpus, "cpu", "record on these CPUs alone: 0-3,7"),
	OPT_BOOL('d', "data", S, record.sampling.address, "record the addresses of data"),
	OPT_CALLBACK('D', "delay", S, record, "ms",
		"start events that much later (-1: start them disabled), or only in ranges of time: 10-20,30-40", set_delay),
	OPT_CALLBACK('e', "event", S, words, "event", "the events to record", set_event),
	OPT_CALLBACK_FLAGS(0, "pfm-events", S, words, "event", "events by the names of libpfm4", set_pfm_event, OPTION_OWN | OPTION_NONEG),
	OPT_STRING('F', "freq", S, freq_text, "freq or 'max'", "samples a second"),
	OPT_CALLBACK_FLAGS('g', NULL, S, call_graph, NULL, "record call chains", set_graph, OPTION_NOARG),
	OPT_CALLBACK('G', "cgroup", S, words, "name", "record the events given so far in this cgroup alone", set_cgroup),
	OPTION_ROW(BOOL, 0, "index", S, record.indexed, "end the file with an index, by which --time reads only what it needs",
		.flags = OPTION_OWN),
	OPT_CALLBACK_FLAGS('I', "intr-regs", S, record, "any register", "record registers as they were when interrupted; -I? lists them",
		set_interrupt_registers, OPTION_OPTARG),
	{ .kind = OPTION_BOOL, .short_name = 'i', .long_name = "no-inherit",
		.help = "leave out threads and processes that are started meanwhile",
		.offset = OPTION_AT_BOOL(S, record.sampling.no_inherit), .was_set = OPTION_GIVEN(S, record.sampling.inherit_given) },
	OPT_CALLBACK('j', "branch-filter", S, record, "branch filter mask", "which branches to record with each sample",
		set_branch_filter),
	OPT_CALLBACK('k', "clockid", S, record, "clockid", "the clock of the time stamps", set_clockid),
	OPT_CALLBACK('m', "mmap-pages", S, record, "pages[,pages]",
		"size of each ring, and of those for AUX data: pages, or bytes with a unit", set_pages),
	{ .kind = OPTION_BOOL, .short_name = 'N', .long_name = "no-buildid-cache", .help = "leave the build-id cache as it is",
		.offset = OPTION_AT_BOOL(S, no_cache), .was_set = OPTION_GIVEN(S, cache_given) },
	OPT_BOOL('n', "no-samples", S, record.sampling.no_samples, "take no samples"),
	OPT_STRING('o', "output", S, output, "file", "write the recording to this file; - is standard output"),
	{ .kind = OPTION_BOOL, .short_name = 'P', .long_name = "period", .help = "record the period with each sample",
		.offset = OPTION_AT_BOOL(S, period), .was_set = OPTION_GIVEN(S, period_given) },
	OPT_STRING('p', "pid", S, record.target.pids, "pid", "record these running processes"),
	OPT_BOOL('q', "quiet", S, quiet, "print nothing"),
	OPT_BOOL('R', "raw-samples", S, record.sampling.raw, "record the raw data of every event"),
	OPT_INT('r', "realtime", S, record.realtime, "run the recorder with this SCHED_FIFO priority"),
	OPT_CALLBACK_FLAGS('S', "snapshot", S, record, "[e][size]", "of a hardware trace, record what came before a signal (SIGUSR2), a command "
		"of --control, or the end (e)", set_snapshot, OPTION_OPTARG),
	OPT_BOOL('s', "stat", S, record.sampling.inherit_stat, "record counts per thread"),
	OPT_STRING('t', "tid", S, record.target.tids, "tid", "record these running threads"),
	{ .kind = OPTION_BOOL, .short_name = 'T', .long_name = "timestamp", .help = "record the time of each sample",
		.offset = OPTION_AT_BOOL(S, timestamp), .was_set = OPTION_GIVEN(S, record.sampling.time_given) },
	OPT_STRING('u', "uid", S, record.target.uid, "user", "record the running processes of a user"),
	OPT_INCR('v', "verbose", S, verbose, "print more"),
	OPT_BOOL('W', "weight", S, record.sampling.fields[SAMPLE_BIT_WEIGHT_STRUCT], "record weights, for events that have them"),
	OPT_CALLBACK_FLAGS('z', "compression-level", S, record, "n", "compress the recording: from 1 (quick, default) to 22 (small)",
		set_compression, OPTION_OPTARG),
	OPT_CALLBACK(0, "affinity", S, record, "node|cpu", "read each ring on its own CPU, or on one of its node", set_affinity),
	OPT_CALLBACK_FLAGS(0, "aio", S, aio, "n", "accepted without effect: the kernel writes in the background anyway", set_aio,
		OPTION_OPTARG),
	OPT_BOOL(0, "all-cgroups", S, record.sampling.cgroups, "record cgroups and which one each sample is of"),
	OPT_BOOL(0, "all-kernel", S, record.sampling.all_kernel, "record kernel code alone"),
	OPT_BOOL(0, "all-user", S, record.sampling.all_user, "record user code alone"),
	OPT_CALLBACK_FLAGS(0, "aux-sample", S, record, "size", "add the last bytes of the hardware trace to samples of the other events of "
		"its group", set_aux_sample, OPTION_OPTARG),
	OPT_BOOL(0, "buildid-all", S, record.all_build_ids, "build-ids of everything that was mapped, hit or not"),
	OPT_BOOL(0, "buildid-mmap", S, record.sampling.build_id_mmap, "put build-ids into the mapping records"),
	OPT_CALLBACK(0, "call-graph", S, record, "record_mode[,record_size]",
		"record call chains by frame pointers (fp), from copies of the stack (dwarf[,bytes]; unwind[,bytes]: unwound at once, only the "
		"chains are written), or by branch records (lbr)", set_call_graph),
	OPT_BOOL(0, "code-page-size", S, record.sampling.fields[SAMPLE_BIT_CODE_PAGE_SIZE], "record the size of the page that the code lies in"),
	OPT_CALLBACK(0, "control", S, control_text, "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
		"take commands such as 'enable', 'disable' and 'stop' from there", set_control),
	OPTION_ROW(BOOL, 0, "data-mmap", S, record.sampling.data_maps, "record the mappings of data, too; -d includes them",
		.flags = OPTION_OWN, .was_set = OPTION_GIVEN(S, record.sampling.data_maps_given)),
	OPT_BOOL(0, "data-page-size", S, record.sampling.fields[SAMPLE_BIT_DATA_PAGE_SIZE], "record the size of the page that the data lies in"),
	OPTION_ROW(STRING, 0, "debuginfod", S, debuginfod, "get debug files for the build-id cache from these servers (of $DEBUGINFOD_URLS)",
		.arg = "debuginfod urls", .flags = OPTION_OPTARG, .fallback = "system"),
	OPT_BOOL(0, "dry-run", S, dry_run, "look at the options and stop"),
	OPT_CALLBACK_FLAGS(0, "exclude-perf", S, words, NULL, "leave the recorder itself out of the tracepoints of the preceding -e",
		set_exclude_self, OPTION_NOARG),
	OPT_CALLBACK(0, "filter", S, words, "filter", "a condition on the samples or tracepoints of the preceding -e, or addresses of its "
		"hardware trace", set_filter),
	OPT_BOOL(0, "kcore", S, record.kcore, "make a folder of the recording, with a copy of the kernel's code (/proc/kcore)"),
	OPT_BOOL(0, "kernel-callchains", S, record.sampling.kernel_callchains, "call chains of kernel code alone"),
	OPT_CALLBACK(0, "max-size", S, record, "size", "stop when the recording is that large", set_max_size),
	OPT_CALLBACK(0, "mmap-flush", S, record, "number", "write no less than that many bytes of a ring at a time (default: 1)",
		set_flush),
	OPT_BOOL(0, "namespaces", S, record.sampling.namespaces, "record the namespaces of processes"),
	OPT_BOOL(0, "no-bpf-event", S, record.sampling.no_bpf_event, "leave out information on BPF programs"),
	OPTION_ROW(BOOL, 0, "no-join-stacks", S, record.no_join,
		"--call-graph unwind: leave cut stacks as they are, do not complete them by earlier ones of the thread", .flags = OPTION_OWN),
	OPTION_ROW(BOOL, 0, "no-guess", S, record.no_guess,
		"--call-graph unwind: end stacks at code without call frame information, do not follow its frame pointers", .flags = OPTION_OWN),
	OPT_BOOL(0, "no-buffering", S, record.sampling.no_buffering, "write every sample at once"),
	OPT_UINT(0, "num-thread-synthesize", S, synthesis_threads,
		"accepted without effect: running processes are read quickly by one"),
	OPT_BOOL(0, "off-cpu", S, record.off_cpu.wanted, "record where threads wait, by BPF"),
	OPTION_ROW(UINT, 0, "off-cpu-thresh", S, record.off_cpu.least_ms,
		"--off-cpu: a sample of its own for each wait of at least so many milliseconds; the sums have the others",
		.arg = "ms", .flags = OPTION_OWN | OPTION_NONEG, .was_set = OPTION_GIVEN(S, record.off_cpu.alone)),
	OPTION_ROW(CALLBACK, 0, "off-cpu-details", S, record.off_cpu.details,
		"--off-cpu: record the state of threads, too, who wakes them, or futexes alone with their holders",
		.arg = "state|wakers|futexes", .set = set_off_cpu_details, .flags = OPTION_OWN | OPTION_NONEG),
	OPT_BOOL(0, "overwrite", S, record.sampling.overwrite,
		"let rings overwrite their oldest records, and write what they hold at the end"),
	OPTION_ROW(STRING, 0, "trigger", S, trigger,
		"with -S or --overwrite: take a snapshot when a function is reached, or took longer than a limit",
		.arg = "function[@file][%return > time]", .flags = OPTION_OWN),
	OPT_BOOL(0, "per-thread", S, record.target.per_thread, "a ring for each thread, not for each CPU"),
	OPT_BOOL(0, "phys-data", S, record.sampling.fields[SAMPLE_BIT_PHYS_ADDR], "record physical addresses of data"),
	OPT_UINT(0, "proc-map-timeout", S, record.map_timeout_ms, "give up on the mappings of a running process after n ms"),
	OPT_BOOL(0, "running-time", S, record.sampling.running_time, "record how long events were enabled and running, with :S"),
	OPT_BOOL(0, "sample-cpu", S, record.sampling.cpu, "record the CPU of each sample"),
	OPT_BOOL(0, "sample-identifier", S, record.sampling.identifier, "record the event of each sample at a fixed place"),
	OPTION_ROW(BOOL, 0, "sample-mem-info", S, record.sampling.fields[SAMPLE_BIT_DATA_SRC],
		"record where the data of a memory access came from, for events that know it", .flags = OPTION_OWN),
	OPT_STRING(0, "setup-filter", S, setup_filter, "pin|unpin", "let all users use --filter on samples, or end that; records nothing"),
	OPT_BOOL(0, "strict-freq", S, strict_freq, "fail where the kernel does not allow the frequency"),
	{ .kind = OPTION_BOOL, .long_name = "switch-events", .help = "record context switches",
		.offset = OPTION_AT_BOOL(S, record.sampling.switch_events), .was_set = OPTION_GIVEN(S, record.sampling.switch_events_given) },
	OPT_UINT(0, "switch-max-files", S, record.switching.files, "retain the newest n files of --switch-output"),
	OPT_CALLBACK_FLAGS(0, "switch-output", S, record, "signal or size[BKMG] or time[smhd]",
		"begin a new file at a signal (SIGUSR2), a size or a time", set_switch, OPTION_OPTARG),
	OPT_STRING(0, "switch-output-event", S, switch_event, "switch output event", "begin a new file when this event happens, on any CPU"),
	OPT_CALLBACK(0, "synth", S, record, "no|all|task|mmap|cgroup", "what to record about processes that already run (default: all)",
		set_synthesis),
	OPT_BOOL(0, "tail-synthesize", S, record.tail_synthesis, "record what runs at the end, not at the beginning"),
	OPT_CALLBACK_FLAGS(0, "threads", S, groups, "spec",
		"read rings in parallel, into separate files: a thread per cpu (default), core, package or numa node, or for CPUS/CPUS[:...]",
		set_threads, OPTION_OPTARG),
	OPT_BOOL(0, "timestamp-boundary", S, record.time_boundary, "record the times of the first and last sample"),
	OPT_BOOL(0, "timestamp-filename", S, record.time_in_name, "add the time to the name of the recording"),
	OPT_BOOL(0, "transaction", S, record.sampling.fields[SAMPLE_BIT_TRANSACTION], "record the flags of transactions"),
	OPT_BOOL(0, "user-callchains", S, record.sampling.user_callchains, "call chains of user code alone"),
	OPT_CALLBACK_FLAGS(0, "user-regs", S, record, "any register", "record registers of user code; --user-regs=? lists them",
		set_user_registers, OPTION_OPTARG),
	OPT_STRING(0, "vmlinux", S, vmlinux, "file", "has to be readable; accepted without further effect"),
	OPT_END(),
};
