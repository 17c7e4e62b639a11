#include "abi/sample.h"

#include <stdlib.h>

#include "unit.h"

struct body {
	uint8_t bytes[4096];
	size_t len;
};

static void body_put_u64(struct body *b, uint64_t value)
{
	memcpy(b->bytes + b->len, &value, sizeof value);
	b->len += sizeof value;
}

static void body_put_u32(struct body *b, uint32_t value)
{
	memcpy(b->bytes + b->len, &value, sizeof value);
	b->len += sizeof value;
}

static void body_put_bytes(struct body *b, const void *bytes, size_t n)
{
	memcpy(b->bytes + b->len, bytes, n);
	b->len += n;
}

static struct record record_of_body(const struct body *b, uint32_t type)
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

TEST("the fixed fields are decoded in the kernel's order")
{
	struct body b = { .len = 0 };
	struct sample s;
	body_put_u64(&b, 1000);
	body_put_u64(&b, 0x401000);
	body_put_u32(&b, 10);
	body_put_u32(&b, 11);
	body_put_u64(&b, 123456789);
	body_put_u64(&b, 0xadd);
	body_put_u64(&b, 1000);
	body_put_u64(&b, 55);
	body_put_u32(&b, 3);
	body_put_u32(&b, 9);
	body_put_u64(&b, 250000);
	struct sample_layout layout = layout_of(ALL_FIXED);
	struct record record = record_of_body(&b, RECORD_SAMPLE);
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

TEST("absent fields have their documented values")
{
	struct body b = { .len = 0 };
	struct sample s;
	body_put_u64(&b, 0x401000);
	struct sample_layout layout = layout_of(SAMPLE_IP);
	struct record record = record_of_body(&b, RECORD_SAMPLE);
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
	body_put_u64(b, 0x401000);
	body_put_u64(b, 2); /* read: group of two */
	body_put_u64(b, 100);
	body_put_u64(b, 90);
	body_put_u64(b, 7);
	body_put_u64(b, 70);
	body_put_u64(b, 1);
	body_put_u64(b, 8);
	body_put_u64(b, 80);
	body_put_u64(b, 2);
	body_put_u64(b, 3); /* callchain */
	body_put_u64(b, CONTEXT_USER);
	body_put_u64(b, 0x401000);
	body_put_u64(b, 0x402000);
	body_put_u32(b, 12); /* raw */
	body_put_bytes(b, "hello world", 12);
	body_put_u64(b, 2); /* branches, with index and counters */
	body_put_u64(b, 17);
	for (uint64_t i = 1; i <= 6; i++)
		body_put_u64(b, i);
	body_put_u64(b, 0xc0);
	body_put_u64(b, 0xc1);
	body_put_u64(b, 2); /* user registers */
	body_put_u64(b, 0xa0);
	body_put_u64(b, 0xa1);
	body_put_u64(b, 16); /* user stack */
	body_put_bytes(b, "0123456789abcdef", 16);
	body_put_u64(b, 10);
	body_put_u64(b, 5ull << 48 | 6ull << 32 | 4); /* weight struct */
	body_put_u64(b, 0xd5);
	body_put_u64(b, 0xee);
	body_put_u64(b, 0); /* no interrupt registers */
	body_put_u64(b, 0x9999);
	body_put_u64(b, 42);
	body_put_u64(b, 4096);
	body_put_u64(b, 2 << 20);
	body_put_u64(b, 8); /* AUX */
	body_put_bytes(b, "ptptptpt", 8);
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

TEST("the variable fields are decoded in the kernel's order")
{
	struct body b = { .len = 0 };
	struct sample s;
	struct sample_layout layout = variable_layout();
	put_variable(&b);
	struct record record = record_of_body(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, NULL) == 0);
	expect_variable(&s, &layout);
}

TEST("decoding a sample that is cut anywhere fails without reading beyond its end")
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

TEST("sample_is_whole agrees with decoding for each layout and each length")
{
	static const uint64_t types[] = {
		SAMPLE_IP | SAMPLE_TIME, SAMPLE_IP | SAMPLE_CALLCHAIN, SAMPLE_TID | SAMPLE_CALLCHAIN | SAMPLE_CPU | SAMPLE_WEIGHT,
#define TYPE(NAME, ...) SAMPLE_IP | SAMPLE_##NAME,
		SAMPLE_FIELDS(TYPE, TYPE, TYPE, TYPE)
#undef TYPE
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		for (uint64_t claimed = 0; claimed < 5; claimed++) {
			const uint64_t words[6] = { claimed, claimed, claimed, claimed };
			struct attr attr = { .sample_type = types[i], .sample_regs_user = 3, .sample_regs_intr = 1 };
			struct sample_layout layout;
			sample_layout_init(&layout, &attr);
			for (uint32_t len = 0; len <= sizeof words; len++) {
				struct record record = { .type = RECORD_SAMPLE, .body = (const uint8_t *)words, .body_len = len };
				struct sample sample;
				EXPECT_INT(sample_is_whole(&layout, &record), sample_decode(&sample, &layout, &record, NULL) == 0);
			}
		}
	}
}

TEST("each field of one word lies between its neighbours, and a word that is cut is missing")
{
	static const struct {
		uint64_t bit;
		size_t member;
	} rows[] = {
#define ROW(NAME, bit, text, member) { SAMPLE_##NAME, offsetof(struct sample, member) },
		SAMPLE_FIELDS(SAMPLE_NO_ROW, SAMPLE_NO_ROW, SAMPLE_NO_ROW, ROW)
#undef ROW
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct body b = { .len = 0 };
		struct sample s;
		struct sample_layout layout = layout_of(SAMPLE_IP | SAMPLE_CALLCHAIN | SAMPLE_AUX | rows[i].bit);
		struct record record;
		uint64_t value;
		body_put_u64(&b, 0x401000);
		body_put_u64(&b, 0);
		body_put_u64(&b, 0x1234567890abcdef);
		body_put_u64(&b, 4);
		body_put_bytes(&b, "auxa", 4);
		record = record_of_body(&b, RECORD_SAMPLE);
		EXPECT(sample_decode(&s, &layout, &record, NULL) == 0);
		memcpy(&value, (const char *)&s + rows[i].member, sizeof value);
		EXPECT(value == 0x1234567890abcdef);
		EXPECT_INT(s.aux_size, 4);
		record.body_len = 23;
		EXPECT(sample_decode(&s, &layout, &record, NULL) < 0);
		EXPECT_INT(s.present, SAMPLE_IP | SAMPLE_CALLCHAIN);
	}
}

TEST("fields before an invalid size are decoded")
{
	struct body b = { .len = 0 };
	struct sample s;
	struct error err;
	body_put_u64(&b, 0x401000);
	body_put_u64(&b, UINT64_MAX / 8);
	struct sample_layout layout = layout_of(SAMPLE_IP | SAMPLE_CALLCHAIN);
	struct record record = record_of_body(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, &err) < 0);
	EXPECT_STR(err.text, "the sample's callchain at byte 8 exceeds the body of 16 bytes");
	EXPECT_INT(s.present, SAMPLE_IP);
	EXPECT_INT(s.ip, 0x401000);
	EXPECT_INT(s.callchain_count, 0);
	record.body_len = 4;
	EXPECT(sample_decode(&s, &layout, &record, &err) < 0);
	EXPECT_STR(err.text, "the sample's ip at byte 0 exceeds the body of 4 bytes");
	EXPECT_INT(s.present, 0);
}

