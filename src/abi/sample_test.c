#include "abi/sample.h"

#include <stdlib.h>

#include "unit.h"

struct body {
	uint8_t bytes[4096];
	size_t len;
};

static void put8(struct body *b, uint64_t value)
{
	memcpy(b->bytes + b->len, &value, sizeof value);
	b->len += sizeof value;
}

static void put4(struct body *b, uint32_t value)
{
	memcpy(b->bytes + b->len, &value, sizeof value);
	b->len += sizeof value;
}

static void put_bytes(struct body *b, const void *bytes, size_t n)
{
	memcpy(b->bytes + b->len, bytes, n);
	b->len += n;
}

static struct record record_of(const struct body *b, uint32_t type)
{
	return (struct record){ .type = type, .body = b->bytes, .body_len = (uint32_t)b->len };
}

static struct sample_layout layout_of(uint64_t type)
{
	struct attr attr = { .sample_type = type, .flags = 1ull << ATTR_SAMPLE_ID_ALL, .sample_period = 77 };
	struct sample_layout layout;
	sample_layout_init(&layout, &attr);
	return layout;
}

#define ALL_FIXED (SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID | SAMPLE_STREAM_ID | \
		   SAMPLE_CPU | SAMPLE_PERIOD)

TEST("the fields of fixed size are found in the kernel's order")
{
	struct body b = { .len = 0 };
	struct sample s;
	put8(&b, 1000);
	put8(&b, 0x401000);
	put4(&b, 10);
	put4(&b, 11);
	put8(&b, 123456789);
	put8(&b, 0xadd);
	put8(&b, 1000);
	put8(&b, 55);
	put4(&b, 3);
	put4(&b, 9);
	put8(&b, 250000);
	struct sample_layout layout = layout_of(ALL_FIXED);
	struct record record = record_of(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, NULL) == 0);
	EXPECT_INT(s.id, 1000);
	EXPECT_INT(s.ip, 0x401000);
	EXPECT_INT(s.pid, 10);
	EXPECT_INT(s.tid, 11);
	EXPECT_INT(s.time, 123456789);
	EXPECT_INT(s.addr, 0xadd);
	EXPECT_INT(s.stream_id, 55);
	EXPECT_INT(s.cpu, 3);
	EXPECT_INT(s.cpu_reserved, 9);
	EXPECT_INT(s.period, 250000);
	EXPECT_INT(s.present, ALL_FIXED);
	EXPECT_INT(layout.id_at, 0);
	EXPECT_INT(layout.tid_at, 2);
	EXPECT_INT(layout.time_at, 3);
	EXPECT_INT(layout.cpu_at, 7);
}

TEST("fields that a sample does not have say so")
{
	struct body b = { .len = 0 };
	struct sample s;
	put8(&b, 0x401000);
	struct sample_layout layout = layout_of(SAMPLE_IP);
	struct record record = record_of(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, NULL) == 0);
	EXPECT(s.pid == UINT32_MAX && s.tid == UINT32_MAX && s.cpu == UINT32_MAX);
	EXPECT(s.time == UINT64_MAX && s.id == UINT64_MAX && s.stream_id == UINT64_MAX && s.branch_hw_index == UINT64_MAX);
	EXPECT_INT(s.addr, 0);
	EXPECT_INT(s.period, 77);
	EXPECT_INT(layout.time_at, -1);
	EXPECT_INT(layout.id_at, -1);
}

