#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "cmd/code_files.h"
#include "cmd/command.h"
#include "cmd/environment.h"
#include "cmd/guest_times.h"
#include "cmd/kernel_files.h"
#include "cmd/loss_summary.h"
#include "cmd/piped_trace.h"
#include "cmd/same_machine.h"
#include "os/process.h"
#include "rewrite/compact.h"
#include "rewrite/guest_data.h"
#include "rewrite/rewrite.h"

extern const struct command command_inject;

struct inject_options {
	const char *input, *output, *vmlinux, *kallsyms, *guestmount, *known_build_ids;
	bool build_ids, build_ids_all, mmap2_hit, mmap2_all, sched_stat, jit, force, strip, ignore_vmlinux, compact, indexed, convert;
	int verbose;
	bool decode;                 /* --itrace was given */
	struct itrace itrace;
	struct guest_times_options times;
	struct guest_options guest;
	char guest_path[4096];       /* empty: no guest */
};

static int set_times(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct inject_options *options = target;
	(void)option;
	options->times = (struct guest_times_options){ 0 };
	return unset ? 0 : guest_times_parse(&options->times, arg, err);
}

/* PATH,PID[,TIME OFFSET[,TIME SCALE]] */
static int set_guest(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct inject_options *options = target;
	(void)option;
	options->guest_path[0] = '\0';
	if (unset)
		return 0;
	const char *comma = arg ? strchr(arg, ',') : NULL;
	char *end = NULL;
	options->guest = (struct guest_options){ .path = options->guest_path, .time_scale = 1 };
	bool right = comma && comma > arg && comma - arg < (ptrdiff_t)sizeof options->guest_path;
	if (right) {
		long pid = strtol(comma + 1, &end, 0);
		options->guest.machine = (int32_t)pid;
		right = pid > 0 && pid <= INT32_MAX;
	}
	if (right && *end == ',')
		options->guest.time_offset = strtoull(end + 1, &end, 0);
	if (right && *end == ',')
		options->guest.time_scale = strtod(end + 1, &end);
	if (!right || *end || !(options->guest.time_scale > 0) || isinf(options->guest.time_scale))
		return error_set(err, ERROR_USAGE, "--guest-data takes PATH,PID[,TIME OFFSET[,TIME SCALE]]: the recording of a virtual machine, "
			"the process that runs it, and how its clock differs");
	memcpy(options->guest_path, arg, (size_t)(comma - arg));
	options->guest_path[comma - arg] = '\0';
	return 0;
}

static int set_itrace(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct inject_options *options = target;
	(void)option;
	options->decode = !unset;
	if (unset)
		return 0;
	if (itrace_parse(&options->itrace, arg, false, err) < 0)
		return -1;
	if (options->itrace.by_default) {
		options->itrace.branches = true;
		options->itrace.call_chain = false;
	}
	/* the other samples are copied as they are, as by perf */
	options->itrace.add_call_chain = options->itrace.add_last_branch = false;
	return 0;
}

#define I struct inject_options
static const struct option inject_table[] = {
	OPT_BOOL('b', "build-ids", I, build_ids, "add the build-ids of files that samples hit"),
	OPT_BOOL('B', "mmap2-buildids", I, mmap2_hit, "write only mappings that samples hit, with their build-ids"),
	OPT_BOOL('f', "force", I, force, "do not check the owner of the file"),
	OPT_STRING('i', "input", I, input, "file", "the recording to read (standard input)"),
	OPT_BOOL('j', "jit", I, jit, "write a file and a mapping for each function of JIT dumps"),
	OPT_STRING('k', "vmlinux", I, vmlinux, "file", "the kernel's code, for --itrace"),
	OPT_STRING('o', "output", I, output, "file", "the recording to write (standard output)"),
	OPT_BOOL('s', "sched-stat", I, sched_stat, "show where tasks slept: give sched_stat samples the stack of the task's last switch"),
	OPT_INCR('v', "verbose", I, verbose, "print more messages"),
	OPTION_ROW(BOOL, 0, "compact", I, compact, "drop mappings and threads that no sample needs", .flags = OPTION_OWN),
	OPTION_ROW(BOOL, 0, "convert-callchain", I, convert, "replace copies of stacks (record --call-graph dwarf) by the call chains in them",
		.flags = OPTION_OWN),
	OPT_BOOL(0, "buildid-all", I, build_ids_all, "add the build-ids of all files that were mapped"),
	OPT_CALLBACK_FLAGS(0, "guest-data", I, guest, "opts", "add the recording of a virtual machine: PATH,PID[,TIME OFFSET[,TIME SCALE]]",
		set_guest, OPTION_OPTARG),
	OPT_STRING(0, "guestmount", I, guestmount, "directory", "the folder with the files of guests; not used yet"),
	OPT_BOOL(0, "ignore-vmlinux", I, ignore_vmlinux, "do not use a vmlinux; not used yet"),
	OPT_CALLBACK_FLAGS(0, "itrace", I, itrace, "opts", "replace hardware traces by samples", set_itrace, OPTION_OPTARG),
	OPTION_ROW(BOOL, 0, "index", I, indexed, "end the file with an index, by which --time reads only what it needs", .flags = OPTION_OWN),
	OPT_STRING(0, "kallsyms", I, kallsyms, "file", "a kallsyms with the kernel's symbols; not used yet"),
	OPT_STRING(0, "known-build-ids", I, known_build_ids, "buildid path [,buildid path...]", "use these build-ids for these files"),
	OPT_BOOL(0, "mmap2-buildid-all", I, mmap2_all, "write all mappings with their build-ids"),
	OPT_BOOL(0, "strip", I, strip, "with --itrace: drop the samples of other events"),
	OPT_CALLBACK_FLAGS(0, "vm-time-correlation", I, times, "opts", "give the traces of guests the host's times, in the recording itself",
		set_times, OPTION_OPTARG),
	OPT_END(),
};
#undef I

