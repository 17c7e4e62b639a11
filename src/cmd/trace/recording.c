#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/browse_screen.h"
#include "cmd/commands.h"
#include "cmd/input.h"
#include "cmd/trace/samples.h"

static void preview(void *context)
{
	struct trace_run *run = context;
	if (run->options->summary)
		trace_print_summary(run);
}

int trace_show_recording(struct trace_run *run, struct error *err)
{
	struct trace_command *o = run->options;
	struct input_options options = { 0 };
	struct input input = { 0 };
	struct trace_samples samples = { .run = run };
	input_defaults(&options);
	options.path = o->input;
	options.force = o->force;
	options.verbose = o->verbose;
	run->tasks.sources = (struct task_sources){ 0 }; /* the processes have ended, or run elsewhere */
	int status = input_open(&input, run->cli, &options, &(struct input_use){ .keep_exited = true, .remarks = REMARKS_NONE }, err);
	if (status == 0) {
		input_name_events(&input);
		input_tracepoints(&input);
		samples.tracepoints = input.tracepoints;
		status = trace_samples_open(&samples, run, &input.session, err);
	}
	if (status == 0) {
		input_symbols(&input);
		samples.symbols = input.symbols;
		const struct sink sink = trace_samples_sink(&samples);
		browse_screen_previews(run->cli->screen, preview, run);
		input_run(&input, &sink);
		run->exit_code = input_end(&input, false, false);
	}
	trace_samples_close(&samples);
	input_close(&input);
	return status;
}

int trace_record(struct trace_run *run, int argc, const char **argv)
{
	static const char *const first[] = { "-R", "-m", "1024", "-c", "1" };
	const struct trace_command *o = run->options;
	struct command_words words = { 0 };
	char filter[40];
	snprintf(filter, sizeof filter, "common_pid != %d", (int)getpid());
	command_words_add(&words, first, sizeof first / sizeof *first);
	if (run->traces_calls) {
		vec_push(&words.list, "-e");
		vec_push(&words.list, "raw_syscalls:sys_enter,raw_syscalls:sys_exit");
		vec_push(&words.list, "--filter");
		vec_push(&words.list, filter);
	}
	if (o->faults & TRACE_FAULTS_MAJOR) {
		vec_push(&words.list, "-e");
		vec_push(&words.list, "major-faults");
	}
	if (o->faults & TRACE_FAULTS_MINOR) {
		vec_push(&words.list, "-e");
		vec_push(&words.list, "minor-faults");
	}
	command_words_add(&words, argv, (size_t)argc);
	return command_words_run(&words, run->cli, "record");
}