static void put_variable(struct body *b)
{
	put8(b, 0x401000);
	put8(b, 2); /* read: group of two */
	put8(b, 100);
	put8(b, 90);
	put8(b, 7);
	put8(b, 70);
	put8(b, 1);
	put8(b, 8);
	put8(b, 80);
	put8(b, 2);
	put8(b, 3); /* callchain */
	put8(b, CONTEXT_USER);
	put8(b, 0x401000);
	put8(b, 0x402000);
	put4(b, 12); /* raw */
	put_bytes(b, "hello world", 12);
	put8(b, 2); /* branches, with index and counters */
	put8(b, 17);
	for (uint64_t i = 1; i <= 6; i++)
		put8(b, i);
	put8(b, 0xc0);
	put8(b, 0xc1);
	put8(b, 2); /* user registers */
	put8(b, 0xa0);
	put8(b, 0xa1);
	put8(b, 16); /* user stack */
	put_bytes(b, "0123456789abcdef", 16);
	put8(b, 10);
	put8(b, 5ull << 48 | 6ull << 32 | 4); /* weight struct */
	put8(b, 0xd5);
	put8(b, 0xee);
	put8(b, 0); /* interrupt registers: none */
	put8(b, 0x9999);
	put8(b, 42);
	put8(b, 4096);
	put8(b, 2 << 20);
	put8(b, 8); /* AUX */
	put_bytes(b, "ptptptpt", 8);
}

static struct sample_layout variable_layout(void)
{
	struct attr attr = {
		.sample_type = SAMPLE_IP | SAMPLE_READ | SAMPLE_CALLCHAIN | SAMPLE_RAW | SAMPLE_BRANCH_STACK | SAMPLE_REGS_USER |
			       SAMPLE_STACK_USER | SAMPLE_WEIGHT_STRUCT | SAMPLE_DATA_SRC | SAMPLE_TRANSACTION | SAMPLE_REGS_INTR |
			       SAMPLE_PHYS_ADDR | SAMPLE_CGROUP | SAMPLE_DATA_PAGE_SIZE | SAMPLE_CODE_PAGE_SIZE | SAMPLE_AUX,
		.read_format = READ_GROUP | READ_ID | READ_LOST | READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING,
		.branch_sample_type = BRANCH_HW_INDEX | BRANCH_COUNTERS,
		.sample_regs_user = 0x81,
		.sample_regs_intr = 0x81,
	};
	struct sample_layout layout;
	sample_layout_init(&layout, &attr);
	return layout;
}

static void expect_variable(const struct sample *s, const struct sample_layout *layout)
{
	struct read_values values;
	size_t used;
	EXPECT(sample_read_decode(&values, layout->read_format, s->read, s->read_len, &used) == 0);
	EXPECT_INT(used, s->read_len);
	EXPECT_INT(values.count, 2);
	EXPECT_INT(values.time_enabled, 100);
	EXPECT_INT(values.time_running, 90);
	EXPECT_INT(sample_read_at(&values, 1).value, 8);
	EXPECT_INT(sample_read_at(&values, 1).id, 80);
	EXPECT_INT(sample_read_at(&values, 1).lost, 2);
	EXPECT_INT(s->callchain_count, 3);
	EXPECT(sample_chain_at(s, 0) == CONTEXT_USER);
	EXPECT_INT(sample_chain_at(s, 2), 0x402000);
	EXPECT_INT(s->raw_size, 12);
	EXPECT(memcmp(s->raw, "hello world", 12) == 0);
	EXPECT_INT(s->branch_count, 2);
	EXPECT_INT(s->branch_hw_index, 17);
	EXPECT_INT(sample_branch(s, 1).to, 5);
	EXPECT_INT(load_u64(s->branch_counters + 8), 0xc1);
	EXPECT_INT(s->regs_user_abi, 2);
	EXPECT_INT(load_u64(s->regs_user + 8), 0xa1);
	EXPECT_INT(s->stack_user_size, 10);
	EXPECT(memcmp(s->stack_user, "0123456789", 10) == 0);
	EXPECT_INT(s->weight, 4);
	EXPECT_INT(s->ins_lat, 6);
	EXPECT_INT(s->p_stage_cyc, 5);
	EXPECT_INT(s->data_src, 0xd5);
	EXPECT_INT(s->transaction, 0xee);
	EXPECT(s->regs_intr_abi == 0 && !s->regs_intr);
	EXPECT_INT(s->phys_addr, 0x9999);
	EXPECT_INT(s->cgroup, 42);
	EXPECT_INT(s->data_page_size, 4096);
	EXPECT_INT(s->code_page_size, 2 << 20);
	EXPECT_INT(s->aux_size, 8);
	EXPECT(memcmp(s->aux, "ptptptpt", 8) == 0);
	EXPECT(s->present == layout->sample_type);
}

