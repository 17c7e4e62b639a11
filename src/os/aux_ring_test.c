#include "os/aux_ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "unit.h"

enum { AREA = 65536, REFERENCE = 512 };

/* Hardware that writes the bytes of a known sequence: the byte at position i of the trace is byte_at(i). */
struct producer {
	struct perf_event_mmap_page page;
	uint8_t area[AREA];
	struct aux_ring aux;
	uint64_t written;
	size_t area_size;
};

static uint8_t byte_at(uint64_t position)
{
	return (uint8_t)(1 + (position * 2654435761u >> 7) % 255); /* never 0, which is an area that was not written */
}

static struct producer *producer_new(size_t size, bool overwrite)
{
	struct producer *p = calloc(1, sizeof *p);
	p->area_size = size;
	p->aux = (struct aux_ring){ .control = &p->page, .data = p->area, .size = size, .overwrite = overwrite };
	return p;
}

static void producer_free(struct producer *p)
{
	free(p->aux.seen);
	free(p);
}

/* Writes up to `size` bytes; a ring that is not overwritten stops at the reader's position. The kernel reports the head of an overwritten
 * one as a place in the area. Returns how many bytes were written. */
static size_t produce(struct producer *p, size_t size)
{
	size_t room = p->aux.overwrite ? size : p->area_size - (size_t)(p->written - p->page.aux_tail);
	size = size < room ? size : room;
	for (size_t i = 0; i < size; i++, p->written++)
		p->area[p->written % p->area_size] = byte_at(p->written);
	p->page.aux_head = p->aux.overwrite ? p->written % p->area_size : p->written;
	return size;
}

/* The piece holds the sequence from `from` on. */
static void expect_piece(const struct aux_piece *piece, uint64_t from)
{
	size_t wrong = 0;
	EXPECT_INT(piece->spans[0].len + piece->spans[1].len, piece->size);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < piece->spans[k].len; i++)
			wrong += piece->spans[k].data[i] != byte_at(from++);
	EXPECT_INT(wrong, 0);
}

TEST("a trace that is read in time is read without a gap, over every place where the area wraps")
{
	struct producer *p = producer_new(4096, false);
	struct aux_piece piece;
	uint64_t read = 0;
	EXPECT(!aux_ring_pending(&p->aux, 0, &piece));
	for (size_t step = 1; step < 4300; step += 61) {
		size_t size = produce(p, step);
		EXPECT(aux_ring_pending(&p->aux, 0, &piece));
		EXPECT_INT(piece.offset, read);
		EXPECT_INT(piece.size, size);
		expect_piece(&piece, read);
		aux_ring_consume(&p->aux, &piece);
		read += piece.size;
		EXPECT_INT(p->page.aux_tail, read);
	}
	EXPECT(!aux_ring_pending(&p->aux, 0, &piece));
	producer_free(p);
}

TEST("a full area is read whole, at its start and after a wrap")
{
	struct producer *p = producer_new(4096, false);
	struct aux_piece piece;
	for (uint64_t from = 0; from < 3 * 4096; from += 4096) {
		EXPECT_INT(produce(p, 5000), 4096);
		EXPECT(aux_ring_pending(&p->aux, 0, &piece));
		EXPECT_INT(piece.size, 4096);
		expect_piece(&piece, from);
		aux_ring_consume(&p->aux, &piece);
	}
	EXPECT_INT(produce(p, 100), 100);
	EXPECT(aux_ring_pending(&p->aux, 0, &piece));
	aux_ring_consume(&p->aux, &piece);
	EXPECT_INT(produce(p, 5000), 4096);
	EXPECT(aux_ring_pending(&p->aux, 0, &piece));
	EXPECT_INT(piece.size, 4096);
	EXPECT_INT(piece.spans[1].len, 100);
	expect_piece(&piece, 3 * 4096 + 100);
	producer_free(p);
}

TEST("the part before the wrap is cut to whole records of the trace")
{
	struct producer *p = producer_new(4096, false);
	struct aux_piece piece;
	produce(p, 4080);
	EXPECT(aux_ring_pending(&p->aux, 24, &piece));
	EXPECT_INT(piece.size, 4080);
	aux_ring_consume(&p->aux, &piece);
	produce(p, 40); /* 16 bytes remain before the end */
	EXPECT(aux_ring_pending(&p->aux, 24, &piece));
	EXPECT_INT(piece.spans[0].len, 0);
	EXPECT_INT(piece.spans[1].len, 24);
	EXPECT_INT(piece.size, 24);
	producer_free(p);
}

TEST("a snapshot of an area that was not filled has what was written")
{
	struct producer *p = producer_new(AREA, true);
	struct aux_piece piece;
	EXPECT(!aux_ring_snapshot(&p->aux, AREA, REFERENCE, 0, &piece));
	produce(p, 1000);
	EXPECT(aux_ring_snapshot(&p->aux, AREA, REFERENCE, 0, &piece));
	EXPECT_INT(piece.size, 1000);
	EXPECT_INT(piece.offset, 0);
	expect_piece(&piece, 0);
	producer_free(p);
}

TEST("a snapshot of an area that was overwritten has all of it, oldest first, or the newest bytes up to the limit")
{
	for (size_t reference = 0; reference <= REFERENCE; reference += REFERENCE) {
		struct producer *p = producer_new(AREA, true);
		struct aux_piece piece;
		produce(p, AREA + 12345);
		EXPECT(aux_ring_snapshot(&p->aux, AREA, reference, 0, &piece));
		EXPECT_INT(piece.size, AREA);
		expect_piece(&piece, 12345);
		aux_ring_consume(&p->aux, &piece);
		EXPECT_INT(p->page.aux_tail, 0);
		produce(p, 7);
		EXPECT(aux_ring_snapshot(&p->aux, 5000, reference, 0, &piece));
		EXPECT_INT(piece.size, 5000);
		expect_piece(&piece, p->written - 5000);
		producer_free(p);
	}
}

TEST("small areas: what was written since the last snapshot, until the end of the area was written")
{
	struct producer *p = producer_new(AREA, true);
	struct aux_piece piece;
	produce(p, 1000);
	EXPECT(aux_ring_snapshot(&p->aux, AREA, 0, 0, &piece));
	aux_ring_consume(&p->aux, &piece);
	EXPECT(!aux_ring_snapshot(&p->aux, AREA, 0, 0, &piece));
	produce(p, 300);
	EXPECT(aux_ring_snapshot(&p->aux, AREA, 0, 0, &piece));
	EXPECT_INT(piece.size, 300);
	EXPECT_INT(piece.offset, 1000);
	expect_piece(&piece, 1000);
	aux_ring_consume(&p->aux, &piece);
	produce(p, AREA - 1300 + 1); /* one byte past the end */
	EXPECT(aux_ring_snapshot(&p->aux, AREA, 0, 0, &piece));
	EXPECT_INT(piece.size, AREA);
	expect_piece(&piece, 1);
	producer_free(p);
}

TEST("a head in the last bytes of the area, after they were compared, is a wrap")
{
	struct producer *p = producer_new(AREA, true);
	struct aux_piece piece;
	produce(p, AREA - 10); /* the area has not wrapped: the bytes before the head are read, after zeros */
	EXPECT(aux_ring_snapshot(&p->aux, AREA, REFERENCE, 0, &piece));
	EXPECT_INT(piece.size, AREA);
	EXPECT_INT(piece.spans[0].len, 10);
	EXPECT_INT(piece.spans[0].data[0], 0);
	EXPECT_INT(piece.spans[1].data[0], byte_at(0));
	producer_free(p);
}
