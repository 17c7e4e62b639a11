#include "cmd/trace_log.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/place.h"
#include "render/dump/intel_bts_text.h"
#include "render/dump/intel_pt_text.h"

enum { BUFFER = 1 << 18 };

static void open_log(struct trace_log *log, const char *name)
{
	struct error err = { 0 };
	log->begun = true;
	log->fd = place_write(name, O_WRONLY, 0600, &err);
	if (log->fd < 0) {
		cli_warn(log->cli, "--itrace=d: %s", err.text);
		return;
	}
	writer_open(&log->out, log->fd, BUFFER);
	log->opened = true;
}

void trace_log_piece(void *context, const struct record *record, struct span bytes, bool branches)
{
	struct trace_log *log = context;
	if (!log->begun)
		open_log(log, branches ? "intel_bts.log" : "intel_pt.log");
	if (!log->opened)
		return;
	struct cursor c = cursor_of(record->body, record->body_len, false);
	take_u64(&c); /* the size is that of `bytes` */
	uint64_t offset = take_u64(&c), reference = take_u64(&c);
	uint32_t queue = take_u32(&c), tid = take_u32(&c), cpu = take_u32(&c);
	writer_printf(&log->out, "queue %u  tid %d  cpu %d  offset %#llx  ref %#llx\n", queue, (int32_t)tid, (int32_t)cpu,
		(unsigned long long)offset, (unsigned long long)reference);
	(branches ? intel_bts_text : intel_pt_text)(bytes, &log->out);
}

void trace_log_close(struct trace_log *log)
{
	struct error err = { 0 };
	if (!log->opened)
		return;
	if (writer_flush(&log->out, &err) < 0)
		cli_warn(log->cli, "--itrace=d: %s", err.text);
	writer_fini(&log->out);
	close(log->fd);
	*log = (struct trace_log){ .cli = log->cli };
}
