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
