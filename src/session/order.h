/* Delivery order: records by time within windows that FINISHED_ROUND closes. The recorder's rounds guarantee that a flushed record is not
 * older than the newest record of the round before the previous flush. Stable for equal times. Used by session/ and rewrite/. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/bytes.h"
#include "base/vec.h"

struct budget;

struct entry {
	uint64_t time;       /* UINT64_MAX: absent; such records are not queued */
	uint64_t offset;     /* in the file */
	const uint8_t *body; /* the record's header is in the 8 bytes before it */
};

struct entries {
	struct entry *items;
	size_t count, capacity;
};

/* The record's size, its head of 8 bytes included. */
static inline uint16_t entry_size(const struct entry *entry)
{
	uint16_t size;
	memcpy(&size, entry->body - 2, sizeof size);
	return size;
}

static inline struct record entry_record(const struct entry *entry)
{
	const uint8_t *head = entry->body - 8;
	uint16_t misc;
	memcpy(&misc, head + 4, sizeof misc);
	return (struct record){ .type = load_u32(head), .misc = misc, .body_len = entry_size(entry) - 8u,
		.body = entry->body, .offset = entry->offset };
}

/* A sorted run of entries; [head, count) are pending. */
struct run {
	struct entry *entries;
	size_t head, count, capacity;
	uint64_t mark;       /* the source's mark before the first entry */
};

struct order {
	VEC(struct entry) fresh;  /* records since the last round, in file order */
	struct entry *scratch;    /* for sorting */
	size_t scratch_size;
	struct entry *spare;      /* the array of a delivered run, reused for `fresh` */
	size_t spare_size;
	VEC(struct run) runs;     /* oldest first; sizes fall geometrically */
	uint64_t fresh_mark, max_time, limit, delivered_time;
	uint64_t late;            /* number of records older than one already delivered */
	size_t waiting;           /* number of pending records */
	size_t taken;             /* bytes that the pending records took from a budget */
};

void order_fini(struct order *order);
/* A record of this time is not queued, but counts for the time until which records wait. */
static inline void order_note(struct order *order, uint64_t time)
{
	if (time > order->max_time)
		order->max_time = time;
	order->late += time < order->delivered_time;
}
/* mark: the source's mark before this record. */
static inline void order_add(struct order *order, const struct entry *entry, uint64_t mark)
{
	if (!order->fresh.count)
		order->fresh_mark = mark;
	order->waiting++;
	order_note(order, entry->time);
	vec_push(&order->fresh, *entry);
}
/* Handles FINISHED_ROUND: calls deliver for each record that is due; final: for all pending records. */
void order_flush(struct order *order, bool final, void (*deliver)(void *context, const struct entry *entry), void *context);
/* Ends a run of records without delivering one: order_mark then increases from run to run as they are delivered. For readers that ignore
 * rounds. */
void order_end_run(struct order *order);
/* Takes from the budget what the pending records need, with `copied` bytes of them that are in no file. False: there is no room; the caller
 * flushes all and then calls order_settle. Without a budget there is always room. */
bool order_fits(struct order *order, struct budget *budget, uint64_t copied);
/* Gives all taken bytes back. */
void order_settle(struct order *order, struct budget *budget);
/* The smallest mark that a pending record needs; UINT64_MAX if none is pending. */
uint64_t order_mark(const struct order *order);
