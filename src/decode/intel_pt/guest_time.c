#include "decode/intel_pt/guest_time.h"

#include <stdlib.h>

#include "base/memory.h"
#include "decode/intel_pt/packets.h"

#define SEVEN_BYTES 0xffffffffffffffu

enum { OFFSETS_MAX = 1024, TMA_DISTANCE = 16 /* packets of time between TSC and TMA */, PEBS_TIME_ITEM = 2 };

/* What a PSB+ says. */
struct state_packets {
	bool tsc, tma, pip, vmcs, complete;
	bool guest;              /* with pip */
	uint64_t vmcs_base, counter;
	uint32_t fast;
};

/* The counter of the crystal's clock, from a TMA packet on. */
struct crystal {
	bool known;              /* a TMA packet precedes */
	bool counting;           /* nothing was lost since then */
	uint64_t time;           /* TSC at `counter` */
	uint64_t counter, ticks; /* 16 bits of it, rounded to an MTC packet; ticks since */
	uint32_t last_mtc;
};

struct run {
	struct pt_guest_times *times;
	struct pt_decoder reader;
	struct pt_place place, packet_at; /* of the next packet; of the packet */
	struct pt_packet packet;
	struct state_packets state;
	struct crystal crystal;
	enum pt_block block;
	unsigned block_type;
	uint64_t time, tsc;      /* the latest known; of the last TSC packet, the host's */
	uint64_t known_time;     /* the latest that is certainly the host's */
	uint64_t vmcs;           /* 0: unknown */
	bool guest, traced, in_psb;
	bool reliable, same_piece, continuous; /* at the last TSC packet: it is known whose it is; the piece was the same; code was traced since */
	bool said_range, said_vmcs, said_tma;
};

void pt_guest_times_fini(struct pt_guest_times *times)
{
	vec_fini(&times->offsets);
}

struct pt_guest_offset *pt_guest_times_of(struct pt_guest_times *times, uint64_t vmcs, uint64_t ticks)
{
	for (size_t i = 0; i < times->offsets.count; i++)
		if (times->offsets.items[i].vmcs == vmcs)
			return &times->offsets.items[i];
	if ((!vmcs && !ticks) || times->offsets.count == OFFSETS_MAX)
		return NULL;
	vec_push(&times->offsets, ((struct pt_guest_offset){ .vmcs = vmcs, .ticks = ticks, .reliable = ticks != 0 }));
	return &times->offsets.items[times->offsets.count - 1];
}

static void remark(const struct run *r, enum pt_guest_remark kind, uint64_t vmcs, uint64_t ticks)
{
	if (r->times->remark)
		r->times->remark(r->times->context, kind, vmcs, ticks);
}

static void remark_once(const struct run *r, bool *said, enum pt_guest_remark kind)
{
	if (!*said)
		remark(r, kind, 0, 0);
	*said = true;
}

/* The value of the bytes behind the first one of the packet, which may go on in the next piece. */
static void change(struct run *r, uint64_t value, unsigned bytes)
{
	struct pt_place place = r->packet_at;
	for (unsigned i = 0; i <= bytes; i++, place.at++) {
		while (place.piece < r->reader.piece_count && place.at >= r->reader.pieces[place.piece].bytes.len)
			place = (struct pt_place){ .piece = place.piece + 1 };
		if (place.piece == r->reader.piece_count)
			return;
		if (i)
			r->times->change(r->times->context, place.piece, place.at, (uint8_t)(value >> 8 * (i - 1)));
	}
}

static uint64_t ticks_of(const struct run *r, uint64_t crystal)
{
	const struct pt_clock_config *config = &r->reader.config.clock;
	return config->ctc_denominator ? (uint64_t)((unsigned __int128)crystal * config->ctc_numerator / config->ctc_denominator) : 0;
}

