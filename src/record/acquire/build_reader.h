/* Reads the build-ids of the files that processes map, while the processes live: later the path may lead to another file, or nowhere.
 * A thread of its own opens the files, at a limited rate; what it does not get to is unknown. Only looks at records, which stay where
 * they are. Knows no recording. */
#pragma once
#include <stdint.h>

#include "abi/record.h"
#include "base/bytes.h"
#include "elf/elf.h"
#include "image/mapped_file.h"
#include "os/ring.h"

/* How often rings are to be looked at. */
enum { BUILD_READER_LOOK_MS = 50 };

struct build_reader;

/* NULL: no thread could be started, which is fine for all of these. */
struct build_reader *build_reader_new(void);
void build_reader_free(struct build_reader *reader);
/* No more files are opened; what is known stays. Waits for the one that is being read, but not without end. */
void build_reader_stop(struct build_reader *reader);

/* These note the files of PERF_RECORD_MMAP2 records; from any thread. */
void build_reader_see(struct build_reader *reader, const struct record *record);
void build_reader_see_all(struct build_reader *reader, struct span records);
/* What came into a ring since the last time. *seen: up to where its records were looked at; one thread at a time. */
void build_reader_see_ring(struct build_reader *reader, const struct ring *ring, uint64_t *seen);

/* Length of the build-id of the file that was mapped, 0: it has none; < 0: not known. */
int build_reader_get(struct build_reader *reader, const char *path, const struct mapped_identity *identity,
	uint8_t id[static ELF_BUILD_ID_MAX]);
