#include "abi/branch.h"

#include "unit.h"

TEST("every type of branch has a word")
{
	EXPECT_STR(branch_type_name(0), "");
	EXPECT_STR(branch_type_name(1ull << 20), "COND");
	EXPECT_STR(branch_type_name(14ull << 20), "NO_TX");
	EXPECT_STR(branch_type_name(15ull << 20), "FAULT_ALGN");
	EXPECT_STR(branch_type_name(15ull << 20 | 7ull << 26), "ARCH_5");
	EXPECT_STR(branch_type_name(15ull << 20 | 8ull << 26), "(null)");
	EXPECT_STR(branch_type_name(15ull << 20 | 15ull << 26), "(null)");
}

TEST("each value has its bits alone")
{
	EXPECT(branch_is_mispredicted(1) && !branch_is_mispredicted(~1ull));
	EXPECT(branch_is_predicted(2) && !branch_is_predicted(~2ull));
	EXPECT(branch_is_in_transaction(4) && !branch_is_in_transaction(~4ull));
	EXPECT(branch_is_abort(8) && !branch_is_abort(~8ull));
	EXPECT_INT(branch_cycles(0xffffull << 4), 0xffff);
	EXPECT_INT(branch_cycles(~(0xffffull << 4)), 0);
	EXPECT_STR(branch_speculation_name(1ull << 24), "SPEC_WRONG_PATH");
	EXPECT_STR(branch_speculation_name(3ull << 24), "SPEC_CORRECT_PATH");
	EXPECT_STR(branch_speculation_name(~(3ull << 24)), "");
}

TEST("flags of big-endian machines have their fields from the high end of the word, and each form becomes the other")
{
	static const struct {
		uint64_t little, big;
	} rows[] = {
		{ 1, 1ull << 63 }, { 8, 1ull << 60 }, { 5ull << 4, 5ull << 44 }, { 3ull << 20, 3ull << 40 }, { 1ull << 24, 1ull << 38 },
		{ 9ull << 26, 9ull << 34 }, { 5ull << 30, 5ull << 31 }, { 7ull << 33, 7 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		EXPECT_INT(branch_flags_mirrored(rows[i].little, true), rows[i].big);
		EXPECT_INT(branch_flags_mirrored(rows[i].big, false), rows[i].little);
	}
	EXPECT_INT(branch_flags_decode(branch_flags_encode(5ull << 4 | 2)), 5ull << 4 | 2);
	EXPECT_INT(branch_flags_encode(2), HOST_IS_BIG_ENDIAN ? 1ull << 62 : 2);
}
