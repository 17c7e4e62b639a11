/* Lists the records of several rings in order of time, up to a time before which no further record can arrive: the rings are read twice,
 * and after the second time all records are complete that are not newer than the newest of the first time. Records remain in the
 * rings until they are consumed. Knows where a record has its time, and nothing else of it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "data/evlist.h"
#include "os/ring.h"

struct ring_item {
	uint64_t time;         /* never below that of the item before it in its ring */
	const uint8_t *bytes;  /* of the whole record, with its header; borrowed until it is consumed */
	uint32_t size, ring;
	uint32_t place;        /* in the order in which they were found */
};

struct ring_place {
	size_t found;          /* bytes after the tail of the ring that are listed */
	uint64_t time;         /* of the last listed record */
	bool ended;            /* the next record is too new */
};

struct ring_order {
	VEC(struct ring_item) items;
	VEC(struct ring_place) places; /* by ring */
	struct arena copies;   /* of records that wrap around the end of a ring */
	uint64_t newest;       /* time of the newest record of the first reading */
};

void ring_order_fini(struct ring_order *order);
/* Replaces the items by the records that are due in the rings that are not overwritten; `final`: by all of them. evlist: the events
 * as they were opened. */
int ring_order_fill(struct ring_order *order, const struct ring *rings, size_t count, const struct evlist *evlist, bool final,
	struct error *err);
/* Replaces the items by the records of the overwritten rings, whose output is paused, that no earlier snapshot listed. They need not be
 * consumed. */
int ring_order_snapshot(struct ring_order *order, struct ring *rings, size_t count, const struct evlist *evlist, struct error *err);