TEST("decoding fails if the copied size of a stack exceeds its size")
{
	struct body b = { .len = 0 };
	struct sample s;
	body_put_u64(&b, 8);
	body_put_u64(&b, 0);
	body_put_u64(&b, 9);
	struct sample_layout layout = layout_of(SAMPLE_STACK_USER);
	struct record record = record_of_body(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, NULL) < 0);
	EXPECT_INT(s.stack_user_size, 0);
}

TEST("a user stack of size 0 has no copied size")
{
	struct body b = { .len = 0 };
	struct sample s;
	body_put_u64(&b, 0);
	body_put_u64(&b, 99);
	struct sample_layout layout = layout_of(SAMPLE_STACK_USER | SAMPLE_WEIGHT);
	struct record record = record_of_body(&b, RECORD_SAMPLE);
	EXPECT(sample_decode(&s, &layout, &record, NULL) == 0);
	EXPECT_INT(s.weight, 99);
	EXPECT(!s.stack_user);
}

TEST("read values are decoded with each field of the format, single or as a group")
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

TEST("the trailer of other records is decoded from their end")
{
	struct body b = { .len = 0 };
	struct sample s;
	body_put_u64(&b, 0xfeed); /* a field of the record */
	body_put_u32(&b, 10);
	body_put_u32(&b, 11);
	body_put_u64(&b, 123);
	body_put_u64(&b, 44);
	body_put_u64(&b, 55);
	body_put_u32(&b, 2);
	body_put_u32(&b, 0);
	body_put_u64(&b, 44);
	struct sample_layout layout = layout_of(ALL_FIXED);
	struct record record = record_of_body(&b, RECORD_LOST_SAMPLES);
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
	record = record_of_body(&b, RECORD_ID_INDEX);
	sample_decode_trailer(&s, &layout, &record);
	EXPECT_INT(s.present, 0);
}

