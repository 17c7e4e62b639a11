#include "decode/intel_bts/bts.h"

#include <string.h>

#include "abi/record.h"
#include "unit.h"

static struct span trace_of(const uint64_t *words, size_t records, size_t more)
{
	return (struct span){ (const uint8_t *)words, records * BTS_RECORD_BYTES + more };
}

TEST("the records of BTS, up to one that is not complete")
{
	static const uint64_t words[9] = { 1, 2, 16, 3, 0, 15 };
	struct bts_branch branch;
	size_t at = 0;
	EXPECT(bts_next(trace_of(words, 2, 23), &at, &branch));
	EXPECT(branch.from == 1 && branch.to == 2 && branch.predicted);
	EXPECT(bts_next(trace_of(words, 2, 23), &at, &branch));
	EXPECT(branch.from == 3 && branch.to == 0 && !branch.predicted);
	EXPECT(!bts_next(trace_of(words, 2, 23), &at, &branch));
	EXPECT_INT(at, 48);
	EXPECT(bts_next(trace_of(words, 3, 0), &at, &branch));
	at = 100;
	EXPECT(!bts_next(trace_of(words, 3, 0), &at, &branch));
}

TEST("snapshots of BTS overlap by their longest common part")
{
	static const uint64_t a[] = { 9, 9, 9, 1, 1, 1, 2, 2, 2, 1, 1, 1 }, b[] = { 1, 1, 1, 2, 2, 2, 1, 1, 1, 3, 3, 3 };
	static const uint64_t c[] = { 1, 1, 1, 1, 1, 1, 2, 2, 2 }, once[] = { 1, 1, 1 };
	EXPECT_INT(bts_overlap(trace_of(a, 4, 0), trace_of(b, 4, 5)), 72);
	EXPECT_INT(bts_overlap(trace_of(a, 3, 0), trace_of(b, 4, 0)), 48);
	EXPECT_INT(bts_overlap(trace_of(b, 4, 0), trace_of(a, 4, 0)), 0);
	EXPECT_INT(bts_overlap(trace_of(a, 4, 0), trace_of(c, 3, 0)), 24);
	EXPECT_INT(bts_overlap(trace_of(a, 4, 0), trace_of(a, 4, 0)), 96);
	EXPECT_INT(bts_overlap(trace_of(c, 2, 0), trace_of(once, 1, 0)), 24); /* matched whole before the end */
	EXPECT_INT(bts_overlap(trace_of(c, 0, 0), trace_of(c, 3, 0)), 0);
}

TEST("AUXTRACE_INFO of BTS")
{
	struct { uint32_t type, pad; uint64_t words[6]; } body = { TRACE_INTEL_BTS, 0, { 8, 31, 5, 7, 1, 1 } };
	struct record record = { .body = (const uint8_t *)&body, .body_len = sizeof body };
	struct pt_info info;
	EXPECT(bts_info_read(&info, &record));
	EXPECT(info.pmu_type == 8 && info.time.shift == 31 && info.time.mult == 5 && info.time.zero == 7 && info.time.known && info.snapshot);
	record.body_len -= 8;
	EXPECT(!bts_info_read(&info, &record));
	record.body_len += 8;
	body.words[1] = 64;
	EXPECT(bts_info_read(&info, &record) && !info.time.known);
	body.type = TRACE_INTEL_PT;
	EXPECT(!bts_info_read(&info, &record));
}

/* The same by trying each length. */
static size_t overlap_tried(struct span before, struct span next)
{
	for (size_t len = before.len < next.len ? before.len : next.len; len; len -= BTS_RECORD_BYTES)
		if (memcmp(before.data + before.len - len, next.data, len) == 0)
			return len;
	return 0;
}

TEST("of any two traces of up to six branches of two kinds, the overlap is the longest one")
{
	enum { LONGEST = 6 };
	uint8_t first[LONGEST * BTS_RECORD_BYTES], second[LONGEST * BTS_RECORD_BYTES];
	for (unsigned a = 1; a < 2u << LONGEST; a++)
		for (unsigned b = 1; b < 2u << LONGEST; b++) {
			/* the highest bit of a number ends the trace whose branches are the lower ones */
			struct span before = { first, 0 }, next = { second, 0 };
			for (unsigned bits = a; bits > 1; bits >>= 1, before.len += BTS_RECORD_BYTES)
				memset(first + before.len, (int)(bits & 1), BTS_RECORD_BYTES);
			for (unsigned bits = b; bits > 1; bits >>= 1, next.len += BTS_RECORD_BYTES)
				memset(second + next.len, (int)(bits & 1), BTS_RECORD_BYTES);
			size_t got = bts_overlap(before, next), want = overlap_tried(before, next);
			if (got != want)
				unit_fail(__FILE__, __LINE__, "%x and %x overlap by %zu, expected %zu", a, b, got, want);
		}
}
