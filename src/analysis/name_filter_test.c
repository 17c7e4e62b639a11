#include "analysis/name_filter.h"

#include "unit.h"

TEST("a list of names has its words and no others")
{
	struct name_list *list;
	EXPECT(name_list_open(&list, "ls,bash,,cat", NULL) == 0);
	EXPECT(name_list_has(list, "bash"));
	EXPECT(!name_list_has(list, "bas"));
	EXPECT(!name_list_has(list, ""));
	EXPECT(name_list_single(list) == NULL);
	name_list_close(list);
}

TEST("a list of one name tells it")
{
	struct name_list *list;
	EXPECT(name_list_open(&list, "ls", NULL) == 0);
	EXPECT_STR(name_list_single(list), "ls");
	name_list_close(list);
}

TEST("a list of numbers refuses words")
{
	struct name_list *list;
	struct error err = { 0 };
	EXPECT(number_list_open(&list, "1,0x10,-1", NULL) == 0);
	EXPECT(number_list_has(list, 16) && number_list_has(list, -1) && !number_list_has(list, 2));
	name_list_close(list);
	EXPECT(number_list_open(&list, "1,x", &err) < 0);
	EXPECT_INT(err.kind, ERROR_USAGE);
	name_list_close(list);
}

TEST("symbols that are hexadecimal numbers are addresses")
{
	struct name_list *list;
	EXPECT(name_list_open(&list, "main,0x1f,add", NULL) == 0);
	name_list_split_addresses(list);
	EXPECT(name_list_has(list, "main") && !name_list_has(list, "add"));
	EXPECT(number_list_has(list, 0x1f) && number_list_has(list, 0xadd));
	EXPECT_STR(name_list_single(list), "main");
	name_list_close(list);
}

TEST("a file of names that is not there is an error")
{
	struct name_list *list;
	struct error err = { 0 };
	EXPECT(name_list_open(&list, "file:///nowhere/at/all", &err) < 0);
	EXPECT_INT(err.kind, ERROR_SYSTEM);
	name_list_close(list);
}
