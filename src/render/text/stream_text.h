/* Streams of branches of two recordings, side by side: perf diff --stream. */
#pragma once
#include "analysis/compare/streams.h"
#include "base/writer.h"

void stream_text_print(const struct stream_side *before, const struct stream_side *after, struct writer *out);
