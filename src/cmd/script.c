/* `script`: a recording as text, sample by sample. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/kernel_extent.h"
#include "analysis/stream.h"
#include "cmd/attr_names.h"
#include "cmd/files_told.h"
#include "cmd/kernel_files.h"
#include "cmd/command.h"
#include "cmd/jit.h"
#include "cmd/progress.h"
#include "cmd/script.h"
#include "cmd/stack_hint.h"
#include "data/feature.h"
#include "render/header.h"

extern const struct command command_script;

enum { EXIT_FAILED = 255, EXIT_USAGE = 129, EXIT_INVALID = 256 - EINVAL, EXIT_NO_EVENT = 256 - ENOENT,
	EXIT_NO_RECORD = 8 };

/* One run. */
struct script {
	struct cli *cli;
	struct script_options *options;
	struct session session;
	struct progress progress;
	struct jit_names jit;
	struct symbols *symbols;
	struct name_list *comms, *pids, *tids, *dsos, *wanted, *stop_at;
	struct time_filter when;
	struct cpus cpus;
	uint64_t *cpu_bits;
	struct attr_names names;
	struct dump dump;
	struct stream *stream;
	struct event_files files;
	struct code_files code;
	struct kernel_files brought; /* by a recording that is a folder */
	struct sink sink;          /* the stream's, which ours stands before */
};

static void script_close(struct script *script)
{
	stream_close(script->stream);
	files_tell(script->cli, script->symbols, &script->session, script->options->verbose);
	dump_fini(&script->dump);
	symbols_free(script->symbols);
	name_list_close(script->comms);
	name_list_close(script->pids);
	name_list_close(script->tids);
	name_list_close(script->dsos);
	name_list_close(script->wanted);
	name_list_close(script->stop_at);
	time_filter_fini(&script->when);
	cpus_fini(&script->cpus);
	free(script->cpu_bits);
	attr_names_close(&script->names);
	code_files_fini(&script->code);
	if (script->session.source)
		session_close(&script->session);
}

/* -C: only where every kind of event tells its CPU, and only CPUs that the recorded machine had. */
static int open_cpus(struct script *script, struct error *err)
{
	const struct header *header = &script->session.source->header;
	bool seen[CLASS_COUNT] = { 0 };
	struct feature_cpus machine;

	if (!script->options->cpus)
		return 0;
	for (size_t i = 0; i < header->evlist.events.count; i++) {
		const struct attr *attr = &header->evlist.events.items[i].attr;
		bool first = attr->type < CLASS_SYNTH && !seen[attr->type];
		if (first && !(attr->sample_type & SAMPLE_CPU))
			return error_set(err, ERROR_USAGE, "the recording does not tell CPUs: -C cannot choose among them");
		if (first)
			seen[attr->type] = true;
	}
	if (cpus_parse(&script->cpus, script->options->cpus, err) < 0)
		return -1;
	if (feature_cpus(header, &machine) < 0)
		machine.available = 0;
	script->cpu_bits = memory_zero(CPUS_MAX / 64, sizeof *script->cpu_bits);
	for (size_t i = 0; i < script->cpus.list.count; i++) {
		int32_t cpu = script->cpus.list.items[i];
		if (cpu < 0 || cpu >= CPUS_MAX || (uint32_t)cpu >= machine.available)
			return error_set(err, ERROR_USAGE, "the recorded machine has no CPU %d", cpu);
		script->cpu_bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
	}
	return 0;
}

static int open_lists(struct script *script, struct error *err)
{
	const struct script_options *o = script->options;
	const struct {
		const char *text;
		struct name_list **list;
		int (*open)(struct name_list **, const char *, struct error *);
	} rows[] = {
		{ o->comms, &script->comms, name_list_open }, { o->pids, &script->pids, number_list_open },
		{ o->tids, &script->tids, number_list_open }, { o->dsos, &script->dsos, name_list_open },
		{ o->wanted, &script->wanted, name_list_open }, { o->stop_at, &script->stop_at, name_list_open },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].text && rows[i].open(rows[i].list, rows[i].text, err) < 0)
			return -1;
	if (script->wanted)
		name_list_split_addresses(script->wanted);
	return 0;
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

