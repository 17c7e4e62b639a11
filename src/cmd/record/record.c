#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/shared_filter.h"
#include "cmd/clock_remark.h"
#include "cmd/command.h"
#include "cmd/event_files.h"
#include "cmd/environment.h"
#include "cmd/record/options.h"
#include "cmd/sampling.h"
#include "cmd/servers.h"
#include "cmd/stack_hint.h"
#include "os/machine.h"
#include "os/permission.h"
#include "os/process.h"
#include "record/acquire/control.h"
#include "record/write/output.h"

extern const struct command command_record;

enum { MAP_TIMEOUT_MS = 500 };

/* One run. */
struct run {
	struct cli *cli;
	struct record_command *o;
	struct events events;
	struct events switch_events; /* --switch-output-event */
	struct trigger_spec trigger; /* --trigger */
	struct recording recording;
	struct process_words words;
	struct control control;
};

static void record_defaults(void *options, const struct cli *cli)
{
	struct record_command *o = options;
	struct sampling *s = &o->record.sampling;
	(void)cli;
	s->freq = SAMPLING_FREQ_DEFAULT;
	s->regs_mask = registers_for_dwarf();
	o->record.flush_bytes = 1;
	o->record.map_timeout_ms = MAP_TIMEOUT_MS;
	o->record.control = o->record.acknowledge = -1;
}

static int usage_about(const struct cli *cli, const char *option)
{
	return event_words_usage(cli, &command_record, option);
}

static int take_words(struct run *run)
{
	struct event_words words = { .cli = run->cli, .command = &command_record, .events = &run->events,
		.conditions = true };
	int status = event_words_take(&words, run->o->words.items, run->o->words.count);
	event_words_fini(&words);
	return status;
}

static int take_rate(struct run *run)
{
	const struct record_command *o = run->o;
	const struct rate rate = { .freq_text = o->freq_text, .count_given = o->count_given, .count = o->count, .strict = o->strict_freq };
	return rate_take(run->cli, &rate, &run->o->record.sampling);
}

/* record.build-id, call-graph.record-mode, call-graph.dump-size */
static int take_config(struct run *run)
{
	struct record_command *o = run->o;
	struct sampling *s = &o->record.sampling;
	const struct config *config = run->cli->config;
	const char *ids = config_get(config, "record.build-id");
	if (ids && strcmp(ids, "no-cache") == 0 && !o->cache_given)
		o->no_cache = true;
	else if (ids && strcmp(ids, "skip") == 0 && !o->no_ids_given)
		o->record.no_build_ids = true;
	else if (ids && strcmp(ids, "mmap") == 0)
		s->build_id_mmap = true;
	const char *mode = config_get(config, "call-graph.record-mode");
	mode = mode ? mode : config_get(config, "record.call-graph");
	struct error err;
	bool plain_g = s->call_graph == CALL_GRAPH_FP && !o->call_graph_mode;
	if (mode && plain_g && call_graph_parse(mode, &s->call_graph, &s->stack_size, &s->max_stack, &err) < 0)
		return cli_complain(run->cli, &err), EXIT_FAILED;
	s->stack_given |= mode && plain_g && strchr(mode, ',');
	int64_t dump = config_int(config, "call-graph.dump-size", 0);
	bool copies = s->call_graph == CALL_GRAPH_DWARF || s->call_graph == CALL_GRAPH_UNWIND;
	if (dump > 0 && dump <= 65528 && s->stack_size == 8192 && copies && !o->call_graph_mode) {
		s->stack_size = ((uint64_t)dump + 7) & ~(uint64_t)7;
		s->stack_given = true;
	}
	return 0;
}

static int open_control(struct run *run)
{
	struct error err;
	if (!run->o->control_text)
		return 0;
	if (control_open(&run->control, run->o->control_text, &err) < 0)
		return cli_complain(run->cli, &err), EXIT_FAILED;
	if (fcntl(run->control.fd, F_GETFD) < 0) {
		error_system(&err, "--control: cannot use %s", run->o->control_text);
		return cli_complain(run->cli, &err), EXIT_FAILED;
	}
	if (!run->control.ours)
		fcntl(run->control.fd, F_SETFL, fcntl(run->control.fd, F_GETFL) | O_NONBLOCK);
	run->o->record.control = run->control.fd;
	run->o->record.acknowledge = run->control.acknowledge;
	return 0;
}

