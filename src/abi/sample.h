/* PERF_RECORD_SAMPLE and the sample_id trailer of every other record: the only place that knows the order of the fields.
 * Bytes are in native order (records are swapped once, by the container). Source: perf_event_open(2), "PERF_RECORD_SAMPLE". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/attr.h"
#include "abi/record.h"
#include "base/error.h"

struct branch_entry {
	uint64_t from, to;
	/* bit 0 mispred, 1 predicted, 2 in_tx, 3 abort, 4-19 cycles, 20-23 type, 24-25 spec, 26-29 new_type, 30-32 priv */
	uint64_t flags;
};

struct read_value {
	uint64_t value, id, lost;
};

/* Fixed fields by value; variable parts point into the record and live as long as it does. Absent fields are 0, except
 * cpu = UINT32_MAX, pid = tid = UINT32_MAX, time = UINT64_MAX, id = stream_id = UINT64_MAX, period = as stored or the attr's. */
struct sample {
	uint64_t ip, time, addr, id, stream_id, period, weight, data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	uint32_t pid, tid, cpu, cpu_reserved;
	uint16_t ins_lat, p_stage_cyc;   /* the upper parts of WEIGHT_STRUCT */
	uint64_t present;                /* the sample_type bits that were decoded */
	const uint8_t *callchain;        /* callchain_count u64s, unaligned */
	uint64_t callchain_count;
	const uint8_t *raw;              /* tracepoint and raw payload, in the byte order of the recording */
	uint32_t raw_size;
	const uint8_t *branches;         /* branch_count struct branch_entry, unaligned */
	uint64_t branch_count;
	uint64_t branch_hw_index;        /* -1: not known */
	const uint8_t *branch_counters;  /* branch_count u64s, or NULL */
	uint64_t regs_user_abi, regs_intr_abi;
	const uint8_t *regs_user, *regs_intr; /* one u64 per bit of the attr's mask; NULL where abi is 0 */
	const uint8_t *stack_user;
	uint64_t stack_user_size;        /* bytes that were copied (dyn_size) */
	const uint8_t *aux;
	uint64_t aux_size;
	const uint8_t *read;             /* the read values as stored: see sample_read_* */
	size_t read_len;
};

/* What decoding needs to know of an attr, prepared once. */
struct sample_layout {
	uint64_t sample_type, read_format, branch_sample_type;
	unsigned regs_user_count, regs_intr_count;
	int8_t time_at, id_at, cpu_at, tid_at;             /* u64 index from the start of a sample's body; -1 where not fixed */
	int8_t trailer_time_at, trailer_id_at, trailer_tid_at, trailer_cpu_at; /* u64s back from the end (1 = last); 0: absent */
	uint8_t trailer_count;                             /* u64s in the sample_id trailer; 0 without sample_id_all */
	uint8_t fixed_count;                               /* u64s before a sample's variable fields */
	uint64_t default_period;
};

void sample_layout_init(struct sample_layout *layout, const struct attr *attr);

/* Decodes a SAMPLE record's body. < 0: a size in it does not fit the record (err says which field, at which byte of the body);
 * what was decoded before it stays in *sample and `present` tells what that is. */
int sample_decode(struct sample *sample, const struct sample_layout *layout, const struct record *record, struct error *err);

/* Where parts of a sample's body begin and end: a chain (its count included), registers of user code (their ABI included), and the
 * copy of the stack (its sizes included); parts that are absent are empty, at the place where they would stand. */
struct sample_extents {
	size_t chain, chain_end, regs, stack, stack_end;
};
/* < 0: the sample does not decode. */
int sample_extents(struct sample_extents *extents, const struct sample_layout *layout, const struct record *record);

/* Addresses of user code in a sample's callchain. */
size_t sample_user_frames(const struct sample *sample);

/* The trailer of a record that is not a sample: pid, tid, time, id, stream_id, cpu. A record too short for it leaves all absent. */
void sample_decode_trailer(struct sample *sample, const struct sample_layout *layout, const struct record *record);

static inline struct branch_entry sample_branch(const struct sample *sample, size_t i)
{
	struct branch_entry entry;
	memcpy(&entry, sample->branches + i * sizeof entry, sizeof entry);
	return entry;
}

static inline uint64_t sample_chain_at(const struct sample *sample, size_t i)
{
	return load_u64(sample->callchain + i * 8);
}

/* READ values: the number of them (1 without READ_GROUP), time_enabled/time_running (0 where absent), and the i-th one. */
struct read_values {
	uint64_t count, time_enabled, time_running;
	uint64_t format;
	const uint8_t *values;
};
int sample_read_decode(struct read_values *values, uint64_t read_format, const uint8_t *bytes, size_t len, size_t *used);
struct read_value sample_read_at(const struct read_values *values, uint64_t i);

/* Swaps a whole record body of the other byte order in place, raw payloads and strings left as they are. layout: of the record's
 * event (NULL where none applies). Returns < 0 where a size in it does not fit; then the rest is left unswapped. */
int record_swap(uint32_t type, uint16_t misc, uint8_t *body, size_t len, const struct sample_layout *layout);
