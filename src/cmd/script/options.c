/* The option table of `script`. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/script/script.h"
#include "os/file.h"

#define S struct script_options

enum { MAX_STACK_DEFAULT = 127 };

static int set_fields(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct script_options *options = target;

	(void)option;
	if (unset) {
		fields_init(&options->fields);
		return 0;
	}
	return fields_parse(&options->fields, arg, &options->notes, err);
}

static int set_itrace(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct script_options *options = target;

	(void)option;
	return itrace_parse(&options->itrace, unset ? NULL : arg, true, err);
}

/* An option that sets -F, --itrace and --ns. */
static int set_trace(struct script_options *options, const char *fields, const char *itrace, struct error *err)
{
	options->nanoseconds = true;
	if (fields_parse(&options->fields, fields, &options->notes, err) < 0)
		return -1;
	return itrace_parse(&options->itrace, itrace, true, err);
}

static int set_instructions(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	(void)option;
	(void)unset;
	bool text = arg && strcmp(arg, "disasm") == 0;

	if (arg && !text && strcmp(arg, "raw") != 0)
		return error_set(err, ERROR_USAGE, "--insn-trace takes raw or disasm, not '%s'", arg);
	return set_trace(target, text ? "+disasm,-event,-period" : "+insn,-event,-period", "i0nse", err);
}

static int set_calls(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	enum { OBJECT_WIDTH = 50 };
	struct script_options *options = target;
	(void)option;
	(void)arg;
	(void)unset;
	options->call_object_width = OBJECT_WIDTH;
	return set_trace(options, "-ip,-addr,-event,-period,+callindent", "cewp", err);
}

static int set_calls_and_returns(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	(void)option;
	(void)arg;
	(void)unset;
	return set_trace(target, "-ip,-addr,-event,-period,+flags,+callindent", "crewp", err);
}

static int set_xed(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct script_options *options = target;
	(void)option;
	(void)arg;
	(void)err;
	options->xed = !unset;
	return 0;
}

static int add_filter_argument(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct script_options *options = target;
	(void)option;
	(void)err;
	if (!unset)
		vec_push(&options->dlfilter.arguments, (char *)(uintptr_t)arg);
	return 0;
}

