#include <stdlib.h>

#include "cmd/lock/lock.h"
#include "cmd/offcpu_text.h"

enum { STACK_MAX = 127, ENTRIES = 20 };

static int analyse(struct cli *cli, struct lock_options *options, struct writer *out, struct error *err)
{
	struct input input;
	struct offcpu_rows rows;
	if (input_open(&input, cli, &options->input, &(struct input_use){ .keep_exited = true, .threads = 1, .no_progress = true }, err) < 0) {
		input_close(&input);
		return EXIT_FAILED;
	}
	off_cpu_remove(&options->recording); /* it is open: a signal leaves nothing behind */
	input_symbols(&input);
	offcpu_init(&rows, &(struct offcpu_options){ .symbols = input.symbols, .group = OFFCPU_BY_FUTEX, .max_stack = STACK_MAX });
	const struct sink sink = offcpu_sink(&rows);
	input_run(&input, &sink);
	offcpu_finish(&rows);
	if (format_is_table(options->format)) {
		const struct results results = { .schema = "perfuse.offcpu", .version = 1, .tables = &rows.table, .table_count = 1 };
		options->format->print(&results, cli->out);
	} else {
		unsigned entries = options->entries < ENTRIES ? (unsigned)(options->entries > 0 ? options->entries : 1) : ENTRIES;
		offcpu_text_print(&rows, &(struct offcpu_text){ entries, options->input.verbose > 0 }, out);
	}
	int code = input_end(&input, false, false);
	offcpu_fini(&rows);
	input_close(&input);
	return code;
}

int lock_user_run(struct cli *cli, struct lock_options *options, int argc, const char **argv)
{
	struct lock_output output;
	struct error err = { 0 };
	bool measures = !options->input.path;
	const struct off_cpu_request request = { .pids = options->pids, .tids = options->tids, .cpus = options->cpus, .event = "dummy:u",
		.details = "futexes", .all_cpus = options->all_cpus, .command = argv, .command_words = argc };
	int code = measures ? off_cpu_run(cli, &request, &options->recording) : 0;
	if (measures)
		options->input.path = options->recording.path;
	if (!code && lock_output_open(&output, cli, options, &err) < 0) {
		code = EXIT_FAILED;
	} else if (!code) {
		code = analyse(cli, options, output.to, &err);
		code = lock_output_close(&output, cli, code);
	}
	if (err.kind != ERROR_NONE)
		cli_complain(cli, &err);
	if (measures)
		off_cpu_remove(&options->recording);
	return code;
}
