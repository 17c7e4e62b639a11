#include "render/text/top_text.h"

#include "unit.h"

static const char *heading(const struct top_heading *heading, size_t width)
{
	static char text[512];
	struct writer out;
	writer_open(&out, -1, 0);
	top_heading_print(heading, width, &out);
	EXPECT(out.len < sizeof text);
	memcpy(text, out.buffer, out.len);
	text[out.len] = '\0';
	writer_fini(&out);
	return text;
}

TEST("the heading has perf's form")
{
	const struct top_heading all = { .samples_per_second = 1598.4, .kernel_percent = 45.62, .exact_percent = 0, .lost = 3, .lost_before = 12,
		.event = "cpu-clock:ppp", .rate = 999, .frequency = true, .target = "all, 2 CPUs" };
	EXPECT_STR(heading(&all, 10),
		"   PerfTop:    1598 irqs/sec  kernel:45.6%  exact:  0.0% lost: 3/12 drop: 0/0 [999Hz cpu-clock:ppp],  (all, 2 CPUs)\n"
		"----------\n");
	const struct top_heading several = { .kernel_percent = 100, .event = "page-faults", .target = "target_pid: 7" };
	EXPECT_STR(heading(&several, 1),
		"   PerfTop:       0 irqs/sec  kernel:100.0%  exact:  0.0% lost: 0/0 drop: 0/0 [page-faults],  (target_pid: 7)\n-\n");
}

TEST("a name in the heading cannot control a terminal or add a line")
{
	const struct top_heading hostile = { .event = "a\033[2Jb\nc", .target = "x\r" };
	EXPECT(strstr(heading(&hostile, 1), "[a?[2Jb?c],  (x?)\n"));
}

TEST("a line is cut at columns: colours need none, and a character of several bytes needs one")
{
	EXPECT_INT(top_line_fitting("abcdef", 6, 4), 4);
	EXPECT_INT(top_line_fitting("abcd", 4, 4), 4);
	EXPECT_INT(top_line_fitting("\033[31m12%\033[m x", 14, 3), 11);
	EXPECT_INT(top_line_fitting("a\xc3\xbc" "b", 4, 2), 3);
	EXPECT_INT(top_line_fitting("\033[31", 4, 1), 4);
	EXPECT_INT(top_line_fitting("", 0, 0), 0);
}
