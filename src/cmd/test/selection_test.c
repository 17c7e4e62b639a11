#include "cmd/test/selection.h"

#include "unit.h"

static bool has(const char *a, const char *b, size_t number, const char *name)
{
	const char *words[] = { a, b, NULL };
	return selection_has(!a ? 0 : b ? 2 : 1, words, number, name);
}

TEST("checks are selected by number, or by a part of the name in any case; without words all are")
{
	EXPECT(has(NULL, NULL, 3, "Branch records"));
	EXPECT(has("3", NULL, 3, "Branch records"));
	EXPECT(!has("3", NULL, 4, "Branch 3"));
	EXPECT(has("RECORD", NULL, 4, "Branch records"));
	EXPECT(!has("records ", NULL, 4, "Branch records"));
	EXPECT(has("1", "branch", 4, "Branch records"));
	EXPECT(!has("1", "2", 4, "Branch records"));
	EXPECT(has("3b", NULL, 4, "x3B"));
	EXPECT(has("", NULL, 4, "x"));
}

TEST("the numbers between commas are skipped")
{
	EXPECT(!selection_skips(NULL, 1));
	EXPECT(!selection_skips("", 0));
	EXPECT(selection_skips("1", 1));
	EXPECT(!selection_skips("12", 1));
	EXPECT(selection_skips("2,12", 12));
	EXPECT(selection_skips("2,,3", 3));
	EXPECT(selection_is_list("2,12"));
	EXPECT(!selection_is_list("2-3"));
}
