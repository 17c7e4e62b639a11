/* `script report task-analyzer`. */
#include "cmd/script/task_analyzer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/filter/time_filter.h"
#include "os/written_file.h"
#include "render/sched/task_runs_text.h"

/* A word of a list: a task's name or thread id, with what follows the colon. */
struct task_word {
	const char *task, *value;      /* value: "" if there is no colon */
};

struct task_words {
	struct str text;
	VEC(struct task_word) list;
};

struct analyzer {
	struct cli *cli;
	const struct task_analyzer_options *options;
	struct task_runs_style style;
	struct task_words hidden, shown, highlighted, renamed;
	struct task_runs *runs;
	struct writer *out;            /* of runs; NULL: not printed */
};

/* "TASK[:VALUE],…" */
static void read_words(struct task_words *words, const char *list)
{
	if (!list)
		return;
	str_puts(&words->text, list);
	for (char *at = words->text.text; at && *at;) {
		char *comma = strchr(at, ','), *end = comma ? comma : at + strlen(at), *colon = memchr(at, ':', (size_t)(end - at));
		char *next = comma ? comma + 1 : end;
		*end = '\0';
		if (colon)
			*colon = '\0';
		if (*at)
			vec_push(&words->list, ((struct task_word){ at, colon ? colon + 1 : "" }));
		at = next;
	}
}

static void words_fini(struct task_words *words)
{
	vec_fini(&words->list);
	str_fini(&words->text);
}

/* NULL: the list does not have the task. */
static const struct task_word *find_task(const struct task_words *words, int32_t tid, const char *name)
{
	char number[16];
	if (!words->list.count)
		return NULL;
	snprintf(number, sizeof number, "%d", tid);
	for (size_t i = 0; i < words->list.count; i++)
		if (strcmp(words->list.items[i].task, number) == 0 || (name && strcmp(words->list.items[i].task, name) == 0))
			return &words->list.items[i];
	return NULL;
}

static const struct {
	const char *name, *sequence;
} colours[] = {
	{ "grey", "\033[90m" }, { "red", "\033[91m" }, { "green", "\033[92m" }, { "yellow", "\033[93m" }, { "blue", "\033[94m" },
	{ "violet", "\033[95m" },
};

/* NULL: there is no such colour. */
static const char *colour_of(const char *name)
{
	for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
		if (strcmp(colours[i].name, *name ? name : "red") == 0)
			return colours[i].sequence;
	return NULL;
}

static const char *name_of(const struct analyzer *a, int32_t tid, const char *comm)
{
	const struct task_word *renamed = find_task(&a->renamed, tid, NULL);
	return renamed ? renamed->value : comm;
}

static void on_run(void *context, const struct run *run)
{
	struct analyzer *a = context;
	const char *name = name_of(a, run->tid, run->comm);
	if (!a->out || find_task(&a->hidden, run->tid, name) || (a->shown.list.count && !find_task(&a->shown, run->tid, name)))
		return;
	const struct task_word *highlighted = a->style.colours ? find_task(&a->highlighted, run->tid, name) : NULL;
	task_runs_print_run(&a->style, run, name, highlighted ? colour_of(highlighted->value) : NULL, a->out);
}

static void print_sums(const struct analyzer *a, struct writer *out)
{
	const struct run_sum *sums = a->runs->sums.items;
	size_t count = a->runs->sums.count;
	VEC(const char *) names = { 0 };
	for (size_t i = 0; i < count; i++)
		vec_push(&names, name_of(a, sums[i].tid, sums[i].comm));
	task_runs_print_sums(&a->style, sums, count, names.items, out);
	vec_fini(&names);
}

/* "FROM:TO" in seconds; either may be absent. */
static int read_limits(const char *text, struct task_runs_options *limits, struct error *err)
{
	const char *colon = strchr(text, ':');
	if (!colon)
		return error_set(err, ERROR_OPTION, "--time-limit=%s has no colon: it is FROM:TO, FROM: or :TO, in seconds", text);
	if ((colon > text && time_parse(&limits->start, text, (size_t)(colon - text), err) < 0) ||
	    (colon[1] && time_parse(&limits->stop, colon + 1, strlen(colon + 1), err) < 0))
		return -1;
	return 0;
}

