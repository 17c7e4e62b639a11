/* The place of a trace at which decoding begins for a window of time. */
#include "decode/intel_pt/packets.h"

struct pt_place packets_place(const struct pt_decoder *d, uint64_t position)
{
	struct pt_place place = { .at = (size_t)position, .position = position };
	while (place.piece + 1 < d->piece_count && place.at >= d->pieces[place.piece].bytes.len)
		place.at -= d->pieces[place.piece++].bytes.len;
	size_t len = d->piece_count ? d->pieces[place.piece].bytes.len : 0;
	if (place.at > len) {
		place.position -= place.at - len;
		place.at = len;
	}
	return place;
}

uint64_t packets_psb_time(const struct pt_decoder *d, struct pt_place place)
{
	uint64_t near = d->pieces[place.piece].near;
	struct pt_packet packet;
	while (packets_read(d, &place, PT_BLOCK_NONE, &packet) == PT_READ_PACKET && packet.type != PT_PACKET_PSBEND &&
		packet.type != PT_PACKET_BAD)
		if (packet.type == PT_PACKET_TSC)
			return pt_clock_extend(packet.payload, near);
	return 0;
}

/* Times of PSBs increase. A PSB without a time does not begin a window. */
void pt_decoder_seek(struct pt_decoder *d, uint64_t time)
{
	uint64_t low = 0, high = 0;
	struct pt_place best = { 0 };
	for (size_t i = 0; i < d->piece_count; i++)
		high += d->pieces[i].bytes.len;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2, found;
		struct pt_place place = packets_place(d, middle);
		if (!packets_find_psb(d, &place) || place.position >= high || !(found = packets_psb_time(d, place)) || found >= time) {
			high = middle;
			continue;
		}
		best = place;
		low = place.position + 1;
	}
	d->place = best;
	if (best.piece < d->piece_count)
		d->clock.near = d->pieces[best.piece].near;
}