TEST("the fields of variable size are found behind each other")
{
	struct body b = { .len = 0 };
	struct sample s;
	struct sample_layout layout = variable_layout();
	put_variable(&b);
	struct record record = record_of(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, NULL) == 0);
	expect_variable(&s, &layout);
}

TEST("a sample cut anywhere is an error, never a read beyond it")
{
	struct body b = { .len = 0 };
	struct sample s;
	struct error err;
	struct sample_layout layout = variable_layout();
	put_variable(&b);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *exact = malloc(len + !len);
		memcpy(exact, b.bytes, len);
		struct record record = { .type = RECORD_SAMPLE, .body = exact, .body_len = (uint32_t)len };
		EXPECT(sample_decode(&s, &layout, &record, &err) < 0);
		EXPECT(err.text[0] != 0);
		free(exact);
	}
}

TEST("what was decoded before a size that does not fit stays")
{
	struct body b = { .len = 0 };
	struct sample s;
	struct error err;
	put8(&b, 0x401000);
	put8(&b, UINT64_MAX / 8);
	struct sample_layout layout = layout_of(SAMPLE_IP | SAMPLE_CALLCHAIN);
	struct record record = record_of(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, &err) < 0);
	EXPECT_STR(err.text, "the sample's callchain at byte 8 of its body does not fit its 16 bytes");
	EXPECT_INT(s.present, SAMPLE_IP);
	EXPECT_INT(s.ip, 0x401000);
	EXPECT_INT(s.callchain_count, 0);
	record.body_len = 4;
	EXPECT(sample_decode(&s, &layout, &record, &err) < 0);
	EXPECT_STR(err.text, "the sample's ip at byte 0 of its body is beyond its 4 bytes");
	EXPECT_INT(s.present, 0);
}

TEST("a stack that claims more bytes copied than it has is refused")
{
	struct body b = { .len = 0 };
	struct sample s;
	put8(&b, 8);
	put8(&b, 0);
	put8(&b, 9);
	struct sample_layout layout = layout_of(SAMPLE_STACK_USER);
	struct record record = record_of(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, NULL) < 0);
	EXPECT_INT(s.stack_user_size, 0);
}

TEST("an empty user stack has no size behind it")
{
	struct body b = { .len = 0 };
	struct sample s;
	put8(&b, 0);
	put8(&b, 99);
	struct sample_layout layout = layout_of(SAMPLE_STACK_USER | SAMPLE_WEIGHT);
	struct record record = record_of(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, NULL) == 0);
	EXPECT_INT(s.weight, 99);
	EXPECT(!s.stack_user);
}

TEST("read values come one or as a group, with the fields that the format names")
{
	uint64_t one[] = { 5, 100, 90, 33, 2 };
	struct read_values values;
	size_t used;
	uint64_t format = READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING | READ_ID | READ_LOST;
	EXPECT(sample_read_decode(&values, format, (uint8_t *)one, sizeof one, &used) == 0);
	EXPECT_INT(used, sizeof one);
	EXPECT_INT(values.count, 1);
	EXPECT_INT(values.time_running, 90);
	EXPECT_INT(sample_read_at(&values, 0).value, 5);
	EXPECT_INT(sample_read_at(&values, 0).id, 33);
	EXPECT_INT(sample_read_at(&values, 0).lost, 2);
	EXPECT(sample_read_decode(&values, format, (uint8_t *)one, sizeof one - 1, &used) < 0);
	uint64_t group[] = { UINT64_MAX / 4, 1, 2 };
	EXPECT(sample_read_decode(&values, READ_GROUP, (uint8_t *)group, sizeof group, &used) < 0);
}

