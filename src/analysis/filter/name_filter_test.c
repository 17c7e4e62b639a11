#include "analysis/filter/name_filter.h"

#include <stdio.h>

#include "unit.h"

TEST("a list of names contains its words and no others")
{
	struct name_list *list;
	EXPECT(name_list_open(&list, "ls,bash,,cat", NULL) == 0);
	EXPECT(name_list_has(list, "bash"));
	EXPECT(!name_list_has(list, "bas"));
	EXPECT(!name_list_has(list, ""));
	EXPECT(name_list_single(list) == NULL);
	name_list_close(list);
}

TEST("the name of a list with one name is returned")
{
	struct name_list *list;
	EXPECT(name_list_open(&list, "ls", NULL) == 0);
	EXPECT_STR(name_list_single(list), "ls");
	name_list_close(list);
}

TEST("a list of numbers that contains a word is rejected")
{
	struct name_list *list;
	struct error err = { 0 };
	EXPECT(number_list_open(&list, "1,0x10,-1", NULL) == 0);
	EXPECT(number_list_has(list, 16) && number_list_has(list, -1) && !number_list_has(list, 2));
	name_list_close(list);
	static const char *const wrong[] = { "1,x", "1,,2", ",1", "1;2", "1 2" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		err.kind = ERROR_NONE;
		EXPECT(number_list_open(&list, wrong[i], &err) < 0);
		EXPECT_INT(err.kind, ERROR_USAGE);
		name_list_close(list);
	}
}

TEST("symbols that are hexadecimal numbers are taken as addresses")
{
	struct name_list *list;
	EXPECT(name_list_open(&list, "main,0x1f,add", NULL) == 0);
	name_list_split_addresses(list);
	EXPECT(name_list_has(list, "main") && !name_list_has(list, "add"));
	EXPECT(number_list_has(list, 0x1f) && number_list_has(list, 0xadd));
	EXPECT_STR(name_list_single(list), "main");
	name_list_close(list);
}

TEST("an unreadable file of names is an error")
{
	struct name_list *list;
	struct error err = { 0 };
	EXPECT(name_list_open(&list, "file:///nowhere/at/all", &err) < 0);
	EXPECT_INT(err.kind, ERROR_SYSTEM);
	name_list_close(list);
}

TEST("a file in a list adds a name for each of its lines")
{
	struct name_list *list;
	char words[64];
	FILE *file = tmpfile();
	EXPECT(file && fputs("first\n\nsecond word\nlast", file) >= 0 && fflush(file) == 0);
	if (!file)
		return;
	snprintf(words, sizeof words, "a,file:///proc/self/fd/%d,b", fileno(file));
	EXPECT(name_list_open(&list, words, NULL) == 0);
	EXPECT(name_list_has(list, "a") && name_list_has(list, "b") && name_list_has(list, "first") && name_list_has(list, "second word"));
	EXPECT(name_list_has(list, "last") && !name_list_has(list, "") && !name_list_has(list, "second"));
	name_list_close(list);
	snprintf(words, sizeof words, "file:///proc/self/fd/%d", fileno(file));
	fclose(file);
	file = tmpfile();
	EXPECT(file && fputs("one", file) >= 0 && fflush(file) == 0);
	EXPECT(name_list_open(&list, words, NULL) == 0);
	EXPECT_STR(name_list_single(list), "one");
	name_list_close(list);
	if (file)
		fclose(file);
}

TEST("a list of numbers covers the ranges that begin at them")
{
	struct name_list *list;
	EXPECT(number_list_open(&list, "100,0x200", NULL) == 0);
	EXPECT(number_list_covers(list, 100, 1) && !number_list_covers(list, 101, 1) && !number_list_covers(list, 99, 8));
	EXPECT(number_list_covers(list, 107, 8) && !number_list_covers(list, 108, 8) && number_list_covers(list, 0x207, 8));
	name_list_close(list);
}
