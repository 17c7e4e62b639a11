/* Reads packets from the pieces of a trace. */
#include "decode/intel_pt/packets.h"

#include <string.h>

static const struct pt_piece *piece_of(const struct pt_decoder *d, size_t index)
{
	return index < d->piece_count ? &d->pieces[index] : NULL;
}

/* The bytes at (piece, at) and, up to PT_PACKET_SIZE_MAX, those of the pieces that follow on it. */
static size_t join(const struct pt_decoder *d, size_t piece, size_t at, uint8_t *bytes, size_t max)
{
	size_t len = 0, first = piece;
	for (const struct pt_piece *p; len < max && (p = piece_of(d, piece)); piece++, at = 0) {
		if (piece > first && !p->follows)
			break;
		size_t left = p->bytes.len - at, part = left < max - len ? left : max - len;
		memcpy(bytes + len, p->bytes.data + at, part);
		len += part;
	}
	return len;
}

static void move(const struct pt_decoder *d, struct pt_place *place, size_t size)
{
	place->at += size;
	place->position += size;
	for (const struct pt_piece *p; (p = piece_of(d, place->piece)) && place->at >= p->bytes.len;) {
		const struct pt_piece *next = piece_of(d, place->piece + 1);
		if (!next || !next->follows)
			break;
		place->at -= p->bytes.len;
		place->piece++;
	}
}

/* Where bytes are missing although pieces follow each other (the processor stopped, as its buffer was full), the next one begins with a
 * PSB. */
static bool next_begins_anew(const struct pt_decoder *d, size_t piece)
{
	const struct pt_piece *next = piece_of(d, piece + 1);
	return next && next->bytes.len >= PT_PSB_SIZE && pt_packet_find_psb(next->bytes.data, PT_PSB_SIZE, 0) == 0;
}

enum pt_read packets_read(const struct pt_decoder *d, struct pt_place *place, enum pt_block block, struct pt_packet *packet)
{
	const struct pt_piece *p = piece_of(d, place->piece);
	if (!p)
		return PT_READ_END;
	size_t left = p->bytes.len - place->at;
	size_t size = pt_packet_decode(p->bytes.data + place->at, left, block, packet);
	if (!size && left && next_begins_anew(d, place->piece))
		return PT_READ_GAP;
	if (!size) {
		uint8_t joined[PT_PACKET_SIZE_MAX];
		size_t len = join(d, place->piece, place->at, joined, sizeof joined);
		size = pt_packet_decode(joined, len, block, packet);
	}
	if (!size)
		return piece_of(d, place->piece + 1) ? PT_READ_GAP : PT_READ_END;
	move(d, place, size);
	return PT_READ_PACKET;
}

bool packets_skip_gap(const struct pt_decoder *d, struct pt_place *place)
{
	const struct pt_piece *p = piece_of(d, place->piece);
	if (!piece_of(d, place->piece + 1))
		return false;
	place->position += p->bytes.len - place->at;
	place->piece++;
	place->at = 0;
	return true;
}

bool packets_find_psb(const struct pt_decoder *d, struct pt_place *place)
{
	for (const struct pt_piece *p; (p = piece_of(d, place->piece));) {
		size_t found = pt_packet_find_psb(p->bytes.data, p->bytes.len, place->at);
		if (found < p->bytes.len) {
			place->position += found - place->at;
			place->at = found;
			return true;
		}
		/* one that crosses into the next piece */
		size_t tail = p->bytes.len - place->at < PT_PSB_SIZE - 1 ? p->bytes.len - place->at : PT_PSB_SIZE - 1;
		uint8_t joined[2 * PT_PSB_SIZE];
		size_t len = join(d, place->piece, p->bytes.len - tail, joined, tail + PT_PSB_SIZE - 1);
		found = tail ? pt_packet_find_psb(joined, len, 0) : len;
		size_t skipped = p->bytes.len - place->at - tail;
		if (found < len) {
			place->at += skipped + found;
			place->position += skipped + found;
			return true;
		}
		const struct pt_piece *next = piece_of(d, place->piece + 1);
		if (!next) {
			place->position += skipped; /* retain the tail for a piece that may be added */
			place->at += skipped;
			return false;
		}
		place->position += p->bytes.len - place->at;
		place->piece++;
		place->at = 0;
	}
	return false;
}
