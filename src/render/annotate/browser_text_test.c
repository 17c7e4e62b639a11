#include "render/annotate/browser_text.h"

#include <stdlib.h>

#include "unit.h"

TEST("the lines of the browser have arrows, and offsets at jump targets")
{
	static const struct hit hit[] = { { 0x1000, 0, { 3, 30 } } };
	static const struct hit_count totals[] = { { 4, 40 } }, whole[] = { { 1200, 40 } };
	static const uint32_t event = 0;
	static struct module module = { .name = "/usr/bin/prog", .long_name = "/usr/bin/prog", .short_name = "prog" };
	static struct annotated_line lines[] = {
		{ .kind = ANNOTATED_CODE, .offset = 0, .address = 0x1000, .mnemonic = "je", .operands = "0x1008", .code = CODE_JUMP, .direct = true,
			.conditional = true, .inside = true, .target = 0x1008, .hits = hit, .hit_count = 1 },
		{ .kind = ANNOTATED_CODE, .offset = 2, .address = 0x1002, .mnemonic = "callq", .operands = "0x2000", .code = CODE_CALL,
			.direct = true, .target = 0x2000, .target_name = "g" },
		{ .kind = ANNOTATED_CODE, .offset = 8, .address = 0x1008, .mnemonic = "retq", .operands = "", .code = CODE_RETURN,
			.jump_sources = 1 },
		{ .kind = ANNOTATED_CODE, .offset = 9, .address = 0x1009, .mnemonic = "jmp", .operands = "0x1008", .code = CODE_JUMP,
			.direct = true, .inside = true, .target = 0x1008 },
	};
	struct annotation annotation = { .module = &module, .name = "f", .start = 0x1000, .size = 0x10, .totals = totals, .event_count = 1 };
	struct annotate_view view = { .annotation = &annotation, .events = &event, .event_count = 1, .event_name = "cycles", .whole = whole };
	struct annotate_style style = { .percent = ANNOTATE_LOCAL_PERIOD };
	struct annotate_heading heading = { .samples = 1200, .period = 40, .frequency = 4000 };
	struct writer out;
	annotation.lines.items = lines;
	annotation.lines.count = sizeof lines / sizeof *lines;
	writer_open(&out, -1, 0);
	browser_text_print(&style, &view, &heading, &out);
	writer_add(&out, "", 1);
	EXPECT_STR(out.buffer, "Samples: 1K of event 'cycles', 4000 Hz, Event count (approx.): 40, [percent: local period]\n"
		"f() /usr/bin/prog\n"
		"Percent      0x1000 <f>:\n"
		"  75.00      \u2193 je    8        \n"
		"             \u2192 callq g        \n"
		"          8: \u2190 retq           \n"
		"             \u2191 jmp   8        \n");
	writer_fini(&out);
}
