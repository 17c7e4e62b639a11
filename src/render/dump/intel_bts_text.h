/* Records of Intel BTS as -D shows them: bytes and text, a line each. */
#pragma once
#include "base/bytes.h"
#include "base/writer.h"

void intel_bts_text(struct span bytes, struct writer *out);
