/* A sample with its context: thread, comm, locations of its addresses, call chain. All pointers are borrowed for one callback of a sink.
 * Knows no symbol. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sample.h"
#include "model/model.h"

struct evsel;
struct record;

/* What locations with one module, offset and mode have in common; interned per worker until the sink's points_dropped. `note` belongs to
 * the sink (initially zero, accessed only by this worker's callbacks). It fills one cache line, so that a sink's data for a point costs one
 * cache miss. */
struct point {
	uint32_t id;            /* consecutive per worker, from 0: an index for a sink's caches */
	uint32_t module;
	uint64_t offset;
	uint64_t note[5];
	uint8_t cpumode;
};

/* The location of an address, borrowed for one callback. */
struct location {
	uint32_t id;            /* of the point: processes that map a module at different addresses share it */
	uint32_t module;        /* MODULE_ID_NONE: in no mapping */
	uint64_t address;       /* as recorded */
	uint64_t offset;        /* as the module counts (map_offset); the address itself without a module */
	const struct map *map;  /* NULL: in no mapping */
	struct point *point;
	uint8_t cpumode;        /* enum record_misc cpumode */
};

/* The point's note: for data that depends on the module, the offset and the mode, not on the address or the mapping. */
static inline void *location_note(const struct location *location)
{
	return location->point->note;
}

struct cached_space;
struct session;
struct worker;

/* A sample with its context. All pointers are borrowed for one callback; `worker` belongs to the calling thread. */
struct resolved {
	struct session *session;
	struct worker *worker;
	const struct record *record;
	const struct sample *sample;
	uint32_t event;                /* index in the evlist */
	const struct evsel *evsel;
	uint64_t clock;                /* position in the order of delivery */
	uint32_t thread;               /* id in the model, or THREAD_NONE */
	int32_t pid, tid;              /* from the sample (-1 if absent) */
	uint32_t comm;                 /* string id in the model, or COMM_NONE */
	bool guest;                    /* of a virtual machine: both address spaces are the guest's, and the thread is unknown */
	const struct injected_id *machine; /* of a record that was made in it; NULL: the host's */
	const struct map_node *user_root, *kernel_root;
	struct cached_space *user_space; /* the worker's copy of user_root */
	struct location *located;      /* locations of entries of the call chain, from located_from on; the caller needs resolved_chain */
	const uint8_t *located_chain;  /* that call chain */
	uint64_t located_from, located_count; /* 0: none was located ahead */
	const struct location *ip;     /* location of the sample's own address; NULL if it has none: use resolved_ip */
};

enum { COMM_TEXT = 24 };
/* The sample's comm; if unknown, ":TID" or "[guest/PID]" in buffer (COMM_TEXT bytes; 16 without an option on guests). */
const char *resolved_comm(const struct resolved *r, char *buffer, size_t size);
/* The location of the sample's own address. */
const struct location *resolved_ip(const struct resolved *r);
/* The location of any address in the address space of cpumode. */
const struct location *resolved_locate(const struct resolved *r, unsigned cpumode, uint64_t address);
/* Where an address of an address space (r->user_root or r->kernel_root) is; false: in no mapping. */
bool session_place(const struct session *session, const struct map_node *root, unsigned cpumode, uint64_t address, uint32_t *module,
	uint64_t *offset);
/* The location of an address of unknown mode (branch ends, data): in the user address space, then in the kernel's. */
const struct location *resolved_locate_any(const struct resolved *r, uint64_t address);
enum chain_direction { CHAIN_INNERMOST_FIRST, CHAIN_OUTERMOST_FIRST };

/* Frames without markers. The first entry of the recorded callchain is the sample's ip. */
struct chain {
	const struct location **frames; /* owned by the worker, valid until the next call */
	size_t count;
	bool damaged;                   /* contains an unknown marker: no frame is reliable; frames before the marker are included */
};

/* At most `limit` frames of the recorded callchain, in that direction; empty if the sample has none. */
struct chain resolved_chain(const struct resolved *r, enum chain_direction direction, size_t limit);
/* Entries [skip, end) of the recorded callchain without replacement of its user part, including markers, counted from the start in that
 * direction. */
struct chain resolved_chain_part(const struct resolved *r, enum chain_direction direction, uint64_t skip, uint64_t end, size_t limit);
/* Where the recorder completed the callchain from an earlier sample of its thread (record --call-graph unwind): the index of the first
 * joined entry, which follows a second marker of user code; 0: the chain is not joined. Readers skip that marker. */
uint64_t resolved_chain_joined(const struct resolved *r);
/* The chain depends only on the recorded callchain and the address spaces: results for equal callchains can be reused. */
bool resolved_chain_is_plain(const struct resolved *r);
unsigned worker_index(const struct worker *worker); /* in [0, session_workers) */
