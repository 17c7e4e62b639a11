/* `sched timehist`. */
#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/sched/chain.h"
#include "cmd/sched/sched.h"
#include "data/evsel_name.h"
#include "data/feature.h"
#include "os/cpus.h"

struct timehist_run {
	struct sched_view view;
	struct timehist timehist;
	struct timehist_style style;
	struct sample_filter filter;
	bool priorities[PRIORITIES];
	bool heading_printed, no_switches;
	struct sched_rows rows;
	struct str chain;
};

/* "120", "100-120", "1,5": which priorities are shown. */
static int parse_priorities(bool priorities[PRIORITIES], const char *text, struct error *err)
{
	static const char invalid[] = "Invalid prio string";
	while (isdigit((unsigned char)*text)) {
		char *end;
		unsigned long first = strtoul(text, &end, 0), last = first;
		if (*end == '-')
			last = strtoul(end + 1, &end, 0);
		if (first >= PRIORITIES || last >= PRIORITIES || last < first || (*end && *end != ','))
			return error_set(err, ERROR_USAGE, invalid);
		memset(priorities + first, true, last - first + 1);
		text = *end ? end + 1 : end;
	}
	return 0;
}

static bool samples_have_chains(const struct sched_view *view)
{
	const struct evlist *evlist = session_evlist(view->session);
	char buffer[EVSEL_NAME_MAX];
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		if (strncmp(evsel_name(evsel, buffer, sizeof buffer), "sched:sched_switch", 18) == 0)
			return evsel->attr.sample_type & SAMPLE_CALLCHAIN;
	}
	return false;
}

static void begin_output(struct timehist_run *run)
{
	const struct sched_options *o = run->view.options;
	if (run->heading_printed)
		return;
	run->heading_printed = true;
	run->style.chains = o->chains && samples_have_chains(&run->view);
	if (!o->summary_only && !format_is_table(o->format))
		timehist_print_heading(&run->style, run->view.cli->out);
}

/* The chain of a switch; NULL: it has none, or none is shown. */
static const char *chain_of(struct timehist_run *run, const struct sched_event *event, bool folded)
{
	if (!run->style.chains || !(event->r->sample->present & SAMPLE_CALLCHAIN))
		return NULL;
	str_clear(&run->chain);
	sched_chain_add(event->r, run->view.symbols, (struct sched_chain_style){ run->view.options->max_stack, folded }, &run->chain);
	return str_text(&run->chain);
}

static enum wait_reason wait_reason(void *context, const struct sched_event *event)
{
	struct timehist_run *run = context;
	bool shown = run->style.chains && event->r->sample->present & SAMPLE_CALLCHAIN && event->change.letter != 'R';
	return shown ? sched_chain_reason(event->r, run->view.symbols) : WAIT_UNKNOWN;
}

static const char *idle_chain(void *context, const struct sched_event *event)
{
	struct timehist_run *run = context;
	struct strtab *texts = &run->timehist.reader.texts;
	begin_output(run);
	const char *text = chain_of(run, event, true);
	return text ? strtab_text(texts, strtab_add(texts, text, strlen(text))) : NULL;
}

static void print_row(void *context, const struct timehist_row *row)
{
	struct timehist_run *run = context;
	const struct sched_options *o = run->view.options;
	begin_output(run);
	if (o->summary_only && row->kind != TIMEHIST_LOST)
		return;
	bool idle = row->kind == TIMEHIST_TURN && row->event->change.previous == 0;
	bool table = format_is_table(o->format);
	const char *chain = row->kind == TIMEHIST_TURN && !idle ? chain_of(run, row->event, table) : NULL;
	if (!table) {
		timehist_print_row(&run->style, row, chain, run->view.cli->out);
	} else if (!o->summary_only) {
		struct cell cells[TIMEHIST_COLUMNS];
		timehist_cells(&run->timehist, row, chain, cells);
		sched_rows_add(&run->rows, cells);
	}
}

static void print_sums(struct timehist_run *run)
{
	struct timehist_tables tables;
	timehist_tables_init(&tables, &run->timehist);
	run->view.options->format->print(&(struct results){ .schema = "perfuse.sched.timehist", .version = RESULTS_VERSION,
		.tables = tables.tables, .table_count = 2, .facts = tables.facts, .fact_count = 5 }, run->view.cli->out);
	timehist_tables_fini(&tables);
}

