/* What a container says about a recording before any sample: events, and the header features (perf.data-file-format.txt,
 * "HEADER_*"). Features are kept as bytes and decoded on demand; a file fills all at open, a pipe as records pass. */
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
	FEATURE_COUNT = 32
};

struct build_id {
	uint8_t bytes[20];
	uint8_t len; /* 0: none */
};

/* One row of the build-id table (feature or HEADER_BUILD_ID records). */
struct build_id_entry {
	const char *filename;
	struct build_id id;
	uint16_t misc; /* cpumode in the low bits */
	int32_t pid;   /* machine: -1 host, otherwise the guest's pid */
};

struct header {
	bool pipe;                   /* the stream form: attributes and features come as records */
	bool swapped;                /* recorded on a machine of the other byte order */
	bool v1;                     /* the 2009 format */
	bool interrupted;            /* the recorder never wrote the data size: features were announced at most */
	bool directory;
	bool compressed;
	uint64_t data_offset, data_size, feature_offset, file_size;
	time_t captured;             /* "captured on": when the file was last written to; of a pipe: the pipe itself */
	unsigned long long attr_size;
	uint64_t features[4];        /* bit per enum feature, 256 of them as stored */
	struct span feature_data[FEATURE_COUNT]; /* the body as stored (file byte order); data NULL where absent or damaged */
	struct evlist evlist;
	VEC(struct build_id_entry) build_ids;
	struct arena arena;
};

static inline bool header_has(const struct header *header, enum feature feature)
{
	return header->features[feature / 64] >> (feature % 64) & 1;
}

void header_fini(struct header *header); /* also of a zeroed one */

/* "HOSTNAME" …: the word of -D and of missing-features lines; NULL for none. */
const char *feature_name(unsigned feature);

/* A feature that is one string (hostname, osrelease, version, arch, cpudesc, cpuid); NULL where absent or damaged. */
const char *header_string(const struct header *header, enum feature feature);
