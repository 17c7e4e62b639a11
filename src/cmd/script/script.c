/* `script`: a recording sample by sample, as text or as a table. */
#include <errno.h>
#include <stdlib.h>

#include "cmd/attr_names.h"
#include "cmd/browse_rows.h"
#include "cmd/browse_screen.h"
#include "cmd/command.h"
#include "cmd/commands.h"
#include "cmd/export_run.h"
#include "cmd/environment.h"
#include "cmd/same_machine.h"
#include "cmd/stack_hint.h"
#include "data/feature.h"
#include "render/text/header.h"
#include "script/listing.h"
#include "cmd/script/script.h"
#include "cmd/script/task_analyzer.h"

extern const struct command command_script;

/* One run. */
struct script {
	struct cli *cli;
	struct script_options *options;
	struct input input;
	struct sample_filter filter;
	struct event_switch switches;
	struct name_list *stop_at;
	struct attr_names names;
	struct dump dump;
	struct listing *listing;
	struct event_files files;
	struct dlfilter *dlfilter; /* NULL: none */
	struct sink sink;          /* the listing's, which that of --header calls */
	struct writer rows;        /* --format=tui: what the browser shows */
	bool cut;                  /* that is enough: the reading ended */
	unsigned asked;            /* how often it was asked whether it is */
};

static void script_close(struct script *script)
{
	listing_close(script->listing);
	dlfilter_close(script->dlfilter);
	event_files_close(&script->files);
	dump_fini(&script->dump);
	name_list_close(script->stop_at);
	sample_filter_fini(&script->filter);
	attr_names_close(&script->names);
	writer_fini(&script->rows);
	input_close(&script->input);
}

/* -C: only if samples of all events have a CPU, and only CPUs that the recorded machine had. */
static int open_cpus(struct script *script, struct error *err)
{
	const struct header *header = &script->input.session.source->header;
	const struct filter_options *options = &script->options->filter;
	struct feature_cpus machine;
	int32_t refused;

	if (!options->cpus)
		return 0;
	if (!filter_cpus_known(&header->evlist))
		return error_set(err, ERROR_USAGE, "the recording has no CPU numbers: -C cannot select CPUs");
	if (feature_cpus(header, &machine) < 0)
		machine.available = 0;
	int result = filter_open_cpus(&script->filter, options, machine.available, &refused, err);
	return result > 0 ? error_set(err, ERROR_USAGE, "the recorded machine has no CPU %d", refused) : result;
}

static int open_lists(struct script *script, struct error *err)
{
	const struct script_options *o = script->options;

	if (filter_open_lists(&script->filter, &o->filter, err) < 0)
		return -1;
	return o->stop_at ? name_list_open(&script->stop_at, o->stop_at, err) : 0;
}

static uint64_t records_shown(const struct script_options *o)
{
#define RECORD_BIT(name) (UINT64_C(1) << RECORD_##name)
	const struct {
		bool on;
		uint64_t records;
	} rows[] = {
		{ o->show_task, RECORD_BIT(COMM) | RECORD_BIT(FORK) | RECORD_BIT(EXIT) },
		{ o->show_mmap, RECORD_BIT(MMAP) | RECORD_BIT(MMAP2) },
		{ o->show_switch, RECORD_BIT(SWITCH) | RECORD_BIT(SWITCH_CPU_WIDE) },
		{ o->show_namespace, RECORD_BIT(NAMESPACES) },
		{ o->show_cgroup, RECORD_BIT(CGROUP) },
		{ o->show_lost, RECORD_BIT(LOST) },
		{ o->show_bpf, RECORD_BIT(KSYMBOL) | RECORD_BIT(BPF_EVENT) },
		{ o->show_text_poke, RECORD_BIT(KSYMBOL) | RECORD_BIT(TEXT_POKE) },
	};
#undef RECORD_BIT
	uint64_t shown = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		shown |= rows[i].on ? rows[i].records : 0;
	return shown;
}

