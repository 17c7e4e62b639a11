#include "cmd/trace/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/sampling.h"
#include "os/machine.h"

#define T struct trace_command

enum { MAP_TIMEOUT_MS = 500, ALIGNMENT = 70 };

const char *const trace_usage[] = { "perf trace [<options>] [<command>]", "perf trace [<options>] -- <command> [<options>]",
	"perf trace record [<options>] [<command>]", "perf trace record [<options>] -- <command> [<options>]", NULL };

enum syscalls trace_native_table(void)
{
	struct machine_names names;
	machine_names(&names);
	return syscalls_of_machine(names.arch);
}

/* Commas within braces and slashes belong to an event. */
static size_t word_length(const char *text)
{
	int depth = 0;
	size_t length = 0;
	for (; text[length] && (depth > 0 || text[length] != ','); length++)
		depth += (text[length] == '{') - (text[length] == '}');
	return length;
}

static int set_event(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	T *o = target;
	CLEANUP_STR struct str events = { 0 };
	if (unset) /* --no-event, as in perf's record, changes nothing */
		return 0;
	if (*arg == '!') {
		o->all_but_selected = true;
		arg++;
	}
	for (size_t length; *arg; arg += length + (arg[length] == ',')) {
		length = word_length(arg);
		char *word = strndup(arg, length);
		if (length && call_word(word, trace_native_table())) {
			vec_push(&o->selected, word);
			continue;
		}
		if (length)
			str_printf(&events, "%s%s", events.len ? "," : "", word);
		free(word);
	}
	if (events.len) {
		vec_push(&o->events, memory_string(events.text));
		vec_push(&o->words, ((struct event_word){ WORD_EVENT, o->events.items[o->events.count - 1] }));
	}
	return 0;
}

static int set_filter(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	T *o = target;
	if (!unset)
		vec_push(&o->words, ((struct event_word){ WORD_FILTER, arg }));
	return 0;
}

static int set_cgroup(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	T *o = target;
	if (o->words.count && !unset)
		vec_push(&o->words, ((struct event_word){ WORD_CGROUP, arg }));
	else
		o->cgroup = arg;
	return 0;
}

static int set_hidden(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	T *o = target;
	for (const char *at = arg; at && *at;) {
		char *end;
		long id = strtol(at, &end, 10);
		if (end == at || id <= 0 || id > INT32_MAX || (*end && *end != ','))
			return error_set(err, ERROR_USAGE, "--filter-pids takes ids of processes, separated by commas, not '%s'", arg);
		vec_push(&o->hidden, (pid_t)id);
		at = *end ? end + 1 : end;
	}
	return 0;
}

static int set_duration(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	T *o = target;
	double ms = unset ? 0 : atof(arg);
	o->least_ns = ms > 0 && ms < 1e12 ? (uint64_t)(ms * 1e6) : 0;
	return 0;
}

static int set_faults(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	static const struct {
		const char *word;
		unsigned faults;
	} rows[] = { { "all", TRACE_FAULTS_MAJOR | TRACE_FAULTS_MINOR }, { "maj", TRACE_FAULTS_MAJOR }, { "min", TRACE_FAULTS_MINOR } };
	T *o = target;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(arg ? arg : "maj", rows[i].word) == 0) {
			o->faults |= rows[i].faults;
			return 0;
		}
	}
	return error_set(err, ERROR_USAGE, "-F takes all, maj or min, not '%s'", arg);
}

static int set_pages(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	T *o = target;
	return pages_parse(unset ? NULL : arg, &o->pages, &o->pages_rounded, err);
}

static int set_call_graph(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	T *o = target;
	if (unset) {
		o->sampling.call_graph = CALL_GRAPH_NONE;
		return 0;
	}
	return call_graph_parse(arg, &o->sampling.call_graph, &o->sampling.stack_size, &o->sampling.max_stack, err);
}

static int set_summary_mode(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	static const char *const modes[] = { [SUMMARY_BY_THREAD] = "thread", [SUMMARY_IN_TOTAL] = "total", [SUMMARY_BY_CGROUP] = "cgroup" };
	T *o = target;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (strcmp(arg, modes[i]) == 0) {
			o->summary_mode = (enum summary_mode)i;
			return 0;
		}
	}
	return error_set(err, ERROR_USAGE, "--summary-mode takes thread, total or cgroup, not '%s'", arg);
}