static const char *const inject_usage[] = { "perf inject [<options>]", NULL };

static enum rewrite_ids ids_of(const struct inject_options *options)
{
	return options->build_ids_all ? IDS_ALL : options->build_ids ? IDS_HIT : options->mmap2_all ? IDS_MMAP2_ALL :
		options->mmap2_hit ? IDS_MMAP2_HIT : IDS_NONE;
}

static void warn_of_jit(const struct cli *cli, const struct rewrite_counters *counters)
{
	if (counters->jit_unwritable)
		cli_warn(cli, "cannot create jit ELF: %s", counters->jit_error.text);
}

/* A recording that lacks events cannot be read: neither its samples of them, nor what follows. */
static int check_events(const struct cli *cli, const struct source *source, struct error *err)
{
	uint64_t left_out = source->header.left_out_events;
	if (!left_out)
		return 0;
	error_set(err, ERROR_LIMIT, "%llu events do not fit into a quarter of the limit of memory, %zu MiB", (unsigned long long)left_out,
		budget_limit(cli->budget) >> 20);
	return error_hint(err, "'perfuse --memory SIZE inject' sets another limit");
}

static int inject_records(struct cli *cli, struct rewrite *rewrite, const struct source *source, struct error *err)
{
	int result = rewrite_run(rewrite, err);
	warn_of_jit(cli, rewrite_counters(rewrite));
	if (result < 0 || check_events(cli, source, err) < 0) /* those of a stream come with its records */
		return -1;
	return rewrite_finish(rewrite, rewrite_fills_cache(rewrite) ? environment_cache(cli, true) : NULL, err);
}

/* Damaged records are written as they are: the readers of the new recording report them, too. */
static int inject_source(struct cli *cli, const struct inject_options *options, const struct compact_plan *plan, struct source *source,
	const char *input)
{
	struct process_words words = { 0 };
	struct rewrite *rewrite;
	struct losses losses;
	struct error err = { 0 };
	process_words_read(&words, cli->program);
	struct code_files code;
	struct image_options images = { .buildid_dir = environment_cache(cli, false), .budget = cli->budget, .vmlinux = options->vmlinux,
		.same_machine = recorded_here(&source->header), .processes_until = recorded_until(&source->header) };
	code_files_init(&code, &images);
	struct trace_options trace = { .itrace = options->itrace, .code = code_files_span, .context = &code };
	const struct rewrite_options rewrite_options = {
		.output = options->output ? options->output : "-", .command = words.list.items, .ids = ids_of(options),
		.known_build_ids = options->known_build_ids, .sched_stat = options->sched_stat, .jit = options->jit,
		.convert_stacks = options->convert, .images = &images,
		.plan = options->compact ? plan : NULL, .indexed = options->indexed,
		.trace = options->decode ? &trace : NULL, .strip = options->strip, .force = options->force,
		.guest = options->guest_path[0] ? &options->guest : NULL, .budget = cli->budget, .recorded_until = recorded_until,
	};
	int result = rewrite_open(&rewrite, source, &rewrite_options, &err);
	if (result == 0)
		result = inject_records(cli, rewrite, source, &err);
	if (result < 0)
		cli_complain(cli, &err);
	rewrite_losses(rewrite, &losses);
	int damaged = loss_summary_print(cli, input, &losses, false);
	rewrite_close(rewrite);
	process_words_fini(&words);
	code_files_fini(&code);
	return result < 0 ? EXIT_FAILED : damaged;
}