const struct option script_table[] = {
	OPT_BOOL('D', "dump-raw-trace", S, dump, "dump every record as bytes and as text"),
	OPT_BOOL(0, "dump-unsorted-raw-trace", S, dump_unordered, "the same, in the order of the file"),
	OPT_BOOL('L', "Latency", S, latency, "narrow columns, as the kernel's latency tracers have them"),
	OPT_BOOL('l', "list", S, list, "list the scripts that are installed"),
	OPT_BOOL(0, "list-dlfilters", S, list_dlfilters, "list the filters (shared objects) that are installed"),
	OPT_STRING('s', "script", S, script, "name", "run a script on the samples: export-to-sqlite.py, which is built in"),
	OPT_LATER_ARG('g', "gen-script", "lang", "write a script skeleton for the recording's events"),
	OPT_STRING(0, "dlfilter", S, dlfilter.path, "file", "pass samples through a filter (a shared object)"),
	OPT_CALLBACK(0, "dlarg", S, dlfilter, "argument", "an argument for the filter", add_filter_argument),
	OPT_BOOL('d', "debug-mode", S, debug, "print nothing, but count samples that are out of order"),
	OPT_BOOL(0, "header", S, header, "print the recording's header first"),
	OPT_BOOL(0, "header-only", S, header_only, "print the header and nothing else"),
	OPT_BOOL('G', "hide-call-graph", S, hide_call_graph, "print each sample's own place only, not its callers"),
	OPTION_ROW(CALLBACK, 'F', "fields", S, fields, "what to print: fields, +field to add, -field to remove; for one type of event only "
		"after hw:, sw:, trace:, raw:, break: or synth:. Fields: ", .arg = "str", .words = fields_words, .set = set_fields,
		.flags = OPTION_NONEG),
	INPUT_OPTIONS(S, input, "read", "directory", ""),
	OPT_BOOL('a', "all-cpus", S, all_cpus, "record from all CPUs, for scripts that record"),
	OPT_STRING(0, "dsos", S, filter.dsos, "dso[,dso...]", "only samples in these objects"),
	OPT_STRING('S', "symbols", S, filter.symbols, "symbol[,symbol...]", "only samples in these functions, or at these addresses"),
	OPT_INT(0, "addr-range", S, address_range, "with -S ADDRESS: that many bytes from the address on"),
	OPT_CALLBACK_FLAGS(0, "insn-trace", S, itrace, "raw|disasm", "print the instructions of a hardware trace", set_instructions,
		OPTION_OPTARG),
	OPT_CALLBACK_FLAGS(0, "xed", S, xed, NULL, "print instructions as text instead of bytes, by the built-in disassembler", set_xed,
		OPTION_OPTARG),
	OPT_CALLBACK_FLAGS(0, "call-trace", S, itrace, NULL, "print the calls of a hardware trace", set_calls, OPTION_OPTARG),
	OPT_CALLBACK_FLAGS(0, "call-ret-trace", S, itrace, NULL, "print the calls and returns of a hardware trace", set_calls_and_returns,
		OPTION_OPTARG),
	OPT_STRING(0, "graph-function", S, graph_functions, "symbol[,symbol...]", "with --call-trace: only these functions and what they call"),
	OPT_STRING(0, "stop-bt", S, stop_at, "symbol[,symbol...]", "end call chains at these functions"),
	OPT_FILTER_CPU(S, filter),
	FILTER_THREAD_OPTIONS(S, filter),
	OPTION_ROW(UINT, 0, "max-stack", S, max_stack, "frames of a call chain that are printed (127)", .arg = "n",
		.was_set = OPTION_GIVEN(S, max_stack_given)),
	OPT_BOOL(0, "reltime", S, reltime, "times since the first sample"),
	OPT_BOOL(0, "deltatime", S, deltatime, "times since the sample before"),
	OPT_BOOL('I', "show-info", S, full_info, "with --header: topology and caches, too"),
	OPT_BOOL(0, "show-kernel-path", S, show_kernel_path, "the kernel by its file's path"),
	OPT_BOOL(0, "show-task-events", S, show_task, "print threads' starts, names and ends, too"),
	OPT_BOOL(0, "show-mmap-events", S, show_mmap, "print mappings, too"),
	OPT_BOOL(0, "show-switch-events", S, show_switch, "print context switches, too (where recorded)"),
	OPT_BOOL(0, "show-namespace-events", S, show_namespace, "print namespaces, too (where recorded)"),
	OPT_BOOL(0, "show-cgroup-events", S, show_cgroup, "print cgroups, too (where recorded)"),
	OPT_BOOL(0, "show-lost-events", S, show_lost, "print where records were lost"),
	OPT_BOOL(0, "show-round-events", S, show_round, "print where the recorder's rounds end; everything in the order of the file"),
	OPT_BOOL(0, "show-bpf-events", S, show_bpf, "print BPF programs' loads and unloads, too (where recorded)"),
	OPT_BOOL(0, "show-text-poke-events", S, show_text_poke, "print changes of kernel code, too (where recorded)"),
	OPT_FORMAT(S, format),
	OPT_BOOL(0, "per-event-dump", S, per_event_dump, "write each event's samples to a separate file"),
	OPT_INT(0, "max-blocks", S, max_blocks, "blocks of code that brstackinsn prints"),
	OPT_BOOL(0, "ns", S, nanoseconds, "times with nine decimals"),
	OPT_CALLBACK_FLAGS(0, "itrace", S, itrace, "opts", "what to make of a hardware trace", set_itrace, OPTION_OPTARG),
	OPT_BOOL(0, "full-source-path", S, full_source_path, "whole paths of source files"),
	INPUT_NAME_OPTIONS(S, input),
	OPT_STRING(0, "addr2line", S, addr2line, "path", "accepted; source lines do not need this program"),
	OPT_FILTER_TIME(S, filter),
	OPTION_ROW(BOOL, 0, "inline", S, inlines, "show functions that the compiler put into others, in all chains; else in unwound ones",
		.was_set = OPTION_GIVEN(S, inlines_given)),
	OPT_STRING(0, "guestmount", S, input.symbols.guests.mount, "directory", "guests' file systems, each in a folder named by its process"),
	OPT_STRING(0, "guestvmlinux", S, input.symbols.guests.vmlinux, "file", "the vmlinux of guests"),
	OPT_STRING(0, "guestkallsyms", S, input.symbols.guests.kallsyms, "file", "the /proc/kallsyms of guests"),
	OPT_STRING(0, "guestmodules", S, guestmodules, "file", "print samples in guests; the recording has their modules"),
	OPT_BOOL(0, "guest-code", S, guest_code, "guests run functions of the process that runs them"),
	OPT_BOOL(0, "stitch-lbr", S, stitch, "join the branch records of samples to longer call chains"),
	OPT_STRING(0, "switch-on", S, switch_on, "event", "print nothing up to the first sample of this event"),
	OPT_STRING(0, "switch-off", S, switch_off, "event", "print nothing after a sample of this event"),
	OPT_BOOL(0, "show-on-off-events", S, show_on_off, "print the samples that --switch-on and --switch-off wait for"),
	OPT_END(),
};

const char *const script_usage[] = {
	"perf script [<options>]",
	"perf script [<options>] record <script> [<record-options>] <command>",
	"perf script [<options>] report <script> [script-args]",
	"perf script [<options>] <script> [<record-options>] <command>",
	"perf script [<options>] <top-script> [script-args]",
	NULL
};

const char *const script_subcommands[] = { "record", "report", NULL };

/* The number of frames of a call chain that this machine's kernel records. */
static unsigned script_max_stack(void)
{
	int64_t frames;

	bool known = file_number("/proc/sys/kernel/perf_event_max_stack", &frames) && frames > 0 && frames <= UINT32_MAX;
	return known ? (unsigned)frames : MAX_STACK_DEFAULT;
}

void script_defaults(void *target, const struct cli *cli)
{
	struct script_options *options = target;

	(void)cli;
	fields_init(&options->fields);
	input_defaults(&options->input);
	itrace_default(&options->itrace, true);
	options->inlines = true;
	options->max_stack = script_max_stack();
}

int script_list(struct cli *cli)
{
	writer_puts(cli->out, "List of available trace scripts:\n");
	writer_printf(cli->out, "  %-36s %s\n", "task-analyzer", "when and how long tasks run");
	return 0;
}

enum isa script_host_isa(void)
{
	struct utsname name;

	return uname(&name) < 0 ? ISA_UNKNOWN : isa_of_machine(name.machine);
}
