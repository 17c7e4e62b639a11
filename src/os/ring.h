/* The ring of records that the kernel shares with the owner of a counter (perf_event_open(2), "MMAP layout"). Bytes are returned in place;
 * the kernel gets the room back when they are consumed. Knows no record. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

struct ring {
	void *base;       /* the control page; NULL: not mapped */
	uint8_t *data;
	size_t size;      /* of the data, in bytes: a power of two */
	uint64_t tail;    /* offset of the first unconsumed byte */
	int fd;           /* borrowed: the counter of the ring */
	int cpu;          /* -1: of a thread */
	bool backward;    /* written from the end downwards, without waiting for the reader (write_backward) */
};

/* pages: a power of two. Fails with ERROR_PERMISSION if it exceeds the limits on locked memory. */
int ring_open(struct ring *ring, int fd, size_t pages, bool backward, struct error *err);
void ring_close(struct ring *ring);

/* The unread bytes: one span, or two if the ring wraps; returns their number. They stay valid until ring_consume. */
size_t ring_pending(const struct ring *ring, struct span pieces[2]);
void ring_consume(struct ring *ring, size_t bytes);

/* For a backward ring with paused output: its complete records that no earlier snapshot returned, newest first. */
size_t ring_snapshot(struct ring *ring, struct span pieces[2]);

/* Conversion of the CPU's time stamp counter to record times (cap_user_time of the control page); false if unsupported. */
struct ring_clock {
	uint64_t shift, mult, zero, cycles, mask;
	bool has_zero, short_counter;
};
bool ring_clock(const struct ring *ring, struct ring_clock *clock);

/* kernel.perf_event_mlock_kb as a number of data pages for one ring: a power of two. */
size_t ring_default_pages(void);