static int open_stream(struct script *script, struct error *err)
{
	struct script_options *o = script->options;
	const struct header *header = &script->session.source->header;
	const char *machine = header_string(header, FEATURE_ARCH);
	struct stream_options options = {
		.fields = &o->fields, .show_records = records_shown(o), .show_rounds = o->show_round,
		.time = o->reltime ? STREAM_TIME_FROM_START : o->deltatime ? STREAM_TIME_FROM_PREVIOUS : STREAM_TIME,
		.nanoseconds = o->nanoseconds, .latency = o->latency, .show_kernel_path = o->show_kernel_path,
		.count_misordered = o->debug, .max_stack = o->max_stack, .when = o->time ? &script->when : NULL,
		.comms = script->comms, .pids = script->pids, .tids = script->tids, .dsos = script->dsos, .symbols = script->wanted,
		.stop_at = script->stop_at, .symbol_addresses = script->wanted != NULL, .address_range = o->address_range,
		.cpus = script->cpu_bits, .cpu_count = CPUS_MAX / 64, .switch_on = o->switch_on, .switch_off = o->switch_off,
		.show_switches = o->show_on_off, .isa = machine ? isa_of_machine(machine) : script_host_isa(),
		.full_source_path = o->full_source_path,
		.inlines = !o->inlines ? INLINE_NONE : o->inlines_given ? INLINE_ALL : INLINE_UNWOUND,
		.terminal = script->cli->tty_out && !o->per_event_dump,
	};
	/* as perf: only code of this machine's own kind is looked at */
	if (options.isa == script_host_isa() || header->pipe) {
		options.read_code = code_files_read;
		options.code_context = &script->code;
	}

	if (o->dump || o->dump_unordered) {
		dump_init(&script->dump, &script->session, DUMP_SCRIPT, script->cli->out);
		script->dump.unordered = o->dump_unordered || script->dump.no_sample_id_all;
		options.dump = &script->dump;
	}
	if (o->per_event_dump) {
		script->files = (struct event_files){ .prefix = script->session.source->path };
		options.event_writer = event_files_open;
		options.event_context = &script->files;
	}
	return stream_open(&script->stream, &options, &script->session, script->symbols, script->cli->out, err);
}

/* --header of a pipe: features are printed as they pass. */
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

/* A stream may end anywhere, as its recorder may be stopped at any time; in a file that is damage. */
static int damage_code(const struct source *source)
{
	bool events = source->header.evlist.events.count > 0; /* without any it hardly is a recording */

	if (!source->header.pipe)
		return events ? EXIT_INVALID : EXIT_FAILED;
	if (!source->counters.truncated_at)
		return EXIT_INVALID;
	return source->counters.no_record ? EXIT_NO_RECORD : 0;
}

/* Returns the exit code. */
static int run_session(struct script *script, struct error *err)
{
	const struct source *source = script->session.source;
	struct sink sink = script->sink = stream_sink(script->stream);

	if (source->header.pipe && (script->options->header || script->options->full_info)) {
		sink.context = script;
		sink.raw = on_raw;
		sink.batch_begin = on_batch_begin;
		sink.record = on_record;
		sink.slice_end = on_slice_end;
	}
	int result = session_run(&script->session, &sink, err);
	jit_names_warn(&script->jit, &script->session);
	const struct error *own = stream_error(script->stream);
	if (own)
		*err = *own;
	result = own ? EXIT_INVALID : result < 0 ? damage_code(source) : 0;
	if (script->options->per_event_dump)
		event_files_close(&script->files, stream_counters(script->stream), script->cli->out);
	if (script->options->debug)
		cli_warn(script->cli, "Misordered timestamps: %llu",
			(unsigned long long)stream_counters(script->stream)->misordered);
	return result;
}

/* What decoders of hardware traces would do. */
static int check_traces(struct script *script, struct error *err)
{
	const struct header *header = &script->session.source->header;

	if (script->options->stitch)
		stitching_warn(script->cli, header);
	if (!header_has(header, FEATURE_AUXTRACE))
		return 0;
	if (script->options->itrace)
		return error_set(err, ERROR_UNSUPPORTED, "--itrace is not supported yet: hardware traces are not decoded");
	cli_warn(script->cli, "the recording's hardware trace is not decoded yet: samples it stands for are missing");
	return 0;
}

/* The recording that was named; otherwise what is piped in, or perf.data. */
static const char *script_input(const struct script_options *o)
{
	struct stat st;

	if (o->input)
		return o->input;
	return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}