const struct option trace_table[] = {
	OPT_CALLBACK('e', "event", T, words, "event", "system calls (names, globs, groups; !: all others) and other events", set_event),
	OPT_CALLBACK(0, "filter", T, words, "filter", "a condition on the tracepoints of the preceding -e", set_filter),
	OPT_BOOL(0, "comm", T, comm, "show the command with the id of its thread (on)"),
	OPT_BOOL(0, "tool_stats", T, tool_stats, "print how file names of descriptors were found"),
	OPT_CALLBACK(0, "expr", T, words, "expr", "the same as -e", set_event),
	OPT_STRING('o', "output", T, output, "file", "write here instead of standard error; an existing file is renamed to file.old"),
	OPT_STRING('i', "input", T, input, "file", "show this recording"),
	OPT_STRING('p', "pid", T, target.pids, "pid", "only these running processes"),
	OPT_STRING('t', "tid", T, target.tids, "tid", "only these running threads"),
	OPT_CALLBACK(0, "filter-pids", T, hidden_text, "CSV list of pids", "not these processes and threads", set_hidden),
	OPT_BOOL('a', "all-cpus", T, target.all_cpus, "everything that runs, on all CPUs"),
	OPT_STRING('C', "cpu", T, target.cpus, "cpu", "only these CPUs: 0-3,7"),
	OPTION_ROW(BOOL, 0, "no-inherit", T, sampling.no_inherit, "leave out threads and processes that are started meanwhile",
		.was_set = OPTION_GIVEN(T, sampling.inherit_given)),
	OPT_CALLBACK('m', "mmap-pages", T, pages, "pages", "size of each ring: pages, or bytes with a unit", set_pages),
	OPT_STRING('u', "uid", T, target.uid, "user", "only the running processes of a user"),
	OPT_CALLBACK(0, "duration", T, least_ns, "float", "only calls that took more milliseconds than this", set_duration),
	OPT_BOOL(0, "sched", T, sched, "add the time that each thread ran to the summary"),
	OPT_INCR('v', "verbose", T, verbose, "print more"),
	OPT_BOOL('T', "time", T, full_time, "times as the kernel has them, not from the first event"),
	OPT_BOOL(0, "failure", T, failures, "only calls that failed"),
	OPT_BOOL('s', "summary", T, summary_only, "only sums: number, errors and times of each call of each thread"),
	OPT_BOOL('S', "with-summary", T, summary, "all calls, then the sums"),
	OPT_BOOL(0, "errno-summary", T, error_summary, "list the errors of each call in the sums (implies -s)"),
	OPTION_ROW(CALLBACK, 0, "summary-mode", T, summary_mode, "with -s or -S: the sums of each thread (the default), cgroup, or of all",
		.arg = "thread|total|cgroup", .set = set_summary_mode, .flags = OPTION_OWN | OPTION_NONEG),
	OPTION_ROW(UINT, 0, "max-summary", T, max_summary, "with -s or -S: show only the n calls with the longest time of each", .arg = "n",
		.flags = OPTION_OWN),
	OPTION_ROW(BOOL, 0, "bpf-summary", T, bpf_summary, "has no effect: BPF programs make the sums of -s where it is possible",
		.flags = OPTION_OWN),
	OPT_CALLBACK_FLAGS('F', "pf", T, faults, "all|maj|min", "trace page faults", set_faults, OPTION_LASTARG),
	OPT_BOOL(0, "syscalls", T, syscalls, "trace system calls, also with -F or other events"),
	OPT_BOOL('f', "force", T, force, "read a recording of another owner, too"),
	OPT_CALLBACK(0, "call-graph", T, sampling, "record_mode[,record_size]",
		"add call chains, found by frame pointers (fp), copies of the stack (dwarf[,bytes]) or branch records (lbr)", set_call_graph),
	OPT_BOOL(0, "libtraceevent_print", T, libtraceevent, "print tracepoints in the format of the kernel"),
	OPT_BOOL(0, "kernel-syscall-graph", T, kernel_graph, "add the kernel's part of call chains"),
	OPTION_ROW(U64, 0, "max-events", T, max_events, "end after this many lines", .arg = "n", .was_set = OPTION_GIVEN(T, max_events_given)),
	OPT_UINT(0, "min-stack", T, min_stack, "only events whose call chain has at least this many frames"),
	OPT_UINT(0, "max-stack", T, max_stack, "the most frames of a call chain"),
	OPT_BOOL(0, "sort-events", T, sort_events, "sort by time what CPUs send in another order"),
	OPT_BOOL(0, "print-sample", T, print_sample, "print the name, time, process and CPU of each event before it"),
	OPT_UINT(0, "proc-map-timeout", T, map_timeout_ms, "give up on the mappings of a running process after n ms"),
	OPT_CALLBACK('G', "cgroup", T, cgroup, "name", "only in this cgroup (with -a)", set_cgroup),
	OPT_INT('D', "delay", T, delay_ms, "start tracing this many milliseconds after the command"),
	OPT_BOOL(0, "force-btf", T, force_btf, "print structures by the kernel's types"),
	OPT_STRING(0, "switch-on", T, switch_on, "event", "show events only after this one"),
	OPT_STRING(0, "switch-off", T, switch_off, "event", "and no more after this one"),
	OPT_BOOL(0, "show-on-off-events", T, show_switch_events, "show these two events themselves, too"),
	OPT_FORMAT(T, format),
	OPT_END(),
};
#undef T

void trace_defaults(void *target, const struct cli *cli)
{
	struct trace_command *o = target;
	const struct config *config = cli->config;
	o->comm = true;
	o->map_timeout_ms = MAP_TIMEOUT_MS;
	o->sampling.regs_mask = registers_for_dwarf();
	o->sampling.no_inherit = config_bool(config, "trace.no_inherit", false);
	bool names = config_bool(config, "trace.show_arg_names", true);
	const char *printer = config_get(config, "trace.tracepoint_beautifiers");
	o->libtraceevent = printer && strcasecmp(printer, "libtraceevent") == 0;
	o->text = (struct trace_text_options){
		.time = config_bool(config, "trace.show_timestamp", true), .duration = config_bool(config, "trace.show_duration", true),
		.unnamed = !names, .zeros = !names || config_bool(config, "trace.show_zeros", false),
		.prefixes = config_bool(config, "trace.show_prefix", false),
		.alignment = (int)config_int(config, "trace.args_alignment", ALIGNMENT), .tasks = true,
	};
}

void trace_options_fini(struct trace_command *options)
{
	for (size_t i = 0; i < options->selected.count; i++)
		free(options->selected.items[i]);
	for (size_t i = 0; i < options->events.count; i++)
		free(options->events.items[i]);
	vec_fini(&options->words);
	vec_fini(&options->selected);
	vec_fini(&options->events);
	vec_fini(&options->hidden);
}
