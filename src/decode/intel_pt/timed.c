/* Packets in their order, each of which moves the time and the cycles of a decoder. */
#include "decode/intel_pt/packets.h"
#include "decode/intel_pt/walk.h"

/* Measures packets that are frequent, and inside a piece: short TNT and CYC packets, and addresses. */
static void measure_short(const struct pt_decoder *d, struct pt_place *place, enum pt_block block, struct pt_measure *measure)
{
	if (place->piece >= d->piece_count || block != PT_BLOCK_NONE)
		return;
	const struct span bytes = d->pieces[place->piece].bytes;
	size_t at = place->at, size = 0;
	uint64_t cycles = 0;
	uint8_t last = measure->last_type;
	for (; bytes.len - at > PT_PACKET_SIZE_MAX; at += size) {
		uint8_t byte = bytes.data[at];
		size = 1;
		if (packets_is_cycles(byte)) {
			last = PT_PACKET_CYC;
			cycles += byte >> 3;
		} else if (packets_is_bits(byte)) {
			last = PT_PACKET_TNT;
		} else if ((byte & 0x1f) == 0x0d && (size = packets_address_size(byte)) > 0) {
			last = PT_PACKET_TIP;
		} else {
			break;
		}
	}
	place->position += at - place->at;
	place->at = at;
	measure->cycles += cycles;
	measure->last_type = last;
}

/* Looks ahead to the next timed packet for the rate of cycles. */
static void measure_rate(struct pt_decoder *d)
{
	struct pt_measure measure;
	struct pt_place place = d->place;
	struct pt_packet packet;
	enum pt_block block = d->in_block;
	pt_measure_begin(&measure, &d->clock);
	measure_short(d, &place, block, &measure);
	/* packets must begin where those that are decoded begin: then no packet is read twice for the next measure */
	while (packets_read(d, &place, block, &packet) == PT_READ_PACKET && pt_measure_packet(&measure, &d->clock, &packet)) {
		if (packet.type == PT_PACKET_BBP)
			block = packet.flag ? PT_BLOCK_4 : PT_BLOCK_8;
		else if (packet.type == PT_PACKET_BEP || packet.type == PT_PACKET_PSB)
			block = PT_BLOCK_NONE;
		measure_short(d, &place, block, &measure);
	}
}

void packets_base_cycles(struct pt_decoder *d)
{
	if (d->clock.have_cycles)
		return;
	d->base_cycles = d->traced_cycles;
	d->base_time = d->clock.time;
}

/* The time since tracing was switched on, in cycles at the frequency of the last CBR packet. */
static void estimate_cycles(struct pt_decoder *d)
{
	uint32_t ratio = d->clock.bus_ratio, nominal = d->clock.config.non_turbo_ratio;
	if (d->clock.have_cycles)
		return;
	d->cycles_counted = true;
	if (!ratio || !nominal || !d->tracing || !d->base_time || d->clock.time <= d->base_time)
		return;
	/* differences are compared: in a segment, cycles before it count below 0 */
	uint64_t cycles = d->base_cycles + (uint64_t)((unsigned __int128)(d->clock.time - d->base_time) * ratio / nominal);
	if ((int64_t)(cycles - d->traced_cycles) > 0)
		d->traced_cycles = cycles;
}

static void count_traced(struct pt_decoder *d, uint64_t cycles)
{
	d->cycles_counted = true;
	d->traced_cycles += d->tracing ? cycles : 0;
	d->instructions_at_time = d->instructions;
}

void packets_count_cycles(struct pt_decoder *d, uint64_t cycles)
{
	pt_clock_cycles(&d->clock, cycles);
	count_traced(d, cycles);
}

