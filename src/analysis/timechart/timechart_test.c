#include "analysis/timechart/timechart.h"

#include <stdlib.h>

#include "analysis/sched/sched_test.h"

enum { S = 1, D = 2, POWER_ID = 90 };

/* Runs a recording of the scheduler's events through a chart. */
static void draw(struct timechart *chart, struct tape *t, const struct timechart_options *options)
{
	struct session session;
	struct session_options session_options = { .threads = 1, .keep_exited = true };
	timechart_init(chart, options);
	struct sink sink = timechart_sink(chart);
	EXPECT(session_open(&session, &t->source, &session_options, NULL) == 0);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	timechart_finish(chart);
	session_close(&session);
}

static const struct lane *lane_of(const struct timechart *chart, int32_t tid)
{
	uint32_t index = states_find(&chart->reader.states, tid, CPU_NONE);
	return index == STATES_NO_TASK ? NULL : &chart->tasks.items[index].lane;
}

static bool is_bar(const struct lane *lane, size_t index, uint64_t from, uint64_t to, unsigned kind, uint32_t about)
{
	const struct lane_bar *bar = &lane->bars.items[index];
	return index < lane->bars.count && bar->from == from && bar->to == to && bar->kind == kind && bar->about == about;
}

TEST("a task's lane has its turns and waits, and its CPU's lane the turns")
{
	struct str blob CLEANUP_STR = { 0 };
	struct tape *t = sched_tape(&blob);
	struct timechart chart;
	put_sched_switch(t, 1000, 0, 0, 0, 7);
	put_sched_switch(t, 2000, 0, 7, D, 0);
	put_sched_task(t, 5000, 0, 0, 7, 0);
	put_sched_switch(t, 6000, 0, 0, 0, 7);
	put_sched_switch(t, 6500, 0, 7, S, 8);
	put_sched_switch(t, 9000, 0, 8, 0, 0);
	put_sched_switch(t, 9500, 0, 0, 0, 8);
	put_sched_switch(t, 9900, 0, 8, S, 0);
	draw(&chart, t, &(struct timechart_options){ .least_tasks = 15 });
	const struct lane *lane = lane_of(&chart, 7), *cpu = &chart.cpus.items[0].running;
	EXPECT(lane && lane->bars.count == 4);
	EXPECT(is_bar(lane, 0, 1000, 2000, TIMECHART_RUNNING, 0));
	EXPECT(is_bar(lane, 1, 2000, 5000, TIMECHART_BLOCKED, WAIT_DISK));
	EXPECT(is_bar(lane, 2, 5000, 6000, TIMECHART_WAITING, 0));
	EXPECT(is_bar(lane, 3, 6000, 6500, TIMECHART_RUNNING, 0)); /* a sleep is no bar */
	lane = lane_of(&chart, 8);
	EXPECT(lane && is_bar(lane, 0, 6500, 9000, TIMECHART_RUNNING, 0) && is_bar(lane, 1, 9000, 9500, TIMECHART_WAITING, 0));
	EXPECT(cpu->bars.count == 4 && cpu->total[TIMECHART_RUNNING] == 1000 + 500 + 2500 + 400);
	EXPECT(chart.first == 1000 && chart.last == 9900);
	EXPECT(chart.shown.count == 2);
	timechart_fini(&chart);
}

TEST("what lasts at the beginning and the end of the recording is drawn from and up to it")
{
	struct str blob CLEANUP_STR = { 0 };
	struct tape *t = sched_tape(&blob);
	struct timechart chart;
	put_sched_switch(t, 1000, 0, 0, 0, 7);
	put_sched_switch(t, 2000, 0, 7, D, 8);
	put_sched_switch(t, 2500, 1, 9, S, 0);
	put_sched_switch(t, 4000, 1, 0, 0, 7);
	draw(&chart, t, &(struct timechart_options){ .least_tasks = 15 });
	EXPECT(is_bar(lane_of(&chart, 7), 1, 2000, 4000, TIMECHART_BLOCKED, WAIT_DISK));
	EXPECT(is_bar(lane_of(&chart, 8), 0, 2000, 4000, TIMECHART_RUNNING, 0));
	EXPECT(is_bar(lane_of(&chart, 9), 0, 1000, 2500, TIMECHART_RUNNING, 1));
	EXPECT(chart.cpus.items[0].running.total[TIMECHART_RUNNING] == 3000 && chart.cpus.items[1].running.total[TIMECHART_RUNNING] == 1500);
	timechart_fini(&chart);
}

