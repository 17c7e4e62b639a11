/* The step that replaces hardware traces by what they decode to (--itrace): samples and errors of the trace, each before the first record
 * that is newer. Records of the trace itself are dropped; with strip, samples of all other events and context switches, too. */
#include <stdlib.h>

#include "rewrite/state.h"
#include "session/trace.h"

struct trace_step {
	struct trace *trace;         /* NULL: the recording has no trace that can be decoded */
	struct entries made;
	bool strip;
};

enum { MADE_MAX = 4096 };        /* samples between two writes */

static bool replaces_traces(const struct rewrite_options *options)
{
	return options->trace;
}

static void *open_step(struct rewrite *r)
{
	struct trace_step *s = memory_zero(1, sizeof *s);
	s->trace = trace_open(r->source, r->options->trace, NULL);
	s->strip = r->options->strip;
	r->out.without_traces = s->trace;
	r->out.with_branches = s->trace && r->options->trace->itrace.last_branch;
	return s;
}

static void close_step(void *state)
{
	struct trace_step *s = state;
	trace_free(s->trace);
	vec_fini(&s->made);
	free(s);
}

static void write_made(struct trace_step *s, struct rewrite *r)
{
	for (size_t i = 0; i < s->made.count; i++) {
		struct record record = entry_record(&s->made.items[i]);
		new_recording_add(&r->out, &record, (struct span){ 0 });
	}
	s->made.count = 0;
	trace_hand_over(s->trace);
	trace_release(s->trace);
}

/* Writes what the trace has until a time in ns. */
static void advance(struct trace_step *s, struct rewrite *r, uint64_t until)
{
	bool more;
	do {
		more = trace_advance(s->trace, &r->model, until, r->clock, MADE_MAX, &s->made);
		write_made(s, r);
	} while (more && r->out.error.kind == ERROR_NONE);
}

static enum fate tool_record(void *state, const struct record *record)
{
	const struct trace_step *s = state;
	bool of_trace = record->type == RECORD_AUXTRACE_INFO || record->type == RECORD_AUXTRACE || record->type == RECORD_ID_INDEX;
	return s->trace && of_trace ? FATE_DROP : FATE_WRITE;
}

static int before(void *state, struct rewrite *r, struct item *item, struct error *err)
{
	struct trace_step *s = state;
	uint64_t time = evlist_time_of(&r->source->header.evlist, &item->record);
	if (s->trace && time && time != UINT64_MAX)
		advance(s, r, time);
	return FATE_WRITE;
}

static int after(void *state, struct rewrite *r, struct item *item, struct error *err)
{
	struct trace_step *s = state;
	if (!s->trace)
		return FATE_WRITE;
	if (item->record.type == RECORD_SAMPLE)
		return s->strip ? FATE_DROP : FATE_WRITE;
	trace_note_record(s->trace, &item->record, &item->sample, &s->made);
	write_made(s, r);
	switch (item->record.type) {
	case RECORD_AUX:
	case RECORD_ITRACE_START:
	case RECORD_AUX_OUTPUT_HW_ID:
		return FATE_DROP;
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		return s->strip ? FATE_DROP : FATE_WRITE;
	default:
		return FATE_WRITE;
	}
}

static void end(void *state, struct rewrite *r)
{
	struct trace_step *s = state;
	if (s->trace)
		advance(s, r, UINT64_MAX);
}

const struct step step_trace = { .wanted = replaces_traces, .open = open_step, .tool_record = tool_record, .before = before, .after = after,
	.end = end, .close = close_step };
