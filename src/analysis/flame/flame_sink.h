/* The sink of `flamegraph`: samples become stacks of frames. Each worker has a trie of frames, which are distinguished by module and
 * symbol; frames get their names when the tries are merged. */
#pragma once
#include <stdint.h>

#include "analysis/flame/flame_tree.h"
#include "analysis/filter/sample_filter.h"
#include "session/session.h"
#include "symbol/symbol.h"

enum flame_weigh {
	FLAME_BY_PERIOD,  /* the sample's period */
	FLAME_BY_SAMPLES,
	FLAME_BY_TIME,    /* ns since the thread's previous sample */
};

enum flame_roots {
	FLAME_ROOT_COMM, /* "comm" */
	FLAME_ROOT_PID,  /* "comm-pid" */
	FLAME_ROOT_TID,  /* "comm-pid/tid" */
	FLAME_ROOT_CPU,  /* "CPU 3" */
	FLAME_ROOT_NONE,
};

struct flame_options {
	struct symbols *symbols;     /* for the session's modules */
	struct sample_filter filter; /* dsos: modules of the sample itself, by path, name, or last part of the path. Borrowed */
	enum flame_weigh weigh;
	enum flame_roots roots;
	const char *event;           /* name, with or without modifiers; NULL: any. The first matching event with samples is shown */
	unsigned max_stack;
	bool fold_recursion;         /* a function that calls itself, through up to 7 others, is one frame */
	bool reverse;                /* innermost frames at the root */
	bool inlines;                /* inlined functions are frames */
	bool lines, full_path;       /* lines: the source line distinguishes frames; full_path: with the full path of the file */
	/* Names as FlameGraph's stackcollapse-perf.pl writes them: without arguments; modules do not distinguish frames. */
	bool folded;
	bool annotate;               /* with folded: the suffixes "_[k]", "_[j]", "_[i]" for kernel, JIT and inlined frames */
};

/* Whether `wanted` denotes the event `name`: "cycles" denotes "cycles:u". */
bool flame_event_matches(const char *wanted, const char *name);

struct flame_sink;

struct flame_sink *flame_sink_new(const struct flame_options *options, unsigned workers);
void flame_sink_free(struct flame_sink *sink); /* NULL is allowed */
struct sink flame_sink_of(struct flame_sink *sink);

/* Moves all stacks into the builder, after session_run, and counts the samples. */
struct flame_counts {
	uint32_t event;         /* the event that the graph shows; UINT32_MAX: no samples */
	uint64_t samples;       /* in the graph */
	uint64_t filtered;      /* of the event, filtered out */
	uint64_t other_events;  /* samples of other events */
};
struct flame_counts flame_sink_finish(struct flame_sink *sink, struct session *session, struct flame_builder *builder);