TEST("after lost events a CPU and its tasks are unknown until an event shows them")
{
	struct str blob CLEANUP_STR = { 0 };
	struct tape *t = sched_tape(&blob);
	struct timechart chart;
	put_sched_switch(t, 1000, 0, 0, 0, 7);
	put_sched_switch(t, 2000, 0, 7, S, 8);
	put_lost(t, 3000, 0, 5);
	put_sched_switch(t, 6000, 0, 9, S, 7);
	put_sched_switch(t, 7000, 0, 7, S, 0);
	draw(&chart, t, &(struct timechart_options){ .least_tasks = 15 });
	const struct lane *cpu = &chart.cpus.items[0].running, *lane = lane_of(&chart, 7);
	EXPECT(cpu->total[TIMECHART_UNKNOWN] >= 3000);
	EXPECT(cpu->total[TIMECHART_RUNNING] <= 3000 && cpu->total[TIMECHART_RUNNING] >= 2000);
	EXPECT(lane->total[TIMECHART_UNKNOWN] == 4000 && lane->total[TIMECHART_BLOCKED] == 0);
	timechart_fini(&chart);
}

static size_t count_chosen(const struct timechart_options *options)
{
	struct str blob CLEANUP_STR = { 0 };
	struct tape *t = sched_tape(&blob);
	struct timechart chart;
	put_sched_switch(t, 1000, 0, 0, 0, 7);
	put_sched_switch(t, 20001000, 0, 7, S, 8);
	put_sched_switch(t, 20002000, 0, 8, S, 9);
	put_sched_switch(t, 20003000, 0, 9, S, 0);
	draw(&chart, t, options);
	size_t count = chart.shown.count;
	timechart_fini(&chart);
	return count;
}

TEST("only the tasks with the wanted names and ids are chosen, or those that ran for long")
{
	EXPECT(count_chosen(&(struct timechart_options){ .least_tasks = 1 }) == 1);
	EXPECT(count_chosen(&(struct timechart_options){ .least_tasks = 2 }) == 3);
	static const char *const words[] = { "9", "task8" };
	EXPECT(count_chosen(&(struct timechart_options){ .least_tasks = 1, .chosen = words, .chosen_count = 2 }) == 2);
	EXPECT(count_chosen(&(struct timechart_options){ .least_tasks = 0 }) == 0);
}

TEST("a wake-up has the task that woke, and of an interrupt none")
{
	struct str blob CLEANUP_STR = { 0 };
	struct tape *t = sched_tape(&blob);
	struct timechart chart;
	put_sched_switch(t, 1000, 0, 0, 0, 7);
	put_sched_switch(t, 2000, 0, 7, S, 8);
	put_sched_task(t, 2500, 0, 8, 7, 0);
	put_sched_switch(t, 3000, 0, 8, S, 7);
	put_sched_switch(t, 4000, 0, 7, S, 0);
	put_sched_task(t, 5000, 0, 0, 8, 0);
	put_sched_switch(t, 5100, 0, 0, 0, 8);
	put_sched_switch(t, 5200, 0, 8, S, 0);
	draw(&chart, t, &(struct timechart_options){ .least_tasks = 1 });
	EXPECT(chart.wakes.count == 2);
	EXPECT(chart.wakes.items[0].time == 2500 && chart.wakes.items[0].waker == states_find(&chart.reader.states, 8, CPU_NONE));
	EXPECT(chart.wakes.items[1].time == 5000 && chart.wakes.items[1].waker == STATES_NO_TASK);
	timechart_fini(&chart);
}

