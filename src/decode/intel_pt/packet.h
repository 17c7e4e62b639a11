/* Packets of Intel Processor Trace: bytes → type, size, payload. Source: Intel SDM vol. 3, "Intel Processor Trace", section "Trace Packets
 * and Data Types". Pure. Knows no order of packets except that of one group: inside a block (BBP … BEP) the bytes of short TNT packets that
 * end in 100b are BIP packets. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pt_packet_type {
	PT_PACKET_BAD, PT_PACKET_PAD, PT_PACKET_TNT, PT_PACKET_TIP, PT_PACKET_TIP_PGE, PT_PACKET_TIP_PGD, PT_PACKET_FUP, PT_PACKET_TSC,
	PT_PACKET_TMA, PT_PACKET_MTC, PT_PACKET_CYC, PT_PACKET_CBR, PT_PACKET_MODE_EXEC, PT_PACKET_MODE_TSX, PT_PACKET_PIP,
	PT_PACKET_VMCS, PT_PACKET_OVF, PT_PACKET_PSB, PT_PACKET_PSBEND, PT_PACKET_TRACE_STOP, PT_PACKET_MNT, PT_PACKET_PTWRITE,
	PT_PACKET_EXSTOP, PT_PACKET_MWAIT, PT_PACKET_PWRE, PT_PACKET_PWRX, PT_PACKET_BBP, PT_PACKET_BIP, PT_PACKET_BEP, PT_PACKET_CFE,
	PT_PACKET_EVD, PT_PACKET_TRIGGER, PT_PACKET_TYPES,
};

struct pt_packet {
	uint8_t type;     /* enum pt_packet_type */
	uint8_t size;     /* bytes; of BAD: 1 */
	uint8_t bits;     /* TNT: number of bits; addresses: IPBytes (0: no address); CYC, BIP: bytes of payload */
	uint8_t flag;     /* the packet's IP bit (PTWRITE, EXSTOP, BEP, CFE, TRIGGER), NR bit (PIP), IF bit (MODE_EXEC),
	                   * SZ bit (BBP) */
	uint32_t extra;   /* TMA: fast counter; MWAIT: extensions; BIP: id; CFE: vector; EVD: type; PWRX: reason; BBP: type;
	                   * TRIGGER: number of instructions since the trigger, bit 31: it is known */
	/* TNT: the first branch is the most significant of `bits` bits. Addresses: as stored, not yet combined with the last one. TSC: 56 bits.
	 * MODE_EXEC: 16, 32 or 64. MODE_TSX: bit 0 InTX, bit 1 TXAbort. PIP: CR3 >> 5. VMCS: base >> 12.
	 * TRIGGER: a bit for each trigger; bit 8: several times. */
	uint64_t payload;
};

enum { PT_PACKET_SIZE_MAX = 16, PT_PSB_SIZE = 16 };

/* The meaning of bytes that end in 100b. */
enum pt_block { PT_BLOCK_NONE, PT_BLOCK_4, PT_BLOCK_8 };

/* Decodes the packet at bytes[0, len). Returns its size; 0: the packet is longer than len; BAD packets have size 1. */
size_t pt_packet_decode(const uint8_t *bytes, size_t len, enum pt_block block, struct pt_packet *packet);
/* Offset of the first PSB in bytes at or after `from`; len if the bytes have no PSB. */
size_t pt_packet_find_psb(const uint8_t *bytes, size_t len, size_t from);

/* The last address of a trace, of which the next packet with an address holds the lower bytes that differ. */
struct pt_address {
	uint64_t last;
	bool known;              /* otherwise only whole addresses are taken */
};

/* The address of a packet (TIP, TIP_PGE, TIP_PGD, FUP); false, *ip 0: it holds none. */
bool pt_address_take(struct pt_address *address, const struct pt_packet *packet, uint64_t *ip);
