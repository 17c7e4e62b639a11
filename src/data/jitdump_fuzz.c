/* Reads a jitdump to its end, with its code and its lines. */
#include "data/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t look_at(const struct jitdump *dump, const struct jitdump_record *record, const uint8_t *data)
{
	uint64_t sum = 0;
	struct jitdump_lines lines;
	struct jitdump_line line;
	switch (record->type) {
	case JITDUMP_LOAD:
		for (uint64_t i = 0; i < record->load.size; i++)
			sum += data[record->load.code_offset + i];
		return sum + strlen(record->load.name);
	case JITDUMP_DEBUG_INFO:
		jitdump_lines_init(&lines, dump, &record->debug, data + record->debug.offset);
		while (jitdump_lines_next(&lines, &line))
			sum += line.address + strlen(line.file);
		return sum;
	case JITDUMP_UNWINDING_INFO:
		for (uint64_t i = 0; i < record->unwinding.size; i++)
			sum += data[record->unwinding.offset + i];
		return sum;
	default:
		return record->timestamp;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span span = { data, size };
	struct reader reader = reader_of_span(&span);
	struct jitdump dump;
	struct jitdump_record record;
	volatile uint64_t sink = 0;
	if (jitdump_open(&dump, &reader, NULL) < 0)
		return 0;
	while (jitdump_next(&dump, &record) == 1)
		sink += look_at(&dump, &record, data);
	jitdump_fini(&dump);
	(void)sink;
	return 0;
}
