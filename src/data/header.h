/* The description of a recording that precedes the samples: events, and header features (perf.data-file-format.txt, "HEADER_*"). Features
 * are stored as bytes and decoded on demand; a file fills all when it is opened, a pipe as records are read. */
#pragma once
#include <stdbool.h>
#include <time.h>

#include "base/bytes.h"
#include "base/error.h"
#include "data/evlist.h"

enum feature {
	FEATURE_TRACING_DATA = 1, FEATURE_BUILD_ID = 2, FEATURE_HOSTNAME = 3, FEATURE_OSRELEASE = 4, FEATURE_VERSION = 5,
	FEATURE_ARCH = 6, FEATURE_NRCPUS = 7, FEATURE_CPUDESC = 8, FEATURE_CPUID = 9, FEATURE_TOTAL_MEM = 10, FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12, FEATURE_CPU_TOPOLOGY = 13, FEATURE_NUMA_TOPOLOGY = 14, FEATURE_BRANCH_STACK = 15,
	FEATURE_PMU_MAPPINGS = 16, FEATURE_GROUP_DESC = 17, FEATURE_AUXTRACE = 18, FEATURE_STAT = 19, FEATURE_CACHE = 20,
	FEATURE_SAMPLE_TIME = 21, FEATURE_MEM_TOPOLOGY = 22, FEATURE_CLOCKID = 23, FEATURE_DIR_FORMAT = 24,
	FEATURE_BPF_PROG_INFO = 25, FEATURE_BPF_BTF = 26, FEATURE_COMPRESSED = 27, FEATURE_CPU_PMU_CAPS = 28,
	FEATURE_CLOCK_DATA = 29, FEATURE_HYBRID_TOPOLOGY = 30, FEATURE_PMU_CAPS = 31,
	FEATURE_CPU_DOMAIN_INFO = 32, /* of perf 7 */
	FEATURE_PERF_MAPS = 63,      /* perfuse's own (data/perf_maps.h): in a file it is behind the last feature, and not announced */
	FEATURE_COUNT = 64,
	FEATURE_END = 32 /* perf 6.12 ends the features of a pipe by a record of this number without a body */
};

struct build_id {
	uint8_t bytes[20];
	uint8_t len; /* 0: none */
};

/* Follows the filename of a row if a recording has files of several builds with that name: this mark, then the device's major and minor
 * number (u32 each), inode and inode generation (u64 each), as in MMAP2 records. Only perfuse writes it. */
#define BUILD_ID_IDENTITY_MARK "mapped:"
#define BUILD_ID_IDENTITY_MARK_BYTES 8u
#define BUILD_ID_IDENTITY_BYTES 32u

/* One row of the build-id table (feature or HEADER_BUILD_ID records). */
struct build_id_entry {
	const char *filename;
	struct build_id id;
	bool one_of_many;    /* the row applies only to this file: */
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint16_t misc; /* cpumode in the low bits */
	int32_t pid;   /* machine: -1 host, otherwise the guest's pid */
};

struct header {
	bool pipe;                   /* the stream format: attributes and features are records */
	bool swapped;                /* recorded on a machine of the opposite byte order */
	bool v1;                     /* the 2009 format */
	bool interrupted;            /* the recorder did not write the data size: features were at most announced */
	bool directory;
	bool compressed;
	uint64_t data_offset, data_size, feature_offset, file_size;
	time_t captured;             /* "captured on": modification time of the file; for a pipe, of the pipe itself */
	unsigned long long attr_size;
	uint64_t features[4];        /* bit per enum feature, 256 of them as stored */
	struct span feature_data[FEATURE_COUNT]; /* the body in file byte order; data NULL if absent or damaged */
	struct evlist evlist;
	VEC(struct build_id_entry) build_ids;
	size_t event_memory;         /* that the events may take, by header_event_fits; 0: no limit */
	size_t event_bytes;          /* that they take */
	uint64_t left_out_events;    /* events that exceed it; their samples are of no known event */
	uint64_t bad_attrs;          /* event descriptions that are truncated, or exceed their room */
	uint64_t bad_build_ids;      /* positions in the build-id table at which no row could be read */
	struct arena arena;
};

static inline bool header_has(const struct header *header, enum feature feature)
{
	return header->features[feature / 64] >> (feature % 64) & 1;
}

void header_fini(struct header *header); /* accepts a zeroed header */

/* The name in -D and in lines about missing features: "HOSTNAME" …; NULL if unknown. */
const char *feature_name(unsigned feature);

/* A feature that is one string (hostname, osrelease, version, arch, cpudesc, cpuid); NULL if absent or damaged. */
const char *header_string(const struct header *header, enum feature feature);
