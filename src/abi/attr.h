/* struct perf_event_attr: its encoded bytes and its decoded value. Source: perf_event_open(2), include/uapi/linux/perf_event.h of Linux
 * 6.19 and older. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sample_fields.h"
#include "base/bytes.h"
#include "base/error.h"

enum {
	ATTR_SIZE_VER0 = 64,  /* the first published size */
	ATTR_SIZE_VER1 = 72,  /* config2 */
	ATTR_SIZE_VER2 = 80,  /* branch_sample_type */
	ATTR_SIZE_VER3 = 96,  /* sample_regs_user, sample_stack_user */
	ATTR_SIZE_VER4 = 104, /* sample_regs_intr */
	ATTR_SIZE_VER5 = 112, /* aux_watermark */
	ATTR_SIZE_VER6 = 120, /* aux_sample_size */
	ATTR_SIZE_VER7 = 128, /* sig_data */
	ATTR_SIZE_VER8 = 136, /* config3 */
	ATTR_SIZE_VER9 = 144, /* config4 */
};

enum attr_type {
	ATTR_HARDWARE = 0,
	ATTR_SOFTWARE = 1,
	ATTR_TRACEPOINT = 2,
	ATTR_HW_CACHE = 3,
	ATTR_RAW = 4,
	ATTR_BREAKPOINT = 5,
};

/* SAMPLE_IP …: the bits of sample_type; SAMPLE_BIT_IP …: their numbers. */
enum sample_bit {
#define BIT(NAME, number, ...) SAMPLE_BIT_##NAME = number,
	SAMPLE_FIELDS(BIT, BIT, BIT, BIT)
#undef BIT
	SAMPLE_BITS_MAX = 32
};

enum sample_type {
#define BIT(NAME, number, ...) SAMPLE_##NAME = 1u << number,
	SAMPLE_FIELDS(BIT, BIT, BIT, BIT)
#undef BIT
};

enum read_format {
	READ_TOTAL_TIME_ENABLED = 1 << 0,
	READ_TOTAL_TIME_RUNNING = 1 << 1,
	READ_ID = 1 << 2,
	READ_GROUP = 1 << 3,
	READ_LOST = 1 << 4,
};

enum branch_sample_type {
	BRANCH_USER = 1u << 0,
	BRANCH_KERNEL = 1u << 1,
	BRANCH_HV = 1u << 2,
	BRANCH_ANY = 1u << 3,
	BRANCH_ANY_CALL = 1u << 4,
	BRANCH_ANY_RETURN = 1u << 5,
	BRANCH_IND_CALL = 1u << 6,
	BRANCH_ABORT_TX = 1u << 7,
	BRANCH_IN_TX = 1u << 8,
	BRANCH_NO_TX = 1u << 9,
	BRANCH_COND = 1u << 10,
	BRANCH_CALL_STACK = 1u << 11,
	BRANCH_IND_JUMP = 1u << 12,
	BRANCH_CALL = 1u << 13,
	BRANCH_NO_FLAGS = 1u << 14,
	BRANCH_NO_CYCLES = 1u << 15,
	BRANCH_TYPE_SAVE = 1u << 16,
	BRANCH_HW_INDEX = 1u << 17,
	BRANCH_PRIV_SAVE = 1u << 18,
	BRANCH_COUNTERS = 1u << 19,
};

