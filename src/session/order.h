/* Delivery order: records by time within windows that FINISHED_ROUND closes. The recorder's rounds guarantee that a flushed record is not
 * older than the newest record of the round before the previous flush. Stable for equal times. Used by session/ and rewrite/.
 *
 * A ring's records follow each other in the recording and are in order of time. Such a stretch is stored as a place alone, and its records
 * are read again when they are due; only records that are in no order are listed and sorted. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "session/record_times.h"

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
	return load_u16(entry->body - 2);
}

/* The record as its bytes are now: of a mapped file they may have changed since the entry was made. One with a size below that of its head
 * has no body. */
static inline struct record entry_record(const struct entry *entry)
{
	const uint8_t *head = entry->body - 8;
	uint16_t size = entry_size(entry);
	return (struct record){ .type = load_u32(head), .misc = load_u16(head + 4), .body_len = size < 8 ? 0 : size - 8u,
		.body = entry->body, .offset = entry->offset };
}

/* Records in order of time: listed, [head, count) are pending; or a stretch of the recording's bytes, where `entries` is NULL. */
struct run {
	struct entry *entries;
	size_t head, count, capacity;
	uint64_t mark;       /* the source's mark before the first entry, or the stretch */
	uint64_t time;       /* of the first pending record */
	const uint8_t *begin, *at, *end; /* of a stretch: its bytes, of which those from `at` on are pending */
	uint64_t offset;     /* of its first record */
	uint64_t offset_step; /* 0: all have this offset, as they are of one compressed record; else all bits */
	int front, back;     /* where its records have their times: struct record_times */
};

/* The stretch that the last record was added to. */
struct open_stretch {
	const uint8_t *end;  /* NULL: none */
	uint64_t mark, offset; /* that the next record must have */
	uint64_t last_time;
	uint64_t offset_step;  /* as in struct run */
	bool single;           /* it has one record */
	uint8_t passed;        /* number of records at its end that are not needed */
};

struct due {
	uint64_t time;         /* of the run's first pending record */
	uint32_t run;
};

struct order {
	VEC(struct entry) fresh;  /* records since the last round, in file order */
	struct entry *scratch;    /* for sorting */
	size_t scratch_size;
	struct entry *spare;      /* the array of a delivered run, reused for `fresh` */
	size_t spare_size;
	VEC(struct run) runs;     /* oldest first; sizes of listed ones fall geometrically */
	size_t round_runs;        /* number of runs when the current round began: the stretches after them are of this round */
	struct open_stretch open;
	VEC(struct due) heap;     /* while records are delivered: the earliest record first */
	bool lists;               /* a round had too many stretches: records are listed from then on */
	uint64_t fresh_mark, max_time, limit, delivered_time;
	uint64_t late;            /* number of records older than one already delivered */
	size_t waiting;           /* number of pending records that are listed */
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
static inline __attribute__((always_inline)) bool order_continues(const struct order *order, const struct entry *entry, uint64_t mark)
{
	const struct open_stretch *open = &order->open;
	return entry->body - 8 == open->end && mark == open->mark && entry->offset == open->offset && entry->time >= open->last_time;
}
static inline void order_extend(struct order *order, const struct entry *entry)
{
	struct open_stretch *open = &order->open;
	uint16_t size = entry_size(entry);
	order_note(order, entry->time);
	open->end += size;
	open->mark += size;
	open->offset += size & open->offset_step;
	open->last_time = entry->time;
	open->single = false;
}
void order_add_elsewhere(struct order *order, const struct entry *entry, const struct record_times *times, uint64_t mark);
/* As order_add, for a record of a source: it is stored in a stretch if it continues one. The two do not mix. */
static inline __attribute__((always_inline)) void order_add_read(struct order *order, const struct entry *entry,
	const struct record_times *times, uint64_t mark)
{
	if (order->lists) {
		order_add(order, entry, mark);
		return;
	}
	if (__builtin_expect(!order_continues(order, entry, mark), 0)) {
		order_add_elsewhere(order, entry, times, mark);
		return;
	}
	order_extend(order, entry);
	order->open.passed = 0;
}
/* A record of a source that is not needed. Few of them do not end a stretch: such a record is delivered, too. */
static inline void order_pass_over(struct order *order, const struct entry *entry, uint64_t mark)
{
	enum { PASSED_RECORDS = 4 };
	if (order->open.passed >= PASSED_RECORDS || !order_continues(order, entry, mark)) {
		order_note(order, entry->time);
		return;
	}
	order_extend(order, entry);
	order->open.passed++;
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
