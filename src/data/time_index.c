#include "data/time_index.h"

#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 << 10, CHUNK_WORDS = 5, FOOTER_WORDS = 5, WORD = 8 };

static const char magic[WORD + 1] = "PFTIMES2";

/* FNV-1a over words: a damaged index must not hide samples. */
static const uint64_t sum_begin = 14695981039346656037u;

static uint64_t sum_add(uint64_t sum, uint64_t word)
{
	return (sum ^ word) * 1099511628211u;
}

void time_index_fini(struct time_index *index)
{
	vec_fini(&index->chunks);
	vec_fini(&index->others);
}

static struct time_chunk *begin_chunk(struct time_index *index, uint64_t offset)
{
	struct time_chunk *chunk = vec_add(&index->chunks);
	chunk->offset = chunk->end = offset;
	chunk->first_ns = UINT64_MAX;
	chunk->others = chunk->others_end = index->others.count;
	return chunk;
}

void time_index_add(struct time_index *index, uint64_t offset, uint64_t size, bool sample, uint64_t time)
{
	struct time_chunk *chunk = index->chunks.count ? &index->chunks.items[index->chunks.count - 1] : NULL;
	if (!chunk || offset - chunk->offset >= CHUNK_BYTES)
		chunk = begin_chunk(index, offset);
	chunk->end = offset + size;
	if (!sample) {
		vec_push(&index->others, (uint32_t)(offset - chunk->offset));
		chunk->others_end++;
		return;
	}
	uint64_t first = time == UINT64_MAX ? 0 : time;
	chunk->first_ns = first < chunk->first_ns ? first : chunk->first_ns;
	chunk->last_ns = time > chunk->last_ns ? time : chunk->last_ns;
}

static void add_u64(struct writer *out, uint64_t value, uint64_t *sum)
{
	writer_add(out, &value, sizeof value);
	*sum = sum_add(*sum, value);
}

bool time_index_bounds(const struct time_index *index, uint64_t *first_ns, uint64_t *last_ns)
{
	*first_ns = UINT64_MAX;
	*last_ns = 0;
	for (size_t i = 0; i < index->chunks.count; i++) {
		const struct time_chunk *chunk = &index->chunks.items[i];
		if (chunk->first_ns > chunk->last_ns)
			continue;
		*first_ns = chunk->first_ns < *first_ns ? chunk->first_ns : *first_ns;
		*last_ns = chunk->last_ns > *last_ns ? chunk->last_ns : *last_ns;
	}
	return *first_ns <= *last_ns && *last_ns != UINT64_MAX;
}

void time_index_write(const struct time_index *index, uint64_t at, struct writer *out)
{
	uint64_t sum = sum_begin;
	for (size_t i = 0; i < index->chunks.count; i++) {
		const struct time_chunk *chunk = &index->chunks.items[i];
		add_u64(out, chunk->offset, &sum);
		add_u64(out, chunk->end, &sum);
		add_u64(out, chunk->first_ns, &sum);
		add_u64(out, chunk->last_ns, &sum);
		add_u64(out, chunk->others_end - chunk->others, &sum);
	}
	for (size_t i = 0; i < index->others.count; i += 2) {
		uint32_t pair[2] = { index->others.items[i], i + 1 < index->others.count ? index->others.items[i + 1] : 0 };
		uint64_t word;
		memcpy(&word, pair, sizeof word);
		add_u64(out, word, &sum);
	}
	writer_add(out, magic, WORD);
	add_u64(out, at, &sum);
	add_u64(out, index->chunks.count, &sum);
	add_u64(out, index->others.count, &sum);
	writer_add(out, &sum, sizeof sum);
}

int time_index_append(const struct time_index *index, int fd, struct error *err)
{
	struct writer out;
	off_t end = lseek(fd, 0, SEEK_END);
	if (end < 0)
		return error_system(err, "cannot seek in the recording");
	writer_open(&out, fd, 64 << 10);
	time_index_write(index, (uint64_t)end, &out);
	int result = writer_flush(&out, err);
	writer_fini(&out);
	return result;
}

/* Whether a chunk follows the one before, and its other records lie in it, in order. */
static bool chunk_fits(const struct time_index *index, const struct time_chunk *chunk, uint64_t from, uint64_t data_end)
{
	if (chunk->offset != from || chunk->end <= chunk->offset || chunk->end > data_end || chunk->others_end > index->others.count)
		return false;
	for (uint64_t i = chunk->others; i < chunk->others_end; i++)
		if (index->others.items[i] >= chunk->end - chunk->offset ||
		    (i > chunk->others && index->others.items[i] <= index->others.items[i - 1]))
			return false;
	return true;
}

static bool read_chunks(struct time_index *index, struct cursor *c, uint64_t count, uint64_t data, uint64_t data_end)
{
	uint64_t from = data, others = 0;
	for (uint64_t i = 0; i < count; i++) {
		struct time_chunk *chunk = vec_add(&index->chunks);
		chunk->offset = take_u64(c);
		chunk->end = take_u64(c);
		chunk->first_ns = take_u64(c);
		chunk->last_ns = take_u64(c);
		uint64_t own = take_u64(c);
		chunk->others = others;
		if (own > index->others.count - others)
			return false;
		chunk->others_end = others += own;
		if (!chunk_fits(index, chunk, from, data_end))
			return false;
		from = chunk->end;
	}
	return from == data_end && others == index->others.count;
}

bool time_index_read(struct time_index *index, struct span file, uint64_t data, uint64_t data_end)
{
	*index = (struct time_index){ 0 };
	if (file.len < FOOTER_WORDS * WORD || memcmp(file.data + file.len - FOOTER_WORDS * WORD, magic, WORD) != 0)
		return false;
	struct cursor footer = cursor_of(file.data + file.len - (FOOTER_WORDS - 1) * WORD, (FOOTER_WORDS - 1) * WORD, false);
	uint64_t at = take_u64(&footer), chunks = take_u64(&footer), others = take_u64(&footer);
	uint64_t stated = take_u64(&footer), sum = sum_begin;
	uint64_t room = file.len - FOOTER_WORDS * WORD;
	if (at < data_end || at > room || chunks > (room - at) / (CHUNK_WORDS * WORD))
		return false;
	uint64_t left = room - at - chunks * CHUNK_WORDS * WORD;
	if (left % WORD || others > left / sizeof(uint32_t) || left / WORD != (others + 1) / 2)
		return false;
	struct cursor c = cursor_of(file.data + at, room - at, false), words = c;
	while (cursor_left(&words))
		sum = sum_add(sum, take_u64(&words));
	if (sum_add(sum_add(sum_add(sum, at), chunks), others) != stated)
		return false;
	vec_reserve(&index->others, others + 1);
	memcpy(index->others.items, file.data + room - left, others * sizeof *index->others.items);
	index->others.count = others;
	if (read_chunks(index, &c, chunks, data, data_end))
		return true;
	time_index_fini(index);
	return false;
}
