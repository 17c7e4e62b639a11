#include "cmd/sched/live.h"

#include <stdlib.h>

#include "cmd/environment.h"
#include "cmd/servers.h"
#include "live/source.h"

static int parse_tracepoints(const struct cli *cli, struct events *events, struct error *err)
{
	const char *names[SCHED_TRACEPOINTS_MAX];
	size_t count = sched_tracepoints(cli, names);
	struct event_error wrong;
	for (size_t i = 0; i < count; i++) {
		if (events_parse(events, names[i], &wrong) == 0)
			continue;
		struct writer out;
		writer_open(&out, -1, 0);
		event_error_print(&wrong, &out);
		error_set(err, ERROR_UNSUPPORTED, "%.*s", (int)out.len - 1, out.buffer);
		writer_fini(&out);
		return -1;
	}
	return 0;
}

static void open_symbols(struct sched_live *live)
{
	struct cli *cli = live->cli;
	struct symbols_options options = *live->symbol_options;
	options.same_machine = true;
	options.processes_until = INT64_MAX; /* the processes run */
	options.buildid_dir = environment_cache(cli, false);
	options.debuginfod = servers_named(cli);
	options.kernel_cache_dir = cli->user_cache_dir;
	options.budget = cli->budget;
	live->symbols = symbols_new(&live->session->model.modules, &options);
}

static int run_session(struct sched_live *live, struct acquisition *acquisition, struct error *err)
{
	const struct session_options options = { .threads = 1, .keep_exited = true, .ordered_rounds = true, .budget = live->cli->budget };
	live->reader->places = live->chains;
	struct sink sink = sched_reader_sink(live->reader);
	struct source *source;
	struct session session;
	source_open_live(&source, acquisition);
	if (session_open(&session, source, &options, err) < 0)
		return -1;
	live->session = &session;
	if (live->chains)
		open_symbols(live);
	if (live->started)
		live->started(live->context);
	int status = session_run(&session, &sink, err);
	live->finished(live->context);
	symbols_free(live->symbols);
	live->symbols = NULL;
	session_close(&session);
	return status;
}

int sched_live_run(struct sched_live *live, const char *const *command)
{
	struct events events = { 0 };
	struct error err = { 0 };
	struct acquisition *acquisition = NULL;
	struct acquisition_options options = {
		.measurement = {
			.sampling = { .period = 1, .rate_given = true, .raw = true, .cpu = true, .period_bit = true },
			.target = { .all_cpus = true, .command = command != NULL }, .events = &events, .command = command,
			.command_to_stderr = true,
		},
	};
	if (live->chains)
		options.measurement.sampling.call_graph = CALL_GRAPH_FP;
	int status = parse_tracepoints(live->cli, &events, &err);
	if (status == 0)
		status = acquisition_open(&acquisition, &options, &err);
	if (status < 0) {
		cli_complain(live->cli, &err);
		events_fini(&events);
		return EXIT_FAILED;
	}
	status = run_session(live, acquisition, &err);
	uint64_t lost = acquisition_counts(acquisition)->lost_samples;
	if (lost)
		cli_warn(live->cli, "%llu events found no room in the rings: states after them are unknown", (unsigned long long)lost);
	acquisition_close(acquisition);
	events_fini(&events);
	return status < 0 ? cli_complain(live->cli, &err), EXIT_FAILED : 0;
}