TEST("every known record type has a name")
{
	EXPECT_STR(record_type_name(RECORD_SAMPLE), "SAMPLE");
	EXPECT_STR(record_type_name(RECORD_COMPRESSED2), "COMPRESSED2");
	EXPECT(!record_type_name(0) && !record_type_name(63) && !record_type_name(RECORD_TYPE_MAX) && !record_type_name(UINT32_MAX));
}

TEST("the extents of a sample's call chain, registers and stack are found")
{
	struct body b = { .len = 0 };
	struct sample_extents e;
	struct attr attr = { .sample_type = SAMPLE_IP | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER | SAMPLE_WEIGHT,
			     .sample_regs_user = 3 };
	struct sample_layout layout;
	sample_layout_init(&layout, &attr);
	body_put_u64(&b, 0x401000);
	body_put_u64(&b, 1);
	body_put_u64(&b, 0x401000);
	body_put_u64(&b, 2); /* the ABI of the registers */
	body_put_u64(&b, 10);
	body_put_u64(&b, 11);
	body_put_u64(&b, 16); /* size of the stack */
	body_put_u64(&b, 1);
	body_put_u64(&b, 2);
	body_put_u64(&b, 8);
	body_put_u64(&b, 99); /* weight */
	struct record record = record_of_body(&b, RECORD_SAMPLE);
	EXPECT_INT(sample_extents(&e, &layout, &record), 0);
	EXPECT_INT(e.chain, 8);
	EXPECT_INT(e.chain_end, 24);
	EXPECT_INT(e.regs, 24);
	EXPECT_INT(e.stack, 48);
	EXPECT_INT(e.stack_end, 80);
	record.body_len = 60;
	EXPECT(sample_extents(&e, &layout, &record) < 0);
}

TEST("user frames are the addresses after the context marker of user code")
{
	static const uint64_t chain[] = { CONTEXT_KERNEL, 0xffffffff81000000, CONTEXT_USER, 0x401000, 0x402000 };
	struct sample sample = { .callchain = (const uint8_t *)chain, .callchain_count = 5 };
	EXPECT_INT(sample_user_frames(&sample), 2);
	sample.callchain_count = 2;
	EXPECT_INT(sample_user_frames(&sample), 0);
}

TEST("a brief decoding has the values of the whole one, and refuses what that refuses")
{
	const struct attr attr = { .sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD |
		SAMPLE_RAW };
	struct sample_layout layout;
	struct sample whole, brief;
	uint64_t body[8] = { 1, 0x401000, 0, 99, 0, 1, 0, 0xbb };
	memcpy(&body[2], (uint32_t[]){ 10, 11 }, 8);
	memcpy(&body[4], (uint32_t[]){ 3, 0 }, 8);
	memcpy(&body[6], (uint32_t[]){ 12, 0xaa }, 8);
	sample_layout_init(&layout, &attr);
	EXPECT_INT(layout.brief, BRIEF_RAW);
	for (uint32_t len = 0; len <= sizeof body; len++) {
		struct record record = { .type = RECORD_SAMPLE, .body = (const uint8_t *)body, .body_len = len };
		int fails = sample_decode(&whole, &layout, &record, NULL);
		EXPECT_INT(sample_decode_brief(&brief, &layout, &record, NULL), fails);
		EXPECT(fails < 0 || (brief.time == whole.time && brief.pid == whole.pid && brief.tid == whole.tid && brief.cpu == whole.cpu &&
			brief.raw == whole.raw && brief.raw_size == whole.raw_size && brief.present == whole.present));
	}
	EXPECT_INT(brief.raw_size, 12);
}

