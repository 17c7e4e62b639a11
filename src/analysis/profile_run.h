/* For tests: a recording in memory, and the profile that two workers make of it. */
#pragma once
#include <stdlib.h>

#include "analysis/hist.h"
#include "analysis/profile.h"

/* A recording in memory: one event, ip, tid, time, chain. */
struct recording {
	struct source source;
	VEC(uint8_t) bytes;
	size_t at;
};

static inline int recording_next(struct source *source, struct record *record, struct error *err)
{
	struct recording *r = (struct recording *)source;
	if (r->at >= r->bytes.count)
		return 0;
	const uint8_t *head = r->bytes.items + r->at;
	uint16_t misc, size;
	memcpy(&misc, head + 4, 2);
	memcpy(&size, head + 6, 2);
	*record = (struct record){ .type = load_u32(head), .misc = misc, .body = head + 8, .body_len = size - 8u, .offset = r->at };
	r->at += size;
	source->mark = r->at;
	return 1;
}

static inline void recording_release(struct source *source, uint64_t mark)
{
}

static inline void recording_close(struct source *source)
{
	struct recording *r = (struct recording *)source;
	evlist_fini(&source->header.evlist);
	vec_fini(&r->bytes);
	free(r);
}

static inline struct recording *recording_new(void)
{
	static const struct source_ops ops = { recording_next, recording_release, recording_close };
	struct recording *r = memory_zero(1, sizeof *r);
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 10, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN };
	r->source.ops = &ops;
	evlist_add(&r->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return r;
}

static inline void put(struct recording *r, const void *data, size_t size)
{
	vec_reserve(&r->bytes, r->bytes.count + size);
	memcpy(r->bytes.items + r->bytes.count, data, size);
	r->bytes.count += size;
}

/* Innermost first; the chain's first frame is the sample's own address. */
static inline void put_sample(struct recording *r, uint32_t tid, uint64_t time, const uint64_t *frames, uint64_t count)
{
	uint32_t type = RECORD_SAMPLE;
	uint16_t misc = RECORD_MISC_USER, size = (uint16_t)(8 + 8 * (4 + 1 + count));
	uint64_t chain_count = count + 1, marker = CONTEXT_USER;
	put(r, &type, 4);
	put(r, &misc, 2);
	put(r, &size, 2);
	put(r, &frames[0], 8);
	put(r, (uint32_t[]){ tid, tid }, 8);
	put(r, &time, 8);
	put(r, &chain_count, 8);
	put(r, &marker, 8);
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

/* False where something fails, which none of it should. */
static inline bool run_open(struct run *run, struct recording *recording, const char *sort, struct profile_options options)
{
	struct session_options session = { .threads = 2 };
	struct column_request request = { .sort = sort, .children = options.iteration == ITERATE_CALLERS };
	*run = (struct run){ 0 };
	if (session_open(&run->session, &recording->source, &session, NULL) < 0 || columns_setup(&run->columns, &request, NULL) < 0)
		return false;
	run->symbols = symbols_new(&run->session.model.modules, &(struct symbols_options){ .no_kernel_lookup = true });
	options.columns = &run->columns;
	options.use_chains = true;
	options.max_stack = 127;
	options.socket_filter = -1;
	options.switch_on = options.switch_off = UINT32_MAX;
	if (profile_open(&run->profile, &options, &run->session, run->symbols, NULL) < 0)
		return false;
	struct sink sink = profile_sink(&run->profile);
	return session_run(&run->session, &sink, NULL) == 0 && profile_finish(&run->profile, NULL) == 0;
}

static inline void run_close(struct run *run)
{
	profile_close(&run->profile);
	columns_fini(&run->columns);
	symbols_free(run->symbols);
	session_close(&run->session);
}
