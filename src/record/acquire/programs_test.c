#include "record/acquire/programs.h"

#include "data/feature.h"
#include "record/acquire/record_out.h"
#include "record/acquire/records.h"
#include "unit.h"

enum { INFO_SIZE = 192, INFO_ID = 4, INFO_KSYM_COUNT = 104, INFO_LEN_COUNT = 108, INFO_LENS = 120, INFO_TAG_COUNT = 180,
	INFO_TAGS = 184 };

static void put(uint8_t *at, uint64_t value, size_t size)
{
	uint32_t word = (uint32_t)value;
	memcpy(at, size == sizeof word ? (void *)&word : (void *)&value, size);
}

/* A program of one function: symbol, length and tag, in this order. */
static void add_program(struct bpf_programs *programs, uint32_t id, uint64_t address)
{
	static const uint8_t tag[8] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 };
	uint8_t info[INFO_SIZE] = { 0 }, data[24] = { 0 };
	put(info + INFO_ID, id, 4);
	put(info + INFO_KSYM_COUNT, 1, 4);
	put(info + INFO_LEN_COUNT, 1, 4);
	put(info + INFO_TAG_COUNT, 1, 4);
	put(info + INFO_LENS, 8, 8);
	put(info + INFO_TAGS, 16, 8);
	put(data, address, 8);
	put(data + 8, 0x40, 4);
	memcpy(data + 16, tag, sizeof tag);
	vec_push(&programs->list, ((struct bpf_program){ .id = id,
		.arrays = 1 << BPF_ARRAY_SYMBOLS | 1 << BPF_ARRAY_LENGTHS | 1 << BPF_ARRAY_TAGS,
		.info = { (uint8_t *)arena_copy(&programs->arena, info, sizeof info), sizeof info },
		.data = { (uint8_t *)arena_copy(&programs->arena, data, sizeof data), sizeof data } }));
}

TEST("programs are in the header by id, and their records have the names of the header")
{
	struct bpf_programs programs = { 0 };
	struct writer info, records;
	struct header header = { 0 };
	struct arena arena = { 0 };
	struct feature_bpf named;
	writer_open(&info, -1, 0);
	writer_open(&records, -1, 0);
	add_program(&programs, 9, 0xffffffffc0002000);
	add_program(&programs, 7, 0xffffffffc0001000);
	programs_info_body(&programs, &info);
	header.feature_data[FEATURE_BPF_PROG_INFO] = (struct span){ (const uint8_t *)info.buffer, info.len };
	EXPECT_INT(feature_bpf(&header, &arena, &named), 0);
	EXPECT_INT(named.count, 2);
	EXPECT_INT(named.programs[0].id, 7);
	EXPECT_INT(named.programs[1].functions[0].address, 0xffffffffc0002000);
	EXPECT_STR(named.programs[1].functions[0].name, "bpf_prog_1122334455667788");
	struct synthesis synthesis = { .out = &records };
	synthesize_programs(&synthesis, &programs);
	EXPECT(memmem(records.buffer, records.len, "bpf_prog_1122334455667788", 26) != NULL);
	arena_fini(&arena);
	writer_fini(&info);
	writer_fini(&records);
	bpf_programs_fini(&programs);
}

TEST("in a pipe, each program has a record of the header's form, after its type information, unless it is too large for a record")
{
	static const uint8_t blob[] = { 0xaa, 0xbb }, large[RECORD_SIZE_MAX] = { 0 };
	struct bpf_programs programs = { 0 };
	struct writer out;
	writer_open(&out, -1, 0);
	for (uint32_t id = 7; id < 10; id++)
		add_program(&programs, id, 0xffffffffc0000000 + id * 4096);
	programs.list.items[1].types = 5;
	programs.list.items[2].types = 6;
	vec_push(&programs.types, ((struct bpf_types){ .id = 6, .blob = { large, RECORD_SIZE_MAX - 35 } }));
	vec_push(&programs.types, ((struct bpf_types){ .id = 5, .blob = { blob, sizeof blob } }));
	programs_records(&programs, &out);
	struct span records = { (const uint8_t *)out.buffer, out.len };
	struct record record = { 0 };
	static const uint64_t features[] = { FEATURE_BPF_PROG_INFO, FEATURE_BPF_BTF, FEATURE_BPF_PROG_INFO };
	static const uint32_t ids[] = { 7, 5, 8 };
	for (unsigned i = 0; i < 3; i++) {
		EXPECT(records_next(&records, &record));
		EXPECT_INT(record.type, RECORD_HEADER_FEATURE);
		EXPECT_INT(load_u64(record.body), features[i]);
		EXPECT_INT(load_u32(record.body + 8), 1);
		EXPECT_INT(load_u32(record.body + (features[i] == FEATURE_BPF_BTF ? 12 : 28 + INFO_ID)), ids[i]);
	}
	EXPECT(!records_next(&records, &record));
	programs.types.items[0].blob.len--; /* fits */
	out.len = 0;
	programs_records(&programs, &out);
	EXPECT(out.len > RECORD_SIZE_MAX - 16);
	writer_fini(&out);
	bpf_programs_fini(&programs);
}

TEST("type information is in the header by id")
{
	static const uint8_t blobs[] = { 0xaa, 0xbb, 0xbb, 0xcc, 0xcc, 0xcc };
	struct bpf_programs programs = { 0 };
	struct writer body;
	writer_open(&body, -1, 0);
	vec_push(&programs.types, ((struct bpf_types){ .id = 8, .blob = { blobs, 1 } }));
	vec_push(&programs.types, ((struct bpf_types){ .id = 0x80000001, .blob = { blobs + 3, 3 } }));
	vec_push(&programs.types, ((struct bpf_types){ .id = 5, .blob = { blobs + 1, 2 } }));
	programs_types_body(&programs, &body);
	struct cursor c = cursor_of((const uint8_t *)body.buffer, body.len, false);
	EXPECT_INT(take_u32(&c), 3);
	static const uint32_t want[][2] = { { 5, 2 }, { 8, 1 }, { 0x80000001, 3 } };
	for (size_t i = 0; i < 3; i++) {
		EXPECT_INT(take_u32(&c), want[i][0]);
		EXPECT_INT(take_u32(&c), want[i][1]);
		c.at += want[i][1];
	}
	EXPECT(cursor_left(&c) == 0 && !c.short_read);
	writer_fini(&body);
	bpf_programs_fini(&programs);
}
