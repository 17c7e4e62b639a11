#include "decode/intel_pt/overlap.h"

#include <string.h>

#include "decode/intel_pt/packet.h"

/* The TSC of the PSB+ that begins at an offset; false: it has none. */
static bool time_after(struct span trace, size_t at, uint64_t *tsc)
{
	struct pt_packet packet;
	for (size_t size; at < trace.len; at += size) {
		size = pt_packet_decode(trace.data + at, trace.len - at, PT_BLOCK_NONE, &packet);
		if (!size || packet.type == PT_PACKET_PSBEND || packet.type == PT_PACKET_BAD)
			return false;
		if (packet.type == PT_PACKET_TSC) {
			*tsc = packet.payload;
			return true;
		}
	}
	return false;
}

/* The next PSB with a TSC at or after *at. */
static bool next_timed(struct span trace, size_t *at, uint64_t *tsc)
{
	for (;;) {
		*at = pt_packet_find_psb(trace.data, trace.len, *at);
		if (*at >= trace.len)
			return false;
		if (time_after(trace, *at, tsc))
			return true;
		*at += PT_PSB_SIZE;
	}
}

size_t pt_overlap(struct span before, struct span next, bool *follows)
{
	size_t last = 0, at = 0;
	uint64_t last_tsc = 0, tsc;
	bool any = false;
	*follows = false;
	for (size_t i = 0; next_timed(before, &i, &tsc); i += PT_PSB_SIZE) {
		any = true;
		last = i;
		last_tsc = tsc;
	}
	if (!any)
		return 0;
	for (; next_timed(next, &at, &tsc); at += PT_PSB_SIZE) {
		size_t rest = before.len - last;
		if (tsc == last_tsc && next.len - at >= rest && memcmp(before.data + last, next.data + at, rest) == 0) {
			*follows = true;
			return at + rest;
		}
		if (tsc > last_tsc)
			return at;
	}
	return next.len;
}
