#include "record/mapped.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/writer.h"
#include "record/acquire/record_out.h"
#include "record/restate.h"
#include "unit.h"

/* A record made in memory. */
static struct record made(const struct writer *w)
{
	const uint8_t *bytes = (const uint8_t *)w->buffer;
	uint16_t misc;
	memcpy(&misc, bytes + 4, sizeof misc);
	return (struct record){ .type = load_u32(bytes), .misc = misc, .body = bytes + 8, .body_len = (uint32_t)w->len - 8 };
}

static const struct evlist no_events;

static void tell(struct mapped *mapped, struct writer *w, size_t at, uint64_t time)
{
	record_close(w, at, 0);
	struct record record = made(w);
	mapped_apply(mapped, &record, time);
	writer_fini(w);
}

static void add_long_map(struct mapped *mapped, int32_t pid, uint64_t start, uint64_t length, const char *name, uint64_t time)
{
	struct writer w;
	writer_open(&w, -1, 0);
	size_t at = record_open(&w, RECORD_MMAP, RECORD_MISC_USER);
	out_u32(&w, (uint32_t)pid);
	out_u32(&w, (uint32_t)pid);
	out_u64(&w, start);
	out_u64(&w, length);
	out_u64(&w, 0);
	out_string(&w, name);
	tell(mapped, &w, at, time);
}

static void add_map(struct mapped *mapped, int32_t pid, uint64_t start, const char *name, uint64_t time)
{
	add_long_map(mapped, pid, start, 0x1000, name, time);
}

static void add_thread(struct mapped *mapped, uint32_t type, int32_t pid, int32_t ppid, int32_t tid, int32_t ptid, uint64_t time)
{
	struct writer w;
	writer_open(&w, -1, 0);
	size_t at = record_open(&w, type, 0);
	out_u32(&w, (uint32_t)pid);
	out_u32(&w, (uint32_t)ppid);
	out_u32(&w, (uint32_t)tid);
	out_u32(&w, (uint32_t)ptid);
	out_u64(&w, time);
	tell(mapped, &w, at, time);
}

static void add_task(struct mapped *mapped, uint32_t type, int32_t pid, int32_t ppid, uint64_t time)
{
	add_thread(mapped, type, pid, ppid, pid, ppid, time);
}

static void add_comm(struct mapped *mapped, int32_t pid, const char *name, uint64_t time)
{
	struct writer w;
	writer_open(&w, -1, 0);
	size_t at = record_open(&w, RECORD_COMM, RECORD_MISC_COMM_EXEC);
	out_u32(&w, (uint32_t)pid);
	out_u32(&w, (uint32_t)pid);
	out_string(&w, name);
	tell(mapped, &w, at, time);
}

static const char *file_of(const struct mapped *mapped, const struct map_node *root, uint64_t address)
{
	const struct map *map = map_find(root, address);
	return map ? modules_get(&mapped->model.modules, map->module)->name : "";
}

TEST("mappings of the past are known back to the previous generation, those of a replaced program until its replacement")
{
	struct mapped mapped;
	uint32_t generation;
	int32_t pid = getpid();
	mapped_open(&mapped, &no_events, NULL, NULL, true);
	mapped.room = 0;
	add_map(&mapped, pid, 0x1000, "/bin/before", 10);
	add_comm(&mapped, pid, "after", 20);
	add_map(&mapped, pid, 0x2000, "/bin/after", 30);
	EXPECT_STR(file_of(&mapped, mapped_now(&mapped, pid, pid, &generation), 0x1000), "");
	mapped_renew(&mapped, generation);
	EXPECT_INT(mapped.model.generation, 1);
	EXPECT_STR(file_of(&mapped, mapped_now(&mapped, pid, pid, &generation), 0x2000), "/bin/after");
	EXPECT_INT(generation, 1);
	EXPECT_STR(file_of(&mapped, mapped_at(&mapped, pid, pid, 15, &generation), 0x1000), "/bin/before");
	EXPECT_INT(generation, 0);
	EXPECT_STR(file_of(&mapped, mapped_at(&mapped, pid, pid, 25, &generation), 0x1000), "");
	for (uint64_t time = 40; mapped.model.generation < 2 && time < 100000; time++) {
		add_map(&mapped, pid, 0x3000, "/bin/more", time);
		mapped_renew(&mapped, 0); /* mappings of generation 0 are in use */
		EXPECT_INT(mapped.model.generation, 1);
		if (time > 200)
			mapped_renew(&mapped, 1);
	}
	EXPECT_INT(mapped.model.generation, 2);
	EXPECT_STR(file_of(&mapped, mapped_at(&mapped, pid, pid, 25, &generation), 0x2000), "/bin/after"); /* the oldest known mapping */
	mapped_close(&mapped);
}

