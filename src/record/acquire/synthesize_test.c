#include "record/acquire/synthesize.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/acquire/record_out.h"
#include "record/acquire/records.h"
#include "unit.h"

/* The one record that was written. */
static struct record only_record(const struct writer *out)
{
	struct span records = { (const uint8_t *)out->buffer, out->len };
	struct record record = { 0 };
	EXPECT(records_next(&records, &record));
	EXPECT_INT(records.len, 0);
	return record;
}

static uint64_t word_at(const struct record *record, size_t at)
{
	uint64_t word;
	memcpy(&word, record->body + at, sizeof word);
	return word;
}

TEST("a list of threads has as many as fit into a record")
{
	struct writer out;
	struct synthesis synthesis = { .out = &out };
	struct target target = { 0 };
	writer_open(&out, -1, 0);
	for (pid_t tid = 1; tid <= 4000; tid++)
		vec_push(&target.threads, ((struct target_thread){ .tid = tid, .comm = "thread" }));
	synthesize_thread_map(&synthesis, &target);
	struct record record = only_record(&out);
	EXPECT_INT(record.type, RECORD_THREAD_MAP);
	EXPECT_INT(word_at(&record, 0), (65535 - 16) / 24);
	EXPECT_INT(record.body_len, 8 + 24 * word_at(&record, 0));
	EXPECT(word_at(&record, 8) == 1 && word_at(&record, 8 + 24) == 2);
	out.len = 0;
	target.threads.count = 2;
	synthesize_thread_map(&synthesis, &target);
	record = only_record(&out);
	EXPECT_INT(word_at(&record, 0), 2);
	EXPECT_STR((const char *)record.body + 16, "thread");
	vec_fini(&target.threads);
	writer_fini(&out);
}

static void expect_cpu_map(const int32_t *cpus, size_t count, const uint16_t *want, size_t want_count)
{
	struct writer out;
	struct synthesis synthesis = { .out = &out };
	struct counters counters = { 0 };
	writer_open(&out, -1, 0);
	for (size_t i = 0; i < count; i++)
		vec_push(&counters.cpus.list, cpus[i]);
	synthesize_cpu_map(&synthesis, &counters);
	struct record record = only_record(&out);
	EXPECT_INT(record.type, RECORD_CPU_MAP);
	EXPECT(record.body_len >= want_count * sizeof *want && memcmp(record.body, want, want_count * sizeof *want) == 0);
	cpus_fini(&counters.cpus);
	writer_fini(&out);
}

TEST("a list of CPUs is a range if there is no gap, otherwise the numbers")
{
	expect_cpu_map((const int32_t[]){ 2, 3, 4, 5 }, 4, (const uint16_t[]){ 2, 0, 2, 5 }, 4);
	expect_cpu_map((const int32_t[]){ 0, 2, 5 }, 3, (const uint16_t[]){ 0, 3, 0, 2, 5 }, 5);
	expect_cpu_map((const int32_t[]){ -1 }, 1, (const uint16_t[]){ 0, 1, UINT16_MAX }, 3);
	/* of events that no counter counts; readers refuse an empty list */
	expect_cpu_map(NULL, 0, (const uint16_t[]){ 0, 1, UINT16_MAX }, 3);
}

/* Three events, of which the first one has no open counter. */
static void make_events(struct events *events, struct counters *counters)
{
	static const uint64_t ids[] = { 0, 7, 0, 9 };
	EXPECT_INT(events_parse(events, "cpu-clock,faults,context-switches", NULL), 0);
	for (size_t i = 0; i < 4; i++)
		vec_push(&counters->list, ((struct counter){ .fd = ids[i] ? 100 : -1, .id = ids[i], .ring = (uint32_t)i, .cpu = (int32_t)i, .tid = -1 }));
	vec_push(&counters->first, 0);
	vec_push(&counters->first, 1);
	vec_push(&counters->first, 2);
	vec_push(&counters->first, 4);
}

TEST("events are described by the id of their first open counter, with unit, scale, CPUs and name; others are left out")
{
	struct writer out;
	struct synthesis synthesis = { .out = &out };
	struct events events = { 0 };
	struct counters counters = { 0 };
	struct cpus cpus = { 0 };
	struct record record;
	CLEANUP_STR struct str got = { 0 };
	writer_open(&out, -1, 0);
	make_events(&events, &counters);
	cpus_add(&cpus, 2);
	events.list.items[1].unit = "Joules";
	events.list.items[1].scale = 0.5;
	events.list.items[2].cpus = &cpus;
	synthesize_event_updates(&synthesis, &events, &counters, true);
	struct span records = { (const uint8_t *)out.buffer, out.len };
	while (records_next(&records, &record)) {
		EXPECT_INT(record.type, RECORD_EVENT_UPDATE);
		str_printf(&got, "%d:%d ", (int)word_at(&record, 8), (int)word_at(&record, 0));
		double scale;
		memcpy(&scale, record.body + 16, sizeof scale);
		if (word_at(&record, 0) == 1)
			EXPECT(scale == 0.5);
		if (word_at(&record, 0) == 0 || word_at(&record, 0) == 2)
			str_printf(&got, "%s ", (const char *)record.body + 16);
	}
	EXPECT_STR(str_text(&got), "7:0 Joules 7:1 7:2 faults 9:3 9:2 context-switches ");
	out.len = 0;
	synthesize_id_index(&synthesis, &counters);
	record = only_record(&out);
	static const uint64_t index[] = { 2, 7, 1, 1, UINT64_MAX, 9, 3, 3, UINT64_MAX };
	EXPECT_INT(record.body_len, sizeof index);
	EXPECT(record.body_len == sizeof index && memcmp(record.body, index, sizeof index) == 0);
	vec_fini(&counters.list);
	vec_fini(&counters.first);
	events.list.items[2].cpus = NULL;
	events_fini(&events);
	cpus_fini(&cpus);
	writer_fini(&out);
}

/* A process that waits, with a child that waits; the id of the child in *inner. */
static pid_t waiting_pair(pid_t *inner)
{
	int ids[2];
	EXPECT(pipe(ids) == 0);
	pid_t outer = fork();
	if (outer == 0) {
		pid_t child = fork();
		if (child > 0 && write(ids[1], &child, sizeof child) != sizeof child)
			_exit(1);
		for (;;)
			pause();
	}
	EXPECT_INT(read(ids[0], inner, sizeof *inner), sizeof *inner);
	close(ids[0]);
	close(ids[1]);
	return outer;
}

TEST("of a command that runs, its processes are described, and no others")
{
	struct writer out;
	pid_t inner = 0, outer = waiting_pair(&inner);
	struct target target = { .command = true };
	struct synthesis synthesis = { .out = &out, .map_timeout_ms = 1000, .command_runs = true };
	struct record record;
	bool named[2] = { 0 };
	writer_open(&out, -1, 0);
	vec_push(&target.threads, ((struct target_thread){ .tid = outer }));
	synthesize_processes(&synthesis, &target);
	struct span records = { (const uint8_t *)out.buffer, out.len };
	while (records_next(&records, &record)) {
		int32_t pid;
		memcpy(&pid, record.body, sizeof pid);
		EXPECT(pid == outer || pid == inner);
		if (record.type == RECORD_COMM)
			named[pid == inner] = true;
	}
	EXPECT(named[0] && named[1]);
	vec_fini(&target.threads);
	writer_fini(&out);
	kill(inner, SIGKILL);
	kill(outer, SIGKILL);
	waitpid(outer, NULL, 0);
}
