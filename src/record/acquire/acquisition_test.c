#include "record/acquire/acquisition.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/acquire/ring_order.h"
#include "unit.h"

/* What a callback has seen. */
struct seen {
	const struct evlist *evlist;
	uint64_t time, samples, early, late, rounds, stop_at, lost;
	bool init;
};

static int see(void *context, const struct record *record, struct error *err)
{
	struct seen *seen = context;
	uint64_t time = evlist_time_of(seen->evlist, record);
	(void)err;
	seen->init |= record->type == RECORD_FINISHED_INIT;
	seen->rounds += record->type == RECORD_FINISHED_ROUND;
	if (record->type == RECORD_LOST_SAMPLES) {
		uint64_t lost;
		memcpy(&lost, record->body, sizeof lost);
		seen->lost += lost;
	}
	if (record->type != RECORD_SAMPLE)
		return 0;
	seen->samples++;
	seen->early += !seen->init;
	seen->late += time < seen->time;
	seen->time = time;
	return seen->stop_at && seen->samples >= seen->stop_at;
}

static struct acquisition_options asked(struct events *events, const char *const *command)
{
	struct event_error wrong;
	EXPECT(events_parse(events, "cpu-clock:u", &wrong) == 0);
	return (struct acquisition_options){
		.measurement = { .sampling = { .freq = 2000 }, .target = { .command = true }, .events = events, .command = command },
	};
}

/* NULL: no event can be opened here, and the test is skipped. */
static struct acquisition *opened(const struct acquisition_options *options, struct evlist *evlist)
{
	struct acquisition *acquisition;
	struct error err = { 0 };
	if (acquisition_open(&acquisition, options, &err) < 0) {
		unit_skip(err.text);
		return NULL;
	}
	acquisition_evlist(acquisition, evlist);
	return acquisition;
}

static const char *const busy[] = {
	"sh", "-c", "for i in 1 2 3; do (i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done) & done; wait", NULL,
};

TEST("records arrive by time, first those about what existed before, until the command has ended")
{
	struct events events = { 0 };
	struct evlist evlist = { 0 };
	const struct acquisition_options options = asked(&events, busy);
	struct acquisition *acquisition = opened(&options, &evlist);
	struct seen seen = { .evlist = &evlist };
	if (acquisition) {
		EXPECT_INT(acquisition_run(acquisition, &(struct acquisition_callback){ see, &seen }, NULL), 0);
		EXPECT_INT(acquisition_step(acquisition, &(struct acquisition_callback){ see, &seen }, NULL), 0);
		EXPECT(seen.init && seen.samples > 20 && seen.rounds > 0);
		EXPECT_INT(seen.early, 0);
		EXPECT_INT(seen.late, 0);
		EXPECT_INT(acquisition_counts(acquisition)->rounds, seen.rounds);
		EXPECT_INT(acquisition_signal(acquisition), 0);
	}
	acquisition_close(acquisition);
	evlist_fini(&evlist);
	events_fini(&events);
}

TEST("a callback that asks for the end gets no further record, and the command is ended")
{
	static const char *const endless[] = { "sh", "-c", "while :; do :; done", NULL };
	struct events events = { 0 };
	struct evlist evlist = { 0 };
	const struct acquisition_options options = asked(&events, endless);
	struct acquisition *acquisition = opened(&options, &evlist);
	struct seen seen = { .evlist = &evlist, .stop_at = 5 };
	if (acquisition)
		EXPECT_INT(acquisition_run(acquisition, &(struct acquisition_callback){ see, &seen }, NULL), 0);
	if (acquisition)
		EXPECT_INT(seen.samples, 5);
	acquisition_close(acquisition);
	evlist_fini(&evlist);
	events_fini(&events);
}

TEST("a command that cannot be executed is an error, after which no record comes")
{
	static const char *const absent[] = { "/nonexistent/program", NULL };
	struct events events = { 0 };
	struct evlist evlist = { 0 };
	const struct acquisition_options options = asked(&events, absent);
	struct acquisition *acquisition = opened(&options, &evlist);
	struct seen seen = { .evlist = &evlist };
	struct error err = { 0 };
	if (acquisition) {
		EXPECT_INT(acquisition_run(acquisition, &(struct acquisition_callback){ see, &seen }, &err), -1);
		EXPECT(strstr(err.text, "cannot be executed") != NULL);
		EXPECT_INT(seen.samples, 0);
		EXPECT_INT(acquisition_step(acquisition, &(struct acquisition_callback){ see, &seen }, NULL), 0);
	}
	acquisition_close(acquisition);
	evlist_fini(&evlist);
	events_fini(&events);
}

TEST("rings that overwrite their oldest records are refused: they have no order")
{
	static const char *const command[] = { "true", NULL };
	struct events events = { 0 };
	struct acquisition_options options = asked(&events, command);
	struct acquisition *acquisition = NULL;
	struct error err = { 0 };
	options.measurement.sampling.overwrite = true;
	EXPECT(acquisition_open(&acquisition, &options, &err) < 0);
	if (strstr(err.text, "permission") || strstr(err.text, "not implemented"))
		unit_skip(err.text);
	else
		EXPECT_STR(err.text, "overwritten rings give no ordered records");
	events_fini(&events);
}

TEST("samples that found no room are counted, and a record at the end says how many")
{
	char folder[] = "/tmp/perfuse-lost-XXXXXX", fifo[64], line[128], byte;
	EXPECT(mkdtemp(folder));
	snprintf(fifo, sizeof fifo, "%s/fifo", folder);
	EXPECT_INT(mkfifo(fifo, 0600), 0);
	snprintf(line, sizeof line, "echo > %s", fifo);
	const char *const command[] = { "sh", "-c", line, NULL };
	struct events events = { 0 };
	struct evlist evlist = { 0 };
	EXPECT(events_parse(&events, "page-faults:u", NULL) == 0);
	const struct acquisition_options options = { .pages = 1, .measurement = {
		.sampling = { .period = 1, .rate_given = true, .call_graph = CALL_GRAPH_DWARF, .stack_size = 1024, .regs_mask = registers_for_dwarf() },
		.target = { .command = true, .per_thread = true }, .events = &events, .command = command } };
	struct acquisition *acquisition = opened(&options, &evlist);
	struct seen seen = { .evlist = &evlist };
	if (acquisition) {
		const struct acquisition_callback callback = { see, &seen };
		EXPECT_INT(acquisition_step(acquisition, &callback, NULL), 1);
		FILE *end = fopen(fifo, "r"); /* until then the command runs, and nothing reads its ring of a page */
		EXPECT(end && fread(&byte, 1, 1, end) == 1);
		fclose(end);
		EXPECT_INT(acquisition_run(acquisition, &callback, NULL), 0);
		if (evlist.events.items[0].attr.read_format & READ_LOST)
			EXPECT(acquisition_counts(acquisition)->lost_samples > 0);
		else
			unit_skip("kernels before 6.0 do not count them");
		EXPECT_INT(seen.lost, acquisition_counts(acquisition)->lost_samples);
	}
	acquisition_close(acquisition);
	evlist_fini(&evlist);
	events_fini(&events);
	unlink(fifo);
	rmdir(folder);
}
