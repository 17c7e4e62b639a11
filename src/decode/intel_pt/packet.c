#include "decode/intel_pt/packet.h"

#include <string.h>

static uint64_t little(const uint8_t *bytes, size_t len)
{
	uint64_t value = 0;
	for (size_t i = len; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

static size_t packet_bad(struct pt_packet *packet)
{
	*packet = (struct pt_packet){ .type = PT_PACKET_BAD, .size = 1 };
	return 1;
}

static size_t packet_tnt(struct pt_packet *packet, uint64_t payload, size_t size)
{
	if (!payload)
		return packet_bad(packet);
	unsigned stop = 63 - (unsigned)__builtin_clzll(payload);
	if (!stop && size == 8)
		return packet_bad(packet);
	*packet = (struct pt_packet){ .type = PT_PACKET_TNT, .size = size, .bits = stop, .payload = payload & ((1ull << stop) - 1) };
	return size;
}

static size_t packet_address(const uint8_t *bytes, size_t len, enum pt_packet_type type, struct pt_packet *packet)
{
	static const uint8_t sizes[8] = { 0, 2, 4, 6, 6, 0, 8, 0 };
	unsigned compression = bytes[0] >> 5;
	if (compression == 5 || compression == 7)
		return packet_bad(packet);
	size_t size = 1 + sizes[compression];
	if (len < size)
		return 0;
	*packet = (struct pt_packet){ .type = type, .size = size, .bits = compression, .payload = little(bytes + 1, size - 1) };
	return size;
}

static size_t packet_cyc(const uint8_t *bytes, size_t len, struct pt_packet *packet)
{
	uint64_t payload = bytes[0] >> 3;
	unsigned shift = 5;
	size_t size = 1;
	for (bool more = bytes[0] & 4; more; size++, shift += 7) {
		if (size == len)
			return 0;
		uint64_t part = bytes[size] >> 1;
		if (shift >= 64 || part << shift >> shift != part)
			return packet_bad(packet);
		payload |= part << shift;
		more = bytes[size] & 1;
	}
	*packet = (struct pt_packet){ .type = PT_PACKET_CYC, .size = size, .bits = size, .payload = payload };
	return size;
}

static size_t packet_mode(const uint8_t *bytes, size_t len, struct pt_packet *packet)
{
	if (len < 2)
		return 0;
	*packet = (struct pt_packet){ .size = 2 };
	unsigned leaf = bytes[1] >> 5, bits = bytes[1] & 31;
	if (leaf == 0) {
		static const uint8_t modes[4] = { 16, 64, 32, 0 };
		packet->type = PT_PACKET_MODE_EXEC;
		packet->payload = modes[bits & 3];
		packet->flag = bits >> 2 & 1;
		return packet->payload ? 2 : packet_bad(packet);
	}
	if (leaf == 1) {
		packet->type = PT_PACKET_MODE_TSX;
		packet->payload = bits & 3;
		return packet->payload != 3 ? 2 : packet_bad(packet);
	}
	return packet_bad(packet);
}

/* Packets whose first byte is 02h, by their second byte. */
static const struct { uint8_t type, size; } extended[256] = {
	[0x03] = { PT_PACKET_CBR, 4 }, [0x12] = { PT_PACKET_PTWRITE, 6 }, [0x13] = { PT_PACKET_CFE, 4 }, [0x22] = { PT_PACKET_PWRE, 4 },
	[0x23] = { PT_PACKET_PSBEND, 2 }, [0x32] = { PT_PACKET_PTWRITE, 10 }, [0x33] = { PT_PACKET_BEP, 2 }, [0x43] = { PT_PACKET_PIP, 8 },
	[0x53] = { PT_PACKET_EVD, 11 }, [0x62] = { PT_PACKET_EXSTOP, 2 }, [0x63] = { PT_PACKET_BBP, 3 }, [0x73] = { PT_PACKET_TMA, 7 },
	[0x82] = { PT_PACKET_PSB, PT_PSB_SIZE }, [0x83] = { PT_PACKET_TRACE_STOP, 2 }, [0x92] = { PT_PACKET_PTWRITE, 6 },
	[0xa2] = { PT_PACKET_PWRX, 7 }, [0xa3] = { PT_PACKET_TNT, 8 }, [0xb2] = { PT_PACKET_PTWRITE, 10 }, [0xb3] = { PT_PACKET_BEP, 2 },
	[0xc2] = { PT_PACKET_MWAIT, 10 }, [0xc3] = { PT_PACKET_MNT, 11 }, [0xc8] = { PT_PACKET_VMCS, 7 }, [0xe2] = { PT_PACKET_EXSTOP, 2 },
	[0xf3] = { PT_PACKET_OVF, 2 },
};

static const uint8_t psb[PT_PSB_SIZE] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

static size_t packet_extended(const uint8_t *bytes, size_t len, struct pt_packet *packet)
{
	if (len < 2)
		return 0;
	size_t size = extended[bytes[1]].size;
	if (!size)
		return packet_bad(packet);
	if (len < size)
		return 0;
	const uint8_t *body = bytes + 2;
	*packet = (struct pt_packet){ .type = extended[bytes[1]].type, .size = size, .flag = bytes[1] >> 7 };
	switch (packet->type) {
	case PT_PACKET_TNT:
		return packet_tnt(packet, little(body, 6), size);
	case PT_PACKET_CBR:
		packet->payload = body[0];
		break;
	case PT_PACKET_CFE:
		packet->flag = body[0] >> 7;
		packet->payload = body[0] & 31;
		packet->extra = body[1];
		break;
	case PT_PACKET_EVD:
		packet->extra = body[0] & 63;
		packet->payload = little(body + 1, 8);
		break;
	case PT_PACKET_BBP:
		packet->flag = body[0] >> 7;
		packet->payload = body[0] & 31;
		break;
	case PT_PACKET_TMA:
		packet->payload = little(body, 2);
		packet->extra = body[3] | (body[4] & 1u) << 8;
		break;
	case PT_PACKET_PIP:
		packet->payload = little(body, 6);
		packet->flag = packet->payload & 1;
		packet->payload >>= 1;
		break;
	case PT_PACKET_MNT:
		if (body[0] != 0x88)
			return packet_bad(packet);
		packet->payload = little(body + 1, 8);
		break;
	case PT_PACKET_PSB:
		if (memcmp(bytes, psb, sizeof psb) != 0)
			return packet_bad(packet);
		break;
	default:
		packet->payload = little(body, size - 2);
	}
	return size;
}

static size_t packet_block_item(const uint8_t *bytes, size_t len, enum pt_block block, struct pt_packet *packet)
{
	size_t size = block == PT_BLOCK_4 ? 5 : 9;
	if (len < size)
		return 0;
	*packet = (struct pt_packet){ .type = PT_PACKET_BIP, .size = size, .bits = size - 1, .extra = bytes[0] >> 3,
		.payload = little(bytes + 1, size - 1) };
	return size;
}

static size_t packet_fixed(const uint8_t *bytes, size_t len, enum pt_packet_type type, size_t size, struct pt_packet *packet)
{
	if (len < size)
		return 0;
	*packet = (struct pt_packet){ .type = type, .size = size, .payload = little(bytes + 1, size - 1) };
	return size;
}

static size_t packet_trigger(const uint8_t *bytes, size_t len, struct pt_packet *packet)
{
	enum { COUNT_KNOWN = 1 << 6, SEVERAL = 1 << 5 };
	size_t size = len > 1 && bytes[1] & COUNT_KNOWN ? 5 : 3;
	if (len < size)
		return 0;
	*packet = (struct pt_packet){ .type = PT_PACKET_TRIGGER, .size = size, .flag = bytes[1] >> 7,
		.payload = bytes[2] | (bytes[1] & SEVERAL ? 1u << 8 : 0), .extra = size == 5 ? (uint32_t)little(bytes + 3, 2) | 1u << 31 : 0 };
	return size;
}

size_t pt_packet_decode(const uint8_t *bytes, size_t len, enum pt_block block, struct pt_packet *packet)
{
	if (!len)
		return 0;
	uint8_t first = bytes[0];
	if (block != PT_BLOCK_NONE && (first & 7) == 4)
		return packet_block_item(bytes, len, block, packet);
	if (!(first & 1)) {
		if (first == 2)
			return packet_extended(bytes, len, packet);
		return first ? packet_tnt(packet, first >> 1, 1) : packet_fixed(bytes, len, PT_PACKET_PAD, 1, packet);
	}
	if ((first & 3) == 3)
		return packet_cyc(bytes, len, packet);
	switch (first & 31) {
	case 0x01:
		return packet_address(bytes, len, PT_PACKET_TIP_PGD, packet);
	case 0x0d:
		return packet_address(bytes, len, PT_PACKET_TIP, packet);
	case 0x11:
		return packet_address(bytes, len, PT_PACKET_TIP_PGE, packet);
	case 0x1d:
		return packet_address(bytes, len, PT_PACKET_FUP, packet);
	case 0x19:
		if (first == 0x99)
			return packet_mode(bytes, len, packet);
		if (first == 0x19)
			return packet_fixed(bytes, len, PT_PACKET_TSC, 8, packet);
		if (first == 0xd9)
			return packet_trigger(bytes, len, packet);
		return first == 0x59 ? packet_fixed(bytes, len, PT_PACKET_MTC, 2, packet) : packet_bad(packet);
	default:
		return packet_bad(packet);
	}
}

size_t pt_packet_find_psb(const uint8_t *bytes, size_t len, size_t from)
{
	if (from > len)
		return len;
	const uint8_t *found = memmem(bytes + from, len - from, psb, sizeof psb);
	return found ? (size_t)(found - bytes) : len;
}

bool pt_address_take(struct pt_address *address, const struct pt_packet *packet, uint64_t *ip)
{
	*ip = 0;
	if (!address->known && packet->bits != 3 && packet->bits != 6)
		return false;
	switch (packet->bits) {
	case 1:
		address->last = (address->last & ~0xffffull) | packet->payload;
		break;
	case 2:
		address->last = (address->last & ~0xffffffffull) | packet->payload;
		break;
	case 3:
		address->last = (uint64_t)((int64_t)(packet->payload << 16) >> 16);
		break;
	case 4:
		address->last = (address->last & ~0xffffffffffffull) | packet->payload;
		break;
	case 6:
		address->last = packet->payload;
		break;
	default:
		return false;
	}
	address->known = true;
	*ip = address->last;
	return true;
}