static void finish(void *context)
{
	struct timehist_run *run = context;
	const struct sched_options *o = run->view.options;
	struct writer *out = run->view.cli->out;
	if (!run->timehist.reader.kinds[SCHED_SWITCH] && !sched_reader_has(run->view.session, &run->timehist.reader, SCHED_SWITCH)) {
		cli_warn(run->view.cli, "No sched_switch events found. Have you run 'perf sched record'?");
		run->no_switches = true;
		return;
	}
	begin_output(run);
	timehist_finish(&run->timehist);
	if (format_is_table(o->format) && (o->summary_only || o->summary))
		print_sums(run);
	else if (format_is_table(o->format))
		sched_rows_end(&run->rows);
	else if (o->summary_only || o->summary)
		timehist_print_summary(&run->style, out);
}

static void preview(void *context)
{
	struct timehist_run *run = context;
	sched_rows_preview(&run->rows);
}

static int open_cpus(struct timehist_run *run, const struct header *header, struct error *err)
{
	const struct filter_options *filter = &run->view.options->filter;
	struct feature_cpus machine;
	int32_t refused;
	if (!filter->cpus)
		return 0;
	if (!filter_cpus_known(&header->evlist))
		return error_set(err, ERROR_USAGE, "the recording has no CPU numbers: -C cannot select CPUs");
	uint32_t available = feature_cpus(header, &machine) < 0 ? STATES_CPUS_MAX : machine.available;
	int result = filter_open_cpus(&run->filter, filter, available, &refused, err);
	return result > 0 ? error_set(err, ERROR_USAGE, "the recorded machine has no CPU %d", refused) : result;
}

static void set_style(struct timehist_run *run, uint32_t cpus)
{
	const struct sched_options *o = run->view.options;
	timehist_style_init(&run->style, &run->timehist, cpus);
	run->style.cpu_visual = o->cpu_visual;
	run->style.next = o->next;
	run->style.wakeups = o->wakeups;
	run->style.state = o->state;
	run->style.priority = o->priority;
}

static void started(void *context)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	set_style(context, cpus > 0 ? (uint32_t)cpus : 0);
}

static int open_range(struct timehist_run *run, const struct header *header, struct error *err)
{
	struct timehist *timehist = &run->timehist;
	if (filter_open_time(&run->filter, &run->view.options->filter, header, false, err) < 0 || run->filter.time.count > 1)
		return error_set(err, ERROR_USAGE, "Invalid time string");
	if (run->filter.time.count) {
		timehist->options.start = run->filter.time.ranges[0].start;
		timehist->options.stop = run->filter.time.ranges[0].stop;
	}
	timehist->options.cpus = run->filter.cpus;
	return 0;
}

/* -C and --time of what runs now: times of its clock, as no recording limits them. */
static int open_live_filters(struct timehist_run *run, struct error *err)
{
	static const struct header none = { 0 };
	const struct filter_options *filter = &run->view.options->filter;
	int32_t refused;
	int result = filter->cpus ? filter_open_cpus(&run->filter, filter, cpus_possible_count(), &refused, err) : 0;
	if (result > 0)
		error_set(err, ERROR_USAGE, "this machine has no CPU %d", refused);
	return result ? -1 : open_range(run, &none, err);
}

static int opened(void *context, struct input *input, int *code, struct error *err)
{
	struct timehist_run *run = context;
	struct timehist *timehist = &run->timehist;
	const struct sched_options *o = run->view.options;
	const struct header *header = &input->session.source->header;
	struct feature_cpus machine;
	run->view.session = &input->session;
	if (open_cpus(run, header, err) < 0)
		return -1;
	if (open_range(run, header, err) < 0) {
		*code = EXIT_INVALID;
		return -1;
	}
	set_style(run, feature_cpus(header, &machine) < 0 ? 0 : machine.online);
	if (header->pipe)
		return 0;
	if (!sched_reader_has(&input->session, &timehist->reader, SCHED_SWITCH))
		return error_set(err, ERROR_USAGE, "No sched_switch events found. Have you run 'perf sched record'?");
	if (o->chains && !samples_have_chains(&run->view))
		cli_warn(run->view.cli, "Samples of sched_switch event do not have callchains.");
	else
		run->view.wants_symbols = o->chains;
	return 0;
}

static int check_options(struct timehist_run *run, struct error *err)
{
	const struct sched_options *o = run->view.options;
	if (filter_open_lists(&run->filter, &o->filter, err) < 0)
		return -1;
	return o->priorities ? parse_priorities(run->priorities, o->priorities, err) : 0;
}

