/* The packets of a trace that lies in several pieces of memory. A packet or PSB may cross from one piece to the next that follows on it. */
#pragma once
#include "decode/intel_pt/decoder.h"

enum pt_read { PT_READ_END, PT_READ_PACKET, PT_READ_GAP };

/* Reads the packet at *place and moves behind it. GAP: the rest of this piece is no packet, and the next piece does not follow on it. */
enum pt_read packets_read(const struct pt_decoder *d, struct pt_place *place, enum pt_block block, struct pt_packet *packet);
/* Moves to the next piece; false: no piece follows. */
bool packets_skip_gap(const struct pt_decoder *d, struct pt_place *place);
/* Moves to the next PSB; false: none in the pieces known so far. */
bool packets_find_psb(const struct pt_decoder *d, struct pt_place *place);

/* The first byte of the packet at a place, if the packet cannot be cut by the end of the piece, and the byte is not one of a block. */
static inline bool packets_peek(const struct pt_decoder *d, const struct pt_place *place, enum pt_block block, uint8_t *byte)
{
	if (place->piece >= d->piece_count || block != PT_BLOCK_NONE)
		return false;
	struct span bytes = d->pieces[place->piece].bytes;
	if (bytes.len - place->at <= PT_PACKET_SIZE_MAX)
		return false;
	*byte = bytes.data[place->at];
	return true;
}

/* The place of a position in all pieces together; behind their end: the end. */
struct pt_place packets_place(const struct pt_decoder *d, uint64_t position);
/* The time of the PSB at a place; 0: its PSB+ has none. */
uint64_t packets_psb_time(const struct pt_decoder *d, struct pt_place place);
/* Reads the next packet of the decoder and applies its time. */
enum pt_read packets_next(struct pt_decoder *d);
/* Applies a CYC packet. */
void packets_count_cycles(struct pt_decoder *d, uint64_t cycles);
/* Behind a gap, decoding begins anew with the next PSB. */
void packets_pass_gap(struct pt_decoder *d);
/* Without CYC packets, cycles are counted by time from here on. */
void packets_base_cycles(struct pt_decoder *d);
/* The slot of time (tick_period) of now has begun, if code is followed. */
void packets_pass_slot(struct pt_decoder *d);

/* Packets of one byte. */
static inline bool packets_is_bits(uint8_t byte)
{
	return !(byte & 1) && byte >= 4;
}

static inline bool packets_is_cycles(uint8_t byte)
{
	return (byte & 7) == 3;
}

/* The size of a packet with an address, by its first byte; 0: it is bad. */
static inline size_t packets_address_size(uint8_t byte)
{
	static const uint8_t sizes[8] = { 1, 3, 5, 7, 7, 0, 9, 0 };
	return sizes[byte >> 5];
}

/* Packets that may be between those that belong together. */
static inline bool is_time_packet(unsigned type)
{
	return type == PT_PACKET_CYC || type == PT_PACKET_MTC || type == PT_PACKET_PAD || type == PT_PACKET_TSC || type == PT_PACKET_TMA ||
		type == PT_PACKET_CBR;
}
