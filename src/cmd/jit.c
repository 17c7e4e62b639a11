#include "cmd/jit.h"

#include "cmd/same_machine.h"
#include "image/jit_dump.h"
#include "image/recorded_process.h"

static int open_dump(void *context, int32_t pid, const char *path, struct reader *reader)
{
	struct jit_names *names = context;
	struct error err = { 0 };
	uint64_t size;
	int fd = jit_dump_open(recorded_process(pid, recorded_until(names->header), NULL), path, names->symfs, names->force, &size, &err);
	if (fd >= 0) {
		*reader = reader_of_fd(fd, size);
		return 0;
	}
	if (err.kind == ERROR_PERMISSION && !names->refused) {
		names->refused = true;
		cli_warn(names->cli, "%s, ignoring it (use -f to override).", err.text);
	}
	return -1;
}

void jit_names_watch(struct jit_names *names, struct session_options *options)
{
	options->jit_open = open_dump;
	options->jit_context = names;
}

void jit_names_warn(const struct jit_names *names, const struct session *session)
{
	if (session->counters.jit_untimed)
		cli_warn(names->cli, "JIT-compiled code has the names that were valid at the end: the recording's clock is not that of the dump. "
			"Record with -k mono for the names at the time of each sample.");
}