static uint64_t piece_end(const struct run *r)
{
	return r->packet_at.piece < r->reader.piece_count ? r->reader.pieces[r->packet_at.piece].near : 0;
}

static bool in_range(const struct run *r, uint64_t time)
{
	return time >= r->known_time && time < piece_end(r);
}

/* What the packets ahead say, up to PSBEND. */
static void read_state(struct run *r)
{
	struct pt_place place = r->place;
	struct pt_packet packet;
	struct state_packets *s = &r->state;
	*s = (struct state_packets){ 0 };
	while (!s->complete && packets_read(&r->reader, &place, PT_BLOCK_NONE, &packet) == PT_READ_PACKET) {
		switch (packet.type) {
		case PT_PACKET_TSC:
			s->tsc = true;
			break;
		case PT_PACKET_TMA:
			s->tma = true;
			s->counter = packet.payload;
			s->fast = packet.extra;
			break;
		case PT_PACKET_PIP:
			s->pip = true;
			s->guest = packet.flag;
			break;
		case PT_PACKET_VMCS:
			s->vmcs = true;
			s->vmcs_base = packet.payload;
			break;
		case PT_PACKET_PSBEND:
			s->complete = true;
			break;
		case PT_PACKET_PAD: case PT_PACKET_MNT: case PT_PACKET_MODE_EXEC: case PT_PACKET_MODE_TSX: case PT_PACKET_MTC: case PT_PACKET_FUP:
		case PT_PACKET_CYC: case PT_PACKET_CBR:
			break;
		default:
			return;
		}
	}
}

/* The same of a TSC packet that is not in PSB+. */
static void read_counter(struct run *r)
{
	struct pt_place place = r->place;
	struct pt_packet packet;
	r->state = (struct state_packets){ .pip = r->traced, .guest = r->guest };
	for (unsigned i = 0; i < TMA_DISTANCE && packets_read(&r->reader, &place, PT_BLOCK_NONE, &packet) == PT_READ_PACKET; i++) {
		if (packet.type == PT_PACKET_CYC || packet.type == PT_PACKET_MTC)
			continue;
		r->state.tma = packet.type == PT_PACKET_TMA;
		r->state.counter = packet.payload;
		r->state.fast = packet.extra;
		return;
	}
}

/* The host's TSC at the TMA packet, which may slip past an MTC packet. */
static uint64_t expected_time(const struct run *r)
{
	const struct crystal *c = &r->crystal;
	uint64_t more = (uint64_t)(int64_t)(int16_t)(uint16_t)(r->state.counter - (c->counter + c->ticks));
	return c->time + ticks_of(r, c->ticks + more) + r->state.fast;
}

static void translate(struct run *r, uint64_t ticks)
{
	r->packet.payload = (r->packet.payload - ticks) & SEVEN_BYTES;
	change(r, r->packet.payload, 7);
}

static void first_time(struct run *r, const struct pt_guest_offset *offset, uint64_t time)
{
	bool guest = r->state.pip ? r->state.guest : !in_range(r, time);
	r->reliable = r->state.pip && (!guest || (offset && offset->ticks));
	if (guest && offset && offset->ticks)
		translate(r, offset->ticks);
	else if (guest)
		remark(r, PT_GUEST_FIRST, 0, 0);
}

/* Whether a TSC packet without a PIP packet is taken for the host's. */
static bool seems_host(const struct run *r, const struct pt_guest_offset *offset, uint64_t time, uint64_t expected)
{
	uint64_t ticks = time - expected;
	if (r->in_psb && !ticks)
		return true;
	if (r->in_psb && offset && (ticks & SEVEN_BYTES) == (offset->ticks & SEVEN_BYTES))
		return false;
	return time >= expected && in_range(r, time);
}

/* As packets have 56 bits, the upper ones are those of the sign. */
static uint64_t difference(uint64_t time, uint64_t expected)
{
	return (uint64_t)((int64_t)((time - expected) << 8) >> 8);
}