static enum isa recorded_isa(const struct header *header)
{
	const char *machine = header_string(header, FEATURE_ARCH);

	return machine ? isa_of_machine(machine) : script_host_isa();
}

static int open_listing(struct script *script, struct error *err)
{
	struct script_options *o = script->options;
	const struct header *header = &script->input.session.source->header;
	struct listing_options options = {
		.verbose = o->input.verbose > 0,
		.guests = script->input.session.model.guests != GUESTS_NONE,
		.fields = &o->fields, .show_records = records_shown(o), .show_rounds = o->show_round,
		.time = o->reltime ? LISTING_TIME_FROM_START : o->deltatime ? LISTING_TIME_FROM_PREVIOUS : LISTING_TIME,
		.nanoseconds = o->nanoseconds, .call_object_width = o->call_object_width, .latency = o->latency, .show_kernel_path = o->show_kernel_path,
		.count_misordered = o->debug, .max_stack = o->max_stack, .filter = script->filter,
		.stop_at = script->stop_at, .address_range = o->address_range,
		.max_blocks = (unsigned)o->max_blocks, .graph_functions = o->graph_functions,
		.switches = script->switches, .isa = recorded_isa(header),
		.full_source_path = o->full_source_path,
		.format = o->format ? o->format->rows : NULL,
		.inlines = !o->inlines ? INLINE_NONE : o->inlines_given ? INLINE_ALL : INLINE_UNWOUND,
	};
	if (script->dlfilter) {
		options.user_filter = dlfilter_sample;
		options.user_context = script->dlfilter;
	}
	if (script->input.session.trace)
		options.max_stack = itrace_max_stack(&o->itrace, options.max_stack, o->max_stack_given);
	/* as perf: only code of this machine's instruction set is read */
	if (options.isa == script_host_isa() || header->pipe) {
		options.read_code = code_files_read;
		options.code_context = &script->input.code;
	}

	if (o->dump || o->dump_unordered) {
		dump_init(&script->dump, &script->input.session, DUMP_SCRIPT, script->cli->out);
		script->dump.unordered = o->dump_unordered || script->dump.no_sample_id_all;
		options.dump = &script->dump;
	}
	if (o->per_event_dump) {
		script->files = (struct event_files){ .prefix = script->input.session.source->path };
		options.event_writer = event_files_open;
		options.event_context = &script->files;
	}
	struct writer *out = script->cli->out;
	if (o->format == &format_tui) {
		out = &script->rows;
		writer_open(out, -1, 0);
	}
	return listing_open(&script->listing, &options, &script->input.session, script->input.symbols, out, err);
}

/* --header of a stream: features are printed as they arrive. */
static void on_raw(void *context, struct session *session, const struct record *record)
{
	struct script *script = context;

	header_print_feature(session->source, record, script->options->full_info, &script->names, script->cli->out);
}

static void on_batch_begin(void *context, struct session *session, size_t slices)
{
	struct script *script = context;

	script->sink.batch_begin(script->sink.context, session, slices);
}

static void on_slice_end(void *context, const struct worker *worker, size_t slice)
{
	const struct script *script = context;

	script->sink.slice_end(script->sink.context, worker, slice);
}

static void on_record(void *context, const struct resolved *r, size_t slice)
{
	const struct script *script = context;

	script->sink.record(script->sink.context, r, slice);
}

static void on_forget(void *context, unsigned worker)
{
	const struct script *script = context;

	script->sink.forget(script->sink.context, worker);
}

static bool on_wants_type(void *context, uint32_t type)
{
	const struct script *script = context;

	return script->sink.wants_type(script->sink.context, type);
}

/* Reports what the recording lacks; returns the exit code. */
static int script_end(struct script *script)
{
	bool names = fields_show_names(&script->options->fields);
	return input_end(&script->input, false, script->options->input.verbose || names);
}

