/* The input and output of one task as bars of a timechart: a bar for each call, or for neighbouring calls of one kind, descriptor and
 * result. Knows no tracepoint. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum io_kind { IO_READ, IO_WRITE, IO_RECEIVE, IO_SEND, IO_SYNC, IO_POLL, IO_KINDS };

enum { IO_BARS_MAX = 4096, IO_SEVERAL = -1 };

struct io_bar {
	uint64_t from, to;       /* ns */
	uint64_t bytes;
	uint32_t calls;
	int32_t descriptor;      /* IO_SEVERAL: different ones */
	int32_t error;           /* 0, or the number of its (first) error */
	uint8_t kind;            /* enum io_kind */
};

struct io_options {
	uint64_t least_ns;       /* shorter bars are drawn this long, but not over the next one */
	uint64_t distance_ns;    /* neighbours at most this far from each other are one bar */
};

struct io_bars {
	VEC(struct io_bar) list;
	uint64_t bytes, longest_bytes; /* of all bars; of the bar with most */
	uint64_t distance_ns;    /* more than that of the options, where there are too many bars; then bars of other kinds may overlap */
	uint64_t begun;          /* a call has begun and not ended */
	int32_t descriptor;
	uint8_t kind;
	bool in_call;
};

void io_bars_fini(struct io_bars *bars);
void io_bars_begin(struct io_bars *bars, enum io_kind kind, uint64_t time, int32_t descriptor);
/* The return value of the call. False: no call of this kind has begun. */
bool io_bars_end(struct io_bars *bars, const struct io_options *options, enum io_kind kind, uint64_t time, int64_t result);
