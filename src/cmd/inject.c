#include <stdlib.h>

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/environment.h"
#include "cmd/kernel_files.h"
#include "cmd/loss_summary.h"
#include "cmd/same_machine.h"
#include "os/process.h"
#include "rewrite/rewrite.h"

extern const struct command command_inject;

enum { WORDS_MAX = 512 };

struct inject_options {
	const char *input, *output, *vmlinux, *kallsyms, *guestmount, *known_build_ids;
	bool build_ids, build_ids_all, mmap2_hit, mmap2_all, sched_stat, jit, force, strip, ignore_vmlinux;
	int verbose;
};

#define I struct inject_options
static const struct option inject_table[] = {
	OPT_BOOL('b', "build-ids", I, build_ids, "add the build-ids of files that samples hit"),
	OPT_BOOL('B', "mmap2-buildids", I, mmap2_hit, "write only mappings that samples hit, with their build-ids"),
	OPT_BOOL('f', "force", I, force, "do not check the owner of the file"),
	OPT_STRING('i', "input", I, input, "file", "the recording to read (standard input)"),
	OPT_BOOL('j', "jit", I, jit, "write a file and a mapping for each function of JIT dumps"),
	OPT_STRING('k', "vmlinux", I, vmlinux, "file", "a vmlinux with the kernel's symbols; not used yet"),
	OPT_STRING('o', "output", I, output, "file", "the recording to write (standard output)"),
	OPT_BOOL('s', "sched-stat", I, sched_stat, "show where tasks slept: give sched_stat samples the stack of the task's last switch"),
	OPT_INCR('v', "verbose", I, verbose, "print more messages"),
	OPT_BOOL(0, "buildid-all", I, build_ids_all, "add the build-ids of all files that were mapped"),
	OPT_LATER_OPTARG(0, "guest-data", "opts", "merge a guest's recording"),
	OPT_STRING(0, "guestmount", I, guestmount, "directory", "the folder with the files of guests; not used yet"),
	OPT_BOOL(0, "ignore-vmlinux", I, ignore_vmlinux, "do not use a vmlinux; not used yet"),
	OPT_LATER_OPTARG(0, "itrace", "opts", "events decoded from hardware traces"),
	OPT_STRING(0, "kallsyms", I, kallsyms, "file", "a kallsyms with the kernel's symbols; not used yet"),
	OPT_STRING(0, "known-build-ids", I, known_build_ids, "buildid path [,buildid path...]", "use these build-ids for these files"),
	OPT_BOOL(0, "mmap2-buildid-all", I, mmap2_all, "write all mappings with their build-ids"),
	OPT_BOOL(0, "strip", I, strip, "drop records that were not decoded (with --itrace)"),
	OPT_LATER_OPTARG(0, "vm-time-correlation", "opts", "the host's times in a guest's traces"),
	OPT_END(),
};
#undef I

static const char *const inject_usage[] = { "perf inject [<options>]", NULL };

/* The command line for the new recording's header. */
struct words {
	struct str text;
	char self[4096];
	const char *list[WORDS_MAX + 1]; /* NULL-terminated */
};

static void words_open(struct words *words, const char *program)
{
	process_self_path(words->self, sizeof words->self, program);
	size_t count = process_self_command(&words->text), used = 0;
	words->list[used++] = words->self;
	const char *word = str_text(&words->text);
	for (size_t i = 0; i < count && used < WORDS_MAX; i++, word += strlen(word) + 1)
		if (i)
			words->list[used++] = word;
}

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

static int inject_records(struct cli *cli, struct rewrite *rewrite, struct error *err)
{
	int result = rewrite_run(rewrite, err);
	warn_of_jit(cli, rewrite_counters(rewrite));
	if (result < 0)
		return -1;
	return rewrite_finish(rewrite, rewrite_fills_cache(rewrite) ? environment_cache(cli, true) : NULL, err);
}

/* Damaged records are written as they are: the readers of the new recording report them, too. */
static int inject_source(struct cli *cli, const struct inject_options *options, struct source *source, const char *input)
{
	struct words words = { 0 };
	struct rewrite *rewrite;
	struct losses losses;
	struct error err = { 0 };
	words_open(&words, cli->program);
	const struct rewrite_options rewrite_options = {
		.output = options->output ? options->output : "-", .command = words.list, .ids = ids_of(options),
		.known_build_ids = options->known_build_ids, .sched_stat = options->sched_stat, .jit = options->jit,
		.force = options->force, .budget = cli->budget, .recorded_until = recorded_until,
	};
	int result = rewrite_open(&rewrite, source, &rewrite_options, &err);
	if (result == 0)
		result = inject_records(cli, rewrite, &err);
	if (result < 0)
		cli_complain(cli, &err);
	rewrite_losses(rewrite, &losses);
	int damaged = loss_summary_print(cli, input, &losses, false);
	rewrite_close(rewrite);
	str_fini(&words.text);
	return result < 0 ? EXIT_FAILED : damaged;
}

static int inject_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	const struct inject_options *options = arg;
	struct source_options source_options = { .force = options->force };
	struct source *source = NULL;
	struct error err = { 0 };
	if (argc)
		return cli_usage(cli, &command_inject, NULL);
	const char *input = options->input ? options->input : "-";
	int result = options->strip ? error_set(&err, ERROR_USAGE, "--strip option requires --itrace option")
				    : kernel_files_check(options->vmlinux, options->kallsyms, &err);
	if (result == 0)
		result = source_open(&source, input, &source_options, &err);
	if (result < 0) {
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	int code = inject_source(cli, options, source, input);
	source_close(source);
	return code;
}

const struct command command_inject = {
	.name = "inject",
	.summary = "rewrite a recording: add build-ids, JIT-compiled code, sleeping times",
	.usage = inject_usage,
	.options = inject_table,
	.options_size = sizeof(struct inject_options),
	.run = inject_run,
};
