#include "analysis/runs/stat_lines.h"

#include "unit.h"

static struct stat_lines read_text(struct runs *runs, const char *text)
{
	struct stat_lines lines = { 0 };
	stat_lines_read(&lines, text, strlen(text), runs, RUN_B);
	return lines;
}

TEST("lines of stat -j give values by event and unit; other lines are skipped")
{
	struct runs runs = { 0 };
	struct stat_lines lines = read_text(&runs,
		"# started\n{\"counter-value\" : \"1.500000\", \"unit\" : \"msec\", \"event\" : \"task-clock\", \"pcnt-running\" : 100.00}\n"
		"{\"event\" : \"faults\", \"counter-value\" : 70, \"unit\" : \"\"}\n{\"event\" : \"cycles\", \"counter-value\" : \"<not supported>\"}\n"
		"{\"metric-value\" : \"1\"}\n{\"event\" : \"a\\\"b\", \"counter-value\" : \"2\"}");
	EXPECT_INT(lines.values, 3);
	EXPECT_INT(lines.uncounted, 1);
	EXPECT_INT(lines.skipped, 2);
	EXPECT_STR(runs.list.items[0].name, "task-clock");
	EXPECT_STR(runs.list.items[0].unit, "msec");
	EXPECT(runs.list.items[0].values[RUN_B].items[0] == 1.5);
	EXPECT(runs.list.items[1].values[RUN_B].items[0] == 70);
	EXPECT_STR(runs.list.items[2].name, "a\"b");
	runs_fini(&runs);
}

TEST("lines that end early, nest or are long do no harm")
{
	static const char *const texts[] = { "{", "{\"event", "{\"event\"", "{\"event\":", "{\"event\":\"\\",
		"{\"event\":\"a\",\"counter-value\":\"1\"",
		"{\"event\":{\"x\":1},\"counter-value\":1}", "{\"event\":\"a\",\"counter-value\":[1]}", "{}" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct runs runs = { 0 };
		EXPECT_INT(read_text(&runs, texts[i]).values, 0);
		runs_fini(&runs);
	}
	struct runs runs = { 0 };
	char text[2000] = "{\"event\":\"";
	memset(text + 10, 'x', 1900);
	strcpy(text + 1910, "\",\"counter-value\":\"3\"}");
	EXPECT_INT(read_text(&runs, text).values, 1);
	EXPECT_INT(strlen(runs.list.items[0].name), 255);
	runs_fini(&runs);
}
