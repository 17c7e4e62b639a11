#include "cmd/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

#define PATIENCE_NS UINT64_C(500000000) /* a read shorter than this needs no explanation */

static void put_line(const char *line, size_t len)
{
	if (write(STDERR_FILENO, line, len) < 0)
		return; /* the terminal is gone */
}

static void progress_show(void *context, uint64_t done, uint64_t total)
{
	static const char erase[] = "\r\033[K";
	struct progress *progress = context;
	if (done == total) { /* the end, also of a pipe, whose total is unknown */
		if (progress->shown)
			put_line(erase, sizeof erase - 1);
		progress->shown = false;
		return;
	}
	if (!progress->shown && now_ns() - progress->started_ns < PATIENCE_NS)
		return;
	char path[64], line[160];
	snprintf(path, sizeof path, "%s", progress->path);
	text_make_printable(path);
	int n = snprintf(line, sizeof line, "%sreading %s: ", erase, path);
	n += total ? snprintf(line + n, sizeof line - (size_t)n, "%3" PRIu64 "%% of %.1f MB", done * 100 / total, (double)total / 1e6)
		   : snprintf(line + n, sizeof line - (size_t)n, "%.1f MB", (double)done / 1e6);
	put_line(line, (size_t)n);
	progress->shown = true;
}

void progress_watch(struct progress *progress, const struct cli *cli, const char *path, struct session_options *options)
{
	*progress = (struct progress){ .path = path, .started_ns = now_ns() };
	if (!cli->tty_err || cli->pager_pid)
		return;
	options->progress = progress_show;
	options->progress_context = progress;
}
