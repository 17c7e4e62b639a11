/* Waits for locks, summed by a key: the address of a lock, a thread, a call chain or a cgroup. Fields are the numbers of a sum that perf
 * names in its options -k and -F. Knows no origin of the numbers and no layout. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"

enum lock_group { LOCK_GROUP_ADDRESS, LOCK_GROUP_TASK, LOCK_GROUP_CALLER, LOCK_GROUP_CGROUP };

struct lock_frame {
	uint64_t address;
	const char *symbol;      /* NULL: unknown */
	uint64_t offset;         /* from the start of the symbol */
};

struct lock_stat {
	uint64_t key;
	const char *name;        /* never NULL */
	uint32_t flags;          /* of contention_begin */
	uint32_t acquired, contended, in_order; /* in_order: position of its creation */
	uint64_t total_ns, min_ns, max_ns, average_ns; /* min_ns: UINT64_MAX before the first wait */
	bool broken;             /* an event did not match the state of its lock */
	const struct lock_frame *frames; /* innermost first */
	uint32_t frame_count;
};

struct lock_stats {
	VEC(struct lock_stat *) list;   /* in the order of their creation */
	struct idmap by_key;            /* → index */
	struct arena arena;
};

void lock_stats_fini(struct lock_stats *stats);
struct lock_stat *lock_stats_find(const struct lock_stats *stats, uint64_t key); /* NULL: absent */
/* name: copied. */
struct lock_stat *lock_stats_add(struct lock_stats *stats, uint64_t key, const char *name, uint32_t flags);
/* Adds one wait to min, max and total. */
void lock_stat_wait(struct lock_stat *stat, uint64_t ns);
/* Adds `count` waits, with their sum, least and greatest time, to min, max, total, the number of contended ones and their average. */
void lock_stat_waits(struct lock_stat *stat, uint32_t count, uint64_t total_ns, uint64_t min_ns, uint64_t max_ns);

enum lock_field_id { LOCK_ACQUIRED, LOCK_CONTENDED, LOCK_AVG_WAIT, LOCK_WAIT_TOTAL, LOCK_WAIT_MAX, LOCK_WAIT_MIN, LOCK_FIELDS };

struct lock_field {
	const char *name, *title; /* "wait_total", "total wait" */
	unsigned width;
	bool time;                /* in ns; otherwise a count */
};

extern const struct lock_field lock_fields[LOCK_FIELDS];

/* The fields that are shown, in this order, and the one that orders the rows, largest first. */
struct lock_choice {
	enum lock_field_id shown[LOCK_FIELDS], key;
	unsigned count;
};

/* fields: "contended,wait_max"; NULL: all of `report`. The field of the order is shown, too. contention: without `acquired`. */
int lock_choice_parse(struct lock_choice *choice, const char *fields, const char *key, bool contention, struct error *err);
uint64_t lock_stat_value(const struct lock_stat *stat, enum lock_field_id field);

struct lock_order {
	VEC(struct lock_stat *) list;
};

/* The sums in the order of perf's text. combine: those with one name become one. */
void lock_stats_order(const struct lock_stats *stats, enum lock_field_id key, bool combine, struct lock_order *order);
/* The same ordered by name, those with one name by key (lock info). */
void lock_stats_order_names(const struct lock_stats *stats, struct lock_order *order);
