#include "cmd/piped_trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rewrite/rewrite.h"

static int copy(struct source *source, const char *path, struct error *stop, struct error *err)
{
	struct rewrite *rewrite;
	struct losses losses;
	const struct rewrite_options options = { .output = path };
	int result = rewrite_open(&rewrite, source, &options, err);
	if (result == 0)
		result = rewrite_run(rewrite, err);
	if (result == 0)
		result = rewrite_finish(rewrite, NULL, err);
	rewrite_losses(rewrite, &losses); /* others are in the copy, too */
	*stop = losses.stop;
	rewrite_close(rewrite);
	return result;
}

int piped_trace_copy(struct piped_trace *trace, struct source **source, struct error *err)
{
	const char *base = secure_getenv("TMPDIR");
	char folder[256], path[272];
	snprintf(folder, sizeof folder, "%s/perfuse-trace-XXXXXX", base && *base == '/' ? base : "/tmp");
	if (!mkdtemp(folder))
		return error_system(err, "a temporary folder for the trace cannot be made");
	snprintf(path, sizeof path, "%s/perf.data", folder);
	int result = copy(*source, path, &trace->stop, err);
	if (result == 0) {
		trace->file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		trace->is_open = trace->file >= 0;
		result = trace->is_open ? 0 : error_system(err, "%s", path);
	}
	unlink(path);
	rmdir(folder);
	if (result < 0)
		return -1;
	source_close(*source);
	*source = NULL;
	char name[32];
	snprintf(name, sizeof name, "/proc/self/fd/%d", trace->file);
	return source_open(source, name, &(struct source_options){ .force = true }, err);
}

void piped_trace_close(struct piped_trace *trace)
{
	if (trace->is_open)
		close(trace->file);
	trace->is_open = false;
}