/* Asked before each record. */
static bool is_enough(void *context)
{
	enum { RECORDS = 256 };
	struct script *script = context;

	if (script->asked++ % RECORDS == 0)
		script->cut |= listing_written(script->listing) > BROWSE_ROWS_BYTES;
	return script->cut;
}

static void preview(void *context)
{
	struct script *script = context;
	struct error err = { 0 };

	if (script->rows.len)
		browse_rows_show(script->cli->screen, &script->rows, true, &err);
}

static void run_input(struct script *script, const struct sink *sink)
{
	if (script->options->format == &format_tui) {
		script->input.stop = is_enough;
		script->input.stop_context = script;
		browse_screen_previews(script->cli->screen, preview, script);
	}
	input_run(&script->input, sink);
}

/* Returns the exit code. */
static int run_session(struct script *script, struct error *err)
{
	const struct source *source = script->input.session.source;
	struct sink sink = script->sink = listing_sink(script->listing);

	if (source->header.pipe && (script->options->header || script->options->full_info)) {
		sink.context = script;
		sink.raw = on_raw;
		sink.batch_begin = on_batch_begin;
		sink.record = on_record;
		sink.slice_end = on_slice_end;
		sink.forget = on_forget;
		sink.wants_type = on_wants_type;
	}
	run_input(script, &sink);
	const struct error *own = listing_error(script->listing);
	if (own)
		*err = *own;
	else
		listing_end(script->listing);
	if (!own && script->dlfilter && dlfilter_end(script->dlfilter, script->cli->out, err) < 0)
		return script_end(script), EXIT_FAILED;
	bool unwritten = script->options->per_event_dump && !own &&
		event_files_keep(&script->files, listing_counters(script->listing), script->cli->out, err) < 0;
	if (script->options->debug)
		cli_warn(script->cli, "Misordered timestamps: %llu",
			(unsigned long long)listing_counters(script->listing)->misordered);
	if (!own && script->options->format == &format_tui && browse_rows_show(script->cli->screen, &script->rows, script->cut, err) < 0)
		unwritten = true;
	int damaged = script_end(script);
	return own ? EXIT_INVALID : unwritten ? EXIT_ERROR : damaged;
}

/* Warns about hardware traces that are not decoded. */
static void check_traces(struct script *script)
{
	const struct header *header = &script->input.session.source->header;

	if (script->options->stitch)
		stitching_warn(script->cli, header);
	if (header_has(header, FEATURE_AUXTRACE) && !script->input.session.trace && !script->options->dump)
		cli_warn(script->cli, "the recording's hardware trace is not decoded: its samples are missing");
}

static enum guests guests_of(const struct script_options *o)
{
	const struct guest_files *files = &o->input.symbols.guests;

	if (o->guest_code)
		return GUESTS_CODE;
	if (files->mount)
		return GUESTS_EACH;
	return files->vmlinux || files->kallsyms || o->guestmodules ? GUESTS_ONE : GUESTS_NONE;
}

