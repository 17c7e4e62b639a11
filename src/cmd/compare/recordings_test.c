#include "cmd/compare/recordings.h"

#include "data/test_recording.h"

static void put_thread_map(struct recording *r)
{
	char comm[16] = "work";
	size_t at = begin_record(r, RECORD_THREAD_MAP, 0);
	put(r, 1, 8);
	put(r, 77, 8);
	put_bytes(r, comm, sizeof comm);
	end_record(r, at);
}

static void put_cpu_map(struct recording *r)
{
	size_t at = begin_record(r, RECORD_CPU_MAP, 0);
	put(r, 0, 2); /* a list */
	put(r, 2, 2);
	put(r, 0, 2);
	put(r, 1, 2);
	end_record(r, at);
}

static void put_config(struct recording *r, uint64_t interval_ms)
{
	size_t at = begin_record(r, RECORD_STAT_CONFIG, 0);
	put(r, 2, 8);
	put(r, 1, 8); /* the interval */
	put(r, interval_ms, 8);
	put(r, 2, 8); /* scaled */
	put(r, 1, 8);
	end_record(r, at);
}

static void put_count(struct recording *r, uint64_t id, uint32_t cpu, uint64_t value, uint64_t enabled, uint64_t running)
{
	size_t at = begin_record(r, RECORD_STAT, 0);
	put(r, id, 8);
	put(r, cpu, 4);
	put(r, 0, 4);
	put(r, value, 8);
	put(r, enabled, 8);
	put(r, running, 8);
	end_record(r, at);
}

static void put_stat_round(struct recording *r, uint64_t type, uint64_t time)
{
	size_t at = begin_record(r, RECORD_STAT_ROUND, 0);
	put(r, type, 8);
	put(r, time, 8);
	end_record(r, at);
}

static int read_back(struct recording *r, size_t data_at, struct runs *runs, struct error *err)
{
	char folder[] = "/tmp/perfuse-recordings-XXXXXX", path[64];
	EXPECT(mkdtemp(folder) != NULL);
	end_data(r, data_at);
	EXPECT(recording_starts(r->bytes, r->len));
	write_file(folder, "data", r->bytes, r->len);
	snprintf(path, sizeof path, "%s/data", folder);
	int status = recording_read(path, runs, RUN_B, NULL, err);
	remove_folder(folder, (const char *const[]){ "data", NULL });
	free(r);
	return status;
}

static size_t begin_counts(struct recording *r, uint64_t interval_ms)
{
	begin_file(r, 2);
	for (unsigned i = 0; i < 2; i++) /* of software events, both would be clocks, which are in milliseconds */
		put_at(r, 104 + i * (ATTR_SIZE_VER8 + 16), ATTR_HARDWARE, 4);
	size_t data_at = r->len;
	put_thread_map(r);
	put_cpu_map(r);
	put_config(r, interval_ms);
	return data_at;
}

TEST("each interval is a value: what the CPUs counted since the round before, scaled; one that did not run has none")
{
	for (int swap = 0; swap < 2; swap++) {
		struct recording *r = recording_new(swap);
		struct runs runs = { 0 };
		struct error err = { 0 };
		size_t data_at = begin_counts(r, 10);
		put_count(r, 10, 0, 1000, 100, 100);
		put_count(r, 10, 1, 500, 100, 50); /* half of the time: 1000 */
		put_count(r, 20, 0, 7, 100, 100);
		put_count(r, 20, 1, 8, 100, 100);
		put_stat_round(r, 0, 10000000);
		put_count(r, 10, 0, 1000, 100, 100); /* idle */
		put_count(r, 10, 1, 501, 110, 60);
		put_count(r, 20, 0, 7, 100, 100);
		put_count(r, 20, 1, 8, 100, 100);
		put_stat_round(r, 1, 20000000);
		EXPECT(read_back(r, data_at, &runs, &err) == 0);
		EXPECT_INT(runs.list.count, 2);
		const struct run_series *first = &runs.list.items[0], *second = &runs.list.items[1];
		EXPECT_INT(first->values[RUN_A].count, 0);
		EXPECT_INT(first->values[RUN_B].count, 2);
		EXPECT(first->values[RUN_B].items[0] == 2000 && first->values[RUN_B].items[1] == 1);
		EXPECT_INT(second->values[RUN_B].count, 1);
		EXPECT(second->values[RUN_B].items[0] == 15);
		runs_fini(&runs);
	}
}

TEST("a recording without intervals is one value; one without counts, or with a count of an unknown CPU, is refused")
{
	struct runs runs = { 0 };
	struct error err = { 0 };
	struct recording *r = recording_new(false);
	size_t data_at = begin_counts(r, 0);
	put_count(r, 10, 0, 40, 5, 5);
	put_count(r, 10, 1, 2, 5, 5);
	put_stat_round(r, 1, 1000);
	EXPECT(read_back(r, data_at, &runs, &err) == 0);
	EXPECT_INT(runs.list.count, 1);
	EXPECT(runs.list.items[0].values[RUN_B].count == 1 && runs.list.items[0].values[RUN_B].items[0] == 42);
	r = recording_new(false);
	data_at = begin_counts(r, 0);
	put_stat_round(r, 1, 1000);
	EXPECT(read_back(r, data_at, &runs, &err) < 0 && strstr(err.text, "no counts"));
	r = recording_new(false);
	data_at = begin_counts(r, 0);
	put_count(r, 10, 2, 1, 1, 1);
	EXPECT(read_back(r, data_at, &runs, &err) < 0 && strstr(err.text, "Invalid CPU 2"));
	runs_fini(&runs);
}

TEST("a recording starts with one of three words, and a shorter file is not a recording")
{
	EXPECT(recording_starts("PERFILE2", 8) && recording_starts("2ELIFREP", 8) && recording_starts("PERFFILE", 8));
	EXPECT(!recording_starts("PERFILE2", 7) && !recording_starts("{\"event\"", 8) && !recording_starts(NULL, 0));
}
