#include "render/format/format.h"

#include "unit.h"

TEST("formats are found by their whole names; a wrong name names them all")
{
	struct error err = { 0 };
	EXPECT(format_find("text", &err) && !format_find("text", &err)->print);
	EXPECT(format_find("json", &err) && format_find("json", &err)->print);
	EXPECT(format_find("json", &err)->rows && format_find("csv", &err)->rows && !format_find("text", &err)->rows);
	EXPECT(!format_find("js", &err));
	EXPECT_STR(err.text, "there is no format 'js': it is one of text, json, csv, markdown, html");
}