/* Everything up to the first record. Returns the exit code, < 0 to go on. */
static int script_open(struct script *script, struct error *err)
{
	struct script_options *o = script->options;
	struct input *input = &script->input;
	const struct input_use use = {
		.header_only = o->header_only, .guests = guests_of(o), .stitch = o->stitch, .remarks = REMARKS_GUESSED,
		.no_progress = script->cli->tty_out, /* the text shows the progress */
		.threads = o->dlfilter.path ? 1 : 0, .no_jit = o->dump, .itrace = o->dump || o->header_only ? NULL : &o->itrace,
	};

	o->itrace.branch_code = fields_shown(&o->fields) & (FIELD_BIT(FIELD_INSN) | FIELD_BIT(FIELD_DISASM));
	o->itrace.call_depth = fields_shown(&o->fields) >> FIELD_CALLINDENT & 1 || o->graph_functions;
	if (input_open(input, script->cli, &o->input, &use, err) < 0)
		return EXIT_FAILED;
	const struct source *source = input->session.source;
	attr_names_open(&script->names);
	if (o->dump)
		dump_warn(source, script->cli->out);
	if (o->header || o->header_only) {
		header_print(source, o->full_info, &script->names, script->cli->out);
		if (o->header_only)
			return script_end(script);
	}
	if (format_is_table(o->format) && header_has(&source->header, FEATURE_STAT))
		return error_set(err, ERROR_USAGE, "--format=%s is for samples: this recording of 'stat' has none", o->format->name),
			EXIT_USAGE;
	input_symbols(input);
	if (open_cpus(script, err) < 0 || open_lists(script, err) < 0)
		return EXIT_FAILED;
	if (fields_settle(&o->fields, &source->header, o->hide_call_graph, err) < 0)
		return EXIT_FAILED;
	check_traces(script);
	if (filter_open_time(&script->filter, &o->filter, &source->header, o->reltime, err) < 0)
		return EXIT_INVALID;
	input_window(input, &script->filter.time);
	o->dlfilter.isa = recorded_isa(&source->header);
	if (o->dlfilter.path && dlfilter_open(&script->dlfilter, &o->dlfilter, input, script->cli->out, err) < 0)
		return EXIT_FAILED;
	event_switch_init(&script->switches, o->switch_on, o->switch_off, o->show_on_off);
	if (event_switch_find(&script->switches, session_evlist(&input->session), err) < 0)
		return EXIT_NO_EVENT;
	if (open_listing(script, err) < 0)
		return EXIT_FAILED;
	return -1;
}

/* The script that `script record` and `script report` know. */
static int run_report(struct cli *cli, const struct script_options *options, int argc, const char **argv)
{
	struct task_analyzer_options filled = { .input = options->input };
	return command_run_filled(cli, &task_analyzer, &filled, argc, argv);
}

static int run_record(struct cli *cli, int argc, const char **argv)
{
	static const char *const events[] = { "-e", "sched:sched_switch", "-e", "sched:sched_migrate_task" };
	struct command_words words = { 0 };
	command_words_add(&words, events, sizeof events / sizeof *events);
	command_words_add(&words, argv, (size_t)argc);
	return command_words_run(&words, cli, "record");
}

static int run_word(struct cli *cli, const struct script_options *options, bool report, int argc, const char **argv)
{
	struct error err = { 0 };
	if (strcmp(argv[0], task_analyzer.name) == 0)
		return report ? run_report(cli, options, argc - 1, argv + 1) : run_record(cli, argc - 1, argv + 1);
	error_set(&err, ERROR_UNSUPPORTED, "'script %s %s' is not supported yet", report ? "report" : "record", argv[0]);
	error_hint(&err, "`perf script -l` lists what is built in");
	cli_complain(cli, &err);
	return EXIT_FAILED;
}

static int report_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	return argc ? run_word(cli, filled, true, argc, argv) : cli_usage(cli, &command_script, NULL);
}

static const struct option report_table[] = { OPT_END() };
static const char *const report_usage[] = { "perf script [<options>] report <script> [script-args]", NULL };
static const char *const report_subcommands[] = { "task-analyzer", NULL };
static const struct command script_report = {
	.name = "report",
	.usage = report_usage,
	.options = report_table,
	.options_size = sizeof(struct script_options),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = report_run,
	.subcommands = report_subcommands,
};

static int check_words(struct cli *cli, struct script_options *options, int argc, const char **argv)
{
	struct error err = { 0 };

	if (!argc)
		return -1;
	bool report = !strncmp(argv[0], "report", strlen(argv[0])), record = !strncmp(argv[0], "record", strlen(argv[0]));
	if (argc > 1 && strlen(argv[0]) > 2 && report)
		return command_run_filled(cli, &script_report, options, argc - 1, argv + 1);
	if (argc > 1 && strlen(argv[0]) > 2 && record)
		return run_word(cli, options, false, argc - 1, argv + 1);
	error_set(&err, ERROR_USAGE, "there is no script '%s'", argv[0]);
	error_hint(&err, "`perf script -l` lists what is built in");
	cli_usage(cli, &command_script, &err);
	return EXIT_USAGE;
}

