/* Parallel streaming (--threads): ring readers, threads that read a part of the rings each, and write the content of each ring to a
 * separate file, beside the main file of the recording in a folder, compressed or not. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "os/cpus.h"
#include "record/acquire/build_reader.h"
#include "record/acquire/counters.h"

/* One ring reader: the CPUs whose rings it reads, and the CPUs on which it runs. */
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

/* Makes data.N in a folder (output.inside) for ring N and starts the readers. groups: borrowed; the first reads the rings of CPUs that are
 * in no group. level: of zstd; 0: not compressed. limit: bytes after which streams_fd is readable; 0: no limit. builds: receives the
 * records; NULL; borrowed. */
int streams_start(struct streams **streams, struct counters *counters, const struct stream_groups *groups, int folder, int level,
	uint64_t limit, struct build_reader *builds, struct error *err);
/* A descriptor that is readable when the tasks of all rings have ended, the limit is reached, or a reader failed. */
int streams_fd(const struct streams *streams);
/* The tasks of all rings have ended, or a reader failed. */
bool streams_ended(const struct streams *streams);
/* Copies the remaining records, ends the threads, closes the files. < 0 and *err if anything failed. To be called once. */
int streams_stop(struct streams *streams, struct error *err);
struct stream_totals streams_totals(const struct streams *streams);
void streams_free(struct streams *streams); /* accepts NULL; stops running threads */
