/* Rows of blocked time as text. */
#pragma once
#include "analysis/offcpu/offcpu_sink.h"
#include "base/writer.h"

struct offcpu_text {
	unsigned entries;   /* at most so many rows */
	bool stacks;        /* the call chain below each row */
};

void offcpu_text_print(const struct offcpu_rows *rows, const struct offcpu_text *how, struct writer *out);
/* "1.35 s", "40.1 ms", "12.0 us": right-aligned in 10 columns. */
void offcpu_text_time(uint64_t ns, struct writer *out);