TEST("threads that start after the first thread of their process has ended have its mappings")
{
	struct mapped mapped;
	uint32_t generation;
	mapped_open(&mapped, &no_events, NULL, NULL, false);
	add_map(&mapped, 70, 0x1000, "/bin/threads", 1);
	add_thread(&mapped, RECORD_FORK, 70, 70, 71, 70, 2);
	add_thread(&mapped, RECORD_EXIT, 70, 1, 70, 1, 3);
	add_thread(&mapped, RECORD_FORK, 70, 70, 72, 71, 4);
	EXPECT_STR(file_of(&mapped, mapped_now(&mapped, 70, 71, &generation), 0x1000), "/bin/threads");
	EXPECT_STR(file_of(&mapped, mapped_now(&mapped, 70, 72, &generation), 0x1000), "/bin/threads");
	mapped_close(&mapped);
}

TEST("memory does not grow with the number of programs that have ended")
{
	struct mapped mapped;
	char name[32];
	int32_t self = getpid();
	mapped_open(&mapped, &no_events, NULL, NULL, false);
	mapped.room = 1 << 14;
	add_map(&mapped, self, 0x1000, "/bin/lasting", 1);
	for (uint64_t time = 2; time < 20000; time += 3) {
		int32_t pid = (int32_t)(1 << 23) + (int32_t)time; /* larger than any process id */
		snprintf(name, sizeof name, "/nowhere/program-%u", (unsigned)time);
		add_task(&mapped, RECORD_FORK, pid, self, time);
		add_map(&mapped, pid, 0x1000, name, time);
		if (time % 30 == 2)
			mapped_want(&mapped, mapped.model.modules.list.count - 1, -1);
		if (time % 2) /* every second exit record is lost */
			add_task(&mapped, RECORD_EXIT, pid, self, time + 1);
		mapped_renew(&mapped, mapped.model.generation);
	}
	table_loader_wait(mapped.loader);
	EXPECT(mapped.model.generation > 10);
	EXPECT(mapped.model.modules.list.count < 2000);
	EXPECT(mapped.model.threads.count < 2000);
	EXPECT(mapped.model.arena.bytes < 1 << 20);
	uint32_t generation;
	EXPECT_STR(file_of(&mapped, mapped_now(&mapped, self, self, &generation), 0x1000), "/bin/lasting");
	mapped_close(&mapped);
}

