#include "decode/intel_pt/packet.h"
#include "unit.h"

#include <string.h>

static struct pt_packet decoded(const char *bytes, size_t len)
{
	struct pt_packet packet = { 0 };
	EXPECT_INT(pt_packet_decode((const uint8_t *)bytes, len, PT_BLOCK_NONE, &packet), len);
	return packet;
}
#define DECODED(text) decoded(text, sizeof(text) - 1)

static void expect(struct pt_packet packet, enum pt_packet_type type, uint64_t payload)
{
	EXPECT_INT(packet.type, type);
	EXPECT_INT(packet.payload, payload);
}

TEST("a short TNT packet holds up to six branches, the first in the highest bit")
{
	struct pt_packet packet = DECODED("\xa8"); /* 1 010100 0 */
	expect(packet, PT_PACKET_TNT, 0x14);
	EXPECT_INT(packet.bits, 6);
	packet = DECODED("\x06");
	expect(packet, PT_PACKET_TNT, 1);
	EXPECT_INT(packet.bits, 1);
}

TEST("a long TNT packet holds up to 47 branches")
{
	struct pt_packet packet = DECODED("\x02\xa3\x05\0\0\0\0\x80");
	expect(packet, PT_PACKET_TNT, 5);
	EXPECT_INT(packet.bits, 47);
	packet = DECODED("\x02\xa3\x05\0\0\0\0\0");
	expect(packet, PT_PACKET_TNT, 1);
	EXPECT_INT(packet.bits, 2);
}

TEST("addresses have 0, 2, 4, 6 or 8 bytes")
{
	struct pt_packet packet = DECODED("\x0d");
	EXPECT_INT(packet.type, PT_PACKET_TIP);
	EXPECT_INT(packet.bits, 0);
	expect(DECODED("\x31\xe8\x01"), PT_PACKET_TIP_PGE, 0x1e8);
	expect(DECODED("\x41\x01\x02\x03\x04"), PT_PACKET_TIP_PGD, 0x04030201);
	expect(DECODED("\x7d\x01\x02\x03\x04\x05\x06"), PT_PACKET_FUP, 0x060504030201);
	expect(DECODED("\xcd\x01\x02\x03\x04\x05\x06\x07\x08"), PT_PACKET_TIP, 0x0807060504030201);
	expect((struct pt_packet){ 0 }, PT_PACKET_BAD, 0);
}

TEST("packets of time")
{
	expect(DECODED("\x19\x01\x02\x03\x04\x05\x06\x07"), PT_PACKET_TSC, 0x07060504030201);
	expect(DECODED("\x59\x0b"), PT_PACKET_MTC, 0x0b);
	struct pt_packet packet = DECODED("\x02\x73\x51\xd0\x00\x19\x01");
	expect(packet, PT_PACKET_TMA, 0xd051);
	EXPECT_INT(packet.extra, 0x119);
	expect(DECODED("\x02\x03\x2b\x00"), PT_PACKET_CBR, 0x2b);
	expect(DECODED("\x5b"), PT_PACKET_CYC, 0xb);
	expect(DECODED("\x37\x4c"), PT_PACKET_CYC, 0x4c6);
	expect(DECODED("\x07\x03\x02"), PT_PACKET_CYC, 1 << 5 | 1 << 12);
}

TEST("packets of mode, events and values")
{
	struct pt_packet packet = DECODED("\x99\x01");
	expect(packet, PT_PACKET_MODE_EXEC, 64);
	EXPECT_INT(packet.flag, 0);
	expect(DECODED("\x99\x06"), PT_PACKET_MODE_EXEC, 32);
	expect(DECODED("\x99\x22"), PT_PACKET_MODE_TSX, 2);
	packet = DECODED("\x02\x43\x03\x02\0\0\0\0");
	expect(packet, PT_PACKET_PIP, 0x101);
	EXPECT_INT(packet.flag, 1);
	packet = DECODED("\x02\xb2\x01\0\0\0\0\0\0\x80");
	expect(packet, PT_PACKET_PTWRITE, 0x8000000000000001);
	EXPECT_INT(packet.flag, 1);
	expect(DECODED("\x02\x12\x07\0\0\0"), PT_PACKET_PTWRITE, 7);
	packet = DECODED("\x02\x13\x81\x0e");
	expect(packet, PT_PACKET_CFE, 1);
	EXPECT_INT(packet.flag, 1);
	EXPECT_INT(packet.extra, 14);
	EXPECT_INT(DECODED("\x02\xf3").type, PT_PACKET_OVF);
}

