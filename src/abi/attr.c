#include "abi/attr.h"

/* A C compiler puts the first bit field of a word at its low end on little-endian machines and at its high end on big-endian ones. */
static uint64_t attr_flags_mirrored(uint64_t word)
{
	uint64_t out = 0;
	for (unsigned bit = 0; bit < 64; bit++)
		out |= (word >> bit & 1) << (63 - bit);
	return out;
}

/* precise_ip is one field of two bits: mirroring the word reverses their order, which this function restores. */
static uint64_t precise_ip_reversed(uint64_t flags)
{
	uint64_t low = flags >> ATTR_PRECISE_IP & 1, high = flags >> ATTR_PRECISE_IP_HIGH & 1;
	return (flags & ~(3ull << ATTR_PRECISE_IP)) | high << ATTR_PRECISE_IP | low << ATTR_PRECISE_IP_HIGH;
}

static uint32_t unknown_tail_size(const uint8_t *bytes, size_t len)
{
	for (size_t i = ATTR_SIZE_VER9; i < len; i++)
		if (bytes[i])
			return (uint32_t)(len - ATTR_SIZE_VER9);
	return 0;
}

int attr_decode(struct attr *attr, const void *bytes, size_t len, bool swap, struct error *err)
{
	if (len < ATTR_SIZE_VER0)
		return error_set(err, ERROR_FORMAT, "an event attribute has %zu bytes; the minimum is %d", len, ATTR_SIZE_VER0);
	uint8_t whole[ATTR_SIZE_VER9] = { 0 };
	memcpy(whole, bytes, len < sizeof whole ? len : sizeof whole);
	struct cursor c = cursor_of(whole, sizeof whole, swap);
	*attr = (struct attr){ .unknown_tail = unknown_tail_size(bytes, len) };
	attr->type = take_u32(&c);
	attr->size = take_u32(&c);
	attr->config = take_u64(&c);
	attr->sample_period = take_u64(&c);
	attr->sample_type = take_u64(&c);
	attr->read_format = take_u64(&c);
	attr->flags = take_u64(&c);
	attr->wakeup_events = take_u32(&c);
	attr->bp_type = take_u32(&c);
	attr->config1 = take_u64(&c);
	attr->config2 = take_u64(&c);
	attr->branch_sample_type = take_u64(&c);
	attr->sample_regs_user = take_u64(&c);
	attr->sample_stack_user = take_u32(&c);
	attr->clockid = (int32_t)take_u32(&c);
	attr->sample_regs_intr = take_u64(&c);
	attr->aux_watermark = take_u32(&c);
	attr->sample_max_stack = take_u16(&c);
	take(&c, 2);
	attr->aux_sample_size = take_u32(&c);
	attr->aux_flags = take_u32(&c);
	attr->sig_data = take_u64(&c);
	attr->config3 = take_u64(&c);
	attr->config4 = take_u64(&c);
	if (swap != HOST_IS_BIG_ENDIAN)
		attr->flags = precise_ip_reversed(attr_flags_mirrored(attr->flags));
	return 0;
}

uint32_t attr_size_needed(const struct attr *attr)
{
	const struct {
		uint32_t size;
		bool needed;
	} sizes[] = {
		{ ATTR_SIZE_VER9, attr->config4 },
		{ ATTR_SIZE_VER8, attr->config3 },
		{ ATTR_SIZE_VER7, attr->sig_data },
		{ ATTR_SIZE_VER6, attr->aux_sample_size || attr->aux_flags },
		{ ATTR_SIZE_VER5, attr->aux_watermark || attr->sample_max_stack },
		{ ATTR_SIZE_VER4, attr->sample_regs_intr },
		{ ATTR_SIZE_VER3, attr->sample_regs_user || attr->sample_stack_user || attr->clockid },
		{ ATTR_SIZE_VER2, attr->branch_sample_type },
		{ ATTR_SIZE_VER1, attr->config2 },
	};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (sizes[i].needed)
			return sizes[i].size;
	return ATTR_SIZE_VER0;
}

static void append_field(uint8_t **at, const void *value, size_t size)
{
	memcpy(*at, value, size);
	*at += size;
}

size_t attr_encode(const struct attr *attr, uint8_t out[static ATTR_SIZE_VER9])
{
	uint32_t size = attr->size ? attr->size : attr_size_needed(attr);
	if (size > ATTR_SIZE_VER9)
		size = ATTR_SIZE_VER9;
	uint64_t flags = HOST_IS_BIG_ENDIAN ? attr_flags_mirrored(precise_ip_reversed(attr->flags)) : attr->flags;
	const struct {
		const void *value;
		size_t size;
	} fields[] = {
#define FIELD(name) { &attr->name, sizeof attr->name }
		FIELD(type), { &size, sizeof size }, FIELD(config), FIELD(sample_period), FIELD(sample_type), FIELD(read_format),
		{ &flags, sizeof flags }, FIELD(wakeup_events), FIELD(bp_type), FIELD(config1), FIELD(config2),
		FIELD(branch_sample_type), FIELD(sample_regs_user), FIELD(sample_stack_user), FIELD(clockid),
		FIELD(sample_regs_intr), FIELD(aux_watermark), FIELD(sample_max_stack), { "\0", 2 }, FIELD(aux_sample_size),
		FIELD(aux_flags), FIELD(sig_data), FIELD(config3), FIELD(config4),
#undef FIELD
	};
	uint8_t *at = out;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		append_field(&at, fields[i].value, fields[i].size);
	return size;
}
