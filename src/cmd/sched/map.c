/* `sched map`. */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/sched/sched.h"
#include "os/cpus.h"

struct map_run {
	struct sched_view view;
	struct sched_map map;
	struct sample_filter coloured, shown;
	struct name_list *coloured_tids;
	VEC(const char *) names;
	struct arena arena;
	struct sched_rows rows;
};

static void print_row(void *context, const struct map_row *row)
{
	struct map_run *run = context;
	const struct format *format = run->view.options->format;
	if (!format_is_table(format)) {
		map_row_print(&run->map, row, run->view.cli->tty_out, run->view.cli->out);
	} else if (!row->leaves) {
		struct cell cells[MAP_COLUMNS];
		map_cells(&run->map, row, cells);
		sched_rows_add(&run->rows, cells);
	}
}

static void finish(void *context)
{
	struct map_run *run = context;
	const struct format *format = run->view.options->format;
	if (format_is_table(format))
		sched_rows_end(&run->rows);
	else
		sched_faults_print(&run->view.faults, run->view.cli->out);
}

static void preview(void *context)
{
	struct map_run *run = context;
	sched_rows_preview(&run->rows);
}

/* perf has columns for the CPUs of the machine that it runs on. */
static int32_t machine_cpus(void)
{
	long count = sysconf(_SC_NPROCESSORS_CONF);
	return count > 0 && count <= STATES_CPUS_MAX ? (int32_t)count : 1;
}

static int open_filters(struct map_run *run, struct error *err)
{
	const struct sched_options *o = run->view.options;
	const struct filter_options coloured = { .cpus = o->coloured_cpus }, shown = { .cpus = o->shown_cpus };
	int32_t refused;
	if (o->coloured_cpus && filter_open_cpus(&run->coloured, &coloured, STATES_CPUS_MAX, &refused, err) != 0)
		return error_set(err, ERROR_USAGE, "failed to get thread map from %s", o->coloured_cpus);
	if (o->shown_cpus && filter_open_cpus(&run->shown, &shown, STATES_CPUS_MAX, &refused, err) != 0)
		return error_set(err, ERROR_USAGE, "failed to get cpus map from %s", o->shown_cpus);
	if (o->coloured_pids && number_list_open(&run->coloured_tids, o->coloured_pids, err) < 0)
		return error_set(err, ERROR_USAGE, "failed to get thread map from %s", o->coloured_pids);
	for (const char *at = o->task_names; at && *at; at += strspn(at, ",")) {
		size_t len = strcspn(at, ",");
		if (len)
			vec_push(&run->names, arena_string(&run->arena, at, len));
		at += len;
	}
	return 0;
}

static int map_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct sched_options *options = filled;
	struct map_run run = { .view = { .cli = cli, .options = options } };
	struct error err = { 0 };
	int code = EXIT_FAILED;
	if (open_filters(&run, &err) < 0) {
		cli_complain(cli, &err);
	} else {
		const struct map_options wanted = { .compact = options->compact, .coloured = run.coloured_tids,
			.coloured_cpus = run.coloured.cpus, .cpus = run.shown.cpus, .names = run.names.items, .name_count = run.names.count,
			.fuzzy = options->fuzzy, .cpu_count = machine_cpus() };
		sched_map_init(&run.map, &wanted, sched_is_live(options, argc));
		run.map.context = &run;
		run.map.row = print_row;
		run.map.verbose = options->input.verbose > 0;
		sched_rows_init(&run.rows, options->format, cli->out, "perfuse.sched.map", "switches", map_columns, MAP_COLUMNS);
		run.view.reader = &run.map.reader;
		run.view.context = &run;
		run.view.preview = preview;
		code = sched_read(&run.view, argc, argv, finish);
		sched_map_fini(&run.map);
	}
	sample_filter_fini(&run.coloured);
	sample_filter_fini(&run.shown);
	name_list_close(run.coloured_tids);
	vec_fini(&run.names);
	arena_fini(&run.arena);
	return code;
}

static const struct option map_table[] = {
	OPT_BOOL(0, "compact", struct sched_options, compact, "columns only for CPUs that had a switch"),
	OPT_STRING(0, "color-pids", struct sched_options, coloured_pids, "pids", "highlight these tasks"),
	OPT_STRING(0, "color-cpus", struct sched_options, coloured_cpus, "cpus", "highlight these CPUs"),
	OPT_STRING(0, "cpus", struct sched_options, shown_cpus, "cpus", "only switches of these CPUs"),
	OPT_STRING(0, "task-name", struct sched_options, task_names, "task", "only tasks with these names"),
	OPT_BOOL(0, "fuzzy-name", struct sched_options, fuzzy, "a name of --task-name may be a part of the task's name"),
	SCHED_LIVE_OPTION,
	OPT_FORMAT(struct sched_options, format),
	SCHED_OPTIONS,
	OPT_END(),
};

static const char *const map_usage[] = { "perf sched map [<options>] [<command>]", NULL };

const struct command sched_map = {
	.name = "map",
	.usage = map_usage,
	.options = map_table,
	.options_size = sizeof(struct sched_options),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = map_run,
};