TEST("a trigger packet has a count of instructions where its bit says so")
{
	struct pt_packet packet;
	EXPECT_INT(pt_packet_decode((const uint8_t *)"\xd9\x80\x05", 3, PT_BLOCK_NONE, &packet), 3);
	EXPECT_INT(packet.type, PT_PACKET_TRIGGER);
	EXPECT_INT(packet.flag, 1);
	EXPECT_INT(packet.payload, 5);
	EXPECT_INT(packet.extra, 0);
	EXPECT_INT(pt_packet_decode((const uint8_t *)"\xd9\x60\x01\x07\x01", 5, PT_BLOCK_NONE, &packet), 5);
	EXPECT_INT(packet.flag, 0);
	EXPECT_INT(packet.payload, 0x101);
	EXPECT_INT(packet.extra, 1u << 31 | 0x107);
	EXPECT_INT(pt_packet_decode((const uint8_t *)"\xd9\x60\x01\x07", 4, PT_BLOCK_NONE, &packet), 0);
	EXPECT_INT(pt_packet_decode((const uint8_t *)"\xd9", 1, PT_BLOCK_NONE, &packet), 0);
}

TEST("block items exist only inside a block")
{
	const uint8_t bytes[9] = { 0x0c, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct pt_packet packet;
	EXPECT_INT(pt_packet_decode(bytes, sizeof bytes, PT_BLOCK_8, &packet), 9);
	expect(packet, PT_PACKET_BIP, 0x0807060504030201);
	EXPECT_INT(packet.extra, 1);
	EXPECT_INT(pt_packet_decode(bytes, sizeof bytes, PT_BLOCK_4, &packet), 5);
	EXPECT_INT(pt_packet_decode(bytes, 4, PT_BLOCK_4, &packet), 0);
	EXPECT_INT(pt_packet_decode(bytes, sizeof bytes, PT_BLOCK_NONE, &packet), 1);
	EXPECT_INT(packet.type, PT_PACKET_TNT);
}

TEST("a packet that is cut has size 0; bytes that are no packet have size 1")
{
	struct pt_packet packet;
	EXPECT_INT(pt_packet_decode((const uint8_t *)"\x19\1\2\3", 4, PT_BLOCK_NONE, &packet), 0);
	EXPECT_INT(pt_packet_decode((const uint8_t *)"\x02", 1, PT_BLOCK_NONE, &packet), 0);
	EXPECT_INT(pt_packet_decode((const uint8_t *)"\x37", 1, PT_BLOCK_NONE, &packet), 0);
	expect(DECODED("\xad"), PT_PACKET_BAD, 0); /* a TIP of compression 5 */
	EXPECT_INT(pt_packet_decode((const uint8_t *)"\x02\x99\0", 3, PT_BLOCK_NONE, &packet), 1);
	EXPECT_INT(packet.type, PT_PACKET_BAD);
}

TEST("PSB is sixteen bytes, and is found at any offset")
{
	uint8_t bytes[40] = { 0 };
	struct pt_packet packet;
	for (size_t i = 0; i < PT_PSB_SIZE; i += 2)
		memcpy(bytes + 7 + i, "\x02\x82", 2);
	EXPECT_INT(pt_packet_find_psb(bytes, sizeof bytes, 0), 7);
	EXPECT_INT(pt_packet_find_psb(bytes, sizeof bytes, 8), sizeof bytes);
	EXPECT_INT(pt_packet_find_psb(bytes, 22, 0), 22);
	EXPECT_INT(pt_packet_decode(bytes + 7, 16, PT_BLOCK_NONE, &packet), 16);
	EXPECT_INT(packet.type, PT_PACKET_PSB);
	bytes[9] = 3;
	EXPECT_INT(pt_packet_decode(bytes + 7, 16, PT_BLOCK_NONE, &packet), 1);
	EXPECT_INT(packet.type, PT_PACKET_BAD);
}
