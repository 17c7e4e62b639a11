#include "analysis/table/cell_text.h"

#include <string.h>

#include "unit.h"

/* The texts of a value for the screen, for documents and as data, joined by a blank. */
static const char *texts(struct cell cell)
{
	static char all[3 * CELL_VALUE_MAX + 3];
	char text[CELL_VALUE_MAX];
	all[0] = '\0';
	for (int form = CELL_FORM_SCREEN; form <= CELL_FORM_DATA; form++) {
		size_t length = cell_value_text(&cell, (enum cell_form)form, text);
		EXPECT(!length || strlen(text) == length);
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", form ? " " : "", length ? text : "-");
	}
	return all;
}

TEST("a value has one text for each of screen, document and data")
{
	EXPECT_STR(texts(cell_count(UINT64_MAX)), "18446744073709551615 18446744073709551615 18446744073709551615");
	EXPECT_STR(texts(cell_number(-7)), "-7 -7 -7");
	EXPECT_STR(texts((struct cell){ .kind = CELL_REAL, .real = 2.25 }), "2.25 2.2500 2.25");
	EXPECT_STR(texts((struct cell){ .kind = CELL_REAL, .real = 1e15 }), "1e+15 1e+15 1000000000000000");
	EXPECT_STR(texts((struct cell){ .kind = CELL_SHARE, .share = { 1, 8 } }), "12.50% 12.50% 0.125");
	EXPECT_STR(texts((struct cell){ .kind = CELL_SHARE, .share = { 1, 0 } }), "0.00% 0.00% 0");
	EXPECT_STR(texts(cell_time(12000345678)), "12.000345 12000345678 12000345678");
	EXPECT_STR(texts(cell_address(0xabc)), "0xabc 0xabc 0xabc");
	EXPECT_STR(texts(cell_flag(true)), "yes yes 1");
	EXPECT_STR(texts((struct cell){ .kind = CELL_FILE_ID, .file_id = { 8, 99 } }), "8:99 8:99 8:99");
	EXPECT_STR(texts(cell_text("name")), "- - -");
	EXPECT_STR(texts(cell_absent()), "- - -");
}

TEST("numbers are aligned right; addresses, flags and texts are not")
{
	EXPECT(cell_is_number(CELL_COUNT) && cell_is_number(CELL_SHARE) && cell_is_number(CELL_TIME));
	EXPECT(!cell_is_number(CELL_ADDRESS) && !cell_is_number(CELL_FLAG) && !cell_is_number(CELL_TEXT) && !cell_is_number(CELL_PLACE));
}