/* In PSB+, whose time is that of the packets before it, the difference is the offset. */
static void learn(struct run *r, struct pt_guest_offset *offset, uint64_t ticks)
{
	if (!offset->vmcs || (offset->ticks && offset->reliable) || !r->in_psb || !r->state.pip || !r->same_piece)
		return;
	bool found = offset->ticks != ticks;
	offset->reliable = r->reliable && r->continuous;
	offset->ticks = ticks;
	if (found)
		remark(r, PT_GUEST_OFFSET, offset->vmcs, ticks);
}

static void translate_guest(struct run *r, struct pt_guest_offset *offset, uint64_t ticks)
{
	bool certain = r->state.pip;
	if (offset)
		learn(r, offset, ticks);
	if (offset && offset->ticks) {
		r->reliable = certain && offset->reliable;
		translate(r, offset->ticks);
		return;
	}
	if (!offset)
		remark_once(r, &r->said_vmcs, PT_GUEST_NO_VMCS);
	else if (!offset->reported)
		remark(r, PT_GUEST_NO_OFFSET, offset->vmcs, 0);
	if (offset)
		offset->reported = true;
	r->reliable = false;
	translate(r, ticks);
}

static void correct(struct run *r)
{
	if (!r->in_psb)
		read_counter(r);
	if (!r->state.tma) {
		remark_once(r, &r->said_tma, PT_GUEST_NO_TMA);
		return;
	}
	struct pt_guest_offset *offset = pt_guest_times_of(r->times, r->state.vmcs ? r->state.vmcs_base : r->vmcs, r->times->usual);
	uint64_t time = pt_clock_extend(r->packet.payload, r->time ? r->time : piece_end(r));
	if (!r->crystal.known) {
		first_time(r, offset, time);
		return;
	}
	uint64_t expected = expected_time(r);
	if (r->state.pip && !r->state.guest) {
		r->known_time = time;
		r->reliable = true;
	} else if (!r->state.pip && seems_host(r, offset, time, expected)) {
		r->reliable = r->reliable && time == expected;
	} else {
		translate_guest(r, offset, difference(time, expected));
	}
}

static void take_time(struct run *r)
{
	correct(r);
	r->tsc = pt_clock_extend(r->packet.payload, r->time ? r->time : piece_end(r));
	r->crystal.counting = false;
	if (r->time && !in_range(r, r->tsc))
		remark_once(r, &r->said_range, PT_GUEST_RANGE);
	r->time = r->tsc > r->time ? r->tsc : r->time;
	r->same_piece = true;
	r->continuous = r->traced;
}

static void take_counter(struct run *r)
{
	unsigned shift = r->reader.config.clock.mtc_shift;
	uint64_t rest = r->packet.payload & ((1ull << shift) - 1);
	if (!r->tsc)
		return;
	r->crystal = (struct crystal){ .known = true, .counting = true, .time = r->tsc - r->packet.extra - ticks_of(r, rest),
		.counter = r->packet.payload - rest, .last_mtc = (uint32_t)(r->packet.payload >> shift) & 0xff };
}

static void take_tick(struct run *r)
{
	struct crystal *c = &r->crystal;
	if (!c->counting)
		return;
	uint32_t mtc = (uint32_t)r->packet.payload & 0xff, more = mtc > c->last_mtc ? mtc - c->last_mtc : mtc + 256 - c->last_mtc;
	c->ticks += (uint64_t)more << r->reader.config.clock.mtc_shift;
	c->last_mtc = mtc;
	uint64_t time = c->time + ticks_of(r, c->ticks);
	r->time = time > r->time ? time : r->time;
}

