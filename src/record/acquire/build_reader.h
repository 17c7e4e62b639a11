/* Reads the build-ids of the files that processes map, while the processes live: later the path may lead to another file, or to none.
 * A separate thread opens the files, at a limited rate; the build-ids of files that it does not reach are unknown. Records are only read
 * and remain where they are. The same thread copies the perf maps of processes that make code. Knows no recording. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/bytes.h"
#include "elf/elf.h"
#include "image/mapped_file.h"
#include "os/ring.h"

/* The interval at which rings are to be searched for mappings. */
enum { BUILD_READER_LOOK_MS = 50 };

struct build_reader;

/* maps_only: no build-ids. Returns NULL if no thread can be started; all functions here accept NULL. */
struct build_reader *build_reader_new(bool maps_only);
void build_reader_free(struct build_reader *reader);
/* Opens no more files; known build-ids remain. Waits for the file that is being read, for a limited time. */
void build_reader_stop(struct build_reader *reader);

/* The process may have a perf map, whatever it maps. Callable from any thread. */
void build_reader_add_maker(struct build_reader *reader, int32_t pid);
/* These store the files of PERF_RECORD_MMAP2 records for the thread. Callable from any thread. */
void build_reader_see(struct build_reader *reader, const struct record *record);
void build_reader_see_all(struct build_reader *reader, struct span records);
/* The records that a ring received since the last call, up to the position `until`, which is the end of a record or UINT64_MAX: all. *seen:
 * the end of those; one thread at a time. */
void build_reader_see_ring(struct build_reader *reader, const struct ring *ring, uint64_t *seen, uint64_t until);

/* Returns the length of the build-id of the mapped file; 0: it has no build-id; < 0: unknown. */
int build_reader_get(struct build_reader *reader, const char *path, const struct mapped_identity *identity,
	uint8_t id[static ELF_BUILD_ID_MAX]);
/* The perf maps as they are now or, after build_reader_stop, as they were then; as data/perf_maps.h stores them, borrowed until the next
 * call. Waits for the thread, for a limited time; empty if it reads longer. */
struct span build_reader_maps(struct build_reader *reader);