TEST("the trailer of other records is read from their end")
{
	struct body b = { .len = 0 };
	struct sample s;
	put8(&b, 0xfeed); /* the record's own fields */
	put4(&b, 10);
	put4(&b, 11);
	put8(&b, 123);
	put8(&b, 44);
	put8(&b, 55);
	put4(&b, 2);
	put4(&b, 0);
	put8(&b, 44);
	struct sample_layout layout = layout_of(ALL_FIXED);
	struct record record = record_of(&b, RECORD_LOST_SAMPLES);
	sample_decode_trailer(&s, &layout, &record);
	EXPECT_INT(s.pid, 10);
	EXPECT_INT(s.tid, 11);
	EXPECT_INT(s.time, 123);
	EXPECT_INT(s.id, 44);
	EXPECT_INT(s.stream_id, 55);
	EXPECT_INT(s.cpu, 2);
	EXPECT_INT(layout.trailer_count, 6);
	EXPECT_INT(layout.trailer_id_at, 1);
	EXPECT_INT(layout.trailer_cpu_at, 2);
	EXPECT_INT(layout.trailer_time_at, 5);
	EXPECT_INT(layout.trailer_tid_at, 6);
	record.body_len = 47;
	sample_decode_trailer(&s, &layout, &record);
	EXPECT(s.present == 0 && s.time == UINT64_MAX);
	record = record_of(&b, RECORD_ID_INDEX);
	sample_decode_trailer(&s, &layout, &record);
	EXPECT_INT(s.present, 0);
}

TEST("record types have names, unknown ones have none")
{
	EXPECT_STR(record_type_name(RECORD_SAMPLE), "SAMPLE");
	EXPECT_STR(record_type_name(RECORD_COMPRESSED2), "COMPRESSED2");
	EXPECT(!record_type_name(0) && !record_type_name(63) && !record_type_name(RECORD_TYPE_MAX) && !record_type_name(UINT32_MAX));
}

TEST("a sample's chain, registers and stack are told apart by where they begin and end")
{
	struct body b = { .len = 0 };
	struct sample_extents e;
	struct attr attr = { .sample_type = SAMPLE_IP | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER | SAMPLE_WEIGHT,
			     .sample_regs_user = 3 };
	struct sample_layout layout;
	sample_layout_init(&layout, &attr);
	put8(&b, 0x401000);
	put8(&b, 1);
	put8(&b, 0x401000);
	put8(&b, 2); /* the ABI of the registers */
	put8(&b, 10);
	put8(&b, 11);
	put8(&b, 16); /* bytes of stack */
	put8(&b, 1);
	put8(&b, 2);
	put8(&b, 8);
	put8(&b, 99); /* weight */
	struct record record = record_of(&b, RECORD_SAMPLE);
	EXPECT_INT(sample_extents(&e, &layout, &record), 0);
	EXPECT_INT(e.chain, 8);
	EXPECT_INT(e.chain_end, 24);
	EXPECT_INT(e.regs, 24);
	EXPECT_INT(e.stack, 48);
	EXPECT_INT(e.stack_end, 80);
	record.body_len = 60;
	EXPECT(sample_extents(&e, &layout, &record) < 0);
}

TEST("frames of user code are those behind its mark")
{
	static const uint64_t chain[] = { CONTEXT_KERNEL, 0xffffffff81000000, CONTEXT_USER, 0x401000, 0x402000 };
	struct sample sample = { .callchain = (const uint8_t *)chain, .callchain_count = 5 };
	EXPECT_INT(sample_user_frames(&sample), 2);
	sample.callchain_count = 2;
	EXPECT_INT(sample_user_frames(&sample), 0);
}
