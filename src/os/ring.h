/* The ring of records that the kernel shares with the owner of a counter (perf_event_open(2), "MMAP layout").
 * Bytes are handed out where they lie; the kernel gets the room back when they are consumed. Knows no record. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

struct ring {
	void *base;       /* the control page; NULL: not mapped */
	uint8_t *data;
	size_t size;      /* of the data: a power of two */
	uint64_t tail;    /* what was consumed so far */
	int fd;           /* borrowed: whose ring it is */
	int cpu;          /* -1: of a thread */
	bool backward;    /* written from the end down and never waiting for us (write_backward) */
};

/* pages: a power of two. Fails with ERROR_PERMISSION where the locked-memory limits do not allow it. */
int ring_open(struct ring *ring, int fd, size_t pages, bool backward, struct error *err);
void ring_close(struct ring *ring);

/* What is there to read: one span, or two where the ring wraps; returns their bytes. They stay until ring_consume. */
size_t ring_pending(const struct ring *ring, struct span pieces[2]);
void ring_consume(struct ring *ring, size_t bytes);

/* A backward ring, output paused: the whole records it still holds and that no snapshot gave before, newest first. */
size_t ring_snapshot(struct ring *ring, struct span pieces[2]);

/* How the CPU's time stamp counter maps to record times (cap_user_time of the control page); false where it does not. */
struct ring_clock {
	uint64_t shift, mult, zero, cycles, mask;
	bool has_zero, short_counter;
};
bool ring_clock(const struct ring *ring, struct ring_clock *clock);

/* kernel.perf_event_mlock_kb as a number of data pages for one ring: a power of two. */
size_t ring_default_pages(void);
