/* One sample as the columns see it. */
#pragma once
#include "analysis/entry/state.h"
#include "base/writer.h"

/* One end of a branch, or the place a memory access is about. */
struct view_end {
	const struct location *location;
	uint32_t symbol;
	uint64_t level;
	uint64_t offset;
};

/* The values from which columns make the sample key of a row. */
struct sample_view {
	const struct profile *profile;
	struct writer *text;         /* scratch */
	const struct resolved *r;
	const struct location *ip;   /* of the sample */
	uint64_t weight, time;
	uint64_t cpumode;
	uint32_t parent_module, parent_symbol;
	const struct view_end *ends; /* [0] from or instruction, [1] to or data; NULL in other reports */
	uint64_t branch_flags;
};
