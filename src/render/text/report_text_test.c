#include "render/text/report_text.h"

#include "analysis/profile/profile_test.h"
#include "unit.h"

/* The report, or only its rows: without empty lines and lines that begin with '#'. */
static void shown(struct run *run, bool quiet, bool whole, struct str *rows)
{
	struct writer out;
	writer_open(&out, -1, 0);
	report_text_print(&(struct report_text){ .profile = &run->profile, .tip = "", .quiet = quiet }, &out);
	str_clear(rows);
	for (size_t at = 0; at < out.len;) {
		const char *line = out.buffer + at;
		const char *end = memchr(line, '\n', out.len - at);
		size_t len = end ? (size_t)(end - line) + 1 : out.len - at;
		if (whole || (*line != '#' && len > 1))
			str_add(rows, line, len);
		at += len;
	}
	writer_fini(&out);
}

static void sample_twice(struct tape *r)
{
	SAMPLE(r, 1, 10, 0x3000, 0x1000);
	SAMPLE(r, 1, 20, 0x3000, 0x1000);
	SAMPLE(r, 2, 30, 0x2000, 0x1000);
	SAMPLE(r, 2, 40, 0x3000, 0x1000);
}

static void expect_rows(enum chain_mode mode, const char *expected)
{
	struct tape *r = recording_new();
	struct run run;
	struct str rows = { 0 };
	struct profile_options options = { .iteration = ITERATE_SAMPLES, .chain = { .mode = mode, .order = CHAIN_CALLER } };
	sample_twice(r);
	EXPECT(run_open(&run, r, "pid", options));
	shown(&run, false, false, &rows);
	EXPECT_STR(str_text(&rows), expected);
	run_close(&run);
	str_fini(&rows);
}

TEST("a graph's branches show their share of everything")
{
	expect_rows(CHAIN_GRAPH,
		"    50.00%        1::1     \n"
		"            |\n"
		"            ---0x1000\n"
		"               0x3000\n"
		"    50.00%        2::2     \n"
		"            |\n"
		"            ---0x1000\n"
		"               |          \n"
		"               |--25.00%--0x3000\n"
		"               |          \n"
		"                --25.00%--0x2000\n");
}

TEST("a tree of deep stacks, whose text is too long for memory, has all its lines")
{
	enum { DEPTH = 1200, LEFT = 15, COLUMN = 11 };
	uint64_t frames[DEPTH];
	struct tape *r = recording_new();
	struct run run;
	struct str rows = { 0 };
	for (unsigned i = 0; i < DEPTH; i++)
		frames[i] = 0x1000;
	for (unsigned depth = 1; depth <= DEPTH; depth++)
		put_sample(r, 1, depth, frames, depth);
	struct profile_options options = { .iteration = ITERATE_SAMPLES, .chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLER },
		.max_stack = DEPTH };
	EXPECT(run_open(&run, r, "pid", options));
	shown(&run, false, false, &rows);
	size_t lines = 0, start = 0;
	for (size_t at = 0; at < rows.len; at++) {
		if (rows.text[at] != '\n')
			continue;
		/* the row, "|", the first frame, and then two lines for each frame */
		size_t length = LEFT + COLUMN * (lines / 2 - 1) + strlen("0x1000");
		if (lines > 2 && lines % 2 == 0) /* a share has one or two digits before its point */
			EXPECT(memcmp(&rows.text[at - 6], "0x1000", 6) == 0 && (at - start == length || at - start == length - 1));
		start = at + 1;
		lines++;
	}
	EXPECT_INT(lines, 1 + 2 * DEPTH);
	EXPECT(rows.len > 1 << 22);
	run_close(&run);
	str_fini(&rows);
}

TEST("a fractal graph's branches show their share of the frame above")
{
	expect_rows(CHAIN_FRACTAL,
		"    50.00%        1::1     \n"
		"            |\n"
		"            ---0x1000\n"
		"               0x3000\n"
		"    50.00%        2::2     \n"
		"            |\n"
		"            ---0x1000\n"
		"               |          \n"
		"               |--50.00%--0x3000\n"
		"               |          \n"
		"                --50.00%--0x2000\n");
}

TEST("flat chains follow their share, one after the other")
{
	expect_rows(CHAIN_FLAT,
		"    50.00%        1::1     \n"
		"           50.00%\n"
		"                0x1000\n"
		"                0x3000\n"
		"    50.00%        2::2     \n"
		"           25.00%\n"
		"                0x1000\n"
		"                0x3000\n"
		"           25.00%\n"
		"                0x1000\n"
		"                0x2000\n");
}

TEST("folded chains have one line each")
{
	expect_rows(CHAIN_FOLDED,
		"    50.00%        1::1     \n"
		"50.00% 0x1000;0x3000\n"
		"    50.00%        2::2     \n"
		"25.00% 0x1000;0x3000\n"
		"25.00% 0x1000;0x2000\n");
}

static void expect_whole(const char *sort, struct profile_options options, bool quiet, const char *expected)
{
	struct tape *r = recording_new();
	struct run run;
	struct str text = { 0 };
	sample_twice(r);
	EXPECT(run_open(&run, r, sort, options));
	shown(&run, quiet, true, &text);
	EXPECT_STR(str_text(&text), expected);
	run_close(&run);
	str_fini(&text);
}

TEST("the heading names the event, counts its samples and sums its periods")
{
	expect_whole("sym", (struct profile_options){ .iteration = ITERATE_CALLERS }, false,
		"#\n"
		"# Total Lost Samples: 0\n"
		"#\n"
		"# Samples: 4  of event 'cpu-clock'\n"
		"# Event count (approx.): 40\n"
		"#\n"
		"# Children      Self  Symbol                \n"
		"# ........  ........  ......................\n"
		"#\n"
		"   100.00%     0.00%  [.] 0x0000000000001000\n"
		"    75.00%    75.00%  [.] 0x0000000000003000\n"
		"    25.00%    25.00%  [.] 0x0000000000002000\n"
		"\n\n"
		"#\n"
		"# ()\n"
		"#\n");
}

TEST("-q prints only rows")
{
	expect_whole("sym", (struct profile_options){ .iteration = ITERATE_CALLERS }, true,
		"   100.00%     0.00%  [.] 0x0000000000001000\n"
		"    75.00%    75.00%  [.] 0x0000000000003000\n"
		"    25.00%    25.00%  [.] 0x0000000000002000\n\n\n");
}

TEST("a separator is between columns, which are still aligned")
{
	expect_whole("pid,sym", (struct profile_options){ .iteration = ITERATE_SAMPLES, .separator = "," }, true,
		" 50.00% ,      1::1     ,[.] 0x0000000000003000\n"
		" 25.00% ,      2::2     ,[.] 0x0000000000002000\n"
		" 25.00% ,      2::2     ,[.] 0x0000000000003000\n\n\n");
}
