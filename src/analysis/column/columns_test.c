#include "analysis/column/columns.h"

#include <stdlib.h>

#include "unit.h"

/* "Children|Self|Command" of the fields. */
static char *titles(const struct columns *columns)
{
	static char text[512];
	text[0] = '\0';
	for (size_t i = 0; i < columns->fields.count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "|" : "", columns->all.items[columns->fields.items[i]].header);
	return text;
}

static char *titles_of(struct column_request request)
{
	struct columns columns;
	struct error err = { 0 };
	char *text = columns_setup(&columns, &request, &err) < 0 ? strcpy((char[512]){ 0 }, "") : titles(&columns);
	static char copy[512];
	snprintf(copy, sizeof copy, "%s", err.kind ? err.text : text);
	columns_fini(&columns);
	return copy;
}

TEST("the default is command, module and symbol, with children where wanted")
{
	EXPECT_STR(titles_of((struct column_request){ 0 }), "Overhead|Command|Shared Object|Symbol");
	EXPECT_STR(titles_of((struct column_request){ .children = true }), "Children|Self|Command|Shared Object|Symbol");
}

TEST("a plus adds keys to the default, names may be abbreviated, and count once")
{
	EXPECT_STR(titles_of((struct column_request){ .sort = "+cpu,CPU" }), "Overhead|Command|Shared Object|Symbol|CPU");
	EXPECT_STR(titles_of((struct column_request){ .sort = "sym,d" }), "Overhead|Symbol|Shared Object");
}

TEST("fields are shown as given, then the sort keys")
{
	EXPECT_STR(titles_of((struct column_request){ .fields = "comm,overhead" }), "Command|Overhead");
	EXPECT_STR(titles_of((struct column_request){ .fields = "sample", .sort = "comm" }), "Samples|Command");
	EXPECT_STR(titles_of((struct column_request){ .fields = "+period", .sort = "comm" }), "Overhead|Period|Command");
	EXPECT_STR(titles_of((struct column_request){ .fields = "weight2,ins_lat" }), "Weight2|Weight2");
}

TEST("a word that is no key is named, and so is one of another kind of report")
{
	EXPECT_STR(titles_of((struct column_request){ .sort = "comm,nosuch" }), "Unknown --sort key: `nosuch'");
	EXPECT_STR(titles_of((struct column_request){ .sort = "dso_from" }), "Invalid --sort key: `dso_from'");
	EXPECT_STR(titles_of((struct column_request){ .fields = "nosuch" }), "Unknown --fields key: `nosuch'");
	EXPECT_STR(titles_of((struct column_request){ .sort = "+" }), "Invalid --sort key: `+'");
}

TEST("words in braces share a level")
{
	struct columns columns;
	struct column_request request = { .sort = "comm,{dso,sym},cpu" };
	EXPECT(columns_setup(&columns, &request, NULL) == 0);
	const struct column *all = columns.all.items;
	EXPECT_INT(all[columns.sorts.items[2]].level, all[columns.sorts.items[3]].level);
	EXPECT(all[columns.sorts.items[1]].level < all[columns.sorts.items[2]].level);
	EXPECT(all[columns.sorts.items[3]].level < all[columns.sorts.items[4]].level);
	columns_fini(&columns);
}

TEST("without chains the column of children is removed")
{
	struct columns columns;
	struct column_request request = { .children = true };
	EXPECT(columns_setup(&columns, &request, NULL) == 0);
	columns_cancel_children(&columns, NULL);
	EXPECT_STR(titles(&columns), "Overhead|Command|Shared Object|Symbol");
	columns_fini(&columns);
}
