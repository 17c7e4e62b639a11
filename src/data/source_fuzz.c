/* A complete recording: opened, read to its end, every record decoded. */
#include <sys/mman.h>
#include <unistd.h>

#include "data/source_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No other limit exists on decompressed bytes: 64 MiB suffice. */
#define INFLATED_LIMIT ((uint64_t)64 << 20)

static void read_all(struct source *source)
{
	struct record record;
	struct sample sample;
	struct error err;
	volatile uint64_t sink = 0;
	while (source_next(source, &record, &err) == 1 && source->mark < INFLATED_LIMIT) {
		for (uint32_t i = 0; i < record.body_len; i++)
			sink += record.body[i];
		uint32_t event = evlist_event_of(&source->header.evlist, &record);
		if (event < source->header.evlist.events.count) {
			const struct sample_layout *layout = &source->header.evlist.events.items[event].layout;
			if (record.type == RECORD_SAMPLE)
				sample_decode(&sample, layout, &record, &err);
			else
				sample_decode_trailer(&sample, layout, &record);
			sink += sample.time;
		}
		uint64_t payload;
		if (record_payload_size(&record, &payload)) {
			const uint8_t *bytes = source_payload(source, &record, payload);
			sink += bytes && payload ? bytes[0] + bytes[payload - 1] : 0;
		}
		source_release(source, source_mark(source));
	}
	for (unsigned i = 0; i < FEATURE_COUNT; i++) {
		struct span span = source->header.feature_data[i];
		const char *text = header_string(&source->header, i);
		sink += span.len ? span.data[0] + span.data[span.len - 1] : 0;
		sink += text ? strlen(text) : 0;
	}
	(void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source *source;
	struct error err;
	bool stream = false;
	if (source_open_memory(&source, data, size, &err) == 0) {
		stream = source->header.pipe;
		read_all(source);
		source_close(source);
	}
	if (!stream)
		return 0;
	int fd = memfd_create("source_fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		return 0;
	if (source_open_stream(&source, fd, "stream", &err) == 0) {
		read_all(source);
		source_close(source);
	}
	return 0;
}
