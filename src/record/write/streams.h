/* Parallel streaming (--threads): threads that read rings, each its own, and write what a ring holds to a file of that ring, beside the
 * recording's main file in a folder. Rings are copied, or compressed, as they are. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "os/cpus.h"
#include "record/acquire/build_reader.h"
#include "record/acquire/counters.h"

/* Who reads what: a thread for the rings of these CPUs, which runs on those. */
struct stream_group {
	struct cpus rings, affinity;
};

struct stream_groups {
	VEC(struct stream_group) list;
};

/* "cpu", "core", "package", "numa", or "CPUS/CPUS[:CPUS/CPUS…]": rings, then where their reader runs. */
int stream_groups_parse(struct stream_groups *groups, const char *text, struct error *err);
void stream_groups_fini(struct stream_groups *groups);

struct streams;

struct stream_totals {
	uint64_t bytes;                  /* written */
	uint64_t wakeups;
	uint64_t compressed_from, compressed_to;
};

/* Makes data.N in a folder (output.inside) for ring N and starts the readers. groups: borrowed; rings of CPUs that no group names go to
 * the first.
 * level: of zstd, 0: none. limit: bytes at which streams_fd is told; 0: none. builds: sees the records; NULL; borrowed. */
int streams_start(struct streams **streams, struct counters *counters, const struct stream_groups *groups, int folder, int level,
	uint64_t limit, struct build_reader *builds, struct error *err);
/* A descriptor to wait on: every ring's tasks have ended, the limit is reached, or something failed. */
int streams_fd(const struct streams *streams);
/* Every ring's tasks have ended, or something failed: there is nothing to wait for. */
bool streams_ended(const struct streams *streams);
/* Reads what is left, ends the threads, closes the files. < 0: what failed first. Once. */
int streams_stop(struct streams *streams, struct error *err);
struct stream_totals streams_totals(const struct streams *streams);
void streams_free(struct streams *streams); /* NULL is fine; stops what runs */
