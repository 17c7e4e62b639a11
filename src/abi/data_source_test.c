#include "abi/data_source.h"

#include "unit.h"

static const char *source_text(uint64_t source, enum data_source_part part)
{
	static char buffer[96];
	data_source_text(source, part, buffer, sizeof buffer);
	return buffer;
}

TEST("an unknown data source is shown as not available in all parts")
{
	EXPECT_STR(source_text(DATA_SOURCE_NONE, SOURCE_LEVEL), "N/A");
	EXPECT_STR(source_text(DATA_SOURCE_NONE, SOURCE_SNOOP), "N/A");
	EXPECT_STR(source_text(DATA_SOURCE_NONE, SOURCE_LOCK), "N/A");
	EXPECT_STR(source_text(DATA_SOURCE_NONE, SOURCE_TLB), "N/A");
	EXPECT_STR(source_text(0, SOURCE_LOCK), "No");
	EXPECT_STR(source_text(0, SOURCE_BLOCK), " N/A");
}

TEST("levels are named by their bits, or by the level number if there is one")
{
	uint64_t hit = 2ull << 5, l1 = 8ull << 5, l2 = 0x20ull << 5;
	EXPECT_STR(source_text(hit | l1, SOURCE_LEVEL), "L1 hit");
	EXPECT_STR(source_text(hit | l1 | l2, SOURCE_LEVEL), "L1 or L2 hit");
	EXPECT_STR(source_text(hit | 0xdull << 33, SOURCE_LEVEL), "RAM hit");
	EXPECT_STR(source_text(1ull << 37 | 1ull << 43 | 3ull << 33, SOURCE_LEVEL), "Remote core, same node L3 ");
	EXPECT_STR(source_text(7ull << 33, SOURCE_LEVEL), "Unknown level 7 ");
}

TEST("text is cut at the end of a small buffer")
{
	char buffer[4];
	EXPECT_INT(data_source_text(2ull << 5 | 8ull << 5, SOURCE_LEVEL, buffer, sizeof buffer), 3);
	EXPECT_STR(buffer, "L1 ");
}
