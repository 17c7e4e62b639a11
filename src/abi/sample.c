#include "abi/sample.h"

#define U64_BYTES sizeof(uint64_t)

/* The fields of 8 bytes at the start of a sample's body, in order. */
static const uint64_t fixed_bits[] = {
	SAMPLE_IDENTIFIER, SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, SAMPLE_ADDR, SAMPLE_ID, SAMPLE_STREAM_ID, SAMPLE_CPU, SAMPLE_PERIOD,
};
#define FIXED_COUNT (sizeof fixed_bits / sizeof *fixed_bits)

static const char *const fixed_names[] = {
	"identifier", "ip", "pid and tid", "time", "addr", "id", "stream id", "cpu", "period",
};

/* The fields of the trailer, from the end of the record backwards. */
static const uint64_t trailer_bits[] = {
	SAMPLE_IDENTIFIER, SAMPLE_CPU, SAMPLE_STREAM_ID, SAMPLE_ID, SAMPLE_TIME, SAMPLE_TID,
};

static int8_t fixed_index(uint64_t sample_type, uint64_t bit)
{
	int8_t index = 0;
	if (!(sample_type & bit))
		return -1;
	for (size_t i = 0; i < FIXED_COUNT && fixed_bits[i] != bit; i++)
		index += (sample_type & fixed_bits[i]) != 0;
	return index;
}

static int8_t trailer_index(uint64_t sample_type, uint64_t bit)
{
	int8_t index = 1;
	if (!(sample_type & bit))
		return 0;
	for (size_t i = 0; trailer_bits[i] != bit; i++)
		index += (sample_type & trailer_bits[i]) != 0;
	return index;
}

static bool has_id_bit(uint64_t type, uint64_t *bit)
{
	*bit = type & SAMPLE_IDENTIFIER ? SAMPLE_IDENTIFIER : SAMPLE_ID;
	return type & *bit;
}

void sample_layout_init(struct sample_layout *layout, const struct attr *attr)
{
	uint64_t type = attr->sample_type, id_bit;
	*layout = (struct sample_layout){
		.sample_type = type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.regs_user_count = (unsigned)__builtin_popcountll(attr->sample_regs_user),
		.regs_intr_count = (unsigned)__builtin_popcountll(attr->sample_regs_intr),
		.time_at = fixed_index(type, SAMPLE_TIME),
		.cpu_at = fixed_index(type, SAMPLE_CPU),
		.tid_at = fixed_index(type, SAMPLE_TID),
		.id_at = has_id_bit(type, &id_bit) ? fixed_index(type, id_bit) : -1,
		.default_period = attr->sample_period,
	};
	for (size_t i = 0; i < FIXED_COUNT; i++)
		layout->fixed_count += (type & fixed_bits[i]) != 0;
	if (!attr_flag(attr, ATTR_SAMPLE_ID_ALL))
		return;
	layout->trailer_time_at = trailer_index(type, SAMPLE_TIME);
	layout->trailer_tid_at = trailer_index(type, SAMPLE_TID);
	layout->trailer_cpu_at = trailer_index(type, SAMPLE_CPU);
	layout->trailer_id_at = has_id_bit(type, &id_bit) ? trailer_index(type, id_bit) : 0;
	for (size_t i = 0; i < sizeof trailer_bits / sizeof *trailer_bits; i++)
		layout->trailer_count += (type & trailer_bits[i]) != 0;
}

static inline void sample_clear(struct sample *sample)
{
	memset(sample, 0, sizeof *sample);
	sample->time = sample->id = sample->stream_id = UINT64_MAX;
	sample->pid = sample->tid = sample->cpu = UINT32_MAX;
	sample->branch_hw_index = UINT64_MAX;
}

static inline uint64_t next_u64(const uint8_t **at)
{
	uint64_t value = load_u64(*at);
	*at += U64_BYTES;
	return value;
}

static inline void split_u32(const uint8_t **at, uint32_t *first, uint32_t *second)
{
	*first = load_u32(*at);
	*second = load_u32(*at + sizeof *first);
	*at += U64_BYTES;
}

