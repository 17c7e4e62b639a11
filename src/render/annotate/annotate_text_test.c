#include "render/annotate/annotate_text.h"

#include <stdlib.h>

#include "unit.h"

static const struct hit first_hit[] = { { 0x1000, 0, { 3, 30 } } }, second_hit[] = { { 0x1003, 0, { 1, 70 } } };
static const struct hit_count totals[] = { { 4, 100 } }, whole[] = { { 8, 1000 } };
static struct module module = { .name = "/usr/bin/prog", .long_name = "/usr/bin/prog", .short_name = "prog" };
static struct annotated_line lines[] = {
	{ .kind = ANNOTATED_CODE, .address = 0xff8, .mnemonic = "leaq", .operands = "8(%rip), %rax", .reference = 0x2000,
		.reference_name = "table+0x8", .hits = first_hit, .hit_count = 1, .file = "/src/a.c", .line_number = 5 },
	{ .kind = ANNOTATED_SOURCE, .text = "return x;", .line_number = 12 },
	{ .kind = ANNOTATED_CODE, .address = 0x1003, .mnemonic = "retq", .operands = "", .hits = second_hit, .hit_count = 1 },
};

/* The output of a style, valid until the next call. */
static const char *printed(struct annotate_style style, bool summary)
{
	static char text[2048];
	static const uint32_t event = 0;
	struct annotation annotation = { .module = &module, .name = "f", .start = 0xff8, .size = 12, .totals = totals, .event_count = 1 };
	struct annotate_view view = { .annotation = &annotation, .events = &event, .event_count = 1, .event_name = "cycles", .whole = whole };
	struct writer out;
	annotation.lines.items = lines;
	annotation.lines.count = sizeof lines / sizeof *lines;
	writer_open(&out, -1, 0);
	if (summary)
		annotate_summary_print(&style, &view, &out);
	else
		annotate_text_print(&style, &view, &out);
	EXPECT(out.len < sizeof text);
	memcpy(text, out.buffer, out.len);
	text[out.len] = '\0';
	writer_fini(&out);
	return text;
}

TEST("the text of an annotation is perf's")
{
	EXPECT_STR(printed((struct annotate_style){ .percent = ANNOTATE_LOCAL_PERIOD }, false),
		" Percent |\tSource code & Disassembly of prog for cycles (4 samples, percent: local period)\n"
		"-----------------------------------------------------------------------------------------------\n"
		"         : 0    0xff8 <f>:\n"
		"   30.00 :    ff8:       leaq    8(%rip), %rax\t# 2000 <table+0x8>\n"
		"         : 12   return x;\n"
		"   70.00 :   1003:       retq\n");
}

TEST("percentages refer to the function or the whole, to samples or their periods")
{
	EXPECT(strstr(printed((struct annotate_style){ .percent = ANNOTATE_LOCAL_HITS }, false), "   75.00 :    ff8:"));
	EXPECT(strstr(printed((struct annotate_style){ .percent = ANNOTATE_GLOBAL_HITS }, false), "   37.50 :    ff8:"));
	EXPECT(strstr(printed((struct annotate_style){ .percent = ANNOTATE_GLOBAL_PERIOD }, false), "    3.00 :    ff8:"));
	EXPECT(strstr(printed((struct annotate_style){ .value = ANNOTATE_PERIOD }, false), "          30 :    ff8:"));
	EXPECT(strstr(printed((struct annotate_style){ .value = ANNOTATE_SAMPLES }, false), "       3 :    ff8:"));
}

TEST("colours surround percentages, addresses and code")
{
	EXPECT(strstr(printed((struct annotate_style){ .percent = ANNOTATE_GLOBAL_PERIOD, .colour = true }, false),
		"\033[32m    3.00\033[m : \033[35m   ff8:\033[m\033[34m       leaq") != NULL);
	EXPECT(strstr(printed((struct annotate_style){ .percent = ANNOTATE_GLOBAL_PERIOD, .colour = true }, false),
		"\033[31m    7.00\033[m : ") != NULL);
}

TEST("the summary adds up source lines, and names the address if a line is unknown")
{
	EXPECT_STR(printed((struct annotate_style){ .percent = ANNOTATE_LOCAL_PERIOD }, true),
		"\nSorted summary for file /usr/bin/prog\n----------------------------------------------\n\n"
		"   70.00 prog[1003]\n   30.00 a.c:5\n");
	EXPECT(strstr(printed((struct annotate_style){ .percent = ANNOTATE_LOCAL_PERIOD, .full_paths = true }, true), "   30.00 /src/a.c:5\n"));
}

TEST("objdump's layout has its head, numbers of lines, and comments")
{
	EXPECT_STR(printed((struct annotate_style){ .percent = ANNOTATE_LOCAL_PERIOD, .objdump = true }, false),
		" Percent |\tSource code & Disassembly of prog for cycles (4 samples, percent: local period)\n"
		"-----------------------------------------------------------------------------------------------\n"
		"         :\n         :\n         :\n"
		"         : 3    Disassembly of section .text:\n"
		"         :\n"
		"         : 5    0000000000000ff8 <f>:\n"
		"   30.00 :    ff8:    leaq   8(%rip), %rax        # 2000 <table+0x8>\n"
		"         : 7    return x;\n"
		"   70.00 :   1003:   retq\n");
}

TEST("a line whose code is missing has its address alone, in both layouts")
{
	for (unsigned objdump = 0; objdump < 2; objdump++) {
		const struct annotated_line line = lines[0];
		lines[0].mnemonic = lines[0].operands = NULL;
		const char *text = printed((struct annotate_style){ .percent = ANNOTATE_LOCAL_PERIOD, .objdump = objdump }, false);
		EXPECT(strstr(text, "   30.00 :    ff8:") && !strstr(text, "leaq"));
		lines[0] = line;
	}
}

TEST("raw bytes precede the code")
{
	static const uint8_t bytes[] = { 0x48, 0x8d };
	lines[0].bytes = bytes;
	lines[0].length = 2;
	EXPECT(strstr(printed((struct annotate_style){ .raw = true }, false), "   ff8: 48 8d                               leaq") != NULL);
	lines[0].length = 0;
}
