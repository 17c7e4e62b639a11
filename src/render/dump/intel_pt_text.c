#include "render/dump/intel_pt_text.h"

#include <inttypes.h>

#include "decode/intel_pt/packet.h"

static const char *const names[PT_PACKET_TYPES] = {
	[PT_PACKET_BAD] = "Bad packet!", [PT_PACKET_PAD] = "PAD", [PT_PACKET_TNT] = "TNT", [PT_PACKET_TIP] = "TIP",
	[PT_PACKET_TIP_PGE] = "TIP.PGE", [PT_PACKET_TIP_PGD] = "TIP.PGD", [PT_PACKET_FUP] = "FUP", [PT_PACKET_TSC] = "TSC",
	[PT_PACKET_TMA] = "TMA", [PT_PACKET_MTC] = "MTC", [PT_PACKET_CYC] = "CYC", [PT_PACKET_CBR] = "CBR",
	[PT_PACKET_MODE_EXEC] = "MODE.Exec", [PT_PACKET_MODE_TSX] = "MODE.TSX", [PT_PACKET_PIP] = "PIP", [PT_PACKET_VMCS] = "VMCS",
	[PT_PACKET_OVF] = "OVF", [PT_PACKET_PSB] = "PSB", [PT_PACKET_PSBEND] = "PSBEND", [PT_PACKET_TRACE_STOP] = "TraceSTOP",
	[PT_PACKET_MNT] = "MNT", [PT_PACKET_PTWRITE] = "PTWRITE", [PT_PACKET_EXSTOP] = "EXSTOP", [PT_PACKET_MWAIT] = "MWAIT",
	[PT_PACKET_PWRE] = "PWRE", [PT_PACKET_PWRX] = "PWRX", [PT_PACKET_BBP] = "BBP", [PT_PACKET_BIP] = "BIP", [PT_PACKET_BEP] = "BEP",
	[PT_PACKET_CFE] = "CFE", [PT_PACKET_EVD] = "EVD", [PT_PACKET_TRIGGER] = "TRIG",
};

static unsigned bits(uint64_t word, unsigned from, unsigned count)
{
	return (unsigned)(word >> from) & ((1u << count) - 1);
}

static void branches(const struct pt_packet *packet, struct writer *out)
{
	for (unsigned i = packet->bits; i-- > 0;)
		writer_putc(out, packet->payload >> i & 1 ? 'T' : 'N');
	writer_printf(out, " (%u)", packet->bits);
}

static void address(const struct pt_packet *packet, struct writer *out)
{
	if (packet->bits)
		writer_printf(out, "0x%" PRIx64, packet->payload);
	else
		writer_puts(out, "no ip");
}

