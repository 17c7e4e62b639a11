#include "cmd/code_align.h"

#include <stdio.h>

#include "base/str.h"
#include "unit.h"

/* Each letter is an instruction: capitals are jumps within the function, whose operands differ. */
static void make(struct annotation *annotation, const char *letters, const char *operands)
{
	static char names[128][2];
	*annotation = (struct annotation){ 0 };
	for (size_t i = 0; letters[i]; i++) {
		char *name = names[(unsigned char)letters[i]];
		name[0] = letters[i];
		bool jump = letters[i] < 'a';
		vec_push(&annotation->lines, ((struct annotated_line){ .kind = ANNOTATED_CODE, .mnemonic = name,
			.operands = jump ? operands : "", .direct = jump, .inside = jump }));
	}
}

/* "0:0 1:- -:1": the lines of each row. */
static const char *aligned(const char *const *letters, size_t count)
{
	static const char *const operands[] = { "0x10", "0x20", "0x30" };
	static struct str text;
	struct annotation annotations[3];
	const struct annotation *sides[3];
	struct code_rows rows;
	for (size_t i = 0; i < count; i++) {
		make(&annotations[i], letters[i], operands[i]);
		sides[i] = &annotations[i];
	}
	code_align(&rows, sides, count);
	str_clear(&text);
	str_puts(&text, rows.same ? "same" : "other");
	for (size_t row = 0; row < rows.count; row++)
		for (size_t side = 0; side < count; side++) {
			uint32_t line = code_rows_line(&rows, row, side);
			str_puts(&text, side ? ":" : " ");
			if (line == CODE_NO_LINE)
				str_puts(&text, "-");
			else
				str_printf(&text, "%u", line);
		}
	code_rows_fini(&rows);
	for (size_t i = 0; i < count; i++)
		vec_fini(&annotations[i].lines);
	return str_text(&text);
}
#define ALIGNED(...) aligned((const char *const[]){ __VA_ARGS__ }, sizeof (const char *const[]){ __VA_ARGS__ } / sizeof(char *))

TEST("equal code is one row for each line, also where jumps lead to other addresses")
{
	EXPECT_STR(ALIGNED("aJb", "aJb"), "same 0:0 1:1 2:2");
	EXPECT_STR(ALIGNED("ab"), "same 0 1");
	EXPECT_STR(ALIGNED("", ""), "same");
}

TEST("lines of one build alone are between those of both")
{
	EXPECT_STR(ALIGNED("abcd", "abxcd"), "other 0:0 1:1 -:2 2:3 3:4");
	EXPECT_STR(ALIGNED("abxcd", "abcd"), "other 0:0 1:1 2:- 3:2 4:3");
	EXPECT_STR(ALIGNED("pabq", "xaby"), "other 0:- -:0 1:1 2:2 3:- -:3");
	EXPECT_STR(ALIGNED("abq", "xaby"), "other -:0 0:1 1:2 2:- -:3");
	EXPECT_STR(ALIGNED("a", "b"), "other 0:- -:0");
	EXPECT_STR(ALIGNED("ab", "ba"), "other 0:- 1:0 -:1");
	EXPECT_STR(ALIGNED("abx", "xab"), "other -:0 0:1 1:2 2:-");
}

TEST("a build that lacks the function has no line, and the others remain the same")
{
	EXPECT_STR(ALIGNED("ab", ""), "same 0:- 1:-");
	EXPECT_STR(ALIGNED("", "ab"), "same -:0 -:1");
}

TEST("a third build is compared with the rows of the first two")
{
	EXPECT_STR(ALIGNED("abc", "axc", "axc"), "other 0:0:0 1:-:- -:1:1 2:2:2");
	EXPECT_STR(ALIGNED("ab", "ab", "ab"), "same 0:0:0 1:1:1");
}