/* Precondition: the fields of `type` are within the record. */
static inline void decode_fixed(struct sample *sample, uint64_t type, const uint8_t *at)
{
	if (type & SAMPLE_IDENTIFIER)
		sample->id = next_u64(&at);
	if (type & SAMPLE_IP)
		sample->ip = next_u64(&at);
	if (type & SAMPLE_TID)
		split_u32(&at, &sample->pid, &sample->tid);
	if (type & SAMPLE_TIME)
		sample->time = next_u64(&at);
	if (type & SAMPLE_ADDR)
		sample->addr = next_u64(&at);
	if (type & SAMPLE_ID)
		sample->id = next_u64(&at);
	if (type & SAMPLE_STREAM_ID)
		sample->stream_id = next_u64(&at);
	if (type & SAMPLE_CPU)
		split_u32(&at, &sample->cpu, &sample->cpu_reserved);
	if (type & SAMPLE_PERIOD)
		sample->period = next_u64(&at);
	sample->present = type & (SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID |
				  SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_PERIOD);
}

/* The record ends within the fixed fields: decodes the complete ones and reports the first missing one. */
static int decode_fixed_cut(struct sample *sample, const struct sample_layout *layout, const struct record *record,
			    struct error *err)
{
	size_t fit = record->body_len / U64_BYTES, at = 0, i = 0;
	uint64_t type = 0;
	for (; i < FIXED_COUNT && at <= fit; i++) {
		if (!(layout->sample_type & fixed_bits[i]))
			continue;
		if (at == fit)
			break;
		type |= fixed_bits[i];
		at++;
	}
	decode_fixed(sample, type, record->body);
	return error_set(err, ERROR_FORMAT, "the sample's %s at byte %zu exceeds the body of %u bytes", fixed_names[i],
			 at * U64_BYTES, record->body_len);
}

/* Takes n items of `size` bytes; false if they exceed the record. */
static inline bool take_items(struct cursor *c, uint64_t n, size_t size, const uint8_t **items)
{
	if (n > cursor_left(c) / size)
		return false;
	*items = take(c, n * size);
	return true;
}

static inline bool take_value(struct cursor *c, uint64_t *value)
{
	*value = take_u64(c);
	return !c->short_read;
}

static bool decode_read(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	struct read_values values;
	sample->read = c->data + c->at;
	if (sample_read_decode(&values, layout->read_format, sample->read, cursor_left(c), &sample->read_len) < 0)
		return false;
	c->at += sample->read_len;
	return true;
}

static bool decode_callchain(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	uint64_t count;
	if (!take_value(c, &count) || !take_items(c, count, U64_BYTES, &sample->callchain))
		return false;
	sample->callchain_count = count;
	return true;
}

static bool decode_raw(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	uint32_t size = take_u32(c);
	if (c->short_read || !take_items(c, size, 1, &sample->raw))
		return false;
	sample->raw_size = size;
	return true;
}

static bool decode_branches(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	uint64_t count;
	if (!take_value(c, &count))
		return false;
	/* the kernel omits hw_index if it has no branch stack: detectable only if the count ends the record */
	if (layout->branch_sample_type & BRANCH_HW_INDEX && (count || cursor_left(c)) && !take_value(c, &sample->branch_hw_index))
		return false;
	if (!take_items(c, count, sizeof(struct branch_entry), &sample->branches))
		return false;
	if (layout->branch_sample_type & BRANCH_COUNTERS && !take_items(c, count, U64_BYTES, &sample->branch_counters))
		return false;
	sample->branch_count = count;
	return true;
}

static bool decode_regs_user(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	if (!take_value(c, &sample->regs_user_abi))
		return false;
	if (sample->regs_user_abi && !take_items(c, layout->regs_user_count, U64_BYTES, &sample->regs_user)) {
		sample->regs_user_abi = 0;
		return false;
	}
	return true;
}

static bool decode_regs_intr(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	if (!take_value(c, &sample->regs_intr_abi))
		return false;
	if (sample->regs_intr_abi && !take_items(c, layout->regs_intr_count, U64_BYTES, &sample->regs_intr)) {
		sample->regs_intr_abi = 0;
		return false;
	}
	return true;
}

static bool decode_stack_user(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	uint64_t size, copied;
	const uint8_t *bytes;
	if (!take_value(c, &size))
		return false;
	if (!size)
		return true;
	if (!take_items(c, size, 1, &bytes) || !take_value(c, &copied) || copied > size)
		return false;
	sample->stack_user = bytes;
	sample->stack_user_size = copied;
	return true;
}

static bool decode_weight(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	return take_value(c, &sample->weight);
}