/* The text after the name and a space; false: absent. */
static bool values(const struct pt_packet *packet, struct writer *out)
{
	uint64_t value = packet->payload;
	switch (packet->type) {
	case PT_PACKET_TSC: case PT_PACKET_MTC: case PT_PACKET_CYC: case PT_PACKET_CBR: case PT_PACKET_VMCS: case PT_PACKET_MNT:
		writer_printf(out, "0x%" PRIx64, value);
		return true;
	case PT_PACKET_TMA:
		writer_printf(out, "CTC 0x%x FC 0x%x", (unsigned)value, packet->extra);
		return true;
	case PT_PACKET_MODE_EXEC:
		writer_printf(out, "IF:%u %u", packet->flag, (unsigned)value);
		return true;
	case PT_PACKET_MODE_TSX:
		writer_printf(out, "TXAbort:%u InTX:%u", bits(value, 1, 1), bits(value, 0, 1));
		return true;
	case PT_PACKET_PIP:
		writer_printf(out, "0x%" PRIx64 " (NR=%u)", value, packet->flag);
		return true;
	case PT_PACKET_PTWRITE:
		writer_printf(out, "0x%" PRIx64 " IP:%u", value, packet->flag);
		return true;
	case PT_PACKET_BEP: case PT_PACKET_EXSTOP:
		writer_printf(out, "IP:%u", packet->flag);
		return true;
	case PT_PACKET_MWAIT:
		writer_printf(out, "0x%" PRIx64 " Hints 0x%x Extensions 0x%x", value, bits(value, 0, 8), bits(value, 32, 2));
		return true;
	case PT_PACKET_PWRE:
		writer_printf(out, "0x%" PRIx64 " HW:%u CState:%u Sub-CState:%u", value, bits(value, 7, 1), bits(value, 12, 4), bits(value, 8, 4));
		return true;
	case PT_PACKET_PWRX:
		writer_printf(out, "0x%" PRIx64 " Last CState:%u Deepest CState:%u Wake Reason 0x%x", value, bits(value, 4, 4), bits(value, 0, 4),
			bits(value, 8, 4));
		return true;
	case PT_PACKET_BBP:
		writer_printf(out, "SZ %s-byte Type 0x%" PRIx64, packet->flag ? "4" : "8", value);
		return true;
	case PT_PACKET_BIP:
		writer_printf(out, "ID 0x%02x Value 0x%" PRIx64, packet->extra, value);
		return true;
	case PT_PACKET_CFE:
		writer_printf(out, "IP:%u Type 0x%02x Vector 0x%x", packet->flag, (unsigned)value, packet->extra);
		return true;
	case PT_PACKET_EVD:
		writer_printf(out, "Type 0x%02x Payload 0x%" PRIx64, packet->extra, value);
		return true;
	case PT_PACKET_TRIGGER:
		writer_printf(out, "IP:%u MULT:%u TRBV 0x%02x", packet->flag, bits(value, 8, 1), bits(value, 0, 8));
		if (packet->extra)
			writer_printf(out, " ICNT 0x%x", packet->extra & 0xffff);
		return true;
	default:
		return false;
	}
}

static bool has_values(uint8_t type)
{
	return type != PT_PACKET_BAD && type != PT_PACKET_PAD && type != PT_PACKET_OVF && type != PT_PACKET_PSB && type != PT_PACKET_PSBEND &&
		type != PT_PACKET_TRACE_STOP;
}

static void packet_line(const struct pt_packet *packet, const uint8_t *bytes, size_t at, size_t size, struct writer *out)
{
	writer_printf(out, ".  %08zx: ", at);
	for (size_t i = 0; i < PT_PACKET_SIZE_MAX; i++) {
		if (i < size)
			writer_printf(out, " %02x", bytes[i]);
		else
			writer_puts(out, "   ");
	}
	writer_putc(out, ' ');
	writer_puts(out, names[packet->type]);
	if (has_values(packet->type))
		writer_putc(out, ' ');
	if (packet->type == PT_PACKET_TNT)
		branches(packet, out);
	else if (packet->type >= PT_PACKET_TIP && packet->type <= PT_PACKET_FUP)
		address(packet, out);
	else
		values(packet, out);
	writer_putc(out, '\n');
}

enum { PADDED_SIZE_MAX = 8 };

void intel_pt_text(struct span trace, struct writer *out)
{
	enum pt_block block = PT_BLOCK_NONE;
	writer_printf(out, ".\n. ... Intel Processor Trace data: size %zu bytes\n", trace.len);
	for (size_t at = 0, size; at < trace.len; at += size) {
		struct pt_packet packet;
		size = pt_packet_decode(trace.data + at, trace.len - at, block, &packet);
		if (!size) {
			size = 1;
			packet = (struct pt_packet){ .type = PT_PACKET_BAD };
		}
		if (packet.type == PT_PACKET_BBP)
			block = packet.flag ? PT_BLOCK_4 : PT_BLOCK_8;
		else if (packet.type != PT_PACKET_BIP && packet.type != PT_PACKET_PAD)
			block = PT_BLOCK_NONE;
		/* a line has the padding behind its packet, too */
		while (size < PADDED_SIZE_MAX && at + size < trace.len && !trace.data[at + size])
			size++;
		packet_line(&packet, trace.data + at, at, size, out);
	}
}
