#include "render/svg/timechart_svg.h"

#include <stdlib.h>

#include "unit.h"

static char *drawn(const struct timechart_svg *svg)
{
	struct writer out;
	writer_open(&out, -1, 0);
	timechart_svg_write(&out, svg);
	writer_putc(&out, '\0');
	return out.buffer;
}

/* Two tasks and a CPU, from 0 to 1 s. */
static void fill(struct timechart *chart)
{
	static const char *const names[] = { NULL, "</text><script>alert(1)</script>", "two" };
	*chart = (struct timechart){ .last = 1000000000 };
	for (int32_t i = 0; i < 3; i++) {
		vec_push(&chart->reader.states.tasks, ((struct task){ .tid = i }));
		vec_push(&chart->tasks, ((struct timechart_task){ .name = names[i], .last = 1000000000 }));
	}
	(void)vec_add(&chart->cpus);
	lane_add(&chart->cpus.items[0].running, 0, 250000000, TIMECHART_RUNNING, 1);
	lane_add(&chart->cpus.items[0].running, 250000100, 250000200, TIMECHART_RUNNING, 2);
	lane_add(&chart->tasks.items[1].lane, 0, 250000000, TIMECHART_RUNNING, 0);
	lane_add(&chart->tasks.items[1].lane, 250000000, 750000000, TIMECHART_BLOCKED, WAIT_LOCK);
	vec_push(&chart->shown, 1);
}

TEST("bars have their place and length, and those of less than a unit their time as area")
{
	struct timechart chart;
	fill(&chart);
	const int32_t cpus[] = { 0 };
	char *text = drawn(&(struct timechart_svg){ .chart = &chart, .facts = "", .width = 1000, .cpus = cpus, .cpu_count = 1 });
	EXPECT(strstr(text, "d=\"M0 0v1000h250000v-1000z\""));
	EXPECT(strstr(text, "data-what=\"blocked: lock\" d=\"M250000 0v1000h500000v-1000z\""));
	EXPECT(strstr(text, "data-what=\"two:2 runs\" d=\"M250000 900v100h1v-100z\""));
	EXPECT(strstr(text, "CPU 0 (25.0 %)"));
	free(text);
	timechart_fini(&chart);
}

TEST("names remain text in a timechart")
{
	struct timechart chart;
	fill(&chart);
	const int32_t cpus[] = { 0 };
	char *text = drawn(&(struct timechart_svg){ .chart = &chart, .facts = "<b>", .width = 1000, .cpus = cpus, .cpu_count = 1 });
	EXPECT(strstr(text, "alert(1)") && !strstr(text, "<script>alert") && !strstr(text, "</text><script>") && !strstr(text, "<b>"));
	free(text);
	timechart_fini(&chart);
}

TEST("long turns, and those of a name, are highlighted")
{
	struct timechart chart;
	fill(&chart);
	struct timechart_svg svg = { .chart = &chart, .facts = "", .width = 1000, .highlight_ns = 250000001 };
	char *text = drawn(&svg);
	EXPECT(!strstr(text, "<path class=\"run hi\""));
	free(text);
	svg.highlight_ns--;
	text = drawn(&svg);
	EXPECT(strstr(text, "<path class=\"run hi\" data-what=\"runs on CPU 0\""));
	free(text);
	svg.highlight_ns = 0;
	svg.highlight_name = "alert";
	text = drawn(&svg);
	EXPECT(strstr(text, "<path class=\"run hi\""));
	free(text);
	timechart_fini(&chart);
}

TEST("calls that fail have the whole height, and those with EAGAIN are left out on request")
{
	struct timechart chart;
	const struct io_options exact = { 0 };
	fill(&chart);
	struct io_bars *io = &chart.tasks.items[1].io;
	chart.calls = 2;
	io_bars_begin(io, IO_READ, 100000000, 3);
	io_bars_end(io, &exact, IO_READ, 200000000, 100);
	io_bars_begin(io, IO_WRITE, 300000000, 4);
	io_bars_end(io, &exact, IO_WRITE, 400000000, -11);
	struct timechart_svg svg = { .chart = &chart, .facts = "", .width = 1000 };
	char *text = drawn(&svg);
	EXPECT(strstr(text, "<path class=\"disk\" data-what=\"reads, descriptor 3\" d=\"M100000 0v500h100000v-500z\""));
	EXPECT(strstr(text, "<path class=\"error\" data-what=\"writes, descriptor 4, error 11\" d=\"M300000 0v1000h100000v-1000z\""));
	free(text);
	svg.skip_again = true;
	text = drawn(&svg);
	EXPECT(!strstr(text, "<path class=\"error\""));
	free(text);
	timechart_fini(&chart);
}