static bool decode_weight_struct(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	uint64_t word;
	if (!take_value(c, &word))
		return false;
	sample->weight = (uint32_t)word;
	sample->ins_lat = (uint16_t)(word >> 32);
	sample->p_stage_cyc = (uint16_t)(word >> 48);
	return true;
}

static bool decode_data_src(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	return take_value(c, &sample->data_src);
}

static bool decode_transaction(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	return take_value(c, &sample->transaction);
}

static bool decode_phys_addr(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	return take_value(c, &sample->phys_addr);
}

static bool decode_cgroup(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	return take_value(c, &sample->cgroup);
}

static bool decode_data_page_size(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	return take_value(c, &sample->data_page_size);
}

static bool decode_code_page_size(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	return take_value(c, &sample->code_page_size);
}

static bool decode_aux(struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	uint64_t size;
	if (!take_value(c, &size) || !take_items(c, size, 1, &sample->aux))
		return false;
	sample->aux_size = size;
	return true;
}

/* The fields after the fixed ones, in the kernel's order. */
static const struct part {
	uint64_t bit;
	const char *name;
	bool (*decode)(struct sample *sample, const struct sample_layout *layout, struct cursor *c);
} parts[] = {
	{ SAMPLE_READ, "read values", decode_read },
	{ SAMPLE_CALLCHAIN, "callchain", decode_callchain },
	{ SAMPLE_RAW, "raw data", decode_raw },
	{ SAMPLE_BRANCH_STACK, "branch stack", decode_branches },
	{ SAMPLE_REGS_USER, "user registers", decode_regs_user },
	{ SAMPLE_STACK_USER, "user stack", decode_stack_user },
	{ SAMPLE_WEIGHT, "weight", decode_weight },
	{ SAMPLE_WEIGHT_STRUCT, "weight", decode_weight_struct },
	{ SAMPLE_DATA_SRC, "data source", decode_data_src },
	{ SAMPLE_TRANSACTION, "transaction", decode_transaction },
	{ SAMPLE_REGS_INTR, "interrupt registers", decode_regs_intr },
	{ SAMPLE_PHYS_ADDR, "physical address", decode_phys_addr },
	{ SAMPLE_CGROUP, "cgroup", decode_cgroup },
	{ SAMPLE_DATA_PAGE_SIZE, "data page size", decode_data_page_size },
	{ SAMPLE_CODE_PAGE_SIZE, "code page size", decode_code_page_size },
	{ SAMPLE_AUX, "AUX data", decode_aux },
};

int sample_decode(struct sample *sample, const struct sample_layout *layout, const struct record *record, struct error *err)
{
	uint64_t type = layout->sample_type;
	sample_clear(sample);
	sample->period = layout->default_period;
	if (__builtin_expect(layout->fixed_count * U64_BYTES > record->body_len, 0))
		return decode_fixed_cut(sample, layout, record, err);
	decode_fixed(sample, type, record->body);

	uint64_t left = type & ~sample->present;
	struct cursor c = cursor_of(record->body, record->body_len, false);
	c.at = layout->fixed_count * U64_BYTES;
	for (size_t i = 0; left && i < sizeof parts / sizeof *parts; i++) {
		if (!(left & parts[i].bit))
			continue;
		size_t start = c.at;
		if (__builtin_expect(!parts[i].decode(sample, layout, &c), 0))
			return error_set(err, ERROR_FORMAT, "the sample's %s at byte %zu exceeds the body of %u bytes",
					 parts[i].name, start, record->body_len);
		sample->present |= parts[i].bit;
		left &= ~parts[i].bit;
	}
	return 0;
}

bool sample_is_whole(const struct sample_layout *layout, const struct record *record)
{
	static const uint64_t fixed = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID | SAMPLE_STREAM_ID |
		SAMPLE_CPU | SAMPLE_PERIOD;
	uint64_t variable = layout->sample_type & ~fixed, at = layout->fixed_count * U64_BYTES;
	struct sample sample;
	if (at > record->body_len)
		return false;
	if (!variable)
		return true;
	if (variable != SAMPLE_CALLCHAIN)
		return sample_decode(&sample, layout, record, NULL) == 0;
	return record->body_len - at >= U64_BYTES && load_u64(record->body + at) <= (record->body_len - at) / U64_BYTES - 1;
}

