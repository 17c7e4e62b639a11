#include "abi/sample.h"

#define U64_BYTES sizeof(uint64_t)

/* The fields of 8 bytes at the start of a sample's body, in order. */
static const struct {
	uint64_t bit;
	const char *name;
} fixed[] = {
#define ROW(NAME, number, text, ...) { SAMPLE_##NAME, text },
	SAMPLE_FIELDS(ROW, ROW, SAMPLE_NO_ROW, SAMPLE_NO_ROW)
#undef ROW
};
#define FIXED_COUNT (sizeof fixed / sizeof *fixed)

#define OR_BIT(NAME, ...) | SAMPLE_##NAME
static const uint64_t fixed_bits = 0 SAMPLE_FIELDS(OR_BIT, OR_BIT, SAMPLE_NO_ROW, SAMPLE_NO_ROW);
static const uint64_t trailer_bits = 0 SAMPLE_TRAILER(OR_BIT, OR_BIT);
#undef OR_BIT

static int8_t fixed_index(uint64_t sample_type, uint64_t bit)
{
	int8_t index = 0;
	if (!(sample_type & bit))
		return -1;
	for (size_t i = 0; i < FIXED_COUNT && fixed[i].bit != bit; i++)
		index += (sample_type & fixed[i].bit) != 0;
	return index;
}

/* The distance of a field from the end of the trailer. */
static int8_t trailer_index(uint64_t sample_type, uint64_t bit)
{
	static const uint64_t bits[] = {
#define BIT(NAME, ...) SAMPLE_##NAME,
		SAMPLE_TRAILER(BIT, BIT)
#undef BIT
	};
	int8_t index = 0;
	if (!(sample_type & bit))
		return 0;
	for (size_t i = sizeof bits / sizeof *bits; i-- > 0;) {
		index += (sample_type & bits[i]) != 0;
		if (bits[i] == bit)
			break;
	}
	return index;
}

