/* Assembles a sample's call chain: the recorded callchain, and the replacement of its user part (the processor's branch stack, the unwound
 * stack). Internal to session/: other code calls resolved_chain. */
#pragma once
#include "session/session.h"

/* The mode of the addresses after this entry of a callchain; false: not a known marker. */
bool chain_marker_mode(uint64_t marker, unsigned *cpumode);
