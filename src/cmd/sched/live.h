/* The analyses of `sched` over what runs now: rings → session → analysis, without a file. Separate from sched.h, as options of traces have
 * one name in session/ and in record/. */
#pragma once
#include "analysis/sched/events.h"
#include "cmd/command.h"
#include "symbol/symbol.h"

struct sched_live {
	struct cli *cli;
	struct sched_reader *reader;
	const struct symbols_options *symbol_options;
	bool chains;                   /* call chains are recorded, and symbols are opened */
	struct symbols *symbols;       /* while it runs; NULL without chains */
	struct session *session;
	void *context;
	void (*started)(void *context);  /* called before the first event; NULL: nothing */
	void (*finished)(void *context); /* after the last one, while the session is open */
};

/* command: NULL: until a signal arrives. Returns the exit code. */
int sched_live_run(struct sched_live *live, const char *const *command);
enum { SCHED_TRACEPOINTS_MAX = 12 };
/* The tracepoints that `sched record` asks for on this machine; warns of those that it lacks. */
size_t sched_tracepoints(const struct cli *cli, const char *names[SCHED_TRACEPOINTS_MAX]);
