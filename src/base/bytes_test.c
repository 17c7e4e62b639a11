#include "base/bytes.h"

#include "unit.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

TEST("numbers are read in native byte order, or swapped")
{
	struct cursor c = cursor_of(bytes, sizeof bytes, false), s = cursor_of(bytes, sizeof bytes, true);
	EXPECT_INT(take_u8(&c), 1);
	EXPECT_INT(take_u16(&c), HOST_IS_BIG_ENDIAN ? 0x0203 : 0x0302);
	EXPECT_INT(take_u32(&c), HOST_IS_BIG_ENDIAN ? 0x04050607 : 0x07060504);
	EXPECT(take_u64(&s) == (HOST_IS_BIG_ENDIAN ? 0x0807060504030201 : 0x0102030405060708));
	EXPECT_INT(cursor_left(&s), 1);
	EXPECT(!c.short_read && !s.short_read);
}

TEST("a read that does not fit returns 0, leaves the position unchanged, and sets short_read")
{
	struct cursor c = cursor_of(bytes, 3, false);
	EXPECT_INT(take_u32(&c), 0);
	EXPECT(c.short_read);
	EXPECT_INT(c.at, 0);
	EXPECT_INT(take_u16(&c), HOST_IS_BIG_ENDIAN ? 0x0102 : 0x0201);
	EXPECT(c.short_read);
	EXPECT(take(&c, SIZE_MAX) == NULL);
	EXPECT(take(&c, 1) != NULL);
	EXPECT(take(&c, 1) == NULL);
	EXPECT(take(&c, 0) != NULL);
}

TEST("a string ends at its padding or at the size of its field")
{
	struct cursor c = cursor_of("ab\0\0cdef", 8, false);
	size_t length;
	EXPECT(take_string(&c, 4, &length) != NULL);
	EXPECT_INT(length, 2);
	EXPECT(!memcmp(take_string(&c, 4, &length), "cdef", 4));
	EXPECT_INT(length, 4);
	EXPECT(take_string(&c, 1, &length) == NULL);
	EXPECT_INT(length, 0);
}
