/* PERF_RECORD_SAMPLE and the sample_id trailer of other records: with sample_fields.h, the only module that knows the order of their
 * fields. Bytes are in native order (`data` swaps each record once). Source: perf_event_open(2), "PERF_RECORD_SAMPLE". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/attr.h"
#include "abi/branch.h"
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

/* A decoded sample. Variable parts point into the record and are valid as long as it. Absent fields are 0, except cpu = UINT32_MAX, pid =
 * tid = UINT32_MAX, time = id = stream_id = UINT64_MAX, and period, which is the attribute's. */
struct sample {
	uint64_t ip, time, addr, id, stream_id, period;
#define MEMBER(NAME, bit, text, member) uint64_t member;
	SAMPLE_FIELDS(SAMPLE_NO_ROW, SAMPLE_NO_ROW, SAMPLE_NO_ROW, MEMBER) /* weight, data_src, transaction … */
#undef MEMBER
	uint32_t pid, tid, cpu, cpu_reserved;
	uint16_t ins_lat, p_stage_cyc;   /* the upper parts of the weight word under SAMPLE_WEIGHT_STRUCT */
	uint64_t present;                /* the SAMPLE_* bits of the decoded fields */
	const uint8_t *callchain;        /* callchain_count u64s, unaligned: the recorded call chain with its context markers */
	uint64_t callchain_count;
	const uint8_t *raw;              /* payload of a tracepoint or another raw event, in the byte order of the recording */
	uint32_t raw_size;
	const uint8_t *branches;         /* branch_count entries of struct branch_entry, unaligned */
	uint64_t branch_count;
	uint64_t branch_hw_index;        /* -1: unknown */
	const uint8_t *branch_counters;  /* branch_count u64s, unaligned; NULL: absent */
	uint64_t regs_user_abi, regs_intr_abi;
	const uint8_t *regs_user, *regs_intr; /* one u64 per bit of the attribute's mask; NULL if the ABI is 0 */
	const uint8_t *stack_user;
	uint64_t stack_user_size;        /* bytes that the kernel copied (dyn_size) */
	const uint8_t *aux;
	uint64_t aux_size;
	const uint8_t *read;             /* read_len bytes of read values: decode with sample_read_decode */
	size_t read_len;
};

enum {
#define ONE(...) + 1
	SAMPLE_PARTS_MAX = 0 SAMPLE_FIELDS(SAMPLE_NO_ROW, SAMPLE_NO_ROW, ONE, ONE)
#undef ONE
};

/* What sample_decode_brief can decode fast. */
enum sample_brief {
	BRIEF_NONE,
	BRIEF_RAW,     /* the only part is raw data, and time, tid and cpu are before it */
	BRIEF_PLACE,   /* a call chain is the only part, or absent; ip and tid are before it */
};

/* The layout of an event's samples and trailers, computed once from its attribute. */
struct sample_layout {
	uint64_t sample_type, read_format, branch_sample_type;
	unsigned regs_user_count, regs_intr_count;
	int8_t time_at, id_at, cpu_at, tid_at, period_at;  /* index of a u64 in a sample's body; -1: not at a fixed index */
	int8_t trailer_time_at, trailer_id_at, trailer_tid_at, trailer_cpu_at; /* distance from the end in u64s (1: the last one); 0: absent */
	uint8_t trailer_count;                             /* u64s in the trailer; 0 without sample_id_all */
	uint8_t fixed_count;                               /* u64s before the parts of a sample */
	int8_t ip_at;                                      /* as time_at */
	uint8_t brief;                                     /* enum sample_brief */
	uint8_t part_count, parts[SAMPLE_PARTS_MAX];       /* the fields after them, as indexes into the table of parts */
	uint64_t default_period;
};

void sample_layout_init(struct sample_layout *layout, const struct attr *attr);

/* Decodes a SAMPLE record's body. Fails with ERROR_FORMAT if a size exceeds the record; *err names the field and its offset. Fields
 * before that one are valid and are in sample->present. */
int sample_decode(struct sample *sample, const struct sample_layout *layout, const struct record *record, struct error *err);

/* The same, faster, into what sample_decode has filled last by the layout `before` (NULL: none) and nothing has changed since. */
int sample_decode_again(struct sample *sample, const struct sample_layout *layout, const struct sample_layout *before,
	const struct record *record, struct error *err);

/* Whether sample_decode would succeed. Reads only the sizes in the sample. */
bool sample_is_whole(const struct sample_layout *layout, const struct record *record);

