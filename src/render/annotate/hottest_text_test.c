#include "render/annotate/hottest_text.h"

#include "unit.h"

TEST("the hottest instruction has its shares, its place and its source line")
{
	static const struct hit hit[] = { { 0x1000, 0, { 3, 30 } }, { 0x1004, 0, { 1, 2 } } };
	static const struct hit_count totals[] = { { 4, 40 } }, whole[] = { { 12, 300 } };
	static const uint32_t event = 0;
	static struct module module = { .name = "/usr/bin/prog", .long_name = "/usr/bin/prog", .short_name = "prog" };
	static struct annotated_line lines[] = {
		{ .kind = ANNOTATED_CODE, .address = 0x1000, .mnemonic = "callq", .operands = "0x2000", .target_name = "g", .hits = hit, .hit_count = 1,
			.file = "/src/a.c", .line_number = 7 },
		{ .kind = ANNOTATED_CODE, .address = 0x1004, .mnemonic = "nop", .operands = "", .hits = hit + 1, .hit_count = 1,
			.file = "/src/a.c", .line_number = 7 },
	};
	struct annotation annotation = { .module = &module, .name = "f", .totals = totals, .event_count = 1, .hottest = 0 };
	struct annotate_view view = { .annotation = &annotation, .events = &event, .event_count = 1, .event_name = "cycles", .whole = whole };
	struct writer out;
	uint32_t code[] = { 0, 1 };
	annotation.lines.items = lines;
	annotation.lines.count = annotation.code.count = 2;
	annotation.code.items = code;
	writer_open(&out, -1, 0);
	hottest_text_print(&(struct annotate_style){ 0 }, &view, &out);
	annotation.hottest = UINT32_MAX;
	hottest_text_print(&(struct annotate_style){ 0 }, &view, &out);
	writer_add(&out, "", 1);
	EXPECT_STR(out.buffer, "    10.00%       75.00%  f [prog]: 1000 callq 0x2000 <g>, a.c:7; a.c:7 80.00%\n");
	writer_fini(&out);
}