static int check_renamed(const struct task_words *words, struct error *err)
{
	for (size_t i = 0; i < words->list.count; i++) {
		const struct task_word *word = &words->list.items[i];
		if (!*word->task || word->task[strspn(word->task, "0123456789")] || !*word->value)
			return error_set(err, ERROR_OPTION, "--rename-comms-by-tids: '%s' is not TID:NAME", word->task);
	}
	return 0;
}

static int read_options(struct analyzer *a, struct task_runs_options *limits, struct error *err)
{
	const struct task_analyzer_options *o = a->options;
	bool summary = o->summary || o->summary_only || o->summary_extended;
	*limits = (struct task_runs_options){ .stop = UINT64_MAX, .sums = summary || o->csv_summary };
	read_words(&a->hidden, o->hidden);
	read_words(&a->shown, o->shown);
	read_words(&a->highlighted, o->highlighted);
	read_words(&a->renamed, o->renamed);
	if (a->hidden.list.count && a->shown.list.count)
		return error_set(err, ERROR_OPTION, "--filter-tasks and --limit-to-tasks exclude each other");
	if (o->csv && o->summary_only)
		return error_set(err, ERROR_OPTION, "--csv is for the runs, which --summary-only leaves out");
	if (o->csv && summary && !o->csv_summary)
		return error_set(err, ERROR_OPTION, "with --csv the summary goes into the file that --csv-summary names");
	for (size_t i = 0; i < a->highlighted.list.count; i++)
		if (!colour_of(a->highlighted.list.items[i].value))
			return error_set(err, ERROR_OPTION, "there is no colour '%s': grey, red, green, yellow, blue, violet",
				a->highlighted.list.items[i].value);
	const char *colour = o->colour ? o->colour : "auto";
	if (strcmp(colour, "auto") != 0 && strcmp(colour, "always") != 0 && strcmp(colour, "never") != 0)
		return error_set(err, ERROR_OPTION, "--stdio-color is always, never or auto, not '%s'", colour);
	a->style = (struct task_runs_style){
		.unit = o->nanoseconds ? RUNS_NANOSECONDS : o->milliseconds ? RUNS_MILLISECONDS : RUNS_MICROSECONDS,
		.extended = o->extended, .sums_extended = o->summary_extended, .csv = o->csv, .sums_csv = o->csv_summary,
		.colours = strcmp(colour, "always") == 0 || (strcmp(colour, "auto") == 0 && a->cli->tty_out),
	};
	if (check_renamed(&a->renamed, err) < 0)
		return -1;
	return o->time_limit ? read_limits(o->time_limit, limits, err) : 0;
}

static int check_events(const struct analyzer *a, const struct session *session, struct error *err)
{
	if (session->source->header.pipe || sched_reader_has(session, &a->runs->reader, SCHED_SWITCH))
		return 0;
	error_set(err, ERROR_USAGE, "the recording has no event sched:sched_switch");
	return error_hint(err, "`perf script record task-analyzer` records it");
}

/* Returns the exit code. */
static int analyze(struct analyzer *a)
{
	const struct input_use use = { .keep_exited = true, .threads = 1, .no_jit = true, .remarks = REMARKS_NONE };
	struct input input = { 0 };
	struct error err = { 0 };
	int code;
	if (input_check(&a->options->input, &err) < 0)
		return cli_complain(a->cli, &err);
	if (input_open(&input, a->cli, &a->options->input, &use, &err) < 0 || check_events(a, &input.session, &err) < 0) {
		code = cli_complain(a->cli, &err);
	} else {
		if (a->out)
			task_runs_print_heading(&a->style, a->out);
		input.session.source->roomy = true;
		struct sink sink = sched_reader_sink(&a->runs->reader);
		input_run(&input, &sink);
		task_runs_finish(a->runs);
		if (a->runs->options.sums && !a->style.sums_csv)
			print_sums(a, a->cli->out);
		code = input_end(&input, false, false);
	}
	input_close(&input);
	return code;
}

