/* What the flags of a branch (struct branch_entry) say. Source: perf_event_open(2), "PERF_SAMPLE_BRANCH_STACK". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* In records, the fields of the flags begin at the low end of the word on little-endian machines and at its high end on big-endian ones.
 * The functions below take little-endian bit numbers on every machine. Turns one form into the other; to_big: which one is made. */
uint64_t branch_flags_mirrored(uint64_t flags, bool to_big);
/* Of a record in the form of this machine, and for such a record. */
static inline uint64_t branch_flags_decode(uint64_t word) { return HOST_IS_BIG_ENDIAN ? branch_flags_mirrored(word, false) : word; }
static inline uint64_t branch_flags_encode(uint64_t flags) { return HOST_IS_BIG_ENDIAN ? branch_flags_mirrored(flags, true) : flags; }

/* A branch that is neither mispredicted nor predicted has no prediction. */
static inline bool branch_is_mispredicted(uint64_t flags) { return flags & 1; }
static inline bool branch_is_predicted(uint64_t flags) { return flags & 2; }
static inline bool branch_is_in_transaction(uint64_t flags) { return flags & 4; }
static inline bool branch_is_abort(uint64_t flags) { return flags & 8; }
static inline uint16_t branch_cycles(uint64_t flags) { return (uint16_t)(flags >> 4); }
/* 0: unknown */
static inline unsigned branch_speculation(uint64_t flags) { return flags >> 24 & 3; }

/* perf's word for the type of a branch: "" if the type is not recorded, "(null)" if it has no word. */
const char *branch_type_name(uint64_t flags);
/* perf's word for the outcome of speculation, "" if it is not recorded. */
const char *branch_speculation_name(uint64_t flags);
