#include "analysis/timechart/lane.h"

#include <stdlib.h>

#include "unit.h"

TEST("bars that touch and have one kind and subject are one bar")
{
	struct lane lane = { 0 };
	lane_add(&lane, 10, 20, 0, 7);
	lane_add(&lane, 20, 30, 0, 7);
	lane_add(&lane, 30, 40, 0, 8);
	lane_add(&lane, 41, 50, 0, 8);
	EXPECT(lane.bars.count == 3);
	EXPECT(lane.bars.items[0].from == 10 && lane.bars.items[0].to == 30);
	lane_fini(&lane);
}

TEST("what precedes the end of the last bar is ignored, as is a bar without length")
{
	struct lane lane = { 0 };
	lane_add(&lane, 100, 200, 0, 1);
	lane_add(&lane, 50, 150, 1, 1);
	lane_add(&lane, 150, 250, 1, 1);
	EXPECT(lane.bars.count == 2);
	EXPECT(lane.bars.items[1].from == 200 && lane.bars.items[1].to == 250);
	EXPECT(lane.total[0] == 100 && lane.total[1] == 50);
	lane_fini(&lane);
}

TEST("short bars of one grain become one with the time of each kind, long ones stay")
{
	struct lane lane = { 0 };
	lane_add(&lane, 0, 10, 0, 1);
	lane_add(&lane, 20, 25, 1, 1);
	lane_add(&lane, 99, 199, 0, 2);
	lane_add(&lane, 199, 202, 1, 2);
	lane_add(&lane, 250, 260, 1, 3);
	lane_coarsen(&lane, 100);
	EXPECT(lane.bars.count == 4);
	const struct lane_bar *bars = lane.bars.items;
	EXPECT(bars[0].kind == LANE_MIXED && bars[0].from == 0 && bars[0].to == 25 && bars[0].about == 1);
	EXPECT(lane_bar_part(&bars[0], 0) == 10 && lane_bar_part(&bars[0], 1) == 5);
	EXPECT(bars[1].kind == 0 && bars[1].from == 99 && bars[1].to == 199);
	EXPECT(bars[2].kind == 1 && bars[2].from == 199);
	EXPECT(bars[3].from == 250);
	lane_coarsen(&lane, 200);
	EXPECT(lane.bars.count == 2);
	EXPECT(bars[0].to == 202 && bars[0].about == LANE_SEVERAL && lane_bar_part(&bars[0], 0) == 110);
	EXPECT(bars[1].from == 250 && bars[1].kind == 1);
	lane_fini(&lane);
}

TEST("a lane is bounded, whatever is added, and loses no time")
{
	struct lane lane = { 0 };
	uint64_t running = 0, time = 1000;
	for (uint64_t i = 0; i < 300000; i++, time += 3000) {
		uint64_t length = i % 1000 ? 100 + i % 7 : 2000000;
		lane_add(&lane, time, time + length, i % 3, (uint32_t)i);
		running += i % 3 ? 0 : length;
		time += length;
		EXPECT(lane.bars.count <= LANE_BARS_MAX);
	}
	double drawn = 0;
	for (size_t i = 0; i < lane.bars.count; i++)
		drawn += lane_bar_part(&lane.bars.items[i], 0);
	EXPECT(lane.total[0] == running);
	EXPECT(drawn > 0.99999 * (double)running && drawn < 1.00001 * (double)running);
	lane_fini(&lane);
}
