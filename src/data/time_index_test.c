#include "data/time_index.h"

#include <stdlib.h>

#include "data/feature.h"
#include "data/source_internal.h"
#include "data/test_recording.h"
#include "unit.h"

enum { SAMPLES = 9000 };

/* A file of SAMPLES samples of address and time i + 1, with a comm before each 1,000th, and its index. */
struct indexed {
	uint8_t *bytes;
	size_t len, data, data_end;
	struct time_index index;
};

static void add_record(struct indexed *f, const struct recording *r, size_t at, bool sample, uint64_t time)
{
	time_index_add(&f->index, f->len, r->len - at, sample, time);
	memcpy(f->bytes + f->len, r->bytes + at, r->len - at);
	f->len += r->len - at;
}

static void add_index(struct indexed *f)
{
	struct writer out;
	writer_open(&out, -1, 0);
	time_index_write(&f->index, f->len, &out);
	memcpy(f->bytes + f->len, out.buffer, out.len);
	f->len += out.len;
	writer_fini(&out);
}

static struct indexed make_indexed(void)
{
	struct indexed f = { .bytes = calloc(1, 2 << 20) };
	struct recording *r = recording_new(false);
	begin_file(r, 2);
	size_t head = r->len;
	memcpy(f.bytes, r->bytes, head);
	f.data = f.len = head;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		r->len = head;
		if (i % 1000 == 0) {
			put_comm(r, 10, "x", i + 1);
			add_record(&f, r, head, false, i + 1);
		}
		r->len = head;
		put_sample(r, 10, i + 1, i + 1);
		add_record(&f, r, head, true, i + 1);
	}
	f.data_end = f.len;
	put_at(r, 48, f.len - head, 8); /* the size of the data */
	memcpy(f.bytes + 48, r->bytes + 48, 8);
	add_index(&f);
	free(r);
	return f;
}

static void indexed_fini(struct indexed *f)
{
	time_index_fini(&f->index);
	free(f->bytes);
}

/* Reads the samples of a window; returns how many records were read, and checks that all needed ones were. */
static uint64_t read_window(const struct indexed *f, uint64_t from, uint64_t until)
{
	struct source *source = NULL;
	struct record record;
	uint64_t records = 0, comms = 0, needed = 0;
	EXPECT_INT(source_open_memory(&source, f->bytes, f->len, NULL), 0);
	source_set_window(source, from, until);
	while (source && source_next(source, &record, NULL) == 1) {
		uint64_t time = evlist_time_of(&source->header.evlist, &record);
		records++;
		comms += record.type == RECORD_COMM;
		needed += record.type == RECORD_SAMPLE && time >= from && time <= until;
	}
	EXPECT_INT(comms, SAMPLES / 1000);
	EXPECT_INT(needed, until - from + 1);
	EXPECT_INT(source->counters.bytes_read, source->counters.bytes_total);
	source_close(source);
	return records;
}

TEST("a window reads all records that are not samples, and the chunks with samples in it")
{
	struct indexed f = make_indexed();
	EXPECT(f.index.chunks.count >= 3);
	const struct time_chunk *second = &f.index.chunks.items[1];
	EXPECT_INT(read_window(&f, 1, SAMPLES), SAMPLES + SAMPLES / 1000);
	uint64_t own = second->last_ns - second->first_ns + 1;
	EXPECT_INT(read_window(&f, second->first_ns, second->last_ns), own + SAMPLES / 1000);
	EXPECT_INT(read_window(&f, second->last_ns, second->last_ns), own + SAMPLES / 1000);
	EXPECT_INT(read_window(&f, second->first_ns, second->first_ns), own + SAMPLES / 1000);
	EXPECT(read_window(&f, second->first_ns - 1, second->first_ns) > own + SAMPLES / 1000);
	indexed_fini(&f);
}

