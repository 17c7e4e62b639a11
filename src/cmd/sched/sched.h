/* The parts of `sched`: options, and reading a recording or a running machine with one analysis. Internal to cmd/sched. */
#pragma once
#include "analysis/sched/events.h"
#include "cmd/filter.h"
#include "cmd/format_option.h"
#include "cmd/input.h"
#include "cmd/sched/live.h"
#include "render/sched/sched_text.h"

struct sched_options {
	struct input_options input;
	bool dump;                     /* -D */
	const char *sort;              /* latency */
	int cpu;
	bool by_task;
	bool compact, fuzzy;           /* map */
	const char *coloured_pids, *coloured_cpus, *shown_cpus, *task_names;
	unsigned repeat;               /* replay */
	bool chains, summary_only, summary, wakeups, next, migrations, cpu_visual, idle, state, priority; /* timehist */
	unsigned max_stack;
	struct filter_options filter;
	const char *priorities;
	bool live;                     /* -a: what runs now, instead of a recording */
	const char *output;            /* stats record */
	const struct format *format;
};

/* Rows of all subcommands; timehist has those of names and symbols, too. */
#define SCHED_OPTIONS                                                                                                   \
	OPT_STRING('i', "input", struct sched_options, input.path, "file", "the recording to read (perf.data; - is stdin)"), \
	OPT_INCR('v', "verbose", struct sched_options, input.verbose, "print more"),                                        \
	OPT_BOOL('D', "dump-raw-trace", struct sched_options, dump, "print every record as bytes and text"),                \
	OPT_BOOL('f', "force", struct sched_options, input.force, "read a recording of another user, too")
#define SCHED_LIVE_OPTION                                                                                               \
	OPTION_ROW(BOOL, 'a', "all-cpus", struct sched_options, live, "analyse what runs now on all CPUs, without a recording", \
		.flags = OPTION_OWN)

extern const struct command sched_latency, sched_map, sched_replay, sched_stats, sched_timehist;

enum { RESULTS_VERSION = 1 };

/* One reading. */
struct sched_view {
	struct cli *cli;
	const struct sched_options *options;
	struct sched_reader *reader;
	void *context;
	/* Called when the recording is open and before it is read; returns < 0 to refuse it (*err), with *code as exit code. NULL: nothing. */
	int (*opened)(void *context, struct input *input, int *code, struct error *err);
	void (*started)(void *context); /* live: the same, without an input */
	void (*preview)(void *context); /* shows the results so far in the browser, while a recording is read; NULL: nothing */
	struct symbols *symbols;       /* of the recording or the machine; NULL unless wanted */
	bool wants_symbols;
	struct session *session;       /* while it is read */
	struct sched_faults faults;    /* after it has been read: numbers of records */
};

/* Whether the words and options ask for what runs now: a command, -a, or no recording exists. */
bool sched_is_live(const struct sched_options *options, int argc);
/* Reads the recording or, live, what runs until the command ends or a signal arrives; then calls finish, which prints. Returns the exit
 * code. */
int sched_read(struct sched_view *view, int argc, const char **argv, void (*finish)(void *context));
/* The same for a recording alone. */
int sched_read_file(struct sched_view *view, void (*finish)(void *context));

/* Rows of one table in a format of --format, as they come; for the browser (tui) they are stored, and shown at the end. */
struct sched_rows {
	const struct format *format;
	struct writer *out;
	struct table table;
	struct results results;
	struct writer stored, *shown; /* for the browser: the rows, and the terminal */
	bool begun, continued, cut;  /* cut: later rows are not stored */
};
void sched_rows_init(struct sched_rows *rows, const struct format *format, struct writer *out, const char *schema, const char *name,
	const struct table_column *columns, size_t count);
void sched_rows_add(struct sched_rows *rows, const struct cell *cells);
void sched_rows_end(struct sched_rows *rows);
/* The first rows so far, for the browser. */
void sched_rows_preview(struct sched_rows *rows);