int sample_extents(struct sample_extents *extents, const struct sample_layout *layout, const struct record *record)
{
	struct sample sample;
	struct cursor c = cursor_of(record->body, record->body_len, false);
	sample_clear(&sample);
	if (!take(&c, layout->fixed_count * U64_BYTES))
		return -1;
	for (size_t i = 0; i < sizeof parts / sizeof *parts && parts[i].bit != SAMPLE_WEIGHT; i++) {
		size_t start = c.at;
		if (layout->sample_type & parts[i].bit && !parts[i].decode(&sample, layout, &c))
			return -1;
		if (parts[i].bit == SAMPLE_CALLCHAIN) {
			extents->chain = start;
			extents->chain_end = c.at;
		} else if (parts[i].bit == SAMPLE_REGS_USER) {
			extents->regs = start;
		} else if (parts[i].bit == SAMPLE_STACK_USER) {
			extents->stack = start;
			extents->stack_end = c.at;
		}
	}
	return 0;
}

size_t sample_user_frames(const struct sample *sample)
{
	size_t count = 0;
	bool user = false;
	for (uint64_t i = 0; i < sample->callchain_count; i++) {
		uint64_t address = sample_chain_at(sample, i);
		if (address >= CONTEXT_MAX)
			user = address == CONTEXT_USER;
		else
			count += user;
	}
	return count;
}

static inline const uint8_t *from_end(const struct record *record, int words)
{
	return record->body + record->body_len - (size_t)words * U64_BYTES;
}

void sample_decode_trailer(struct sample *sample, const struct sample_layout *layout, const struct record *record)
{
	sample_clear(sample);
	sample->period = layout->default_period;
	if (record->type >= RECORD_USER_TYPE_START || !layout->trailer_count ||
	    layout->trailer_count * U64_BYTES > record->body_len)
		return;
	uint64_t type = layout->sample_type;
	const uint8_t *at = from_end(record, layout->trailer_count);
	if (type & SAMPLE_TID)
		split_u32(&at, &sample->pid, &sample->tid);
	if (type & SAMPLE_TIME)
		sample->time = next_u64(&at);
	if (type & SAMPLE_ID)
		sample->id = next_u64(&at);
	if (type & SAMPLE_STREAM_ID)
		sample->stream_id = next_u64(&at);
	if (type & SAMPLE_CPU)
		split_u32(&at, &sample->cpu, &sample->cpu_reserved);
	if (type & SAMPLE_IDENTIFIER)
		sample->id = next_u64(&at);
	sample->present = type & (SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER);
}

static size_t read_value_words(uint64_t format)
{
	return 1 + !!(format & READ_ID) + !!(format & READ_LOST);
}

int sample_read_decode(struct read_values *values, uint64_t read_format, const uint8_t *bytes, size_t len, size_t *used)
{
	struct cursor c = cursor_of(bytes, len, false);
	*values = (struct read_values){ .count = 1, .format = read_format };
	if (read_format & READ_GROUP) {
		values->count = take_u64(&c);
		if (read_format & READ_TOTAL_TIME_ENABLED)
			values->time_enabled = take_u64(&c);
		if (read_format & READ_TOTAL_TIME_RUNNING)
			values->time_running = take_u64(&c);
		if (c.short_read || !take_items(&c, values->count, read_value_words(read_format) * U64_BYTES, &values->values))
			return -1;
	} else {
		values->values = bytes;
		take_u64(&c);
		if (read_format & READ_TOTAL_TIME_ENABLED)
			values->time_enabled = take_u64(&c);
		if (read_format & READ_TOTAL_TIME_RUNNING)
			values->time_running = take_u64(&c);
		take(&c, (read_value_words(read_format) - 1) * U64_BYTES);
		if (c.short_read)
			return -1;
	}
	*used = c.at;
	return 0;
}

struct read_value sample_read_at(const struct read_values *values, uint64_t i)
{
	size_t words = read_value_words(values->format);
	struct read_value out = { 0 };
	const uint8_t *at = values->values;
	if (values->format & READ_GROUP) {
		at += i * words * U64_BYTES;
		out.value = next_u64(&at);
	} else {
		out.value = next_u64(&at);
		at += U64_BYTES * (!!(values->format & READ_TOTAL_TIME_ENABLED) + !!(values->format & READ_TOTAL_TIME_RUNNING));
	}
	if (values->format & READ_ID)
		out.id = next_u64(&at);
	if (values->format & READ_LOST)
		out.lost = next_u64(&at);
	return out;
}
