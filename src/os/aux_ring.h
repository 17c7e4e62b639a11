/* The AUX area: a second ring beside that of a counter, into which hardware writes a trace (perf_event_open(2), "aux_head, aux_tail").
 * Bytes are returned in place. Knows no trace format.
 *
 * A ring that is not overwritten: the kernel stops at the reader's position. In an overwritten ring, the kernel reports only the position
 * inside the area, so whether the hardware has passed its end since the last reading is found by what the area holds. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "os/ring.h"

struct aux_ring {
	void *control;      /* the control page of the counter's ring, borrowed */
	uint8_t *data;      /* NULL: not mapped */
	size_t size;        /* a power of two */
	uint64_t tail;      /* the position up to which it was read */
	bool overwrite;
	uint8_t *seen;      /* of an overwritten ring: the bytes before the position of the last snapshot; NULL: none yet */
	size_t seen_size;
	bool wrapped;       /* of one without `seen`: its end was written */
};

/* A piece to be written: size bytes that begin at a position of the trace. */
struct aux_piece {
	uint64_t offset, head;
	size_t size;
	struct span spans[2];
};

/* ring: mapped, and of the counter that traces. size: a power of two. */
int aux_ring_open(struct aux_ring *aux, const struct ring *ring, size_t size, bool overwrite, struct error *err);
void aux_ring_close(struct aux_ring *aux); /* accepts a zeroed one */

/* The unread bytes, valid until aux_ring_consume; false: all bytes are read. align: the first part is cut to a multiple of it, as the
 * records of some traces do not wrap; 0: any. */
bool aux_ring_pending(const struct aux_ring *aux, size_t align, struct aux_piece *piece);
void aux_ring_consume(struct aux_ring *aux, const struct aux_piece *piece);

/* Of an overwritten ring whose counter is stopped: what was written since the last snapshot, or since the area was overwritten, at most
 * `limit` bytes. reference: how many bytes are compared with the next snapshot to see whether the end was passed; 0: the end of the area
 * alone is looked at. */
bool aux_ring_snapshot(struct aux_ring *aux, size_t limit, size_t reference, size_t align, struct aux_piece *piece);
