#include "analysis/sched/map.h"

#include "analysis/sched/sched_test.h"

struct seen {
	struct sched_map map;
	struct str text;
};

static void add_row(void *context, const struct map_row *row)
{
	struct seen *seen = context;
	str_printf(&seen->text, "%llu cpu%d %s%s%s%s of %zu\n", (unsigned long long)row->time, row->cpu,
		sched_map_task(&seen->map, row->task)->name, row->introduced ? "!" : "", row->leaves ? "-" : "", row->new_cpu ? "+" : "",
		sched_map_columns(&seen->map));
}

static void run_map(const struct map_options *options, struct seen *seen)
{
	struct str blob = { 0 };
	struct session session;
	struct tape *t = sched_tape(&blob);
	put_comm(t, 7, 0, "alpha\0\0", 16);
	put_u64(t, 0);
	put_u64(t, 1);
	put_sched_switch(t, 100, 3, 0, 0, 7);
	put_sched_switch(t, 110, 0, 0, 0, 8);
	put_sched_switch(t, 120, 3, 7, 1, 0);
	put_sched_switch(t, 130, 3, 0, 0, 7);
	sched_map_init(&seen->map, options, false);
	seen->map.context = seen;
	seen->map.row = add_row;
	run_tape(t, &seen->map.reader, &session);
	sched_map_fini(&seen->map);
	session_close(&session);
	str_fini(&blob);
}

TEST("each task gets a short name at its first turn")
{
	struct seen seen = { 0 };
	run_map(&(struct map_options){ .cpu_count = 2 }, &seen);
	EXPECT_STR(str_text(&seen.text), "100 cpu3 A0! of 3\n110 cpu0 B0! of 3\n120 cpu3 . ! of 3\n130 cpu3 A0 of 3\n");
	str_fini(&seen.text);
}

TEST("compact, CPUs become columns at their first switch")
{
	struct seen seen = { 0 };
	run_map(&(struct map_options){ .compact = true }, &seen);
	EXPECT_STR(str_text(&seen.text), "100 cpu3 A0!+ of 1\n110 cpu0 B0!+ of 2\n120 cpu3 . ! of 2\n130 cpu3 A0 of 2\n");
	str_fini(&seen.text);
}

TEST("with names, only their tasks' turns begin and end rows")
{
	static const char *const names[] = { "lph" };
	struct seen seen = { 0 };
	run_map(&(struct map_options){ .names = names, .name_count = 1, .fuzzy = true }, &seen);
	EXPECT_STR(str_text(&seen.text), "100 cpu3 A0! of 3\n120 cpu3 . - of 3\n130 cpu3 A0 of 3\n");
	str_fini(&seen.text);
}

static void note_name(void *context, const struct map_row *row)
{
	struct seen *seen = context;
	str_printf(&seen->text, "%s ", sched_map_task(&seen->map, row->task)->name);
}

static const char *names_from(const struct seen *seen, size_t name)
{
	return 3 * name < seen->text.len ? seen->text.text + 3 * name : "";
}

TEST("names go from A0 to Z9, and begin again")
{
	enum { NAMES = 26 * 10, TASKS = NAMES + 2 };
	struct seen seen = { 0 };
	struct str blob = { 0 };
	struct session session;
	struct tape *t = sched_tape(&blob);
	for (int32_t i = 0; i < TASKS; i++)
		put_sched_switch(t, 100 + (uint64_t)i, 0, i ? 1000 + i - 1 : 0, 0, 1000 + i);
	sched_map_init(&seen.map, &(struct map_options){ .cpu_count = 1 }, false);
	seen.map.context = &seen;
	seen.map.row = note_name;
	run_tape(t, &seen.map.reader, &session);
	EXPECT_INT(seen.text.len, TASKS * 3);
	EXPECT_INT(strncmp(names_from(&seen, 25), "Z0 A1 B1 ", 9), 0);
	EXPECT_STR(names_from(&seen, NAMES - 2), "Y9 Z9 A0 B0 ");
	sched_map_fini(&seen.map);
	session_close(&session);
	str_fini(&blob);
	str_fini(&seen.text);
}
