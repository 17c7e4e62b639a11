/* For tests: a recording in memory, and the profile that five workers make of it. */
#pragma once
#include "analysis/column/columns.h"
#include "analysis/profile/hist.h"
#include "analysis/profile/profile.h"
#include "tape.h"

/* One event: ip, tid, time, chain. */
static inline struct tape *recording_new(void)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 10, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return tape;
}

/* Innermost first; the chain's first frame is the sample's own address. */
static inline void put_sample(struct tape *r, uint32_t tid, uint64_t time, const uint64_t *frames, uint64_t count)
{
	put_head(r, RECORD_SAMPLE, RECORD_MISC_USER, 8 * (4 + 1 + count));
	put_u64(r, frames[0]);
	put_ids(r, tid);
	put_u64(r, time);
	put_u64(r, count + 1);
	put_u64(r, CONTEXT_USER);
	put(r, frames, count * 8);
}

#define SAMPLE(r, tid, time, ...) \
	put_sample(r, tid, time, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8)

/* A whole run. */
struct run {
	struct session session;
	struct symbols *symbols;
	struct columns columns;
	struct profile profile;
};

/* Everything before the first record. Returns false on failure. */
static inline bool run_setup(struct run *run, struct tape *recording, const char *sort, struct profile_options options)
{
	struct session_options session = { .threads = 5 }; /* a tree of merges with a remainder */
	struct column_request request = { .sort = sort, .children = options.iteration == ITERATE_CALLERS };
	*run = (struct run){ 0 };
	if (session_open(&run->session, &recording->source, &session, NULL) < 0 || columns_setup(&run->columns, &request, NULL) < 0)
		return false;
	run->symbols = symbols_new(&run->session.model.modules, &(struct symbols_options){ .no_kernel_lookup = true });
	options.columns = &run->columns;
	options.use_chains = !options.at_end;
	options.max_stack = options.max_stack ? options.max_stack : 127;
	options.socket_filter = -1;
	profile_open(&run->profile, &options, &run->session, run->symbols);
	return true;
}

/* Returns false on failure. */
static inline bool run_open(struct run *run, struct tape *recording, const char *sort, struct profile_options options)
{
	if (!run_setup(run, recording, sort, options))
		return false;
	struct sink sink = profile_sink(&run->profile);
	bool read = session_run(&run->session, &sink, NULL) == 0;
	profile_finish(&run->profile);
	return read;
}

static inline void run_close(struct run *run)
{
	profile_close(&run->profile);
	columns_fini(&run->columns);
	symbols_free(run->symbols);
	session_close(&run->session);
}
