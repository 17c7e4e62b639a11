#include "base/leb128.h"

#include "unit.h"

static struct cursor text(const char *bytes, size_t len)
{
	return cursor_of(bytes, len, false);
}
#define BYTES(s) text(s, sizeof s - 1)

TEST("numbers have seven bits a byte, the lowest first")
{
	struct cursor c = BYTES("\x02\x7f\x80\x01\xe5\x8e\x26\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	EXPECT_INT(take_uleb(&c), 2);
	EXPECT_INT(take_uleb(&c), 127);
	EXPECT_INT(take_uleb(&c), 128);
	EXPECT_INT(take_uleb(&c), 624485);
	EXPECT(take_uleb(&c) == UINT64_MAX);
	EXPECT(!c.short_read && cursor_left(&c) == 0);
}

TEST("bit 6 of the last byte is the sign, where it is not beyond bit 63")
{
	struct cursor c = BYTES("\x3f\x40\x7f\x80\x7f\xff\x00\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f\x80\x80\x80\x80\x80\x80\x80\x80\x40");
	EXPECT_INT(take_sleb(&c), 63);
	EXPECT_INT(take_sleb(&c), -64);
	EXPECT_INT(take_sleb(&c), -1);
	EXPECT_INT(take_sleb(&c), -128);
	EXPECT_INT(take_sleb(&c), 127);
	EXPECT(take_sleb(&c) == INT64_MIN);
	EXPECT(take_sleb(&c) == -(INT64_C(1) << 62));
	EXPECT(!c.short_read);
}

TEST("a number that does not end is 0 and sets short_read")
{
	struct cursor c = BYTES("\x85\x80");
	EXPECT_INT(take_uleb(&c), 0);
	EXPECT(c.short_read);
	c = BYTES("\xff\xff");
	EXPECT_INT(take_sleb(&c), 0);
	EXPECT(c.short_read);
}

TEST("a number is read up to the limit of bytes; a longer one is an error")
{
	char many[LEB128_BYTES_MAX + 1];
	memset(many, 0x80, sizeof many);
	many[0] = (char)0x81;
	many[LEB128_BYTES_MAX - 1] = 0x7f;
	struct cursor c = text(many, sizeof many);
	EXPECT_INT(take_uleb(&c), 1);
	EXPECT(!c.short_read && cursor_left(&c) == 1);
	c = text(many, sizeof many);
	skip_leb(&c);
	EXPECT(!c.short_read && cursor_left(&c) == 1);
	many[LEB128_BYTES_MAX - 1] = (char)0x80;
	many[LEB128_BYTES_MAX] = 0;
	c = text(many, sizeof many);
	EXPECT_INT(take_uleb(&c), 0);
	EXPECT(c.short_read);
}
