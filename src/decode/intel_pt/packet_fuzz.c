#include "decode/intel_pt/packet.h"

#include <stdlib.h>

#include "abi/record.h"
#include "decode/intel_pt/info.h"
#include "decode/intel_pt/overlap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_packets(const uint8_t *data, size_t size, enum pt_block block)
{
	struct pt_address address = { 0 };
	for (size_t at = 0, step; at < size; at += step) {
		struct pt_packet packet = { 0 };
		uint64_t ip;
		step = pt_packet_decode(data + at, size - at, block, &packet);
		if (!step)
			break;
		if (step > size - at || step > PT_PACKET_SIZE_MAX || packet.size != step || packet.type >= PT_PACKET_TYPES)
			abort();
		if (packet.type == PT_PACKET_TNT && (packet.bits > 47 || packet.payload >> packet.bits))
			abort();
		if (packet.type == PT_PACKET_TIP || packet.type == PT_PACKET_FUP)
			pt_address_take(&address, &packet, &ip);
	}
}

/* The first byte chooses between packets, two snapshots that may overlap, and the description of a trace. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] < 3) {
		check_packets(data + 1, size - 1, data[0] == 0 ? PT_BLOCK_NONE : data[0] == 1 ? PT_BLOCK_4 : PT_BLOCK_8);
	} else if (data[0] == 3) {
		bool follows;
		size_t half = (size - 1) / 2;
		if (pt_overlap((struct span){ data + 1, half }, (struct span){ data + 1 + half, size - 1 - half }, &follows) > size - 1 - half)
			abort();
	} else {
		struct record record = { .type = RECORD_AUXTRACE_INFO, .body = data + 1, .body_len = (uint32_t)(size - 1) };
		struct pt_clock_config config;
		struct pt_info info;
		if (pt_info_read(&info, &record)) {
			pt_info_clock(&info, ~0ull, &config);
			if (info.time.known)
				pt_info_ticks(&info, 12345);
			if (config.mtc_shift > 15)
				abort();
		}
	}
	return 0;
}
