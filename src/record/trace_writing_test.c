#include "record/trace_writing.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

enum { AREA = 8192 };

/* A measurement of two areas in memory, whose pieces are written to a temporary file. */
struct writing {
	struct perf_event_mmap_page pages[2];
	uint8_t areas[2][AREA];
	struct measurement m;
	struct trace_writing traces;
	struct data_writer out;
	struct evlist evlist;
	FILE *file;
};

static struct writing *writing_new(bool overwrite)
{
	static struct events none;
	struct writing *w = calloc(1, sizeof *w);
	w->m.events = &none;
	w->m.trace.snapshot_size = AREA;
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < AREA; k++)
			w->areas[i][k] = (uint8_t)(1 + (k + 7 * (size_t)i) % 200);
		vec_push(&w->m.counters.rings, ((struct ring){ .fd = -1, .cpu = i }));
		vec_push(&w->m.counters.areas,
			((struct aux_ring){ .control = &w->pages[i], .data = w->areas[i], .size = AREA, .overwrite = overwrite }));
	}
	trace_writing_open(&w->traces);
	w->file = tmpfile();
	EXPECT_INT(data_writer_open(&w->out, fileno(w->file), false, &w->evlist, NULL), 0);
	return w;
}

static void writing_free(struct writing *w)
{
	trace_writing_fini(&w->traces);
	data_writer_fini(&w->out);
	vec_fini(&w->m.counters.rings);
	vec_fini(&w->m.counters.areas);
	fclose(w->file);
	free(w);
}

/* The record and the bytes that the index describes. */
static void expect_piece(const struct writing *w, size_t index, const uint8_t *bytes, size_t size)
{
	uint64_t record[6];
	uint8_t written[AREA];
	const struct trace_place *place = &w->traces.index.items[index];
	EXPECT_INT(place->size, sizeof record);
	EXPECT_INT(pread(fileno(w->file), record, sizeof record, (off_t)place->offset), sizeof record);
	EXPECT_INT(load_u32(&record[0]), RECORD_AUXTRACE);
	EXPECT_INT(record[1], (size + 7) / 8 * 8);
	EXPECT_INT(pread(fileno(w->file), written, size, (off_t)(place->offset + sizeof record)), size);
	EXPECT(memcmp(written, bytes, size) == 0);
}

TEST("pieces of all areas are written with their records, padded, and indexed")
{
	struct writing *w = writing_new(false);
	EXPECT_INT(trace_writing_drain(&w->traces, &w->m, &w->out, NULL), 0);
	w->pages[0].aux_head = 13;
	w->pages[1].aux_head = 24;
	data_writer_add(&w->out, "12345678", 8); /* records that wait in the buffer */
	EXPECT_INT(trace_writing_drain(&w->traces, &w->m, &w->out, NULL), 1);
	EXPECT_INT(w->traces.index.count, 2);
	expect_piece(w, 0, w->areas[0], 13);
	expect_piece(w, 1, w->areas[1], 24);
	EXPECT_INT(w->traces.index.items[0].offset, w->out.data_offset + 8);
	EXPECT_INT(data_writer_size(&w->out), 8 + 48 + 16 + 48 + 24);
	EXPECT_INT(w->pages[0].aux_tail, 13);
	EXPECT_INT(trace_writing_drain(&w->traces, &w->m, &w->out, NULL), 0);
	writing_free(w);
}

TEST("overwritten areas are left alone until a snapshot, which takes each once")
{
	struct writing *w = writing_new(true);
	memset(w->areas[0] + 100, 0, AREA - 100);
	w->pages[0].aux_head = 100;
	w->pages[1].aux_head = 40;
	EXPECT_INT(trace_writing_drain(&w->traces, &w->m, &w->out, NULL), 0);
	EXPECT_INT(trace_writing_snapshot(&w->traces, &w->m, &w->out, true, NULL), 0);
	EXPECT_INT(w->traces.index.count, 2);
	expect_piece(w, 0, w->areas[0], 100);
	uint8_t oldest_first[AREA]; /* its end was written: the oldest byte follows the newest */
	memcpy(oldest_first, w->areas[1] + 40, AREA - 40);
	memcpy(oldest_first + AREA - 40, w->areas[1], 40);
	expect_piece(w, 1, oldest_first, AREA);
	EXPECT_INT(w->pages[0].aux_tail, 0);
	EXPECT_INT(trace_writing_snapshot(&w->traces, &w->m, &w->out, true, NULL), 0);
	EXPECT_INT(w->traces.index.count, 3); /* of the first area nothing is new */
	writing_free(w);
}
