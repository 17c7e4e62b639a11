#include "record/acquire/record_out.h"

#include "record/acquire/records.h"
#include "unit.h"

TEST("the trailer of a record has the fields of its event's attribute, and those alone")
{
	static const uint64_t types[] = {
		SAMPLE_TID, SAMPLE_TIME | SAMPLE_CPU, SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER, 0,
	};
	const struct sample values = { .pid = 0x11, .tid = 0x22, .time = 0x3333333333333, .id = 0x44, .stream_id = 0x55, .cpu = 0x66 };
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		struct attr attr = { .sample_type = types[i], .flags = (uint64_t)1 << ATTR_SAMPLE_ID_ALL };
		struct sample_layout layout;
		struct sample found;
		struct record record = { 0 };
		struct writer out;
		writer_open(&out, -1, 0);
		size_t at = record_open(&out, RECORD_COMM, 0);
		out_u32(&out, 1); /* half of 8 bytes, to be padded */
		record_close_with(&out, at, &attr, &values);
		struct span records = { (const uint8_t *)out.buffer, out.len };
		EXPECT(records_next(&records, &record) && records.len == 0);
		sample_layout_init(&layout, &attr);
		sample_decode_trailer(&found, &layout, &record);
		EXPECT_INT(found.present, types[i]);
		EXPECT_INT(record.body_len, 8 + 8 * __builtin_popcountll(types[i]));
		EXPECT(!(types[i] & SAMPLE_TID) || (found.pid == 0x11 && found.tid == 0x22));
		EXPECT(!(types[i] & SAMPLE_TIME) || found.time == values.time);
		EXPECT(!(types[i] & SAMPLE_ID) || (found.id == 0x44 && found.stream_id == 0x55));
		EXPECT(!(types[i] & SAMPLE_CPU) || found.cpu == 0x66);
		writer_fini(&out);
	}
}
