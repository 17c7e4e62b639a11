/* Samples → the stacks of a flame graph. Each worker keeps a trie of its own, of frames told apart by module and symbol;
 * names are made once per frame, when the tries are put together. Knows no option and no output. */
#pragma once
#include <stdint.h>

#include "analysis/flame_tree.h"
#include "analysis/name_filter.h"
#include "analysis/time_filter.h"
#include "session/session.h"
#include "symbol/symbol.h"

enum flame_weigh {
	FLAME_BY_PERIOD,  /* events the sample stands for */
	FLAME_BY_SAMPLES,
	FLAME_BY_TIME,    /* nanoseconds since the thread's previous sample */
};

enum flame_roots {
	FLAME_ROOT_COMM, /* "comm" */
	FLAME_ROOT_PID,  /* "comm-pid" */
	FLAME_ROOT_TID,  /* "comm-pid/tid" */
	FLAME_ROOT_NONE,
};

/* Which samples count; NULL: all. Borrowed. */
struct flame_filter {
	const struct name_list *comms, *pids, *tids;
	const struct name_list *modules; /* of the sample itself: their paths, names, or the last parts of their paths */
	const struct time_filter *when;
	const uint64_t *cpus;            /* a bit per CPU */
	size_t cpu_count;
};

struct flame_options {
	struct symbols *symbols;     /* of the session's modules */
	struct flame_filter filter;
	enum flame_weigh weigh;
	enum flame_roots roots;
	const char *event;           /* by name, with or without its modifiers; of several, as of all where NULL: the recording's
					first that has samples */
	unsigned max_stack;
	bool reverse;                /* callees first */
	bool inlines;                /* functions that were inlined are frames, where debug information tells of them */
	bool lines, full_path;       /* frames are told apart by source line, too; lines with the whole path of their file */
	/* Names as FlameGraph's stackcollapse-perf.pl writes them: without arguments, no module tells frames apart. */
	bool folded;
	bool annotate;               /* folded: "_[k]", "_[j]", "_[i]" behind kernel, JIT and inlined frames */
};

/* "cycles" is what "cycles:u" is asked for by. */
bool flame_event_matches(const char *wanted, const char *name);

struct flame_sink;

struct flame_sink *flame_sink_new(const struct flame_options *options, unsigned workers);
void flame_sink_free(struct flame_sink *sink); /* NULL is fine */
struct sink flame_sink_of(struct flame_sink *sink);

/* After session_run: everything into the builder, and how many samples were what. */
struct flame_counts {
	uint32_t event;         /* that the graph shows; UINT32_MAX where no sample came */
	uint64_t samples;       /* in the graph */
	uint64_t filtered;      /* of the event, kept out by filters */
	uint64_t other_events;  /* of other events */
};
struct flame_counts flame_sink_finish(struct flame_sink *sink, struct session *session, struct flame_builder *builder);
