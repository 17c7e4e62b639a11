/* `sched latency`. */
#include "cmd/sched/sched.h"

enum { KEYS_MAX = 16 };

struct latency_run {
	struct sched_view view;
	struct latency latency;
};

static int parse_keys(const char *text, enum latency_key keys[], size_t *count, struct error *err)
{
	for (*count = 0; *text; text += strspn(text, ", ")) {
		size_t len = strcspn(text, ", ");
		int key = latency_key_of(text, len);
		if (len && key < 0)
			return error_set(err, ERROR_USAGE, "Unknown --sort key: `%.*s'", (int)len, text);
		if (len && *count < KEYS_MAX)
			keys[(*count)++] = (enum latency_key)key;
		text += len;
	}
	return 0;
}

static void print_table(struct latency_run *run)
{
	struct latency *latency = &run->latency;
	const struct table table = latency_table(latency);
	const struct table_fact facts[] = { { "lost_events", cell_count(run->view.faults.lost) },
		{ "gaps", cell_count(latency->reader.states.gaps) } };
	run->view.options->format->print(&(struct results){ .schema = "perfuse.sched.latency", .version = 1, .tables = &table,
		.table_count = 1, .facts = facts, .fact_count = 2 }, run->view.cli->out);
}

static void preview(void *context)
{
	struct latency_run *run = context;
	latency_finish(&run->latency);
	print_table(run);
}

static void finish(void *context)
{
	struct latency_run *run = context;
	struct latency *latency = &run->latency;
	struct sched_faults *faults = &run->view.faults;
	latency_finish(latency);
	faults->wakes = latency->wakes;
	faults->unordered = latency->unordered;
	faults->contradictions = latency->contradictions;
	if (format_is_table(run->view.options->format))
		print_table(run);
	else
		latency_print(latency, faults, run->view.cli->out);
}

static int opened(void *context, struct input *input, int *code, struct error *err)
{
	struct latency_run *run = context;
	const struct header *header = &input->session.source->header;
	bool traces = header->pipe;
	for (size_t i = 0; i < header->evlist.events.count; i++)
		traces |= header->evlist.events.items[i].attr.type == ATTR_TRACEPOINT;
	if (!traces)
		cli_warn(run->view.cli, "No trace sample to read. Did you call 'perf record -R'?");
	return 0;
}

static int latency_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct sched_options *options = filled;
	static const enum latency_key defaults[] = { LATENCY_AVERAGE, LATENCY_MAXIMUM, LATENCY_SWITCHES, LATENCY_RUNTIME };
	enum latency_key keys[KEYS_MAX];
	struct error err = { 0 };
	struct latency_options wanted = { .keys = defaults, .key_count = 4, .by_task = options->by_task,
		.cpu = options->cpu < 0 ? CPU_NONE : options->cpu };
	if (options->sort) {
		if (parse_keys(options->sort, keys, &wanted.key_count, &err) < 0)
			return cli_usage(cli, &sched_latency, &err);
		wanted.keys = keys;
	}
	struct latency_run run = { 0 };
	latency_init(&run.latency, &wanted, sched_is_live(options, argc));
	run.view = (struct sched_view){ .cli = cli, .options = options, .reader = &run.latency.reader, .context = &run, .opened = opened,
		.preview = preview };
	int code = sched_read(&run.view, argc, argv, finish);
	latency_fini(&run.latency);
	return code;
}

static const struct option latency_table_rows[] = {
	OPT_STRING('s', "sort", struct sched_options, sort, "key[,key2...]", "order of rows: avg, max, switch, runtime, pid"),
	OPT_INT('C', "CPU", struct sched_options, cpu, "the recording is of this CPU alone: count each wake-up"),
	OPT_BOOL('p', "pids", struct sched_options, by_task, "a row for each task, not for each name"),
	SCHED_LIVE_OPTION,
	OPT_FORMAT(struct sched_options, format),
	SCHED_OPTIONS,
	OPT_END(),
};

static const char *const latency_usage[] = { "perf sched latency [<options>] [<command>]", NULL };

const struct command sched_latency = {
	.name = "latency",
	.usage = latency_usage,
	.options = latency_table_rows,
	.options_size = sizeof(struct sched_options),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = latency_run,
};
