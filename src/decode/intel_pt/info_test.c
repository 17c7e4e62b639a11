#include "decode/intel_pt/info.h"

#include "unit.h"

TEST("without a conversion of time a duration has no ticks")
{
	struct pt_info info = { .time = { .mult = 0, .shift = 131103 } };
	EXPECT_INT(pt_info_duration(&info, 1000), 0);
	EXPECT_INT(pt_info_ticks(&info, 1000), 0);
	info.time = (struct time_conv){ .mult = 2, .shift = 4, .zero = 1, .known = true };
	EXPECT_INT(pt_info_duration(&info, 1001), 8008);
	EXPECT_INT(pt_info_ticks(&info, 4), 24);
}