TEST("a thread id that is used again is another lane")
{
	enum { DEAD = 16 };
	struct str blob CLEANUP_STR = { 0 };
	struct tape *t = sched_tape(&blob);
	struct timechart chart;
	put_sched_switch(t, 1000, 0, 0, 0, 7);
	put_sched_switch(t, 2000, 0, 7, DEAD, 0);
	put_sched_switch(t, 5000, 0, 0, 0, 7);
	put_sched_switch(t, 5500, 0, 7, S, 0);
	draw(&chart, t, &(struct timechart_options){ .least_tasks = 2 });
	EXPECT(chart.shown.count == 2);
	EXPECT(is_bar(&chart.tasks.items[chart.shown.items[0]].lane, 0, 1000, 2000, TIMECHART_RUNNING, 0));
	EXPECT(is_bar(lane_of(&chart, 7), 0, 5000, 5500, TIMECHART_RUNNING, 0) && lane_of(&chart, 7)->bars.count == 1);
	timechart_fini(&chart);
}

TEST("a clock that jumps back makes no bar of negative length, and none over others")
{
	struct str blob CLEANUP_STR = { 0 };
	struct tape *t = sched_tape(&blob);
	struct timechart chart;
	put_sched_switch(t, 1000, 0, 0, 0, 7);
	put_sched_switch(t, 9000, 0, 7, S, 8);
	put_sched_switch(t, 4000, 0, 8, D, 7);
	put_sched_switch(t, 9500, 0, 7, S, 0);
	draw(&chart, t, &(struct timechart_options){ .least_tasks = 2 });
	for (size_t i = 0; i < chart.tasks.count; i++) {
		const struct lane *lane = &chart.tasks.items[i].lane;
		for (size_t k = 0; k < lane->bars.count; k++) {
			EXPECT(lane->bars.items[k].from < lane->bars.items[k].to && lane->bars.items[k].to <= 9500);
			EXPECT(!k || lane->bars.items[k].from >= lane->bars.items[k - 1].to);
		}
	}
	timechart_fini(&chart);
}

TEST("of many changes of a clock a bounded number is stored, the last of each interval, whatever their times")
{
	struct str blob CLEANUP_STR = { 0 };
	struct tape *t = sched_tape(&blob);
	struct timechart chart;
	const uint64_t id = 9;
	const struct attr attr = { .type = ATTR_TRACEPOINT, .config = POWER_ID, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
		.sample_type = SAMPLE_IDENTIFIER | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_RAW };
	static const char *const formats[] = {
		"name: cpu_frequency\nID: 90\nformat:\n" COMMON_FIELDS "\tfield:u32 state;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 cpu_id;\toffset:12;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n",
	};
	str_clear(&blob);
	put_formats(&blob, "power", formats, 1);
	t->source.header.feature_data[FEATURE_TRACING_DATA] = (struct span){ (const uint8_t *)blob.text, blob.len };
	evlist_add(&t->source.header.evlist, &attr, &id, 1, "power:cpu_frequency");
	for (uint32_t i = 0; i < 3 * TIMECHART_CLOCKS_MAX; i++) {
		const struct { uint16_t type, flags; int32_t current; uint32_t khz, cpu, pad; } raw = { POWER_ID, 0, 0, 1000000 + i, 1, 0 };
		put_sample(t, id, 0, i == 5000 ? 1000 : 1000 + 1000ull * i, 0, &raw, sizeof raw);
	}
	draw(&chart, t, &(struct timechart_options){ .least_tasks = 1 });
	EXPECT(chart.cpus.count == 2);
	if (chart.cpus.count == 2) {
		const struct timechart_cpu *cpu = &chart.cpus.items[1];
		EXPECT(cpu->clocks.count <= TIMECHART_CLOCKS_MAX && cpu->clocks.count > TIMECHART_CLOCKS_MAX / 8);
		EXPECT(cpu->clocks.items[cpu->clocks.count - 1].khz == 1000000 + 3 * TIMECHART_CLOCKS_MAX - 1);
		EXPECT(chart.most_khz == 1000000 + 3 * TIMECHART_CLOCKS_MAX - 1);
	}
	timechart_fini(&chart);
}
