#include "abi/attr.h"

#include "unit.h"

static struct attr full_attr(void)
{
	return (struct attr){
		.type = ATTR_RAW, .size = ATTR_SIZE_VER9, .config = 0x1122334455667788, .sample_period = 4000,
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME, .read_format = READ_ID | READ_LOST,
		.flags = 1ull << ATTR_DISABLED | 2ull << ATTR_PRECISE_IP | 1ull << ATTR_DEFER_OUTPUT, .wakeup_events = 7, .bp_type = 3,
		.config1 = 11, .config2 = 12, .branch_sample_type = BRANCH_ANY, .sample_regs_user = 0xff, .sample_stack_user = 8192,
		.clockid = -3, .sample_regs_intr = 0xf0, .aux_watermark = 5, .sample_max_stack = 127, .aux_sample_size = 6,
		.aux_flags = 1, .sig_data = 13, .config3 = 14, .config4 = 15,
	};
}

static void swap_bytes(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint8_t byte = p[i];
		p[i] = p[n - 1 - i];
		p[n - 1 - i] = byte;
	}
}

TEST("decoding an encoded attribute gives the same attribute")
{
	struct attr attr = full_attr(), back;
	uint8_t bytes[ATTR_SIZE_VER9];
	EXPECT_INT(attr_encode(&attr, bytes), ATTR_SIZE_VER9);
	EXPECT(attr_decode(&back, bytes, sizeof bytes, false, NULL) == 0);
	EXPECT(memcmp(&attr, &back, sizeof attr) == 0);
	EXPECT_INT(attr_precise_ip(&back), 2);
}

TEST("encoding an attribute writes its bytes and none behind them, whatever its size and that of a later kernel")
{
	for (uint32_t size = 0; size <= ATTR_SIZE_VER9 + 8; size += 8) {
		uint8_t bytes[ATTR_SIZE_VER9 + 8];
		struct attr attr = full_attr();
		attr.size = size;
		memset(bytes, 0xee, sizeof bytes);
		size_t wrote = attr_encode(&attr, bytes);
		EXPECT_INT(wrote, size == 0 || size > ATTR_SIZE_VER9 ? ATTR_SIZE_VER9 : size);
		EXPECT(load_u64(bytes + ATTR_SIZE_VER9 - 8) == 15 && load_u64(bytes + ATTR_SIZE_VER9) == 0xeeeeeeeeeeeeeeee);
	}
}

TEST("an attribute from a machine of the other byte order is decoded with swapped bytes and mirrored flags")
{
	static const uint8_t widths[] = { 4, 4, 8, 8, 8, 8, 8, 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8, 8, 8 };
	struct attr attr = full_attr(), back;
	uint8_t bytes[ATTR_SIZE_VER9], *at = bytes;
	attr_encode(&attr, bytes);
	/* a big-endian compiler puts disabled at bit 63 and precise_ip at bits 48 and 47 */
	uint64_t mirrored = 1ull << 63 | 2ull << 47 | 1ull << (63 - ATTR_DEFER_OUTPUT);
	uint64_t flags = HOST_IS_BIG_ENDIAN ? attr.flags : mirrored;
	memcpy(bytes + 40, &flags, sizeof flags);
	for (size_t i = 0; i < sizeof widths; i++) {
		swap_bytes(at, widths[i]);
		at += widths[i];
	}
	EXPECT_INT(at - bytes, ATTR_SIZE_VER9);
	EXPECT(attr_decode(&back, bytes, sizeof bytes, true, NULL) == 0);
	EXPECT(memcmp(&attr, &back, sizeof attr) == 0);
}

TEST("decoding a short attribute sets the missing fields to zero")
{
	struct attr attr = full_attr(), back;
	uint8_t bytes[ATTR_SIZE_VER9];
	attr_encode(&attr, bytes);
	EXPECT(attr_decode(&back, bytes, ATTR_SIZE_VER0, false, NULL) == 0);
	EXPECT_INT(back.config1, 11);
	EXPECT_INT(back.config2, 0);
	EXPECT(attr_decode(&back, bytes, ATTR_SIZE_VER3, false, NULL) == 0);
	EXPECT_INT(back.clockid, -3);
	EXPECT_INT(back.sample_regs_intr, 0);
	EXPECT(attr_decode(&back, bytes, ATTR_SIZE_VER0 + 4, false, NULL) == 0);
	EXPECT_INT(back.branch_sample_type, 0);
}

TEST("decoding an attribute of a later kernel ignores its additional fields and reports their size")
{
	struct attr attr = full_attr(), back;
	uint8_t bytes[ATTR_SIZE_VER9 + 64] = { 0 };
	attr_encode(&attr, bytes);
	EXPECT(attr_decode(&back, bytes, sizeof bytes, false, NULL) == 0);
	EXPECT_INT(back.unknown_tail, 0);
	bytes[sizeof bytes - 1] = 1;
	EXPECT(attr_decode(&back, bytes, sizeof bytes, false, NULL) == 0);
	EXPECT_INT(back.unknown_tail, 64);
	EXPECT_INT(back.config4, 15);
}

TEST("decoding fewer bytes than the first published size fails with a sentence")
{
	struct attr attr;
	struct error err = { 0 };
	uint8_t bytes[ATTR_SIZE_VER0] = { 0 };
	EXPECT(attr_decode(&attr, bytes, ATTR_SIZE_VER0 - 1, false, &err) < 0);
	EXPECT_STR(err.text, "an event attribute has 63 bytes; the minimum is 64");
}

TEST("the encoded size is the smallest published size that contains all fields in use")
{
	struct attr attr = { .type = ATTR_SOFTWARE };
	uint8_t bytes[ATTR_SIZE_VER9];
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER0);
	attr.config2 = 1;
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER1);
	attr.branch_sample_type = BRANCH_ANY;
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER2);
	attr.clockid = 1;
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER3);
	attr.sample_regs_intr = 1;
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER4);
	attr.sample_max_stack = 1;
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER5);
	attr.aux_sample_size = 1;
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER6);
	attr.sig_data = 1;
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER7);
	attr.config3 = 1;
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER8);
	attr.config4 = 1;
	EXPECT_INT(attr_size_needed(&attr), ATTR_SIZE_VER9);
	attr.config4 = 0;
	EXPECT_INT(attr_encode(&attr, bytes), ATTR_SIZE_VER8);
	EXPECT_INT(load_u32(bytes + 4), ATTR_SIZE_VER8);
}
