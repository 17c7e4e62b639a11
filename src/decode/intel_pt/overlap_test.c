#include "decode/intel_pt/overlap.h"
#include "unit.h"

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define AT(byte) PSB "\x19" byte "\0\0\0\0\0\0" "\x02\x23" /* 26 bytes */

static size_t overlap(const char *a, size_t a_len, const char *b, size_t b_len, bool *follows)
{
	return pt_overlap((struct span){ (const uint8_t *)a, a_len }, (struct span){ (const uint8_t *)b, b_len }, follows);
}
#define OVERLAP(a, b, follows) overlap(a, sizeof(a) - 1, b, sizeof(b) - 1, follows)

TEST("a snapshot that begins with the end of the one before continues it")
{
	bool follows;
	EXPECT_INT(OVERLAP(AT("\x01") "\x06\x06" AT("\x02") "\x06\x04", "\x06\x06" AT("\x02") "\x06\x04\x0e", &follows), 2 + 26 + 2);
	EXPECT(follows);
}

TEST("a snapshot whose first times are older begins at the first newer one")
{
	bool follows;
	EXPECT_INT(OVERLAP(AT("\x05") "\x06", AT("\x04") "\x06" AT("\x06") "\x0e", &follows), 27);
	EXPECT(!follows);
	EXPECT_INT(OVERLAP(AT("\x05") "\x06", AT("\x06") "\x0e", &follows), 0);
	EXPECT(!follows);
}

TEST("equal times with other bytes are no overlap that continues")
{
	bool follows;
	EXPECT_INT(OVERLAP(AT("\x05") "\x06", AT("\x05") "\x04" AT("\x07"), &follows), 27);
	EXPECT(!follows);
}

TEST("a snapshot without new bytes overlaps as a whole; snapshots without times do not overlap")
{
	bool follows;
	EXPECT_INT(OVERLAP(AT("\x05") "\x06", AT("\x03") "\x06", &follows), 27);
	EXPECT_INT(OVERLAP("\x06\x06", AT("\x03") "\x06", &follows), 0);
	EXPECT(!follows);
}
