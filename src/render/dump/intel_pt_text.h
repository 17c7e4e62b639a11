/* Packets of Intel PT as -D shows them: bytes and text, a line each. */
#pragma once
#include "base/bytes.h"
#include "base/writer.h"

void intel_pt_text(struct span bytes, struct writer *out);
