/* Types and layouts of perf.data records: the kernel's types (perf_event.h of Linux 6.18 and 6.19) and the types of perf (from 64 on).
 * perfuse defines them itself, so that it builds with any kernel headers. Source: include/uapi/linux/perf_event.h,
 * tools/perf/Documentation/perf.data-file-format.txt, and recordings. No system calls, no allocation. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/record_types.h"

/* RECORD_MMAP …: a number for each row of record_types.h. */
enum record_type {
#define NUMBER(NAME, number, ...) RECORD_##NAME = number,
	RECORD_TYPES_OF_KERNEL(NUMBER)
	RECORD_KERNEL_TYPE_MAX, /* after the kernel's last one */
	RECORD_USER_TYPE_START = 64,
	RECORD_TYPES_OF_PERF(NUMBER)
	RECORD_TYPE_MAX,
#undef NUMBER
};

/* Whether a type is one of the kernel's that this program knows. */
static inline bool record_type_is_kernels(uint32_t type)
{
	return type - 1 < RECORD_KERNEL_TYPE_MAX - 1;
}

enum record_misc {
	RECORD_MISC_CPUMODE_MASK = 7,
	RECORD_MISC_CPUMODE_UNKNOWN = 0,
	RECORD_MISC_KERNEL = 1,
	RECORD_MISC_USER = 2,
	RECORD_MISC_HYPERVISOR = 3,
	RECORD_MISC_GUEST_KERNEL = 4,
	RECORD_MISC_GUEST_USER = 5,
	RECORD_MISC_PROC_MAP_PARSE_TIMEOUT = 1 << 12,
	RECORD_MISC_MMAP_DATA = 1 << 13,
	RECORD_MISC_COMM_EXEC = 1 << 13,
	RECORD_MISC_FORK_EXEC = 1 << 13,
	RECORD_MISC_SWITCH_OUT = 1 << 13,
	RECORD_MISC_EXACT_IP = 1 << 14,
	RECORD_MISC_SWITCH_OUT_PREEMPT = 1 << 14,
	RECORD_MISC_MMAP_BUILD_ID = 1 << 14,
	RECORD_MISC_LOST_SAMPLES_BPF = 1 << 15, /* dropped by a BPF filter */
	RECORD_MISC_EXT_RESERVED = 1 << 15,
};

/* An entry of a recorded call chain at or above this value is a context marker, not an address. */
#define CONTEXT_MAX ((uint64_t)-4095)
#define CONTEXT_HV ((uint64_t)-32)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define CONTEXT_GUEST ((uint64_t)-2048)
#define CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define CONTEXT_GUEST_USER ((uint64_t)-2560)

/* One record in native byte order; the bytes are borrowed. `body` follows the 8-byte header and has `body_len` bytes. The payload that
 * follows an AUXTRACE or HEADER_TRACING_DATA record is not part of the body. */
struct record {
	uint32_t type;
	uint16_t misc;
	uint32_t body_len;
	const uint8_t *body;
	uint64_t offset; /* in the file, or in a stream after its header; a decompressed record has the offset of its COMPRESSED record */
};

static inline unsigned record_cpumode(const struct record *record)
{
	return record->misc & RECORD_MISC_CPUMODE_MASK;
}

/* Whether the mode is of code in a virtual machine. */
static inline bool mode_is_guest(unsigned cpumode)
{
	return cpumode == RECORD_MISC_GUEST_KERNEL || cpumode == RECORD_MISC_GUEST_USER;
}

enum { RECORD_TYPE_LIMIT = 256 };

/* Whether a type may exist. Types are numbered consecutively: an unknown type may come from a later kernel or recorder, unless it is 0 or
 * far beyond the known types. */
static inline bool record_type_may_be(uint32_t type)
{
	return type && type < RECORD_TYPE_LIMIT;
}

/* Returns the minimum body size in bytes of a kernel record whose size no other function checks; 0 for other types. */
uint32_t record_least_body(uint32_t type);

/* Returns "SAMPLE", "MMAP2" …; NULL for an unknown type. */
const char *record_type_name(uint32_t type);

/* Returns the fields of a body as record_types.h describes them; NULL if the type is unknown or has no fixed fields. */
const char *record_type_layout(uint32_t type);