static int read_timehist(struct timehist_run *run, int argc, const char **argv)
{
	const struct sched_options *o = run->view.options;
	struct timehist_options wanted = {
		.pids = run->filter.pids, .tids = run->filter.tids, .priorities = o->priorities ? run->priorities : NULL,
		.wakeups = o->wakeups, .migrations = o->migrations, .idle = o->idle, .chains = o->idle && o->chains,
	};
	bool live = sched_is_live(o, argc);
	timehist_init(&run->timehist, &wanted, live);
	run->timehist.context = run;
	run->timehist.row = print_row;
	run->timehist.chain = idle_chain;
	run->timehist.reason = format_is_table(o->format) ? wait_reason : NULL;
	run->view.reader = &run->timehist.reader;
	run->view.context = run;
	run->view.opened = opened;
	run->view.started = started;
	run->view.preview = preview;
	sched_rows_init(&run->rows, o->format, run->view.cli->out, "perfuse.sched.timehist", "turns", timehist_columns, TIMEHIST_COLUMNS);
	struct error err = { 0 };
	int code = live && open_live_filters(run, &err) < 0 ? (cli_complain(run->view.cli, &err), EXIT_INVALID) :
		sched_read(&run->view, argc, argv, finish);
	timehist_style_fini(&run->style);
	timehist_fini(&run->timehist);
	return code ? code : run->no_switches ? EXIT_FAILED : 0;
}

static int timehist_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct sched_options *options = filled;
	struct timehist_run run = { .view = { .cli = cli, .options = options } };
	struct error err = { 0 };
	int code = EXIT_FAILED;
	if ((options->wakeups || options->next) && options->summary_only) {
		error_set(&err, ERROR_OPTION, " Error: -s and -[n|w] are mutually exclusive.");
		cli_usage(cli, &sched_timehist, &err);
		return EXIT_INVALID;
	}
	if (check_options(&run, &err) < 0)
		cli_complain(cli, &err);
	else
		code = read_timehist(&run, argc, argv);
	sample_filter_fini(&run.filter);
	str_fini(&run.chain);
	return code;
}

static const struct option timehist_table[] = {
	OPT_STRING('k', "vmlinux", struct sched_options, input.symbols.vmlinux, "file", "the kernel's symbols are in this vmlinux"),
	OPT_STRING(0, "kallsyms", struct sched_options, input.symbols.kallsyms, "file", "the kernel's symbols are in this kallsyms"),
	OPT_BOOL('g', "call-graph", struct sched_options, chains, "show call chains, if they were recorded (on)"),
	OPT_UINT(0, "max-stack", struct sched_options, max_stack, "show this many functions of a call chain (5)"),
	OPT_STRING(0, "symfs", struct sched_options, input.symbols.symfs, "directory", "look for programs and libraries under this folder"),
	OPT_BOOL('s', "summary", struct sched_options, summary_only, "only sums for each task and CPU"),
	OPT_BOOL('S', "with-summary", struct sched_options, summary, "the sums, too"),
	OPT_BOOL('w', "wakeups", struct sched_options, wakeups, "show wake-ups"),
	OPT_BOOL('n', "next", struct sched_options, next, "show the task that follows"),
	OPT_BOOL('M', "migrations", struct sched_options, migrations, "show migrations"),
	OPT_BOOL('V', "cpu-visual", struct sched_options, cpu_visual, "show CPUs as columns"),
	OPT_BOOL('I', "idle-hist", struct sched_options, idle, "show idle times alone"),
	OPT_STRING(0, "time", struct sched_options, filter.time, "str", "only this span: start,stop in seconds"),
	OPT_BOOL(0, "state", struct sched_options, state, "show the state in which a task leaves the CPU"),
	OPT_STRING('p', "pid", struct sched_options, filter.pids, "pid[,pid...]", "only these processes"),
	OPT_STRING('t', "tid", struct sched_options, filter.tids, "tid[,tid...]", "only these threads"),
	OPT_STRING('C', "cpu", struct sched_options, filter.cpus, "cpu", "only these CPUs, as in 0-3,8"),
	OPT_BOOL(0, "show-prio", struct sched_options, priority, "show priorities"),
	OPT_STRING(0, "prio", struct sched_options, priorities, "prio", "only tasks of these priorities, as in 100-120,139"),
	SCHED_LIVE_OPTION,
	OPT_FORMAT(struct sched_options, format),
	SCHED_OPTIONS,
	OPT_END(),
};

static const char *const timehist_usage[] = { "perf sched timehist [<options>] [<command>]", NULL };

const struct command sched_timehist = {
	.name = "timehist",
	.usage = timehist_usage,
	.options = timehist_table,
	.options_size = sizeof(struct sched_options),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = timehist_run,
};
