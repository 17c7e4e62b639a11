#include "record/write/add_index.h"

#include "data/source.h"
#include "data/time_index.h"

int recording_add_index(const char *path, int fd, struct error *err)
{
	static const struct source_options options = { .force = true };
	struct source *source;
	struct time_index index = { 0 };
	struct record record;
	int more;
	if (source_open(&source, path, &options, err) < 0)
		return -1;
	for (;;) {
		uint64_t before = source_mark(source);
		more = source_next(source, &record, err);
		if (more <= 0)
			break;
		time_index_add(&index, record.offset, source_mark(source) - before, record.type == RECORD_SAMPLE,
			evlist_time_of(&source->header.evlist, &record));
	}
	if (more == 0)
		more = time_index_append(&index, fd, err);
	time_index_fini(&index);
	source_close(source);
	return more;
}
