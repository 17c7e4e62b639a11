#include "render/dump/intel_bts_text.h"

#include <inttypes.h>

#include "decode/intel_bts/bts.h"

void intel_bts_text(struct span trace, struct writer *out)
{
	writer_printf(out, ".\n. ... Intel BTS data: size %zu bytes\n", trace.len);
	for (size_t at = 0; at < trace.len;) {
		struct bts_branch branch;
		size_t begin = at, size = trace.len - at < BTS_RECORD_BYTES ? trace.len - at : BTS_RECORD_BYTES;
		writer_printf(out, ".  %08zx: ", begin);
		for (size_t i = 0; i < BTS_RECORD_BYTES; i++) {
			if (i < size)
				writer_printf(out, " %02x", trace.data[begin + i]);
			else
				writer_puts(out, "   ");
		}
		if (!bts_next(trace, &at, &branch)) {
			writer_puts(out, " Bad record!\n");
			return;
		}
		writer_printf(out, " %" PRIx64 " -> %" PRIx64 " %s\n", branch.from, branch.to, branch.predicted ? "pred" : "miss");
	}
}