TEST("a brief decoding without raw data has place and weight, whatever fields there are")
{
	static const uint64_t types[] = { SAMPLE_IP | SAMPLE_TID, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD,
		SAMPLE_IP | SAMPLE_TID | SAMPLE_CALLCHAIN, SAMPLE_TID | SAMPLE_TIME, SAMPLE_IP | SAMPLE_TID | SAMPLE_STREAM_ID | SAMPLE_READ };
	const uint64_t body[] = { 0x401000, 11ull << 32 | 10, 1, 3, 5, 6 };
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		const struct attr attr = { .sample_type = types[i], .sample_period = 77 };
		struct sample_layout layout;
		struct sample whole, brief;
		sample_layout_init(&layout, &attr);
		EXPECT_INT(layout.brief, i < 3 ? BRIEF_PLACE : BRIEF_NONE);
		for (uint32_t len = 0; len <= sizeof body; len++) {
			struct record record = { .type = RECORD_SAMPLE, .body = (const uint8_t *)body, .body_len = len };
			int fails = sample_decode(&whole, &layout, &record, NULL);
			EXPECT_INT(sample_decode_brief(&brief, &layout, &record, NULL), fails);
			EXPECT(fails < 0 || (brief.time == whole.time && brief.pid == whole.pid && brief.tid == whole.tid &&
				brief.cpu == whole.cpu && brief.ip == whole.ip && brief.period == whole.period));
		}
	}
}

/* Decodes a sample with `entries` in its call chain and a claim of `claimed`, anew and over what `again` has. Returns false if that fails,
 * and whether both give the same. */
static bool decode_both(struct sample *again, const struct sample_layout *layout, uint64_t entries, uint64_t claimed, size_t cut,
	bool *same)
{
	struct body b = { .len = 0 };
	struct sample fresh;
	for (unsigned i = 0; i < layout->fixed_count; i++)
		body_put_u64(&b, entries * 100 + i);
	body_put_u64(&b, claimed);
	for (uint64_t i = 0; i < entries; i++)
		body_put_u64(&b, 0x1000 + i);
	b.len -= cut;
	const struct record record = record_of_body(&b, RECORD_SAMPLE);
	int result = sample_decode(&fresh, layout, &record, NULL);
	*same = sample_decode_again(again, layout, layout, &record, NULL) == result && memcmp(again, &fresh, sizeof fresh) == 0;
	again->callchain = fresh.callchain = NULL; /* the bytes are gone */
	return result == 0;
}

TEST("a sample that is decoded again by its layout equals one that is decoded anew")
{
	static const uint64_t types[] = { SAMPLE_IP | SAMPLE_TID | SAMPLE_CALLCHAIN, ALL_FIXED | SAMPLE_CALLCHAIN, SAMPLE_CALLCHAIN,
		ALL_FIXED | SAMPLE_CALLCHAIN | SAMPLE_RAW, ALL_FIXED };
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		const struct sample_layout layout = layout_of(types[i]);
		const bool raw = types[i] & SAMPLE_RAW, chain = types[i] & SAMPLE_CALLCHAIN;
		struct sample again;
		bool same;
		memset(&again, 0, sizeof again);
		sample_decode(&again, &layout, &(struct record){ .type = RECORD_SAMPLE }, NULL);
		for (uint64_t entries = 0; entries < 4; entries++) {
			EXPECT((decode_both(&again, &layout, entries, entries, 0, &same) || raw) && same);
			EXPECT(decode_both(&again, &layout, entries, entries + 1, 0, &same) == !chain && same);
			EXPECT(decode_both(&again, &layout, entries, UINT64_MAX, 0, &same) == !chain && same);
			EXPECT(decode_both(&again, &layout, entries, entries, 8, &same) == !chain && same);
		}
	}
}
