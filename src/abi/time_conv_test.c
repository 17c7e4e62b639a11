#include "abi/time_conv.h"

#include "unit.h"

static struct time_conv conv_of(const uint64_t *words, uint32_t len)
{
	struct time_conv conv;
	struct record record = { .type = RECORD_TIME_CONV, .body = (const uint8_t *)words, .body_len = len };
	time_conv_read(&conv, &record);
	return conv;
}

TEST("a counter value is converted by shift, factor and offset, and a short counter wraps")
{
	uint64_t words[] = { 10, 512, 1000, 0x100, 0xff, 0 };
	uint8_t *known = (uint8_t *)&words[5], *short_counter = known + 1;
	*known = 1;
	struct time_conv conv = conv_of(words, 24);
	EXPECT(conv.known);
	EXPECT_INT(time_conv_time(&conv, 2048), 2024);
	EXPECT_INT(time_conv_time(&conv, 2049), 2024);
	EXPECT_INT(time_conv_time(&conv, 2050), 2025);
	EXPECT_INT(time_conv_ticks(&conv, 2025), 2050);
	EXPECT_INT(time_conv_duration(&conv, 1025), 2050);
	conv = conv_of(words, 48);
	EXPECT(conv.known && !conv.short_counter);
	*short_counter = 1;
	conv = conv_of(words, 48);
	EXPECT_INT(time_conv_time(&conv, 0x04), 1000 + 0x104 / 2);
	*known = 0;
	conv = conv_of(words, 48);
	EXPECT(!conv.known);
	EXPECT_INT(time_conv_time(&conv, 2048), 0);
}

TEST("a short record or an invalid shift gives no conversion")
{
	uint64_t words[] = { 64, 512, 1000, 0, 0, 0 };
	EXPECT(!conv_of(words, 24).known);
	words[0] = 10;
	EXPECT(!conv_of(words, 16).known);
	EXPECT(!conv_of(words, 32).known);
	words[1] = 0;
	EXPECT(!conv_of(words, 24).known);
}
