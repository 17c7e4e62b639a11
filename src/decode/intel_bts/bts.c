#include "decode/intel_bts/bts.h"

#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/memory.h"

bool bts_next(struct span trace, size_t *at, struct bts_branch *branch)
{
	enum { PREDICTED = 1 << 4 };
	if (*at > trace.len || trace.len - *at < BTS_RECORD_BYTES)
		return false;
	struct cursor c = cursor_of(trace.data + *at, BTS_RECORD_BYTES, false);
	branch->from = take_u64(&c);
	branch->to = take_u64(&c);
	branch->predicted = take_u64(&c) & PREDICTED;
	*at += BTS_RECORD_BYTES;
	return true;
}

static bool same(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, BTS_RECORD_BYTES) == 0;
}

/* A search by Knuth, Morris and Pratt: time is linear for hostile traces, too. borders[n]: of the first n + 1 records of next, how many of
 * the last ones are also its first ones. */
size_t bts_overlap(struct span before, struct span next)
{
	size_t count = next.len / BTS_RECORD_BYTES, old = before.len / BTS_RECORD_BYTES, matched = 0;
	if (!count || !old)
		return 0;
	size_t *borders = memory_zero(count, sizeof *borders);
	for (size_t i = 1; i < count; i++) {
		while (matched && !same(next.data + matched * BTS_RECORD_BYTES, next.data + i * BTS_RECORD_BYTES))
			matched = borders[matched - 1];
		borders[i] = matched += same(next.data + matched * BTS_RECORD_BYTES, next.data + i * BTS_RECORD_BYTES);
	}
	matched = 0;
	for (size_t i = 0; i < old; i++) {
		const uint8_t *record = before.data + i * BTS_RECORD_BYTES;
		while (matched && (matched == count || !same(next.data + matched * BTS_RECORD_BYTES, record)))
			matched = borders[matched - 1];
		matched += same(next.data + matched * BTS_RECORD_BYTES, record);
	}
	free(borders);
	return matched * BTS_RECORD_BYTES;
}

bool bts_info_read(struct pt_info *info, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	*info = (struct pt_info){ 0 };
	if (take_u32(&c) != TRACE_INTEL_BTS)
		return false;
	take_u32(&c);
	info->pmu_type = (uint32_t)take_u64(&c);
	info->time.shift = take_u64(&c);
	info->time.mult = take_u64(&c);
	info->time.zero = take_u64(&c);
	info->time.known = take_u64(&c) && info->time.mult && info->time.shift < 64;
	info->snapshot = take_u64(&c);
	return !c.short_read;
}