/* Files are opened before the recording is read, and replace what exists at the end. */
static int analyze_to_files(struct analyzer *a, struct error *err)
{
	const struct task_analyzer_options *o = a->options;
	struct written_file runs, sums;
	if (o->csv && written_open(&runs, o->csv, err) < 0)
		return cli_complain(a->cli, err);
	if (o->csv_summary && written_open(&sums, o->csv_summary, err) < 0) {
		if (o->csv)
			written_drop(&runs);
		return cli_complain(a->cli, err);
	}
	if (o->csv)
		writer_printf(a->cli->out, "generating csv at %s\n", o->csv);
	if (o->csv_summary)
		writer_printf(a->cli->out, "generating csv summary at %s\n", o->csv_summary);
	a->out = o->csv ? &runs.out : NULL;
	int code = analyze(a);
	bool failed = code == 0 && o->csv && written_keep(&runs, o->csv, err) < 0;
	if (code == 0 && !failed && o->csv_summary) {
		print_sums(a, &sums.out);
		failed = written_keep(&sums, o->csv_summary, err) < 0;
	}
	if (o->csv)
		written_drop(&runs);
	if (o->csv_summary)
		written_drop(&sums);
	return failed ? cli_complain(a->cli, err) : code;
}

static int task_analyzer_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct analyzer a = { .cli = cli, .options = filled };
	struct task_runs_options limits;
	struct task_runs task_runs;
	struct error err = { 0 };
	int code;
	if (argc) {
		error_set(&err, ERROR_USAGE, "task-analyzer takes no words: '%s'", argv[0]);
		return cli_usage(cli, &task_analyzer, &err);
	}
	if (read_options(&a, &limits, &err) < 0) {
		code = cli_complain(cli, &err);
	} else {
		task_runs_init(&task_runs, &limits);
		a.runs = &task_runs;
		task_runs.context = &a;
		task_runs.run = on_run;
		a.out = a.options->summary_only ? NULL : cli->out;
		code = a.options->csv || a.options->csv_summary ? analyze_to_files(&a, &err) : analyze(&a);
		task_runs_fini(&task_runs);
	}
	words_fini(&a.hidden);
	words_fini(&a.shown);
	words_fini(&a.highlighted);
	words_fini(&a.renamed);
	return code;
}

#define S struct task_analyzer_options
static const struct option task_analyzer_table[] = {
	OPT_STRING(0, "time-limit", S, time_limit, "from:to", "only runs between these times, in seconds; either may be absent"),
	OPT_BOOL(0, "summary", S, summary, "sums by task below the runs"),
	OPT_BOOL(0, "summary-only", S, summary_only, "only the sums"),
	OPT_BOOL(0, "summary-extended", S, summary_extended, "sums with the longest times between the runs of a task"),
	OPT_BOOL(0, "ns", S, nanoseconds, "lengths in nanoseconds, nine decimals of points in time"),
	OPT_BOOL(0, "ms", S, milliseconds, "lengths in milliseconds instead of microseconds"),
	OPT_BOOL(0, "extended-times", S, extended, "all times since the previous run: out to out, in to in, in to out"),
	OPT_STRING(0, "filter-tasks", S, hidden, "task,...", "no runs of these tasks: thread ids or names"),
	OPT_STRING(0, "limit-to-tasks", S, shown, "task,...", "only runs of these tasks"),
	OPT_STRING(0, "highlight-tasks", S, highlighted, "task[:colour],...",
		"runs of these tasks in a colour: grey, red, green, yellow, blue, violet"),
	OPT_STRING(0, "rename-comms-by-tids", S, renamed, "tid:name,...", "other names of tasks"),
	OPT_STRING(0, "stdio-color", S, colour, "always|never|auto", "colours; auto: on a terminal"),
	OPT_STRING(0, "csv", S, csv, "file", "write the runs to a file, with semicolons"),
	OPT_STRING(0, "csv-summary", S, csv_summary, "file", "write the sums to a file, with semicolons"),
	OPT_END(),
};

static const char *const task_analyzer_usage[] = { "perf script [<options>] report task-analyzer [<options>]", NULL };

const struct command task_analyzer = {
	.name = "task-analyzer",
	.usage = task_analyzer_usage,
	.options = task_analyzer_table,
	.options_size = sizeof(struct task_analyzer_options),
	.run = task_analyzer_run,
	.pages = true,
};
