/* --per-event-dump: a file "RECORDING.EVENT.dump" for each event's samples. */
#include <stdlib.h>

#include "cmd/script/script.h"

enum { PAGE_BYTES = 4096 };

struct writer *event_files_open(void *context, uint32_t event, const char *name, struct error *err)
{
	struct event_files *files = context;
	struct event_file *file = memory_zero(1, sizeof *file);
	struct str path = { 0 };

	str_printf(&path, "%s.", files->prefix);
	size_t start = path.len;
	str_printf(&path, "%s.dump", name);
	/* the event's name comes from the recording: it must not select a folder */
	for (char *p = path.text + start; *p; p++)
		if (*p == '/')
			*p = '_';
	file->path = path.text;
	vec_push(&files->list, file);
	(void)event;
	return written_open(&file->written, file->path, err) < 0 ? NULL : &file->written.out;
}

int event_files_keep(struct event_files *files, const struct listing_counters *counters, struct writer *out, struct error *err)
{
	for (size_t i = 0; i < files->list.count; i++) {
		struct event_file *file = files->list.items[i];
		if (written_keep(&file->written, file->path, err) < 0)
			return -1;
		/* perf prints the size before it writes the last, unfinished page */
		uint64_t size = file->written.out.written / PAGE_BYTES * PAGE_BYTES;
		writer_printf(out, "[ perf script: Wrote %.3f MB %s (%llu samples) ]\n", (double)size / 1024.0 / 1024.0, file->path,
			(unsigned long long)(i < counters->event_count ? counters->samples[i] : 0));
	}
	return 0;
}

void event_files_close(struct event_files *files)
{
	for (size_t i = 0; i < files->list.count; i++) {
		struct event_file *file = files->list.items[i];
		written_drop(&file->written);
		free(file->path);
		free(file);
	}
	vec_fini(&files->list);
}