static inline uint64_t sample_fixed(const struct record *record, int at, uint64_t absent)
{
	return at >= 0 ? load_u64(record->body + at * 8) : absent;
}

/* The same as sample_decode, faster, for readers of few members; others have no value. For all: time, pid, tid, cpu. With BRIEF_RAW: raw,
 * raw_size; with BRIEF_PLACE: ip, period. */
static inline int sample_decode_brief(struct sample *sample, const struct sample_layout *layout, const struct record *record,
	struct error *err)
{
	uint32_t head = layout->fixed_count * 8u + (uint32_t)sizeof sample->raw_size;
	if (layout->brief == BRIEF_RAW && record->body_len >= head) {
		sample->raw = record->body + head;
		sample->raw_size = load_u32(sample->raw - sizeof sample->raw_size);
		if (sample->raw_size > record->body_len - head)
			return sample_decode(sample, layout, record, err);
		sample->time = load_u64(record->body + layout->time_at * 8);
		sample->cpu = load_u32(record->body + layout->cpu_at * 8);
	} else if (layout->brief == BRIEF_PLACE && sample_is_whole(layout, record)) {
		sample->ip = load_u64(record->body + layout->ip_at * 8);
		sample->period = sample_fixed(record, layout->period_at, layout->default_period);
		sample->time = sample_fixed(record, layout->time_at, UINT64_MAX);
		sample->cpu = layout->cpu_at >= 0 ? load_u32(record->body + layout->cpu_at * 8) : UINT32_MAX;
	} else {
		return sample_decode(sample, layout, record, err);
	}
	sample->pid = load_u32(record->body + layout->tid_at * 8);
	sample->tid = load_u32(record->body + layout->tid_at * 8 + sizeof sample->pid);
	sample->present = layout->sample_type;
	return 0;
}

/* Offsets in a sample's body: the call chain (with its count), the user registers (with their ABI), the stack copy (with its sizes). An
 * absent part is empty and lies where the layout would place it. */
struct sample_extents {
	size_t chain, chain_end, regs, stack, stack_end;
};
/* Returns < 0 if the sample is invalid. */
int sample_extents(struct sample_extents *extents, const struct sample_layout *layout, const struct record *record);

/* Returns the number of user addresses in the recorded call chain. */
size_t sample_user_frames(const struct sample *sample);

/* Decodes the trailer of a record that is not a sample: pid, tid, time, id, stream_id, cpu. All are absent if the record is too short. */
void sample_decode_trailer(struct sample *sample, const struct sample_layout *layout, const struct record *record);

/* The time of a sample, at = layout.time_at; UINT64_MAX: it has none, or is too short. */
static inline uint64_t record_time_from_front(const struct record *record, int at)
{
	return at >= 0 && (uint32_t)(at + 1) * 8 <= record->body_len ? load_u64(record->body + at * 8) : UINT64_MAX;
}

/* The same for other records, back = layout.trailer_time_at. */
static inline uint64_t record_time_from_back(const struct record *record, int back)
{
	return back > 0 && (uint32_t)back * 8 <= record->body_len ? load_u64(record->body + record->body_len - back * 8) : UINT64_MAX;
}

/* Its flags have the bit numbers of abi/branch.h. */
static inline struct branch_entry sample_branch(const struct sample *sample, size_t i)
{
	struct branch_entry entry;
	memcpy(&entry, sample->branches + i * sizeof entry, sizeof entry);
	entry.flags = branch_flags_decode(entry.flags);
	return entry;
}

static inline uint64_t sample_chain_at(const struct sample *sample, size_t i)
{
	return load_u64(sample->callchain + i * 8);
}

/* Decoded READ values: how many (1 without READ_GROUP), the times in ns (0: absent), and the bytes of the values, borrowed. */
struct read_values {
	uint64_t count, time_enabled, time_running;
	uint64_t format;
	const uint8_t *values;
};
int sample_read_decode(struct read_values *values, uint64_t read_format, const uint8_t *bytes, size_t len, size_t *used);
struct read_value sample_read_at(const struct read_values *values, uint64_t i);

/* Swaps a record body from the other byte order in place, except strings and raw payloads. layout: of the record's event; NULL: unknown,
 * samples are not swapped. Returns < 0 if a size exceeds the body; the rest is then not swapped. */
int record_swap(uint32_t type, uint16_t misc, uint8_t *body, size_t len, const struct sample_layout *layout);
