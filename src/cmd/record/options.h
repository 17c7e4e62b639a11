/* The options of record, as its table fills them. Internal to cmd/. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "base/vec.h"
#include "cmd/event_words.h"
#include "record/recorder.h"

struct record_command {
	struct record_options record;
	VEC(struct event_word) words;
	VEC(struct record_window) windows;
	const char *freq_text;      /* -F, also "max" */
	uint64_t count;             /* -c */
	bool count_given;
	bool period, period_given;  /* -P */
	bool timestamp;             /* -T */
	bool quiet, no_cache, cache_given, no_ids_given, strict_freq;
	bool call_graph;            /* -g or --call-graph */
	bool call_graph_mode;       /* --call-graph */
	bool branch_any;            /* -b */
	bool pages_rounded, area_rounded; /* -m named a size that no ring, or no AUX area, can have */
	int verbose;
	unsigned synthesis_threads;
	const char *output, *vmlinux;
	const char *debuginfod;     /* URLs, "system"; NULL: not given */
	const char *control_text;   /* --control */
	struct reader_groups groups; /* --threads */
	bool snapshot_refused;      /* -S has no valid size */
	bool aio, dry_run;          /* --aio, --dry-run */
	const char *switch_event;   /* --switch-output-event */
	const char *setup_filter, *trigger;
	const char *refused;        /* an option whose value is refused after all options were read: 234, not 129, as in perf */
	struct error refusal;
};

extern const struct option record_table[];
