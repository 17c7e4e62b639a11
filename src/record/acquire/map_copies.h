/* Copies of the perf maps of recorded processes: opened while a process lives, as it or the folder of its container may be gone at the end,
 * and read at the end of a file, as the compiler adds functions until then. One thread at a time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "base/writer.h"

enum {
	MAP_COPIES_MAX = 256,         /* processes */
	MAP_COPY_BYTES = 32 << 20,    /* of a map; its last lines are left out */
	MAP_COPIES_BYTES = 128 << 20, /* of all */
};

struct map_copy {
	int32_t pid;
	int fd;                       /* -1: the process has no map yet */
	bool ended;                   /* … and will have none */
	uint32_t wait_ms;             /* from one try to the next */
	uint64_t due_ms;              /* the next try */
};

struct map_copies {
	VEC(struct map_copy) list;
	struct writer body;           /* as data/perf_maps.h has it; open after map_copies_read */
	bool read;
};

/* The process maps anonymous code: it may have a map, now or later. */
void map_copies_add(struct map_copies *copies, int32_t pid);
/* Opens the maps of processes that are due by now, less and less often if they have none. Returns the milliseconds until the next is due;
 * -1: no process is looked at any more. */
int map_copies_open(struct map_copies *copies);
/* Looks at all processes once more, and reads the maps, instead of those that were read before. */
void map_copies_read(struct map_copies *copies);
void map_copies_fini(struct map_copies *copies); /* accepts a zeroed struct */
