/* The script sink: every sample as a line (and the lines of its call chain) or as a row of a table, in delivery order. Slices of samples
 * are formatted in parallel, each to memory, and written in order, so that memory does not grow with the recording. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "render/dump/dump.h"
#include "script/fields.h"
#include "analysis/filter/event_switch.h"
#include "analysis/filter/sample_filter.h"
#include "analysis/table/table.h"
#include "arch/isa.h"
#include "base/writer.h"
#include "session/session.h"
#include "symbol/lines.h"

enum listing_time { LISTING_TIME, LISTING_TIME_FROM_START, LISTING_TIME_FROM_PREVIOUS };

struct listing_options {
	struct fields *fields;         /* settled for a file; for a stream the sink settles them as events arrive */
	const struct row_format *format; /* of a table; NULL: perf's text */
	uint64_t show_records;         /* a bit per type of record that is shown, too */
	bool show_rounds;
	enum listing_time time;
	bool nanoseconds, latency, show_kernel_path, guests, verbose;
	bool count_misordered;         /* -d: samples are checked for order, not printed */
	unsigned max_stack;            /* frames of a call chain, as the session's; 0: none */
	struct sample_filter filter;   /* borrowed */
	const struct name_list *stop_at;
	int64_t address_range;
	const char *graph_functions;   /* "name,name": only these and what they call, of a hardware trace; NULL: everything */
	unsigned max_blocks;           /* of a branch stack's code; 0: all */
	struct event_switch switches;
	enum isa isa;                  /* of the recording, for a file */
	bool full_source_path;         /* srcline: whole paths */
	unsigned call_object_width;    /* of the object that callindent shows; 0: as long as it is */
	enum inline_frames inlines;
	/* Reads the code at an offset of a module, up to `size` bytes; returns how many. Called on any worker. NULL: no code is read. */
	size_t (*read_code)(void *context, const struct module *module, uint64_t offset, uint8_t *out, size_t size, bool *is_64bit);
	void *code_context;
	/* Decides about a sample; early: before the other filters, which will drop it if `dropped`; otherwise after them. 0: it is printed;
	 * 1: not; < 0: the run fails with *err. It may write to out. NULL: none; with it, one thread processes samples. */
	int (*user_filter)(void *context, const struct resolved *r, bool early, bool dropped, struct writer *out, struct error *err);
	void *user_context;
	struct dump *dump;             /* -D: every record is dumped before it is printed; NULL: no dump */
	/* --per-event-dump: returns a writer for one event's file; NULL with *err set on failure. NULL: one output. */
	struct writer *(*event_writer)(void *context, uint32_t event, const char *name, struct error *err);
	void *event_context;
};

struct listing;

/* out: not owned. */
int listing_open(struct listing **listing, const struct listing_options *options, struct session *session, struct symbols *symbols,
	struct writer *out, struct error *err);
void listing_close(struct listing *listing); /* NULL is allowed */
struct sink listing_sink(struct listing *listing);

/* Bytes in the output so far, while workers add to it. */
size_t listing_written(struct listing *listing);

/* Completes the output after the session's run; not after an error. */
void listing_end(struct listing *listing);

/* The sink's own error: an event of a stream does not have a field that was asked for. NULL: no error. */
const struct error *listing_error(const struct listing *listing);

struct listing_counters {
	uint64_t misordered;
	uint64_t *samples;  /* printed, by event */
	size_t event_count;
};
const struct listing_counters *listing_counters(const struct listing *listing);
