#include "cmd/code_arrows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "unit.h"

/* A function of so many lines with jumps from → to; the arrows of all lines, joined by '/'. */
static const char *drawn(size_t lines, const uint32_t (*jumps)[2], size_t count)
{
	static struct str text;
	struct annotation annotation = { 0 };
	struct code_arrows arrows;
	for (size_t i = 0; i < lines; i++)
		vec_push(&annotation.lines, ((struct annotated_line){ .kind = ANNOTATED_CODE }));
	for (size_t i = 0; i < count; i++) {
		struct annotated_line *line = &annotation.lines.items[jumps[i][0]];
		line->code = CODE_JUMP;
		line->inside = true;
		line->target_line = jumps[i][1];
	}
	code_arrows_init(&arrows, &annotation);
	str_clear(&text);
	for (size_t i = 0; i < lines; i++) {
		str_puts(&text, i ? "/" : "");
		code_arrows_add(&arrows, i, &text);
	}
	code_arrows_fini(&arrows);
	vec_fini(&annotation.lines);
	return str_text(&text);
}

TEST("an arrow leads from a jump to its target, up or down; a jump to itself has none")
{
	EXPECT_STR(drawn(4, (const uint32_t[][2]){ { 0, 2 } }, 1), "\u250c\u2500/\u2502 /\u2514\u25b8/  ");
	EXPECT_STR(drawn(3, (const uint32_t[][2]){ { 2, 0 } }, 1), "\u250c\u25b8/\u2502 /\u2514\u2500");
	EXPECT_STR(drawn(2, (const uint32_t[][2]){ { 1, 1 } }, 1), "/");
}

TEST("the shorter of two jumps is the inner one; jumps apart from each other share a lane")
{
	EXPECT_STR(drawn(4, (const uint32_t[][2]){ { 0, 3 }, { 1, 2 } }, 2),
		"\u250c\u2500\u2500/\u2502\u250c\u2500/\u2502\u2514\u25b8/\u2514\u2500\u25b8");
	EXPECT_STR(drawn(4, (const uint32_t[][2]){ { 0, 1 }, { 2, 3 } }, 2), "\u250c\u2500/\u2514\u25b8/\u250c\u2500/\u2514\u25b8");
	EXPECT_STR(drawn(3, (const uint32_t[][2]){ { 0, 1 }, { 1, 2 } }, 2),
		" \u250c\u2500/\u250c\u2534\u25b8/\u2514\u2500\u25b8"); /* line 1 is a target and a jump */
}

TEST("instructions that are fused are joined beside the arrows, also around a source line")
{
	struct annotation annotation = { 0 };
	struct code_arrows arrows;
	CLEANUP_STR struct str text = { 0 };
	for (uint32_t i = 0; i < 4; i++) {
		vec_push(&annotation.lines, ((struct annotated_line){ .kind = i == 1 ? ANNOTATED_SOURCE : ANNOTATED_CODE, .fused = i == 0 }));
		if (i != 1)
			vec_push(&annotation.code, i);
	}
	annotation.lines.items[2].code = CODE_JUMP;
	annotation.lines.items[2].inside = true;
	annotation.lines.items[2].target_line = 3;
	code_arrows_init(&arrows, &annotation);
	for (size_t i = 0; i < 4; i++)
		code_arrows_add(&arrows, i, &text);
	EXPECT_STR(str_text(&text), "  \u256d   \u250c\u2500\u2570\u2514\u25b8 ");
	code_arrows_fini(&arrows);
	vec_fini(&annotation.lines);
	vec_fini(&annotation.code);
}

TEST("jumps without a free lane are left out")
{
	uint32_t jumps[CODE_ARROW_LANES + 3][2];
	enum { LINES = 2 * (CODE_ARROW_LANES + 3) };
	for (uint32_t i = 0; i < CODE_ARROW_LANES + 3; i++) {
		jumps[i][0] = i;
		jumps[i][1] = LINES - 1 - i;
	}
	const char *text = drawn(LINES, jumps, CODE_ARROW_LANES + 3);
	size_t targets = 0;
	for (; *text; text++)
		targets += strncmp(text, "\u25b8", 3) == 0;
	EXPECT_INT(targets, CODE_ARROW_LANES);
}
