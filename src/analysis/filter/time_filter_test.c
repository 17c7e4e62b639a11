#include "analysis/filter/time_filter.h"
#include "unit.h"

static struct time_filter parse_time_filter(const char *text, uint64_t first, uint64_t last, bool relative)
{
	struct time_filter filter;
	struct error err = { 0 };
	int result = time_filter_parse(&filter, text, first, last, relative, &err);
	EXPECT_INT(result, 0);
	return filter;
}

static bool is_rejected(const char *text)
{
	struct time_filter filter;
	struct error err = { 0 };
	int result = time_filter_parse(&filter, text, 100, 200, false, &err);
	time_filter_fini(&filter);
	return result < 0 && err.kind == ERROR_USAGE && err.text[0];
}

TEST("a range in seconds contains both of its ends")
{
	struct time_filter filter = parse_time_filter("1.5,2", 0, 0, false);
	EXPECT_INT(filter.count, 1);
	EXPECT(time_filter_drops(&filter, 1499999999));
	EXPECT(!time_filter_drops(&filter, 1500000000));
	EXPECT(!time_filter_drops(&filter, 2000000000));
	EXPECT(time_filter_drops(&filter, 2000000001));
	EXPECT(!time_filter_drops(&filter, 0));
	time_filter_fini(&filter);
}

TEST("blanks before a time of a range are ignored")
{
	struct time_filter filter = parse_time_filter("1, 2.5", 0, 0, false);
	EXPECT_INT(filter.count, 1);
	EXPECT(time_filter_drops(&filter, 999999999));
	EXPECT(!time_filter_drops(&filter, 2500000000));
	EXPECT(time_filter_drops(&filter, 2500000001));
	time_filter_fini(&filter);
}

TEST("a range may be open at either end")
{
	struct time_filter filter = parse_time_filter("3,", 0, 0, false);
	EXPECT(time_filter_drops(&filter, 1));
	EXPECT(!time_filter_drops(&filter, 1ull << 60));
	time_filter_fini(&filter);
	filter = parse_time_filter(",3", 0, 0, false);
	EXPECT(!time_filter_drops(&filter, 1));
	EXPECT(time_filter_drops(&filter, 1ull << 60));
	time_filter_fini(&filter);
}

TEST("several ranges are separated by spaces")
{
	struct time_filter filter = parse_time_filter("1,2 3,4", 0, 0, false);
	EXPECT_INT(filter.count, 2);
	EXPECT(!time_filter_drops(&filter, 1500000000));
	EXPECT(time_filter_drops(&filter, 2500000000));
	EXPECT(!time_filter_drops(&filter, 3500000000));
	time_filter_fini(&filter);
}

TEST("percentages refer to the time from the first sample to the last")
{
	struct time_filter filter = parse_time_filter("10%/2,10%/3", 1000, 2000, false);
	EXPECT_INT(filter.count, 2);
	EXPECT_INT(filter.ranges[0].start, 1100);
	EXPECT_INT(filter.ranges[0].stop, 1199);
	EXPECT_INT(filter.ranges[1].start, 1200);
	EXPECT_INT(filter.ranges[1].stop, 1299);
	time_filter_fini(&filter);
	filter = parse_time_filter("90%-100%", 1000, 2000, false);
	EXPECT_INT(filter.ranges[0].start, 1900);
	EXPECT_INT(filter.ranges[0].stop, 2000);
	time_filter_fini(&filter);
	filter = parse_time_filter("50%", 1000, 2000, false);
	EXPECT_INT(filter.ranges[0].start, 1000);
	EXPECT_INT(filter.ranges[0].stop, 1499);
	time_filter_fini(&filter);
}

TEST("relative times count from the first sample")
{
	struct time_filter filter = parse_time_filter("1,2", 500, 5000000000, true);
	EXPECT_INT(filter.ranges[0].start, 1000000500);
	EXPECT_INT(filter.ranges[0].stop, 2000000500);
	time_filter_fini(&filter);
}

TEST("an invalid time range is rejected with a sentence")
{
	EXPECT(is_rejected("5"));
	EXPECT(is_rejected(""));
	EXPECT(is_rejected("a,b"));
	EXPECT(is_rejected("2,1"));
	EXPECT(is_rejected("1,2,3"));
	EXPECT(is_rejected("1,3 2,4"));
	EXPECT(is_rejected("1.1234567890,2"));
	EXPECT(is_rejected("110%/1"));
	EXPECT(is_rejected("10%/x"));
	EXPECT(is_rejected("0%/1"));
	EXPECT(is_rejected("5%-"));
	EXPECT(is_rejected("5%x"));
	struct time_filter filter;
	EXPECT(time_filter_parse(&filter, "10%", 0, 0, false, NULL) < 0);
	EXPECT(time_filter_parse(&filter, "1,2", 0, 0, true, NULL) < 0);
}