/* Bits of the flag word as a little-endian compiler numbers them; attr_decode converts the other order. */
enum attr_flag {
	ATTR_DISABLED, ATTR_INHERIT, ATTR_PINNED, ATTR_EXCLUSIVE, ATTR_EXCLUDE_USER, ATTR_EXCLUDE_KERNEL, ATTR_EXCLUDE_HV,
	ATTR_EXCLUDE_IDLE, ATTR_MMAP, ATTR_COMM, ATTR_FREQ, ATTR_INHERIT_STAT, ATTR_ENABLE_ON_EXEC, ATTR_TASK, ATTR_WATERMARK,
	ATTR_PRECISE_IP /* two bits */, ATTR_PRECISE_IP_HIGH, ATTR_MMAP_DATA, ATTR_SAMPLE_ID_ALL, ATTR_EXCLUDE_HOST,
	ATTR_EXCLUDE_GUEST, ATTR_EXCLUDE_CALLCHAIN_KERNEL, ATTR_EXCLUDE_CALLCHAIN_USER, ATTR_MMAP2, ATTR_COMM_EXEC,
	ATTR_USE_CLOCKID, ATTR_CONTEXT_SWITCH, ATTR_WRITE_BACKWARD, ATTR_NAMESPACES, ATTR_KSYMBOL, ATTR_BPF_EVENT,
	ATTR_AUX_OUTPUT, ATTR_CGROUP, ATTR_TEXT_POKE, ATTR_BUILD_ID, ATTR_INHERIT_THREAD, ATTR_REMOVE_ON_EXEC, ATTR_SIGTRAP,
	ATTR_DEFER_CALLCHAIN, ATTR_DEFER_OUTPUT,
	ATTR_FLAG_COUNT
};

struct attr {
	uint32_t type;
	uint32_t size;              /* as stored in the recording */
	uint64_t config;
	uint64_t sample_period;     /* a frequency in Hz if ATTR_FREQ is set */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags;             /* one bit per enum attr_flag */
	uint32_t wakeup_events;     /* or watermark */
	uint32_t bp_type;
	uint64_t config1;           /* or bp_addr */
	uint64_t config2;           /* or bp_len */
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint32_t aux_sample_size;
	uint32_t aux_flags;         /* aux_start_paused, aux_pause, aux_resume, aux_action */
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
	uint32_t unknown_tail;      /* number of bytes beyond ATTR_SIZE_VER9 if any of them is not zero; otherwise 0 */
};

static inline bool attr_flag(const struct attr *attr, enum attr_flag flag)
{
	return attr->flags >> flag & 1;
}

/* Whether the recorded call chains have a user part: followed by the kernel through frame pointers, or unwound while recording. */
static inline bool attr_chains_of_user(const struct attr *attr)
{
	return attr->sample_type & SAMPLE_CALLCHAIN && !attr_flag(attr, ATTR_EXCLUDE_CALLCHAIN_USER) &&
	       !(attr->sample_type & SAMPLE_BRANCH_STACK && attr->branch_sample_type & BRANCH_CALL_STACK);
}

/* Whether the recorder unwound the user part (record --call-graph unwind): it also asks for stack copies, which perf never combines with
 * a user part. */
static inline bool attr_chains_unwound(const struct attr *attr)
{
	return attr_chains_of_user(attr) && attr->sample_type & SAMPLE_STACK_USER;
}

/* Whether the kernel followed the user part of the recorded call chains through frame pointers. */
static inline bool attr_chains_by_frame_pointer(const struct attr *attr)
{
	return attr_chains_of_user(attr) && !attr_chains_unwound(attr);
}

/* Whether samples are branches of a hardware trace. perf's test: any hardware event with this bit in its number. */
static inline bool attr_is_branch_trace(const struct attr *attr)
{
	return attr->type == ATTR_HARDWARE && attr->config & 4 && attr->sample_period == 1;
}

/* The event that only carries side-band: it never counts, so that it has no samples. */
static inline bool attr_is_dummy(const struct attr *attr)
{
	enum { SOFTWARE_DUMMY = 9 };
	return attr->type == ATTR_SOFTWARE && attr->config == SOFTWARE_DUMMY;
}

static inline unsigned attr_precise_ip(const struct attr *attr)
{
	return attr->flags >> ATTR_PRECISE_IP & 3;
}

/* Decodes `len` bytes, which may be more than ATTR_SIZE_VER9 (later kernels). swap: the bytes come from a machine of the other byte
 * order. Fails with ERROR_FORMAT if len < ATTR_SIZE_VER0. */
int attr_decode(struct attr *attr, const void *bytes, size_t len, bool swap, struct error *err);

/* Returns the smallest published size that contains every field that is not zero. */
uint32_t attr_size_needed(const struct attr *attr);
/* Encodes the attribute into out in native byte order and returns the encoded size: attr->size (one of ATTR_SIZE_*), or attr_size_needed
 * if that is 0. */
size_t attr_encode(const struct attr *attr, uint8_t out[static ATTR_SIZE_VER9]);