static void say(void *context, const char *line)
{
	const struct run *run = context;
	cli_warn(run->cli, "%s", line);
}

static void say_text(const struct run *run, const struct str *text)
{
	if (text->len)
		cli_warn(run->cli, "%.*s", (int)text->len - (text->text[text->len - 1] == '\n'), text->text);
}

/* The kernel hides its addresses: no reader can name the recorded kernel code. */
static void warn_hidden_kernel(const struct run *run)
{
	bool kernel = false;
	for (size_t i = 0; i < run->events.list.count; i++)
		kernel |= !run->events.list.items[i].follower && !attr_flag(&run->events.list.items[i].attr, ATTR_EXCLUDE_KERNEL);
	if (kernel && permission_hides_kernel()) {
		char command[96];
		permission_show_kernel(command, sizeof command);
		cli_warn(run->cli, "WARNING: kernel addresses are hidden from this user: code of the kernel will have no names. As root, '%s' "
			"shows them.", command);
	}
}

static void report_losses(const struct run *run)
{
	const struct recording *r = &run->recording;
	if (r->lost_samples)
		cli_warn(run->cli, "Warning:\n%llu samples were lost because the rings were full: larger rings (-m %zu) or fewer samples "
			"(-F, -c) help.", (unsigned long long)r->lost_samples, r->ring_pages * 4);
	else if (r->lost_events)
		cli_warn(run->cli, "Warning:\n%llu records were lost in %llu places because the rings were full: larger rings (-m) or less "
			"data help.", (unsigned long long)r->lost_events, (unsigned long long)r->lost_chunks);
	if (r->filtered_samples && run->o->verbose)
		cli_warn(run->cli, "%llu samples were dropped by --filter", (unsigned long long)r->filtered_samples);
	if (r->cut_traces)
		cli_warn(run->cli, "Warning:\nthe hardware trace has gaps in %llu of %llu places: larger AUX areas (-m ,PAGES), a filter, fewer "
			"packets (such as cyc=0) or a snapshot (-S) help.", (unsigned long long)r->cut_traces, (unsigned long long)r->trace_pieces);
	if (r->slow_maps)
		cli_warn(run->cli, "Warning:\nthe mappings of %llu processes took too long to read and are cut short: see --proc-map-timeout.",
			(unsigned long long)r->slow_maps);
	if (r->missing_threads)
		cli_warn(run->cli, "Warning:\n%llu threads ended before they could be recorded.", (unsigned long long)r->missing_threads);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* How far the stacks could be followed that were unwound while recording. */
static void report_unwinding(const struct run *run)
{
	enum { CUT_PERCENT_MANY = 10, STACK_BYTES_MORE = 32768 };
	const struct unwinding_counts *u = &run->recording.unwound;
	uint64_t lost = u->unmapped + u->without_rules + u->bad_rules;
	if (u->copied)
		cli_warn(run->cli, "[ perf record: Wrote %llu stacks as copies, as call frame information was still being read ]",
			(unsigned long long)u->copied);
	if (u->compiled)
		cli_warn(run->cli, "[ perf record: Wrote %llu stacks as copies: readers unwind them by the dumps of just-in-time compilers ]",
			(unsigned long long)u->compiled);
	if (!u->stacks)
		return;
	cli_warn(run->cli, "[ perf record: Unwound %llu stacks: %.1f%% complete, %.1f%% joined to earlier ones, %.1f%% cut, %.1f%% without a "
		"way on ]", (unsigned long long)u->stacks, share(u->complete, u->stacks), share(u->joined, u->stacks),
		share(u->cut + u->switched + u->deep, u->stacks), share(lost, u->stacks));
	if (u->guessed_stacks)
		cli_warn(run->cli, "[ perf record: %llu stacks were guessed in part (%llu frames), by frame pointers of code without call frame "
			"information: --no-guess ends them there ]", (unsigned long long)u->guessed_stacks, (unsigned long long)u->guessed);
	uint64_t bytes = run->recording.stack_bytes;
	bool read = run->cli->tty_err || run->o->verbose;
	if (read && share(u->cut, u->stacks) >= CUT_PERCENT_MANY && bytes && bytes < STACK_BYTES_MORE)
		cli_warn(run->cli, "Hint: many stacks are deeper than their copy of %llu bytes: --call-graph unwind,%d takes more of each.",
			(unsigned long long)bytes, STACK_BYTES_MORE);
	if (share(u->switched, u->stacks) >= CUT_PERCENT_MANY)
		cli_warn(run->cli, "Hint: many stacks are those of signal handlers or of Go's runtime, which use separate stacks: the "
			"interrupted stack is not in the copy, and a larger copy would not contain it either.");
	if (run->o->verbose)
		cli_warn(run->cli, "stacks that end early: %llu at the end of their copy, %llu where another stack goes on, %llu at %d frames, "
			"%llu at an address in no mapping, "
			"%llu at code without call frame information, %llu at invalid call frame information; %llu samples were damaged",
			(unsigned long long)u->cut, (unsigned long long)u->switched,
			(unsigned long long)u->deep, UNWINDING_FRAMES_MAX,
			(unsigned long long)u->unmapped, (unsigned long long)u->without_rules, (unsigned long long)u->bad_rules,
			(unsigned long long)u->damaged);
}

/* The two lines that tools read. */
static void report(const struct run *run)
{
	const struct recording *r = &run->recording;
	const struct record_command *o = run->o;
	CLEANUP_STR struct str tail = { 0 };
	if (o->quiet)
		return;
	if (r->limit_reached)
		cli_warn(run->cli, "[ perf record: perf size limit reached (%llu KB), stopping session ]",
			(unsigned long long)(r->limit_reached >> 10));
	if (r->compressed_to)
		str_printf(&tail, ", compressed (original %.3f MB, ratio is %.3f)", (double)r->compressed_from / 1024 / 1024,
			(double)r->compressed_from / (double)r->compressed_to);
	else if (r->samples && !o->record.all_build_ids)
		str_printf(&tail, " (%llu samples)", (unsigned long long)r->samples);
	cli_warn(run->cli, "[ perf record: Woken up %llu times to write data ]", (unsigned long long)r->wakeups);
	if (r->dumped[0])
		cli_warn(run->cli, "[ perf record: Dump %s ]", r->dumped);
	cli_warn(run->cli, "[ perf record: Captured and wrote %.3f MB %s%s ]", (double)r->bytes / 1024 / 1024, r->path, str_text(&tail));
	report_unwinding(run);
	stack_hint(run->cli, run->o->verbose > 0, r->user_chains, r->unwound.stacks ? 0 : r->short_chains);
	report_losses(run);
}

/* The command's own end is ours: its exit code, or death by the same signal. */
static int passed_on(const struct run *run)
{
	const struct recording *r = &run->recording;
	int number = r->signal ? r->signal : r->has_status && WIFSIGNALED(r->status) ? WTERMSIG(r->status) : 0;
	if (number) {
		writer_flush(run->cli->out, NULL);
		signal(number, SIG_DFL);
		kill(getpid(), number);
	}
	return r->has_status && WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 0;
}

static int failed(const struct run *run, struct error *err)
{
	int sys = err->sys;
	CLEANUP_STR struct str text = { 0 };
	if (err->kind == ERROR_OPTION) {
		cli_warn(run->cli, "%s", err->text);
		return usage_about(run->cli, "t");
	}
	str_printf(&text, "%s%s", run->recording.refused ? "Error:\n" : "", err->text);
	if (err->hint[0])
		str_printf(&text, "\n%s", err->hint);
	cli_warn(run->cli, "%s", text.text);
	return sys == ESRCH ? EXIT_NO_PROCESS : sys == ENODEV ? EXIT_NO_DEVICE : sys == EINVAL ? EXIT_INVALID : EXIT_FAILED;
}

/* What perf looks at once it has read all options. */
static int check_options(const struct run *run)
{
	const struct record_command *o = run->o;
	if (o->refused) {
		cli_warn(run->cli, "%s", o->refusal.text);
		usage_about(run->cli, o->refused);
		return EXIT_INVALID;
	}
	if (o->snapshot_refused) {
		cli_warn(run->cli, "-S takes e, a size in bytes, or both: -Se, -S1048576, -Se1048576");
		return EXIT_FAILED;
	}
	if (!o->vmlinux || access(o->vmlinux, R_OK) == 0)
		return 0;
	cli_warn(run->cli, "Invalid file: %s", o->vmlinux);
	return EXIT_INVALID;
}

/* --setup-filter: records nothing. */
static int set_up_filter(const struct run *run)
{
	struct error err;
	const char *action = run->o->setup_filter;
	bool pin = strcmp(action, "pin") == 0;
	if (!pin && strcmp(action, "unpin") != 0) {
		cli_warn(run->cli, "--setup-filter: '%s' is not pin or unpin", action);
		return EXIT_INVALID;
	}
	if ((pin ? shared_filter_pin(&err) : shared_filter_unpin(&err)) < 0)
		return cli_complain(run->cli, &err), EXIT_FAILED;
	return 0;
}

static int take_trigger(struct run *run)
{
	struct record_options *r = &run->o->record;
	struct error err = { 0 };
	if (!r->trace.snapshot && !r->sampling.overwrite)
		error_set(&err, ERROR_USAGE, "--trigger takes snapshots: add -S (hardware traces) or --overwrite");
	else if (r->groups)
		error_set(&err, ERROR_USAGE, "--trigger and --threads cannot be combined");
	else if (trigger_parse(&run->trigger, run->o->trigger, &err) >= 0)
		r->trigger = &run->trigger;
	if (r->trigger)
		return 0;
	cli_complain(run->cli, &err);
	return EXIT_INVALID;
}

static int check_threads(const struct run *run)
{
	const struct record_options *r = &run->o->record;
	const char *what = r->trace.snapshot || r->trace.sample ? "-S, --aux-sample" : run->o->aio ? "--aio" : NULL;
	if (!r->groups || !what)
		return 0;
	cli_warn(run->cli, "%s and --threads cannot be combined", what);
	return EXIT_INVALID;
}

/* The index lists the records of one file by their offsets. */
static int check_index(const struct run *run)
{
	const struct record_options *r = &run->o->record;
	const char *what = r->compression ? "-z" : r->groups ? "--threads" : r->kcore ? "--kcore" : NULL;
	if (output_is_pipe(run->o->output))
		what = "a pipe";
	if (!r->indexed || !what)
		return 0;
	cli_warn(run->cli, "--index and %s cannot be combined; inject --index adds an index later", what);
	return EXIT_INVALID;
}

static void report_rounded(const struct run *run, bool rounded, size_t pages)
{
	if (rounded && !run->o->quiet)
		cli_warn(run->cli, "rounding mmap pages size to %zuK (%zu pages)", pages * (size_t)(machine_page_size() / 1024), pages);
}

static int take_switch_event(struct run *run)
{
	struct event_words words = { .cli = run->cli, .command = &command_record, .events = &run->switch_events };
	int status = event_words_parse(&words, run->o->switch_event, "switch-output-event");
	run->o->record.switching.events = &run->switch_events;
	run->o->record.switching.on_signal = true;
	return status;
}

/* BPF programs read CLOCK_MONOTONIC, so that the recording has this clock, unless -k chooses another one. */
static void add_off_cpu(struct run *run)
{
	struct sampling *s = &run->o->record.sampling;
	configure_add_off_cpu(&run->events, run->o->record.off_cpu.details);
	if (!s->use_clockid) {
		s->use_clockid = true;
		s->clockid = CLOCK_MONOTONIC;
	}
}

static int measure(struct run *run, struct error *err)
{
	struct clock_remark clock;
	clock_remark_begin(&clock);
	int recorded = record_run(&run->recording, &run->o->record, err);
	clock_remark_end(run->cli, &clock, recorded >= 0 && !run->o->quiet);
	return recorded;
}

static int record(struct run *run, int argc, const char **argv)
{
	struct record_command *o = run->o;
	struct record_options *r = &o->record;
	struct error err = { 0 };
	int status = check_options(run);
	if (!status && o->setup_filter)
		return set_up_filter(run);
	if (status || (status = take_words(run)) || (status = take_config(run)) || (status = take_rate(run)) || (status = open_control(run)))
		return status;
	if (r->off_cpu.wanted)
		add_off_cpu(run);
	if (o->switch_event && (status = take_switch_event(run)))
		return status;
	if (o->trigger && (status = take_trigger(run)))
		return status;
	if ((status = check_threads(run)) || (status = check_index(run)))
		return status;
	struct cpus cpus = { 0 };
	status = r->target.cpus ? cpus_parse(&cpus, r->target.cpus, &err) : 0;
	cpus_fini(&cpus);
	if (status < 0) {
		cli_warn(run->cli, "%s", err.text);
		return usage_about(run->cli, "C");
	}
	struct sampling *s = &r->sampling;
	s->period_bit = o->period_given && o->period;
	s->no_period = o->period_given && !o->period;
	s->no_time = s->time_given && !o->timestamp;
	if (s->regs_user && s->call_graph == CALL_GRAPH_DWARF && !o->quiet)
		cli_warn(run->cli, "WARNING: unwinding by DWARF may need all registers; the instruction and stack pointer are added to "
			"--user-regs.");
	if (s->build_id_mmap)
		r->no_build_ids = true;
	report_rounded(run, o->pages_rounded, r->pages);
	report_rounded(run, o->area_rounded, r->trace.pages);
	if (r->sampling.overwrite)
		r->tail_synthesis = true;
	if (r->switching.on_signal || r->switching.bytes || r->switching.seconds) {
		r->time_in_name = true;
		r->no_build_ids |= !o->no_ids_given;
		o->no_cache |= !o->cache_given;
	}
	r->target.command = argc > 0;
	r->command = argc > 0 ? argv : NULL;
	r->events = &run->events;
	r->whole_command = run->words.list.items;
	r->version = "perfuse " PERFUSE_VERSION;
	r->output = o->output;
	r->budget = run->cli->budget;
	r->buildid_dir = o->no_cache ? NULL : environment_cache(run->cli, true);
	r->user_cache = run->cli->user_cache_dir;
	r->debuginfod = servers_asked(run->cli, o->debuginfod);
	r->windows = o->windows.count ? o->windows.items : NULL;
	r->window_count = o->windows.count;
	r->say = o->quiet ? NULL : say;
	r->say_context = run;
	if (o->dry_run)
		return 0;
	if (measure(run, &err) < 0)
		return run->recording.signal == SIGPIPE ? passed_on(run) : failed(run, &err);
	if (!o->quiet)
		say_text(run, &run->recording.warnings);
	if (o->verbose)
		say_text(run, &run->recording.notes);
	if (!o->quiet)
		warn_hidden_kernel(run);
	report(run);
	return passed_on(run);
}

static int record_command_run(struct cli *cli, void *options, int argc, const char **argv)
{
	struct run run = { .cli = cli, .o = options, .control = { .fd = -1, .acknowledge = -1 } };
	process_words_read(&run.words, cli->program);
	int status = record(&run, argc, argv);
	control_close(&run.control);
	recording_fini(&run.recording);
	events_fini(&run.events);
	events_fini(&run.switch_events);
	trigger_spec_fini(&run.trigger);
	process_words_fini(&run.words);
	return status;
}

static void record_release(void *options)
{
	struct record_command *o = options;
	vec_fini(&o->words);
	vec_fini(&o->windows);
	reader_groups_fini(&o->groups);
}

static const char *const record_usage[] = {
	"perf record [<options>] [<command>]",
	"perf record [<options>] -- <command> [<options>]",
	NULL,
};

const struct command command_record = {
	.name = "record",
	.summary = "record a profile of a command or of the system",
	.usage = record_usage,
	.options = record_table,
	.options_size = sizeof(struct record_command),
	.defaults = record_defaults,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = record_command_run,
	.release = record_release,
};