static bool has_id_bit(uint64_t type, uint64_t *bit)
{
	*bit = type & SAMPLE_IDENTIFIER ? SAMPLE_IDENTIFIER : SAMPLE_ID;
	return type & *bit;
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

/* Two members that follow each other, written as one word: they are read so. */
static inline void next_pair(const uint8_t **at, struct sample *sample, size_t first)
{
	memcpy((char *)sample + first, *at, U64_BYTES);
	*at += U64_BYTES;
}

/* Precondition: the fields of `type` are within the record. */
static inline void decode_fixed(struct sample *sample, uint64_t type, const uint8_t *at)
{
#define HEAD(NAME, number, text, member)                 \
	if (type & SAMPLE_##NAME)                        \
		sample->member = next_u64(&at);
#define HEAD_PAIR(NAME, number, text, first, second)     \
	_Static_assert(offsetof(struct sample, second) == offsetof(struct sample, first) + sizeof(uint32_t), "a pair"); \
	if (type & SAMPLE_##NAME)                        \
		next_pair(&at, sample, offsetof(struct sample, first));
	SAMPLE_FIELDS(HEAD, HEAD_PAIR, SAMPLE_NO_ROW, SAMPLE_NO_ROW)
#undef HEAD
#undef HEAD_PAIR
	sample->present = type & fixed_bits;
}

/* The record ends within the fixed fields: decodes the complete ones and reports the first missing one. */
static int decode_fixed_cut(struct sample *sample, const struct sample_layout *layout, const struct record *record,
			    struct error *err)
{
	size_t fit = record->body_len / U64_BYTES, at = 0, i = 0;
	uint64_t type = 0;
	for (; i < FIXED_COUNT && at <= fit; i++) {
		if (!(layout->sample_type & fixed[i].bit))
			continue;
		if (at == fit)
			break;
		type |= fixed[i].bit;
		at++;
	}
	decode_fixed(sample, type, record->body);
	return error_set(err, ERROR_FORMAT, "the sample's %s at byte %zu exceeds the body of %u bytes", fixed[i].name,
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
	bool (*decode)(struct sample *sample, const struct sample_layout *layout, struct cursor *c); /* NULL: a u64 */
	size_t member;                                                                               /* its offset in struct sample */
} parts[SAMPLE_PARTS_MAX] = {
#define PART(NAME, number, text, function) { SAMPLE_##NAME, text, decode_##function, 0 },
#define WORD(NAME, number, text, member) { SAMPLE_##NAME, text, NULL, offsetof(struct sample, member) },
	SAMPLE_FIELDS(SAMPLE_NO_ROW, SAMPLE_NO_ROW, PART, WORD)
#undef PART
#undef WORD
};

void sample_layout_init(struct sample_layout *layout, const struct attr *attr)
{
	uint64_t type = attr->sample_type, id_bit;
	*layout = (struct sample_layout){
		.sample_type = type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.regs_user_count = (unsigned)__builtin_popcountll(attr->sample_regs_user),
		.regs_intr_count = (unsigned)__builtin_popcountll(attr->sample_regs_intr),
		.ip_at = fixed_index(type, SAMPLE_IP),
		.time_at = fixed_index(type, SAMPLE_TIME),
		.cpu_at = fixed_index(type, SAMPLE_CPU),
		.tid_at = fixed_index(type, SAMPLE_TID),
		.period_at = fixed_index(type, SAMPLE_PERIOD),
		.id_at = has_id_bit(type, &id_bit) ? fixed_index(type, id_bit) : -1,
		.default_period = attr->sample_period,
	};
	for (size_t i = 0; i < FIXED_COUNT; i++)
		layout->fixed_count += (type & fixed[i].bit) != 0;
	for (size_t i = 0; i < SAMPLE_PARTS_MAX; i++)
		if (type & parts[i].bit)
			layout->parts[layout->part_count++] = (uint8_t)i;
	uint64_t part_bits = type & ~fixed_bits;
	if (part_bits == SAMPLE_RAW && layout->time_at >= 0 && layout->tid_at >= 0 && layout->cpu_at >= 0)
		layout->brief = BRIEF_RAW;
	else if (!(part_bits & ~SAMPLE_CALLCHAIN) && layout->ip_at >= 0 && layout->tid_at >= 0)
		layout->brief = BRIEF_PLACE;
	if (!attr_flag(attr, ATTR_SAMPLE_ID_ALL))
		return;
	layout->trailer_time_at = trailer_index(type, SAMPLE_TIME);
	layout->trailer_tid_at = trailer_index(type, SAMPLE_TID);
	layout->trailer_cpu_at = trailer_index(type, SAMPLE_CPU);
	layout->trailer_id_at = has_id_bit(type, &id_bit) ? trailer_index(type, id_bit) : 0;
	layout->trailer_count = (uint8_t)__builtin_popcountll(type & trailer_bits);
}

static inline bool part_decode(const struct part *part, struct sample *sample, const struct sample_layout *layout, struct cursor *c)
{
	return part->decode ? part->decode(sample, layout, c) : take_value(c, (uint64_t *)((char *)sample + part->member));
}

int sample_decode(struct sample *sample, const struct sample_layout *layout, const struct record *record, struct error *err)
{
	sample_clear(sample);
	sample->period = layout->default_period;
	if (__builtin_expect(layout->fixed_count * U64_BYTES > record->body_len, 0))
		return decode_fixed_cut(sample, layout, record, err);
	decode_fixed(sample, layout->sample_type, record->body);

	struct cursor c = cursor_of(record->body, record->body_len, false);
	c.at = layout->fixed_count * U64_BYTES;
	for (unsigned i = 0; i < layout->part_count; i++) {
		const struct part *part = &parts[layout->parts[i]];
		size_t start = c.at;
		if (__builtin_expect(!part_decode(part, sample, layout, &c), 0))
			return error_set(err, ERROR_FORMAT, "the sample's %s at byte %zu exceeds the body of %u bytes", part->name, start,
					 record->body_len);
		sample->present |= part->bit;
	}
	return 0;
}

/* The call chain of a sample that has no other part; false: the sizes are wrong. */
static inline bool decode_only_chain(struct sample *sample, const struct sample_layout *layout, const struct record *record)
{
	size_t head = (size_t)layout->fixed_count * U64_BYTES + U64_BYTES; /* with the number of entries */
	if (head > record->body_len)
		return false;
	sample->callchain = record->body + head;
	sample->callchain_count = load_u64(sample->callchain - U64_BYTES);
	return sample->callchain_count <= (record->body_len - head) / U64_BYTES;
}

/* Fixed fields, or these and a call chain: all others are absent, as before. */
int sample_decode_again(struct sample *sample, const struct sample_layout *layout, const struct sample_layout *before,
	const struct record *record, struct error *err)
{
	uint64_t part_bits = layout->sample_type & ~fixed_bits;
	if (layout != before || part_bits & ~SAMPLE_CALLCHAIN || layout->fixed_count * U64_BYTES > record->body_len ||
	    (part_bits && !decode_only_chain(sample, layout, record)))
		return sample_decode(sample, layout, record, err);
	decode_fixed(sample, layout->sample_type, record->body);
	sample->present |= part_bits;
	return 0;
}

bool sample_is_whole(const struct sample_layout *layout, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	struct sample sample; /* the parts write what they read of it */
	c.at = layout->fixed_count * U64_BYTES;
	if (c.at > record->body_len)
		return false;
	if (!layout->part_count)
		return true;
	if (layout->brief == BRIEF_RAW)
		return cursor_left(&c) >= sizeof sample.raw_size && load_u32(c.data + c.at) <= cursor_left(&c) - sizeof sample.raw_size;
	if ((layout->sample_type & ~fixed_bits) == SAMPLE_CALLCHAIN) /* the usual case, without calls */
		return cursor_left(&c) >= U64_BYTES && load_u64(c.data + c.at) <= cursor_left(&c) / U64_BYTES - 1;
	for (unsigned i = 0; i < layout->part_count; i++)
		if (!part_decode(&parts[layout->parts[i]], &sample, layout, &c))
			return false;
	return true;
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
#define HEAD(NAME, member)                \
	if (type & SAMPLE_##NAME)         \
		sample->member = next_u64(&at);
#define HEAD_PAIR(NAME, first, second)    \
	if (type & SAMPLE_##NAME)         \
		next_pair(&at, sample, offsetof(struct sample, first));
	SAMPLE_TRAILER(HEAD, HEAD_PAIR)
#undef HEAD
#undef HEAD_PAIR
	sample->present = type & trailer_bits;
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
