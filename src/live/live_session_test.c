#include "live/live_session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

struct seen {
	uint64_t samples, unordered, last_time;
	char comm[16];
};

static void see(void *context, const struct resolved *r, size_t slice)
{
	struct seen *seen = context;
	char buffer[16];
	(void)slice;
	seen->samples++;
	seen->unordered += r->sample->time < seen->last_time;
	seen->last_time = r->sample->time;
	snprintf(seen->comm, sizeof seen->comm, "%s", resolved_comm(r, buffer, sizeof buffer));
}

static const char *const busy[] = { "sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done", NULL };

/* false: no event can be opened here, and the test is skipped. */
static bool opened(struct live_session *live, struct events *events, const char *const *command)
{
	struct event_error wrong;
	struct error err = { 0 };
	EXPECT(events_parse(events, "cpu-clock:u", &wrong) == 0);
	const struct live_session_options options = {
		.acquisition.measurement = { .sampling = { .freq = 2000 }, .target = { .command = true }, .events = events, .command = command },
	};
	if (live_session_open(live, &options, &err) == 0)
		return true;
	unit_skip(err.text);
	return false;
}

TEST("each step delivers what has arrived, in order of time, until the command has ended")
{
	struct events events = { 0 };
	struct live_session live;
	struct seen seen = { 0 };
	struct error err = { 0 };
	const struct sink sink = { .context = &seen, .record = see, .serial = true };
	uint32_t ready;
	uint64_t during = 0;
	int status = 1;
	if (opened(&live, &events, busy)) {
		live_session_begin(&live, &sink);
		while ((status = live_session_step(&live, 20, &ready, &err)) > 0)
			during = seen.samples;
		EXPECT_INT(status, 0);
		EXPECT_INT(live_session_end(&live, &err), 0);
		EXPECT(during > 0 && seen.samples >= during);
		EXPECT_INT(seen.unordered, 0);
		EXPECT_STR(seen.comm, "sh");
		EXPECT_INT(live.session.counters.samples, seen.samples);
		EXPECT_INT(live_session_signal(&live), 0);
	}
	live_session_close(&live);
	events_fini(&events);
}

TEST("names remain over generations, and a watched descriptor ends a wait")
{
	struct events events = { 0 };
	struct live_session live;
	struct seen seen = { 0 };
	struct error err = { 0 };
	const struct sink sink = { .context = &seen, .record = see, .serial = true };
	uint32_t ready = 0;
	int ends[2], generations = 0;
	EXPECT(pipe(ends) == 0);
	if (opened(&live, &events, busy)) {
		bool woken = false;
		EXPECT(live_session_watch(&live, ends[0], 3, &err) == 0 && write(ends[1], "x", 1) == 1);
		live_session_begin(&live, &sink);
		while (live_session_step(&live, 20, &ready, &err) > 0) {
			struct model_renewal renewal = { 0 };
			woken |= (ready & 1u << 3) != 0;
			live_session_renew(&live, &renewal);
			generations++;
			seen.comm[0] = '\0';
			live_session_unwatch(&live, woken ? ends[0] : -1);
		}
		EXPECT(woken && generations > 1);
		EXPECT_INT(live_session_end(&live, &err), 0);
		EXPECT(!seen.comm[0] || strcmp(seen.comm, "sh") == 0);
		EXPECT_INT(live.session.model.generation, generations);
	}
	live_session_close(&live);
	events_fini(&events);
	close(ends[0]);
	close(ends[1]);
}

TEST("a command that does not exist is an error, and closing is possible")
{
	struct events events = { 0 };
	struct live_session live;
	struct seen seen = { 0 };
	struct error err = { 0 };
	const struct sink sink = { .context = &seen, .record = see, .serial = true };
	static const char *const absent[] = { "/nonexistent/program", NULL };
	uint32_t ready;
	if (opened(&live, &events, absent)) {
		live_session_begin(&live, &sink);
		EXPECT(live_session_step(&live, 20, &ready, &err) < 0);
		EXPECT_STR(err.text, "the command cannot be executed: No such file or directory");
	}
	live_session_close(&live);
	events_fini(&events);
}
