/* Delivery order: records by time within windows that FINISHED_ROUND closes, as the recorder's rounds guarantee: what a round
 * flushed is not older than what the round before it had seen. Stable for equal times. Internal to session/. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct entry {
	uint64_t time;       /* UINT64_MAX: none; such records are not queued */
	uint64_t offset;     /* in the file */
	const uint8_t *body; /* the record's header lies in the 8 bytes before it */
};

/* A sorted stretch; [head, count) is still to be delivered. */
struct run {
	struct entry *entries;
	size_t head, count, capacity;
	uint64_t mark;       /* the source's mark before the first of them */
};

struct order {
	VEC(struct entry) fresh;  /* since the last round, in file order */
	struct entry *scratch;    /* for sorting */
	size_t scratch_size;
	struct entry *spare;      /* the array of a run that is done, for `fresh` to grow in */
	size_t spare_size;
	VEC(struct run) runs;     /* older first; sizes fall geometrically */
	uint64_t fresh_mark, max_time, limit, delivered_time;
	uint64_t late;            /* records below a time already delivered */
};

void order_fini(struct order *order);
/* mark: of the source, before this record. */
void order_add(struct order *order, const struct entry *entry, uint64_t mark);
/* FINISHED_ROUND: calls deliver for each record that is due; final: for all. */
void order_flush(struct order *order, bool final, void (*deliver)(void *context, const struct entry *entry), void *context);
/* The smallest mark still needed; UINT64_MAX where nothing waits. */
uint64_t order_mark(const struct order *order);