/* The recording is read once more than it is written, twice if a late record names a thread that ended long before. */
static int plan_compact(struct cli *cli, const struct inject_options *options, const char *input, struct compact_plan *plan,
	struct error *err)
{
	struct source_options source_options = { .force = options->force, .event_memory = source_event_memory(cli->budget) };
	struct source *source;
	struct stat st;
	if (options->decode || options->jit || options->sched_stat || options->convert || ids_of(options) != IDS_NONE)
		return error_set(err, ERROR_USAGE, "--compact cannot be combined with other changes: make them first");
	if (strcmp(input, "-") == 0 || stat(input, &st) != 0 || S_ISFIFO(st.st_mode))
		return error_set(err, ERROR_USAGE, "--compact reads the recording twice: it needs a file (-i)");
	int result = 1;
	for (int reading = 0; result > 0 && reading < 2; reading++) {
		compact_plan_fini(plan);
		if (source_open(&source, input, &source_options, err) < 0)
			return -1;
		result = compact_plan_make(plan, source, &(struct compact_options){ .budget = cli->budget, .remembers = reading > 0 }, err);
		source_close(source);
	}
	return result;
}

/* Instead of writing another recording. */
static int correct_times(struct cli *cli, const struct inject_options *options)
{
	struct source_options source_options = { .force = options->force, .event_memory = source_event_memory(cli->budget) };
	struct source *source = NULL;
	struct error err = { 0 };
	int result = 0;
	if (!options->input || strcmp(options->input, "-") == 0 || options->output)
		result = error_set(&err, ERROR_USAGE, "--vm-time-correlation changes a recording: it needs its file (-i), and no -o");
	if (result == 0)
		result = source_open(&source, options->input, &source_options, &err);
	if (result == 0)
		result = check_events(cli, source, &err);
	if (result == 0)
		result = guest_times_correct(&options->times, source, options->input, options->force, cli->budget, &err);
	source_close(source);
	if (result < 0)
		cli_complain(cli, &err);
	return result < 0 ? EXIT_FAILED : 0;
}

static int check_options(const struct inject_options *options, struct error *err)
{
	bool others = options->decode || options->jit || options->sched_stat || options->compact || options->convert ||
		ids_of(options) != IDS_NONE;
	if (options->strip && !options->decode)
		return error_set(err, ERROR_USAGE, "--strip option requires --itrace option");
	if (options->guest_path[0] && others)
		return error_set(err, ERROR_USAGE, "--guest-data cannot be combined with other changes: make them before or afterwards");
	if (options->convert && options->decode)
		return error_set(err, ERROR_USAGE, "--convert-callchain cannot be combined with --itrace: make one change after the other");
	return kernel_files_check(options->vmlinux, options->kallsyms, err);
}

static int inject_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	const struct inject_options *options = arg;
	struct source_options source_options = { .force = options->force, .event_memory = source_event_memory(cli->budget) };
	struct source *source = NULL;
	struct error err = { 0 };
	if (argc)
		return cli_usage(cli, &command_inject, NULL);
	if (options->times.wanted)
		return correct_times(cli, options);
	const char *input = options->input ? options->input : "-";
	int result = check_options(options, &err);
	if (result == 0)
		result = source_open(&source, input, &source_options, &err);
	if (result == 0)
		result = check_events(cli, source, &err);
	struct piped_trace piped = { 0 };
	if (result == 0 && source->traced && options->decode)
		result = piped_trace_copy(&piped, &source, &err);
	if (result < 0) {
		source_close(source);
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	struct compact_plan plan = { 0 };
	result = options->compact ? plan_compact(cli, options, input, &plan, &err) : 0;
	if (result < 0)
		cli_complain(cli, &err);
	int code = result < 0 ? EXIT_FAILED : inject_source(cli, options, &plan, source, input);
	if (piped.stop.kind != ERROR_NONE) {
		cli_complain(cli, &piped.stop);
		code = EXIT_DAMAGED;
	}
	compact_plan_fini(&plan);
	source_close(source);
	piped_trace_close(&piped);
	return code;
}

const struct command command_inject = {
	.name = "inject",
	.summary = "rewrite a recording: add build-ids, JIT-compiled code, sleeping times, decoded traces",
	.usage = inject_usage,
	.options = inject_table,
	.options_size = sizeof(struct inject_options),
	.run = inject_run,
};