/* Everything up to the first record. Returns the exit code, < 0 to go on. */
static int script_open(struct script *script, struct error *err)
{
	struct script_options *o = script->options;
	struct source_options source_options = { .force = o->force, .header_only = o->header_only };
	struct image_options images = { .symfs = o->symbols.symfs, .buildid_dir = script->cli->buildid_dir };
	struct session_options session_options = {
		.images = &images, .join_stacks = o->join_stacks, .kernel_beyond = kernel_extent_beyond, .kernel_parts = kernel_extent_parts,
		.kernel_beyond_context = &script->symbols,
		.stitch_call_stacks = o->stitch,
	};
	struct source *source;

	if (source_open(&source, script_input(o), &source_options, err) < 0)
		return EXIT_FAILED;
	if (!script->cli->tty_out) /* there the text itself shows how far it is */
		progress_watch(&script->progress, script->cli, source->path, &session_options);
	script->jit = (struct jit_names){ .cli = script->cli, .symfs = o->symbols.symfs, .force = o->force };
	if (o->jit && !o->dump)
		jit_names_watch(&script->jit, &session_options);
	if (session_open(&script->session, source, &session_options, err) < 0)
		return EXIT_FAILED;
	attr_names_open(&script->names);
	if (o->dump)
		dump_warn(source, script->cli->out);
	if (o->header || o->header_only) {
		header_print(source, o->full_info, &script->names, script->cli->out);
		if (o->header_only)
			return 0;
	}
	kernel_files_find(&script->brought, source, script_input(o));
	script->code.kcore_path = script->brought.kcore;
	struct symbols_options symbols = o->symbols;
	symbols.kallsyms = kernel_files_kallsyms(&script->brought, symbols.kallsyms, symbols.no_vmlinux ? NULL : symbols.vmlinux);
	symbols.buildid_dir = script->cli->buildid_dir;
	symbols.osrelease = header_string(&source->header, FEATURE_OSRELEASE);
	symbols.no_demangle = !o->demangle;
	symbols.verbose = o->verbose;
	symbols.debuginfod = script->cli->debuginfod;
	symbols.kept_dir = script->cli->kept_dir;
	script->symbols = symbols_new(&script->session.model.modules, &symbols);
	if (open_cpus(script, err) < 0 || open_lists(script, err) < 0)
		return EXIT_FAILED;
	if (fields_settle(&o->fields, &source->header, o->hide_call_graph, err) < 0)
		return EXIT_FAILED;
	if (check_traces(script, err) < 0)
		return EXIT_FAILED;
	uint64_t first, last;
	time_filter_bounds(&source->header, &first, &last);
	if (o->time && time_filter_parse(&script->when, o->time, first, last, o->reltime, err) < 0)
		return EXIT_INVALID;
	if (open_stream(script, err) < 0)
		return EXIT_FAILED;
	if (stream_lacks_switch(script->stream, err))
		return EXIT_NO_EVENT;
	return -1;
}

static int check_words(const struct cli *cli, int argc, const char **argv)
{
	struct error err = { 0 };

	if (!argc)
		return -1;
	bool report = !strncmp(argv[0], "report", strlen(argv[0])), record = !strncmp(argv[0], "record", strlen(argv[0]));
	if (argc > 1 && strlen(argv[0]) > 2 && (report || record)) {
		error_set(&err, ERROR_UNSUPPORTED, "'script %s' is not supported yet", report ? "report" : "record");
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	error_set(&err, ERROR_USAGE, "there is no script '%s'", argv[0]);
	error_hint(&err, "scripts are not supported yet");
	cli_usage(cli, &command_script, &err);
	return EXIT_USAGE;
}

static int script_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	struct script_options *options = arg;
	struct error err = { 0 };
	int code = options->list ? script_list(cli) : check_words(cli, argc, argv);

	if (code < 0 && options->reltime && options->deltatime) {
		error_set(&err, ERROR_USAGE, "--reltime and --deltatime exclude each other");
		code = EXIT_FAILED;
	}
	if (code < 0 && kernel_files_check(options->symbols.vmlinux, options->symbols.kallsyms, &err) < 0)
		code = EXIT_FAILED;
	if (options->notes.len)
		cli_warn(cli, "%.*s", (int)options->notes.len - 1, options->notes.text);
	if (code < 0) {
		struct script *script = memory_zero(1, sizeof *script);
		script->cli = cli;
		script->options = options;
		code_files_init(&script->code, &(struct image_options){ .symfs = options->symbols.symfs, .buildid_dir = cli->buildid_dir });
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
