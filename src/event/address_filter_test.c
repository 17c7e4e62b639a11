#include "event/address_filter.h"

#include <errno.h>

#include "unit.h"

TEST("filters have an action, a range by symbols or numbers, and a file")
{
	struct address_filters f = { 0 };
	EXPECT_INT(address_filters_parse(&f, "filter main  #2 / end #g @ ./a,start 0x10@b tracestop x stop  7/0x20", NULL), 0);
	EXPECT_INT(f.list.count, 4);
	const struct address_filter *first = f.list.items;
	EXPECT(first[0].range && first[0].has_end);
	EXPECT_STR(first[0].action, "filter");
	EXPECT_STR(first[0].from.symbol, "main");
	EXPECT_INT(first[0].from.index, 2);
	EXPECT_STR(first[0].end.symbol, "end");
	EXPECT_INT(first[0].end.index, 0);
	EXPECT_STR(first[0].file, "./a");
	EXPECT(!first[1].range && !first[1].from.symbol);
	EXPECT_INT(first[1].from.number, 16);
	EXPECT_STR(first[1].file, "b");
	EXPECT_STR(first[2].action, "stop");
	EXPECT(first[2].range && !first[2].has_end && !first[2].file);
	EXPECT_INT(first[2].from.index, -1);
	EXPECT_STR(first[3].action, "stop");
	EXPECT(first[3].range && first[3].has_end);
	EXPECT_INT(first[3].end.number, 32);
	address_filters_fini(&f);
}

static void expect_failure(const char *text, const char *what)
{
	struct address_filters f = { 0 };
	struct error err = { 0 };
	EXPECT(address_filters_parse(&f, text, &err) < 0);
	EXPECT_INT(err.sys, EINVAL);
	if (!strstr(err.text, what))
		unit_fail(__FILE__, __LINE__, "%s: %s", text, err.text);
	address_filters_fini(&f);
}

TEST("a filter that is cut or unknown is refused with its place")
{
	expect_failure("filter", "a symbol or a number is expected at offset 6");
	expect_failure("trace main", "the action is unknown");
	expect_failure("1 main", "an action is expected at offset 0");
	expect_failure("filter main /", "a symbol or a number is expected at offset 13");
	expect_failure("filter main #x", "the number of a symbol is expected");
	expect_failure("filter main #99999999999", "the number of a symbol is expected");
	expect_failure("filter main @ ", "the name of a file is expected");
	expect_failure("filter 99999999999999999999999", "a number is expected");
	struct address_filters none = { 0 };
	EXPECT_INT(address_filters_parse(&none, "", NULL), 0);
	EXPECT_INT(none.list.count, 0);
}
