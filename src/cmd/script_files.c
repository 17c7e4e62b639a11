/* --per-event-dump: each event's samples in a file of its own, "RECORDING.EVENT.dump". */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/script.h"

enum { PAGE_BYTES = 4096 };

struct writer *event_files_open(void *context, uint32_t event, const char *name, struct error *err)
{
	struct event_files *files = context;
	struct event_file *file = memory_zero(1, sizeof *file);
	struct str path = { 0 };

	str_printf(&path, "%s.", files->prefix);
	size_t start = path.len;
	str_printf(&path, "%s.dump", name);
	/* an event's name is the recording's word: it does not choose the folder */
	for (char *p = path.text + start; *p; p++)
		if (*p == '/')
			*p = '_';
	file->path = path.text;
	file->fd = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	writer_open(&file->out, file->fd, 1 << 16);
	vec_push(&files->list, file);
	(void)event;
	if (file->fd >= 0)
		return &file->out;
	error_system(err, "cannot write %s", file->path);
	return NULL;
}

void event_files_close(struct event_files *files, const struct stream_counters *counters, struct writer *out)
{
	for (size_t i = 0; i < files->list.count; i++) {
		struct event_file *file = files->list.items[i];
		if (file->fd >= 0) {
			writer_flush(&file->out, NULL);
			/* perf tells the size before it writes the last, unfinished page */
			uint64_t told = file->out.written / PAGE_BYTES * PAGE_BYTES;
			writer_printf(out, "[ perf script: Wrote %.3f MB %s (%llu samples) ]\n", (double)told / 1024.0 / 1024.0,
				file->path, (unsigned long long)(i < counters->event_count ? counters->samples[i] : 0));
			close(file->fd);
		}
		writer_fini(&file->out);
		free(file->path);
		free(file);
	}
	vec_fini(&files->list);
}