/* Reads a TNT or CYC packet of one byte, as most packets are, that is not the last of its piece. */
static bool read_short(struct pt_decoder *d)
{
	uint8_t byte;
	if (!packets_peek(d, &d->place, d->in_block, &byte))
		return false;
	if (packets_is_bits(byte)) {
		unsigned bits = 30 - (unsigned)__builtin_clz(byte);
		d->packet = (struct pt_packet){ .type = PT_PACKET_TNT, .size = 1, .bits = (uint8_t)bits, .payload = byte >> 1 & ((1u << bits) - 1) };
		d->clock.last_type = PT_PACKET_TNT;
	} else if (packets_is_cycles(byte)) {
		d->packet = (struct pt_packet){ .type = PT_PACKET_CYC, .size = 1, .bits = 1, .payload = byte >> 3 };
		packets_count_cycles(d, byte >> 3);
	} else {
		return false;
	}
	d->place.at++;
	d->place.position++;
	return true;
}

enum pt_read packets_next(struct pt_decoder *d)
{
	d->position = d->place.position;
	if (read_short(d))
		return PT_READ_PACKET;
	enum pt_read read = packets_read(d, &d->place, d->in_block, &d->packet);
	if (read != PT_READ_PACKET)
		return read;
	uint32_t ratio = d->clock.bus_ratio;
	if (pt_clock_packet(&d->clock, &d->packet))
		measure_rate(d);
	switch (d->packet.type) {
	case PT_PACKET_CYC:
		count_traced(d, d->packet.payload);
		break;
	case PT_PACKET_MTC:
		estimate_cycles(d);
		d->instructions_at_time = d->instructions;
		break;
	case PT_PACKET_TSC:
		d->instructions_at_time = d->instructions;
		break;
	case PT_PACKET_TMA:
		if (d->tracing && !d->in_psb)
			packets_base_cycles(d);
		else
			estimate_cycles(d);
		break;
	case PT_PACKET_CBR:
		if (d->tracing && ratio != d->clock.bus_ratio)
			packets_base_cycles(d);
		break;
	default:
		break;
	}
	return read;
}

void packets_pass_gap(struct pt_decoder *d)
{
	if (packets_skip_gap(d, &d->place))
		d->clock.near = d->pieces[d->place.piece].near;
	d->synced = false;
}

/* Code is followed now: as walk's slots, but without the time of instructions. */
void packets_pass_slot(struct pt_decoder *d)
{
	if (!d->tick_period || !d->tracing)
		return;
	uint64_t slot = d->clock.time & ~(walk_slot_ticks(d) - 1);
	if (slot <= d->last_slot)
		return;
	d->last_slot = slot;
	d->in_slots = true;
}

/* What a packet switches beside time; a BAD packet is searched for a PSB. */
static void skip_state(struct pt_decoder *d)
{
	switch (d->packet.type) {
	case PT_PACKET_TNT: case PT_PACKET_TIP:
		packets_pass_slot(d);
		break;
	case PT_PACKET_PSB:
		packets_pass_slot(d);
		d->in_psb = true;
		d->in_block = PT_BLOCK_NONE;
		d->tracing = false;
		break;
	case PT_PACKET_PSBEND:
		d->in_psb = false;
		break;
	case PT_PACKET_FUP:
		if (!d->in_psb)
			packets_pass_slot(d);
		d->tracing |= d->in_psb;
		break;
	case PT_PACKET_TIP_PGE:
		packets_base_cycles(d);
		d->tracing = true;
		break;
	case PT_PACKET_TIP_PGD: case PT_PACKET_TRACE_STOP: case PT_PACKET_OVF:
		packets_pass_slot(d);
		d->tracing &= d->packet.type == PT_PACKET_OVF;
		d->in_slots = false;
		break;
	case PT_PACKET_CBR:
		d->ratio_seen = (uint32_t)d->packet.payload;
		break;
	case PT_PACKET_BBP:
		d->in_block = d->packet.flag ? PT_BLOCK_4 : PT_BLOCK_8;
		break;
	case PT_PACKET_BEP:
		d->in_block = PT_BLOCK_NONE;
		break;
	case PT_PACKET_BAD:
		d->synced = d->in_psb = false;
		break;
	}
}

bool pt_decoder_skip(struct pt_decoder *d)
{
	if (!d->synced && !packets_find_psb(d, &d->place))
		return false;
	d->synced = true;
	switch (packets_next(d)) {
	case PT_READ_PACKET:
		skip_state(d);
		return true;
	case PT_READ_GAP:
		packets_pass_gap(d);
		return true;
	default:
		return false;
	}
}