/* Tables have samples alone. */
static int check_format(const struct script_options *o, struct error *err)
{
	bool text = o->dump || o->dump_unordered || o->header || o->header_only || o->debug || o->per_event_dump;

	if (!format_is_table(o->format) || !text)
		return 0;
	error_set(err, ERROR_OPTION, "--format=%s is for samples: the header, -D, --debug-mode and --per-event-dump are text",
		o->format->name);
	return error_hint(err, "format");
}

/* -s export-to-sqlite.py: the same export as `data export`. The name may be a path, and "lang" or "language:file" as in perf. */
static int run_named_script(struct cli *cli, const struct script_options *options, int argc, const char **argv)
{
	static const char name[] = "export-to-sqlite.py";
	struct error err = { 0 };
	struct export_request request = { .input = options->input, .itrace = options->itrace };
	const char *file = options->script, *last = strrchr(file, '/');
	if (!last)
		last = strchr(file, ':');
	if (strcmp(last ? last + 1 : file, "task-analyzer.py") == 0)
		return run_report(cli, options, argc, argv);
	if (strcmp(last ? last + 1 : file, name) != 0) {
		error_set(&err, ERROR_UNSUPPORTED, "the script '%s' is not supported yet", file);
		error_hint(&err, "%s and task-analyzer.py are built in; `perfuse data export postgresql` writes SQL text", name);
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	if (!argc) {
		error_set(&err, ERROR_USAGE, "%s takes the name of the database, then all or branches, calls, callchains", name);
		return cli_usage(cli, &command_script, &err);
	}
	if (export_words(&request.schema, argc - 1, argv + 1, &err) < 0)
		return cli_usage(cli, &command_script, &err);
	request.path = argv[0];
	return input_check(&request.input, &err) < 0 ? cli_complain(cli, &err) : export_run(cli, &request);
}

static int script_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	struct script_options *options = arg;
	struct error err = { 0 };
	if (options->script)
		return run_named_script(cli, options, argc, argv);
	if (options->list_dlfilters)
		return dlfilter_list(cli, options->input.verbose > 0, options->input.force, &err) < 0 ? cli_complain(cli, &err), EXIT_FAILED : 0;
	options->dlfilter.force = options->input.force;
	int code = options->list ? script_list(cli) : check_words(cli, options, argc, argv);

	if (code < 0 && options->reltime && options->deltatime) {
		error_set(&err, ERROR_USAGE, "--reltime and --deltatime exclude each other");
		code = EXIT_FAILED;
	}
	if (code < 0 && check_format(options, &err) < 0)
		code = EXIT_USAGE;
	if (code < 0 && options->xed && fields_shown(&options->fields) >> FIELD_INSN & 1 &&
		fields_parse(&options->fields, "-insn,+disasm", &options->notes, &err) < 0)
		code = EXIT_USAGE;
	if (code < 0 && input_check(&options->input, &err) < 0)
		code = EXIT_FAILED;
	if (options->notes.len)
		cli_warn(cli, "%.*s", (int)options->notes.len - 1, options->notes.text);
	if (code < 0) {
		struct script *script = memory_zero(1, sizeof *script);
		script->cli = cli;
		script->options = options;
		code = script_open(script, &err);
		if (code < 0)
			code = run_session(script, &err);
		if (err.kind != ERROR_NONE)
			cli_complain(cli, &err);
		script_close(script);
		free(script);
	} else if (err.kind != ERROR_NONE) {
		cli_complain(cli, &err);
	}
	str_fini(&options->notes);
	vec_fini(&options->dlfilter.arguments);
	return code;
}

const struct command command_script = {
	.name = "script",
	.summary = "print a recording's samples as text",
	.usage = script_usage,
	.options = script_table,
	.options_size = sizeof(struct script_options),
	.defaults = script_defaults,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = script_run,
	.subcommands = script_subcommands,
	.pages = true,
};
