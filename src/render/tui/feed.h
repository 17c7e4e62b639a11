/* How a loader's thread gives results to the screen: immutable, by a swap of a pointer. The screen takes the newest; one that it never took
 * is freed by the loader. No locks. */
#pragma once
#include <stdatomic.h>

#include "render/tui/snapshot.h"

/* Samples over time: bucket i is [start + i * width, start + (i + 1) * width). */
enum { HEAT_BUCKETS = 512 };

struct heat {
	uint64_t start_ns, width_ns; /* width 0: no sample with a time */
	uint64_t counts[HEAT_BUCKETS];
};

/* Adds a sample; a time outside makes the buckets wider. */
void heat_add(struct heat *heat, uint64_t time_ns);
/* Adds the samples of another one. */
void heat_merge(struct heat *heat, const struct heat *more);

/* One state of the results. */
struct feed_shot {
	struct snapshot **tables;
	size_t table_count;
	struct snapshot *flame;      /* NULL: not asked for */
	struct snapshot *code;       /* newer counts of the function that is shown; NULL: none */
	struct heat heat;
	uint64_t request;            /* number of the request that it answers */
	bool complete;               /* no more samples follow */
	char *failure;               /* NULL: none; otherwise a sentence */
};

struct feed {
	_Atomic(struct feed_shot *) latest;
	_Atomic uint64_t done, total; /* bytes read; total 0: unknown */
	_Atomic bool reading;
	_Atomic bool ended;          /* the screen is to be left */
	_Atomic bool shows_code;     /* a page of code is open: results of a running measurement update it */
	int wake;                    /* eventfd: readable after feed_publish; -1: none */
};

int feed_open(struct feed *feed, struct error *err);
void feed_close(struct feed *feed);
/* Takes ownership. */
void feed_publish(struct feed *feed, struct feed_shot *shot);
/* Makes the screen end, as if the user had quit. */
void feed_end(struct feed *feed);
/* Adds to the bytes read and to their total. */
void feed_progress(struct feed *feed, uint64_t done, uint64_t total);
/* NULL: no newer one. The caller frees it. */
struct feed_shot *feed_take(struct feed *feed);
void feed_shot_free(struct feed_shot *shot);