/* A PEBS record has eight bytes of the TSC. */
static void correct_block_item(struct run *r)
{
	if (r->block_type != PT_BLOCKS_BASIC || r->packet.extra != PEBS_TIME_ITEM || r->packet.bits != 8)
		return;
	if (r->traced ? !r->guest : in_range(r, r->packet.payload))
		return;
	const struct pt_guest_offset *offset = pt_guest_times_of(r->times, r->vmcs, r->times->usual);
	if (!offset)
		remark_once(r, &r->said_vmcs, PT_GUEST_NO_VMCS);
	uint64_t time = offset ? pt_clock_extend(((r->packet.payload & SEVEN_BYTES) - offset->ticks) & SEVEN_BYTES, r->time) : r->time;
	change(r, time, 8);
}

/* Whether code is traced behind an overflow: its FUP follows. */
static bool goes_on(const struct run *r)
{
	struct pt_place place = r->place;
	struct pt_packet packet;
	for (unsigned i = 0; i < TMA_DISTANCE && packets_read(&r->reader, &place, PT_BLOCK_NONE, &packet) == PT_READ_PACKET; i++)
		if (packet.type != PT_PACKET_CYC && packet.type != PT_PACKET_MTC && packet.type != PT_PACKET_TSC)
			return packet.type == PT_PACKET_FUP;
	return false;
}

static void set_traced(struct run *r, bool traced)
{
	r->traced = traced;
	r->continuous &= traced;
}

static void take_block_packet(struct run *r)
{
	switch (r->packet.type) {
	case PT_PACKET_BBP:
		r->block = r->packet.flag ? PT_BLOCK_4 : PT_BLOCK_8;
		r->block_type = (unsigned)r->packet.payload;
		break;
	case PT_PACKET_BIP:
		correct_block_item(r);
		break;
	case PT_PACKET_BEP:
		r->block = PT_BLOCK_NONE;
		break;
	default:
		break;
	}
}

static void apply_packet(struct run *r)
{
	switch (r->packet.type) {
	case PT_PACKET_TIP_PGD:
		set_traced(r, false);
		break;
	case PT_PACKET_TRACE_STOP:
		set_traced(r, false);
		r->crystal.counting = false;
		break;
	case PT_PACKET_TNT: case PT_PACKET_TIP: case PT_PACKET_TIP_PGE:
		r->traced = true;
		break;
	case PT_PACKET_OVF:
		r->in_psb = false;
		set_traced(r, goes_on(r));
		break;
	case PT_PACKET_FUP:
		r->traced |= r->in_psb;
		break;
	case PT_PACKET_PSB:
		r->block = PT_BLOCK_NONE;
		read_state(r);
		r->in_psb = r->state.complete;
		break;
	case PT_PACKET_PSBEND:
		r->in_psb = false;
		break;
	case PT_PACKET_PIP:
		r->guest = r->packet.flag;
		break;
	case PT_PACKET_VMCS:
		r->vmcs = r->packet.payload;
		break;
	case PT_PACKET_TSC:
		take_time(r);
		break;
	case PT_PACKET_TMA:
		take_counter(r);
		break;
	case PT_PACKET_MTC:
		take_tick(r);
		break;
	default:
		take_block_packet(r);
		break;
	}
}

void pt_guest_times_run(struct pt_guest_times *times, const struct pt_config *config, const struct pt_piece *pieces, size_t count)
{
	struct run *r = memory_zero(1, sizeof *r);
	r->times = times;
	r->known_time = times->from;
	pt_decoder_init(&r->reader, config, pieces, count);
	bool more = packets_find_psb(&r->reader, &r->place);
	while (more) {
		r->packet_at = r->place;
		enum pt_read read = packets_read(&r->reader, &r->place, r->block, &r->packet);
		if (r->place.piece != r->packet_at.piece && r->place.piece < count && !pieces[r->place.piece].follows)
			r->same_piece = false;
		if (read == PT_READ_PACKET)
			apply_packet(r);
		else
			more = read == PT_READ_GAP && packets_skip_gap(&r->reader, &r->place) && packets_find_psb(&r->reader, &r->place);
	}
	free(r);
}