TEST("the times of the first and the last sample are known where all have a time, and a header that lacks them gets them")
{
	struct indexed f = make_indexed();
	struct feature_sample_time stated;
	struct source *source = NULL;
	uint64_t first, last;
	EXPECT(time_index_bounds(&f.index, &first, &last));
	EXPECT_INT(first, 1);
	EXPECT_INT(last, SAMPLES);
	EXPECT_INT(source_open_memory(&source, f.bytes, f.len, NULL), 0);
	EXPECT_INT(feature_sample_time(&source->header, &stated), 0);
	EXPECT_INT(stated.first_ns, 1);
	EXPECT_INT(stated.last_ns, SAMPLES);
	source_close(source);
	struct time_chunk *chunk = &f.index.chunks.items[1];
	chunk->first_ns = 0;
	chunk->last_ns = UINT64_MAX;
	EXPECT(!time_index_bounds(&f.index, &first, &last));
	indexed_fini(&f);
	EXPECT(!time_index_bounds(&(struct time_index){ 0 }, &first, &last));
}

static bool reads(const struct indexed *f, size_t len)
{
	struct time_index index;
	bool result = time_index_read(&index, (struct span){ f->bytes, len }, f->data, f->data_end);
	time_index_fini(&index);
	return result;
}

/* States the sum of what the index is now. */
static void sum_again(struct indexed *f)
{
	enum { FOOTER = 40 };
	uint64_t sum = 14695981039346656037u, word;
	for (size_t at = f->data_end; at < f->len - 8; at += at + 8 == f->len - FOOTER ? 16 : 8) {
		memcpy(&word, f->bytes + at, 8);
		sum = (sum ^ word) * 1099511628211u;
	}
	memcpy(f->bytes + f->len - 8, &sum, 8);
}

TEST("an index with any bit changed is ignored")
{
	struct indexed f = make_indexed();
	for (size_t at = f.data_end; at < f.len; at++) {
		f.bytes[at] ^= (uint8_t)(1 << at % 8);
		EXPECT(!reads(&f, f.len));
		f.bytes[at] ^= (uint8_t)(1 << at % 8);
	}
	EXPECT(reads(&f, f.len));
	indexed_fini(&f);
}

TEST("an index that does not fit the records is ignored, though its sum is right")
{
	struct indexed f = make_indexed();
	EXPECT(reads(&f, f.len));
	EXPECT(!reads(&f, f.len - 1) && !reads(&f, 0) && !reads(&f, 31));
	uint64_t rows = f.index.chunks.count * 5;
	for (size_t word = 0; word < rows + 1; word++) {
		uint8_t *at = f.bytes + f.data_end + word * 8;
		if (word < rows && (word % 5 == 2 || word % 5 == 3))
			continue; /* times may be anything */
		for (int bit = 0; bit < 64; bit += 9) {
			at[bit / 8] ^= (uint8_t)(1 << bit % 8);
			sum_again(&f);
			EXPECT(!reads(&f, f.len) || word == rows);
			at[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	sum_again(&f);
	EXPECT(reads(&f, f.len));
	for (size_t i = 9; i <= 40; i++) {
		f.bytes[f.len - i] ^= 0x80;
		sum_again(&f);
		EXPECT(!reads(&f, f.len));
		f.bytes[f.len - i] ^= 0x80;
	}
	/* places of records in their chunk: they increase, and lie in it */
	const struct time_chunk *chunk = &f.index.chunks.items[1];
	uint32_t *others = (uint32_t *)(void *)(f.bytes + f.data_end + rows * 8), size = (uint32_t)(chunk->end - chunk->offset);
	uint64_t last = chunk->others_end - 1;
	EXPECT(chunk->others_end - chunk->others >= 2);
	for (uint32_t place = size - 1; place <= size + 1; place++) {
		uint32_t before = others[last];
		others[last] = place;
		sum_again(&f);
		EXPECT(reads(&f, f.len) == (place < size));
		others[last] = before;
	}
	for (int less = 0; less < 2; less++) {
		uint32_t before = others[last];
		others[last] = others[last - 1] - (uint32_t)less;
		sum_again(&f);
		EXPECT(!reads(&f, f.len));
		others[last] = before;
	}
	sum_again(&f);
	EXPECT(reads(&f, f.len));
	f.data_end++;
	EXPECT(!reads(&f, f.len));
	indexed_fini(&f);
}
