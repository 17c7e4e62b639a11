/* What several rings hold, in order of time. All that is listed is old enough that nothing older can still come: the rings are
 * looked at twice, and what was there the first time is complete once they have been looked at the second time. Records stay where
 * they lie in the rings until they are consumed. Knows where records keep their time, nothing else of them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "data/evlist.h"
#include "os/ring.h"

struct ring_item {
	uint64_t time;         /* never below that of the item before it in its ring */
	const uint8_t *bytes;  /* of the whole record, header first; borrowed until it is consumed */
	uint32_t size, ring;
	uint32_t place;        /* in the order they were found */
};

struct ring_place {
	size_t found;          /* bytes behind the ring's tail that are listed */
	uint64_t time;         /* of the last one listed */
	bool ended;            /* the next one is too new */
};

struct ring_order {
	VEC(struct ring_item) items;
	VEC(struct ring_place) places; /* by ring */
	struct arena copies;   /* of records that lie around the end of a ring */
	uint64_t newest;       /* time of the newest that was there at the first look */
};

void ring_order_fini(struct ring_order *order);
/* Lists what is due of the rings (backward ones are passed over); `final`: everything. The items of before are forgotten.
 * evlist: of the events as the kernel has them. */
int ring_order_fill(struct ring_order *order, const struct ring *rings, size_t count, const struct evlist *evlist, bool final,
	struct error *err);
/* Lists what backward rings hold that no snapshot gave before, their output paused. It needs not be consumed. */
int ring_order_snapshot(struct ring_order *order, struct ring *rings, size_t count, const struct evlist *evlist, struct error *err);
/* The time a record tells; UINT64_MAX: none. */
uint64_t ring_record_time(const struct evlist *evlist, const struct record *record);
struct record ring_item_record(const struct ring_item *item);
