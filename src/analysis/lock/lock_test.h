/* For tests: recordings of lock events in memory, with the formats of their tracepoints. */
#pragma once
#include "analysis/lock/lock_sink.h"
#include "tape.h"
#include "tracing_formats.h"

enum { LOCK_EVENT_IDS = 80, LOCK_EVENTS = 6 };

#define LOCKDEP_FIELDS "\tfield:unsigned int flags;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n" \
	"\tfield:void * lockdep_addr;\toffset:16;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n"
#define CONTENTION_FIELDS "\tfield:void * lock_addr;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:unsigned int flags;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n"

/* In this order their ids are LOCK_EVENT_IDS and so on, and their ids in samples 1 and so on. */
static const char *const lock_formats[LOCK_EVENTS] = {
	"name: lock_acquire\nID: 80\nformat:\n" COMMON_FIELDS LOCKDEP_FIELDS,
	"name: lock_acquired\nID: 81\nformat:\n" COMMON_FIELDS LOCKDEP_FIELDS,
	"name: lock_contended\nID: 82\nformat:\n" COMMON_FIELDS LOCKDEP_FIELDS,
	"name: lock_release\nID: 83\nformat:\n" COMMON_FIELDS LOCKDEP_FIELDS,
	"name: contention_begin\nID: 84\nformat:\n" COMMON_FIELDS CONTENTION_FIELDS,
	"name: contention_end\nID: 85\nformat:\n" COMMON_FIELDS CONTENTION_FIELDS,
};

enum { LOCK_IS_ACQUIRED_BY = 1, LOCK_IS_ACQUIRED, LOCK_IS_CONTENDED, LOCK_IS_RELEASED, LOCK_WAIT_BEGINS, LOCK_WAIT_ENDS };

struct lock_run {
	struct tape *tape;
	struct str blob;
	struct session session;
	struct tracepoints *tracepoints;
	struct lock_sink sink;
};

static inline void lock_run_open(struct lock_run *run)
{
	*run = (struct lock_run){ .tape = tape_new() };
	for (uint64_t i = 0; i < LOCK_EVENTS; i++) {
		const struct attr attr = { .type = ATTR_TRACEPOINT, .config = LOCK_EVENT_IDS + i, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
			.sample_type = SAMPLE_IDENTIFIER | SAMPLE_TID | SAMPLE_TIME | SAMPLE_RAW };
		const uint64_t id = i + 1;
		evlist_add(&run->tape->source.header.evlist, &attr, &id, 1, NULL);
	}
	put_formats(&run->blob, "lock", lock_formats, LOCK_EVENTS);
	run->tape->source.header.feature_data[FEATURE_TRACING_DATA] = (struct span){ (const uint8_t *)run->blob.text, run->blob.len };
}

struct lock_fields_of {
	uint16_t type, common_flags;
	int32_t current;
	uint32_t flags, name;  /* name: length << 16 | offset */
	uint64_t lock;
	char text[12];
};

/* event: LOCK_IS_ACQUIRED_BY …; size: bytes of the payload, at most that of the fields. */
static inline void put_lock_event(struct lock_run *run, unsigned event, uint32_t tid, uint64_t time, uint64_t lock, uint32_t flags,
	uint32_t size)
{
	struct lock_fields_of fields = { .type = (uint16_t)(LOCK_EVENT_IDS + event - 1), .flags = flags,
		.name = 5u << 16 | offsetof(struct lock_fields_of, text), .lock = lock, .text = "lock" };
	put_head(run->tape, RECORD_SAMPLE, RECORD_MISC_KERNEL, 24 + 4 + sizeof fields);
	put_u64(run->tape, event);
	put_ids(run->tape, tid);
	put_u64(run->tape, time);
	put(run->tape, &size, 4);
	put(run->tape, &fields, sizeof fields);
}

enum { LOCK_PAYLOAD = sizeof(struct lock_fields_of) };

static inline void lock_run_take(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct lock_run *run = context;
	lock_sink_take(&run->sink, r);
}

/* The group and filters of options. Returns < 0 if the recording cannot be read. */
static inline int lock_run_read(struct lock_run *run, struct lock_sink_options options)
{
	const struct session_options of_session = { .threads = 1, .keep_exited = true };
	const struct sink sink = { .context = run, .record = lock_run_take, .serial = true };
	if (session_open(&run->session, &run->tape->source, &of_session, NULL) < 0 ||
	    tracepoints_open(&run->tracepoints, run->tape->source.header.feature_data[FEATURE_TRACING_DATA], NULL) < 0)
		return -1;
	options.symbols = symbols_new(&run->session.model.modules, &(struct symbols_options){ 0 });
	options.tracepoints = &run->tracepoints;
	lock_sink_init(&run->sink, &options);
	int status = session_run(&run->session, &sink, NULL);
	symbols_free(options.symbols);
	return status;
}

static inline void lock_run_close(struct lock_run *run)
{
	lock_sink_fini(&run->sink);
	tracepoints_close(run->tracepoints);
	session_close(&run->session);
	str_fini(&run->blob);
}