TEST("restated side-band is as of the time of the sample, and written once")
{
	struct mapped mapped, other;
	struct writer out;
	uint32_t generation;
	mapped_open(&mapped, &no_events, NULL, NULL, true);
	mapped_open(&other, &no_events, NULL, NULL, true);
	writer_open(&out, -1, 0);
	add_comm(&mapped, 70, "first", 5);
	add_map(&mapped, 70, 0x1000, "/bin/first", 10);
	add_map(&mapped, 70, 0x1000, "/bin/second", 30);
	struct restated restated = { .modules = &mapped.model.modules,
		.attr = { .sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU, .flags = 1ull << ATTR_SAMPLE_ID_ALL } };
	restate(&restated, &mapped.model, 70, 70, 20, 20, &out);
	size_t once = out.len;
	restate(&restated, &mapped.model, 70, 70, 21, 21, &out);
	EXPECT_INT(out.len, once);
	restate(&restated, &mapped.model, 70, 70, 40, 40, &out);
	EXPECT(out.len > once);
	for (size_t at = 0; at < out.len;) {
		struct writer one = { .buffer = out.buffer + at, .len = out.len - at };
		uint16_t size;
		memcpy(&size, one.buffer + 6, sizeof size);
		one.len = size;
		struct record record = made(&one);
		mapped_apply(&other, &record, load_u64(record.body + record.body_len - 16));
		at += size;
	}
	EXPECT_STR(file_of(&other, mapped_at(&other, 70, 70, 20, &generation), 0x1000), "/bin/first");
	EXPECT_STR(file_of(&other, mapped_at(&other, 70, 70, 40, &generation), 0x1000), "/bin/second");
	EXPECT_STR(strtab_text(&other.model.strings, model_comm(&other.model, model_thread(&other.model, 70, 40), 40)), "first");
	restated_fini(&restated);
	writer_fini(&out);
	mapped_close(&mapped);
	mapped_close(&other);
}

/* The types of the records, each followed by a blank. */
static void types_of(const struct writer *records, struct str *out)
{
	for (size_t at = 0; at < records->len;) {
		uint32_t type;
		uint16_t size;
		memcpy(&type, records->buffer + at, sizeof type);
		memcpy(&size, records->buffer + at + 6, sizeof size);
		str_printf(out, "%u ", type);
		at += size;
	}
}

TEST("a thread's sample restates the name of its process, too, and each part of a mapping that another one cut")
{
	struct mapped mapped;
	struct writer out;
	CLEANUP_STR struct str types = { 0 };
	mapped_open(&mapped, &no_events, NULL, NULL, true);
	writer_open(&out, -1, 0);
	add_comm(&mapped, 70, "process", 5);
	add_thread(&mapped, RECORD_FORK, 70, 70, 71, 70, 6);
	add_long_map(&mapped, 70, 0x1000, 0x3000, "/bin/whole", 10);
	add_map(&mapped, 70, 0x2000, "/bin/middle", 11);
	struct restated restated = { .modules = &mapped.model.modules,
		.attr = { .sample_type = SAMPLE_TID | SAMPLE_TIME, .flags = 1ull << ATTR_SAMPLE_ID_ALL } };
	restate(&restated, &mapped.model, 70, 71, 20, 20, &out);
	types_of(&out, &types);
	EXPECT_STR(types.text, "3 3 10 10 10 "); /* COMM, MMAP2 */
	writer_fini(&out);
	writer_open(&out, -1, 0);
	restate(&restated, &mapped.model, 70, 70, 20, 20, &out);
	EXPECT_INT(out.len, 0);
	restate(&restated, &mapped.model, -1, 70, 20, 20, &out);
	EXPECT_INT(out.len, 0);
	restated_fini(&restated);
	writer_fini(&out);
	mapped_close(&mapped);
}

TEST("a process that maps the dump of a compiler, and its forked children, are known until they end or run another program")
{
	struct mapped mapped;
	mapped_open(&mapped, &no_events, NULL, NULL, false);
	add_map(&mapped, 100, 0x1000, "/tmp/jit-100.dump", 1);
	add_map(&mapped, 200, 0x1000, "/tmp/jit-.dump", 1);
	add_task(&mapped, RECORD_FORK, 101, 100, 2);
	EXPECT(mapped_has_jit(&mapped, 100) && mapped_has_jit(&mapped, 101) && !mapped_has_jit(&mapped, 200));
	add_comm(&mapped, 101, "other", 3);
	add_thread(&mapped, RECORD_EXIT, 100, 100, 109, 100, 3); /* one of its threads */
	EXPECT(mapped_has_jit(&mapped, 100) && !mapped_has_jit(&mapped, 101));
	add_task(&mapped, RECORD_EXIT, 100, 1, 4);
	EXPECT(!mapped_has_jit(&mapped, 100));
	mapped_close(&mapped);
}
