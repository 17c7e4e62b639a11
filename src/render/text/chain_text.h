/* Call chains under a row of a report: as a drawn tree, as whole chains, folded into one line. */
#pragma once
#include "analysis/profile/hist.h"
#include "base/writer.h"

struct chain_text {
	const struct profile *profile;
	const struct hist *hist;
	bool colour;
	bool skip_first;   /* the row shows the first frame already */
	struct writer *spill; /* takes what `out` has when it is much; NULL: all remains in `out` */
	size_t most;       /* bytes of `out` behind which no branch of the tree is added; 0: no limit */
	struct str *out;
};

void chain_text_add(const struct chain_text *text, const struct entry *entry);
/* Appends one frame: its symbol, and its source line if lines are the key of chains. */
void chain_frame_add(const struct profile *profile, uint32_t place, bool colour, struct str *out);
