#include "base/distance.h"

#include "unit.h"

TEST("the distance of two names counts letters up to a limit")
{
	EXPECT_INT(text_distance("cycles", "cycles", 3), 0);
	EXPECT_INT(text_distance("Cycles", "cycles", 3), 0);
	EXPECT_INT(text_distance("cyclse", "cycles", 3), 2);
	EXPECT_INT(text_distance("cycle", "cycles", 3), 1);
	EXPECT_INT(text_distance("abc", "xyz", 3), 3);
	EXPECT_INT(text_distance("abcd", "wxyz", 3), 4);
	EXPECT_INT(text_distance("a", "abcdef", 3), 4);
	EXPECT_INT(text_distance("", "ab", 3), 2);
}
