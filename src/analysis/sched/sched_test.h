/* For tests: recordings of the scheduler's events in memory, with the formats of their tracepoints. */
#pragma once
#include "analysis/sched/events.h"
#include "tape.h"
#include "tracing_formats.h"
#include "unit.h"

enum { SCHED_SWITCH_ID = 70, SCHED_WAKING_ID, SCHED_RUNTIME_ID };

static const char *const sched_formats[] = {
	"name: sched_switch\nID: 70\nformat:\n" COMMON_FIELDS
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\nprint fmt: \"%s\", (REC->prev_state & 255) ? "
	"__print_flags(REC->prev_state & 255, \"|\", { 1, \"S\" }, { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"X\" }, "
	"{ 32, \"Z\" }) : \"R\"\n",
	"name: sched_waking\nID: 71\nformat:\n" COMMON_FIELDS
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
	"name: sched_stat_runtime\nID: 72\nformat:\n" COMMON_FIELDS
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 runtime;\toffset:32;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n",
};

static inline struct tape *sched_tape(struct str *blob)
{
	static const char *const names[] = { "sched:sched_switch", "sched:sched_waking", "sched:sched_stat_runtime" };
	struct tape *t = tape_new();
	for (uint64_t i = 0; i < 3; i++) {
		struct attr attr = { .type = ATTR_TRACEPOINT, .config = SCHED_SWITCH_ID + i, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
			.sample_type = SAMPLE_IDENTIFIER | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_RAW };
		const uint64_t id = i + 1;
		evlist_add(&t->source.header.evlist, &attr, &id, 1, names[i]);
	}
	put_formats(blob, "sched", sched_formats, sizeof sched_formats / sizeof *sched_formats);
	t->source.header.feature_data[FEATURE_TRACING_DATA] = (struct span){ (const uint8_t *)blob->text, blob->len };
	return t;
}

static inline void put_sample(struct tape *t, uint64_t id, uint32_t tid, uint64_t time, uint32_t cpu, const void *raw, uint32_t size)
{
	put_head(t, RECORD_SAMPLE, RECORD_MISC_KERNEL, 32 + 4 + size);
	put_u64(t, id);
	put_ids(t, tid);
	put_u64(t, time);
	put(t, (uint32_t[]){ cpu, 0 }, 8);
	put(t, &size, 4);
	put(t, raw, size);
}

struct switch_fields {
	uint16_t type, flags;
	int32_t current;
	char previous_comm[16];
	int32_t previous, previous_priority;
	int64_t state;
	char next_comm[16];
	int32_t next, next_priority;
	uint32_t pad;
};

/* state: bits, 1 is S. */
static inline void put_sched_switch(struct tape *t, uint64_t time, uint32_t cpu, int32_t previous, int64_t state, int32_t next)
{
	struct switch_fields fields = { .type = SCHED_SWITCH_ID, .previous = previous, .previous_priority = 120, .state = state, .next = next,
		.next_priority = 120 };
	snprintf(fields.previous_comm, sizeof fields.previous_comm, "task%d", previous);
	snprintf(fields.next_comm, sizeof fields.next_comm, "task%d", next);
	put_sample(t, 1, (uint32_t)previous, time, cpu, &fields, offsetof(struct switch_fields, pad) + 4);
}

struct task_fields {
	uint16_t type, flags;
	int32_t current;
	char comm[16];
	int32_t pid, pad;
	uint64_t runtime;
	uint32_t pad_to_8;
};

/* runtime: 0: a wake-up. */
static inline void put_sched_task(struct tape *t, uint64_t time, uint32_t cpu, int32_t tid, int32_t pid, uint64_t runtime)
{
	struct task_fields fields = { .type = runtime ? SCHED_RUNTIME_ID : SCHED_WAKING_ID, .pid = pid, .runtime = runtime };
	put_sample(t, runtime ? 3 : 2, (uint32_t)tid, time, cpu, &fields, offsetof(struct task_fields, pad_to_8) + 4);
}

/* LOST: `lost` events, on this CPU. */
static inline void put_lost(struct tape *t, uint64_t time, uint32_t cpu, uint64_t lost)
{
	put_head(t, RECORD_LOST, 0, 16 + 32);
	put_u64(t, 0);
	put_u64(t, lost);
	put_ids(t, 0);
	put_u64(t, time);
	put(t, (uint32_t[]){ cpu, 0 }, 8);
	put_u64(t, 1);
}

static inline void run_tape(struct tape *t, struct sched_reader *reader, struct session *session)
{
	struct session_options options = { .threads = 1, .keep_exited = true };
	struct sink sink = sched_reader_sink(reader);
	EXPECT(session_open(session, &t->source, &options, NULL) == 0);
	EXPECT(session_run(session, &sink, NULL) == 0);
}
