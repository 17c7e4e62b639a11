#include "base/whole.h"

#include "unit.h"

TEST("doubles outside of the whole numbers of 64 bits become the nearest one of these")
{
	EXPECT(whole_below(-1) == 0 && whole_below(-0x1p70) == 0 && whole_below(NAN) == 0 && whole_below(0.9) == 0);
	EXPECT(whole_below(1.9) == 1 && whole_near(1.4) == 1 && whole_near(1.5) == 2 && whole_near(-0.4) == 0);
	EXPECT(whole_below(0x1p63) == (uint64_t)1 << 63);
	EXPECT(whole_below(0x1.fffffffffffffp63) == UINT64_MAX - 2047);
	EXPECT(whole_below(0x1p64) == UINT64_MAX && whole_below(INFINITY) == UINT64_MAX && whole_near(0x1p80) == UINT64_MAX);
}
