#include "record/acquire/records.h"

#include "base/writer.h"
#include "record/acquire/record_out.h"
#include "unit.h"

TEST("records are read one after the other, and not beyond an incomplete one")
{
	struct writer out;
	struct record record = { 0 };
	writer_open(&out, -1, 0);
	record_close(&out, record_open(&out, RECORD_FINISHED_INIT, 0), 0);
	size_t at = record_open(&out, RECORD_COMM, RECORD_MISC_COMM_EXEC);
	out_u64(&out, 0x1122334455667788);
	record_close(&out, at, 0);
	struct span records = { (const uint8_t *)out.buffer, out.len };
	EXPECT(records_next(&records, &record) && record.type == RECORD_FINISHED_INIT && record.body_len == 0);
	struct span cut = { records.data, records.len - 1 };
	EXPECT(!records_next(&cut, &record) && cut.len == records.len - 1);
	EXPECT(records_next(&records, &record));
	EXPECT(record.type == RECORD_COMM && record.misc == RECORD_MISC_COMM_EXEC && record.body_len == 8);
	EXPECT(load_u64(record.body) == 0x1122334455667788);
	EXPECT(records.len == 0 && !records_next(&records, &record));
	const uint16_t small = RECORD_HEADER_SIZE - 1;
	memcpy(out.buffer + 6, &small, sizeof small);
	records = (struct span){ (const uint8_t *)out.buffer, out.len };
	EXPECT(!records_next(&records, &record));
	writer_fini(&out);
}
