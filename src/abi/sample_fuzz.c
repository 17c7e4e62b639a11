/* Fuzzes attributes, samples and their checks, trailers and byte swapping. Input: record type, misc bits, byte order, an attribute, a
 * record body. */
#include <stdlib.h>

#include "abi/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t touch_bytes(const uint8_t *bytes, uint64_t len)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < len; i++)
		sum += bytes[i];
	return sum;
}

/* Reads every byte that the decoded sample refers to, so that the sanitizer detects invalid references. */
static uint64_t touch_sample(const struct sample *sample, const struct sample_layout *layout)
{
	uint64_t sum = 0;
	struct read_values values;
	size_t used;
	for (uint64_t i = 0; i < sample->callchain_count; i++)
		sum += sample_chain_at(sample, i);
	for (uint64_t i = 0; i < sample->branch_count; i++)
		sum += sample_branch(sample, i).flags;
	if (sample->branch_counters)
		sum += touch_bytes(sample->branch_counters, sample->branch_count * 8);
	if (sample->regs_user)
		sum += touch_bytes(sample->regs_user, layout->regs_user_count * 8);
	if (sample->regs_intr)
		sum += touch_bytes(sample->regs_intr, layout->regs_intr_count * 8);
	sum += touch_bytes(sample->raw, sample->raw_size) + touch_bytes(sample->stack_user, sample->stack_user_size) +
	       touch_bytes(sample->aux, sample->aux_size);
	if (sample->present & SAMPLE_READ &&
	    sample_read_decode(&values, layout->read_format, sample->read, sample->read_len, &used) >= 0)
		for (uint64_t i = 0; i < values.count; i++)
			sum += sample_read_at(&values, i).id;
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct attr attr;
	struct sample sample;
	struct sample_layout layout;
	struct error err;
	struct cursor c = cursor_of(data, size, false);
	uint32_t type = take_u8(&c);
	uint16_t misc = take_u16(&c);
	bool swap = take_u8(&c) & 1;
	const uint8_t *bytes = take(&c, ATTR_SIZE_VER9);
	if (!bytes || attr_decode(&attr, bytes, ATTR_SIZE_VER9, swap, &err) < 0)
		return 0;
	uint8_t again[ATTR_SIZE_VER9];
	attr_encode(&attr, again);
	sample_layout_init(&layout, &attr);
	size_t len = cursor_left(&c);
	uint8_t *body = malloc(len + 1);
	if (len)
		memcpy(body, data + c.at, len);
	struct record record = { .type = type, .misc = misc, .body = body, .body_len = (uint32_t)len };
	volatile uint64_t sink = 0;
	if (swap)
		record_swap(type, misc, body, len, &layout);
	bool whole = sample_decode(&sample, &layout, &record, &err) == 0;
	if (whole != sample_is_whole(&layout, &record))
		abort();
	struct sample_extents extents;
	if (whole && (sample_extents(&extents, &layout, &record) < 0 || extents.stack_end > len))
		abort();
	sink += touch_sample(&sample, &layout);
	sample_decode_trailer(&sample, &layout, &record);
	sink += sample.time;
	(void)sink;
	free(body);
	return 0;
}
