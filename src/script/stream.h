/* The sink of `script`: every sample as a line (and the lines of its callchain), in delivery order. Slices of samples are formatted
 * in parallel, each into memory of its own, and written in order. Knows which fields there are, not who asked for them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "render/dump/dump.h"
#include "script/fields.h"
#include "analysis/filter/sample_filter.h"
#include "arch/isa.h"
#include "base/writer.h"
#include "session/session.h"
#include "symbol/lines.h"

enum stream_time { STREAM_TIME, STREAM_TIME_FROM_START, STREAM_TIME_FROM_PREVIOUS };

struct stream_options {
	struct fields *fields;         /* settled for a file; for a pipe the stream settles them as events arrive */
	uint64_t show_records;         /* a bit per record type that is shown too */
	bool show_rounds;
	enum stream_time time;
	bool nanoseconds, latency, show_kernel_path, guests;
	bool count_misordered;         /* -d: nothing is printed, times are checked */
	unsigned max_stack;            /* frames of a callchain, as the session's; 0: none */
	struct sample_filter filter;   /* borrowed */
	const struct name_list *stop_at;
	int64_t address_range;
	const char *switch_on, *switch_off;
	bool show_switches;
	enum isa isa;                  /* of the recording, for a file */
	bool full_source_path;         /* srcline: whole paths */
	enum inline_frames inlines;
	/* The code at a place in a module, up to `size` bytes; returns how many. From any worker. NULL: none is looked at. */
	size_t (*read_code)(void *context, const struct module *module, uint64_t offset, uint8_t *out, size_t size, bool *is_64bit);
	void *code_context;
	struct dump *dump;             /* -D: every record is dumped before it is printed; NULL: not */
	/* --per-event-dump: a writer for one event's file; NULL with *err set where it cannot be. */
	struct writer *(*event_writer)(void *context, uint32_t event, const char *name, struct error *err);
	void *event_context;
};

struct stream;

/* out: not owned. */
int stream_open(struct stream **stream, const struct stream_options *options, struct session *session, struct symbols *symbols,
	struct writer *out, struct error *err);
void stream_close(struct stream *stream); /* NULL is fine */
struct sink stream_sink(struct stream *stream);

/* Whether a file lacks the event that --switch-on or --switch-off names; *err says which. */
bool stream_lacks_switch(const struct stream *stream, struct error *err);

/* What stopped the stream on its own account: an event of a pipe that has not what was asked for. NULL: nothing. */
const struct error *stream_error(const struct stream *stream);

struct stream_counters {
	uint64_t misordered;
	uint64_t *samples;  /* printed, by event */
	size_t event_count;
};
const struct stream_counters *stream_counters(const struct stream *stream);
