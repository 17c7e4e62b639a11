#include "record/trace_writing.h"

#include "os/counter.h"
#include "record/acquire/trace_records.h"

void trace_writing_open(struct trace_writing *writing)
{
	*writing = (struct trace_writing){ 0 };
	writer_open(&writing->head, -1, 0);
}

void trace_writing_fini(struct trace_writing *writing)
{
	vec_fini(&writing->index);
	writer_fini(&writing->head);
}

static int write_piece(struct trace_writing *w, struct measurement *m, size_t ring, const struct aux_piece *piece,
	struct data_writer *out, struct error *err)
{
	static const uint8_t zeros[8] = { 0 };
	w->head.len = 0;
	trace_piece_record(&m->counters, &m->target, ring, piece, &w->head);
	vec_push(&w->index, ((struct trace_place){ out->data_offset + data_writer_size(out), w->head.len }));
	const struct span spans[] = {
		{ (const uint8_t *)w->head.buffer, w->head.len }, piece->spans[0], piece->spans[1], { zeros, -piece->size & 7 },
	};
	return data_writer_add_spans(out, spans, 4, err);
}

/* The counters of the event that traces: of one ring, or of all (SIZE_MAX). */
static void switch_trace(const struct measurement *m, size_t ring, bool on)
{
	for (size_t i = 0; i < m->counters.list.count; i++) {
		const struct counter *counter = &m->counters.list.items[i];
		bool chosen = m->events->list.items[counter->event].traces && (ring == SIZE_MAX || counter->ring == ring);
		if (chosen && counter->fd >= 0)
			(on ? counter_enable : counter_disable)(counter->fd);
	}
}

int trace_writing_drain(struct trace_writing *w, struct measurement *m, struct data_writer *out, struct error *err)
{
	int any = 0;
	for (size_t i = 0; i < m->counters.areas.count; i++) {
		struct aux_ring *area = &m->counters.areas.items[i];
		struct aux_piece piece;
		if (!area->data || area->overwrite || !aux_ring_pending(area, m->trace.align, &piece))
			continue;
		if (write_piece(w, m, i, &piece, out, err) < 0)
			return -1;
		aux_ring_consume(area, &piece);
		if (!w->stopped) /* the kernel disables an event whose area is full */
			switch_trace(m, i, true);
		any = 1;
	}
	return any;
}

void trace_writing_stop(const struct measurement *m)
{
	switch_trace(m, SIZE_MAX, false);
}

int trace_writing_snapshot(struct trace_writing *w, struct measurement *m, struct data_writer *out, bool last, struct error *err)
{
	const struct trace *trace = &m->trace;
	for (size_t i = 0; i < m->counters.areas.count; i++) {
		struct aux_ring *area = &m->counters.areas.items[i];
		struct aux_piece piece;
		if (!area->data || !aux_ring_snapshot(area, trace->snapshot_size, trace->reference, trace->align, &piece))
			continue;
		if (write_piece(w, m, i, &piece, out, err) < 0)
			return -1;
		aux_ring_consume(area, &piece);
	}
	if (!last)
		switch_trace(m, SIZE_MAX, true);
	return 0;
}
