/* A sample's call chain, put together in one place: the recorded callchain, and what stands for its user part (the processor's
 * stack of branches). Internal to session/: others ask resolved_chain. */
#pragma once
#include "session/session.h"

/* The mode that the addresses after this entry of a callchain have; false: no marker that is known. */
bool chain_marker_mode(uint64_t marker, unsigned *cpumode);
