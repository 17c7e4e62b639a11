/* Slices of a batch, formatted out of order and written in order. A worker that is far ahead waits, so that memory is bounded. The worker
 * of the first slice that is not written never waits; as slices are assigned in order, a worker has it. */
#include <stdlib.h>

#include "script/internal.h"

/* HELD_BYTES: the least memory for each worker that may have to wait; a slice if that is larger. */
enum { SLICE_BYTES = 1 << 16, HELD_BYTES = 1 << 19 };

/* The first row of a table has no separator. */
static void write_text(struct stream *stream, const char *text, size_t len)
{
	size_t separator = 0;

	if (stream->options.format && len && !stream->table_has_rows) {
		separator = stream->options.format->separator;
		stream->table_has_rows = true;
	}
	writer_add(stream->out, text + separator, len - separator);
}

void stream_slices_start(struct stream *stream, size_t count)
{
	vec_clear(&stream->slices);
	vec_reserve(&stream->slices, count);
	memset(stream->slices.items, 0, count * sizeof *stream->slices.items);
	stream->slices.count = count;
	stream->next_slice = 0;
	stream->held = 0;
}

struct writer *stream_slice_begin(struct stream *stream, struct stream_worker *worker, size_t slice)
{
	pthread_mutex_lock(&stream->lock);
	if (stream->spare.count) {
		worker->out = stream->spare.items[--stream->spare.count];
	} else {
		worker->out = memory_zero(1, sizeof *worker->out);
		writer_open(worker->out, -1, SLICE_BYTES);
	}
	worker->slice = slice;
	worker->held = worker->written = 0;
	pthread_mutex_unlock(&stream->lock);
	return worker->out;
}

static void update_held(struct stream *stream, struct stream_worker *worker, size_t bytes)
{
	stream->held += bytes - worker->held;
	worker->held = bytes;
}

static size_t held_limit(const struct stream *stream)
{
	size_t each = stream->largest > HELD_BYTES ? stream->largest : HELD_BYTES;
	return each * (stream->worker_count - 1);
}

void stream_slice_spill(struct stream *stream, struct stream_worker *worker)
{
	pthread_mutex_lock(&stream->lock);
	update_held(stream, worker, worker->out->len);
	while (stream->next_slice != worker->slice && stream->held > held_limit(stream))
		pthread_cond_wait(&stream->turn, &stream->lock);
	if (stream->next_slice == worker->slice) {
		write_text(stream, worker->out->buffer, worker->out->len);
		worker->written += worker->out->len;
		worker->out->len = 0;
		update_held(stream, worker, 0);
	}
	pthread_mutex_unlock(&stream->lock);
}

static void write_done(struct stream *stream)
{
	for (; stream->next_slice < stream->slices.count && stream->slices.items[stream->next_slice].done; stream->next_slice++) {
		struct writer *text = stream->slices.items[stream->next_slice].text;
		if (!text)
			continue;
		write_text(stream, text->buffer, text->len);
		stream->held -= text->len;
		text->len = 0;
		vec_push(&stream->spare, text);
	}
	pthread_cond_broadcast(&stream->turn);
}

void stream_slice_end(struct stream *stream, struct stream_worker *worker, size_t slice)
{
	struct stream_slice *done = &stream->slices.items[slice];
	pthread_mutex_lock(&stream->lock);
	if (worker->out) {
		size_t size = worker->written + worker->out->len;
		stream->largest = size > stream->largest ? size : stream->largest;
		update_held(stream, worker, worker->out->len);
		done->text = worker->out;
		worker->out = NULL;
	}
	done->done = true;
	if (slice == stream->next_slice)
		write_done(stream);
	pthread_mutex_unlock(&stream->lock);
}

void stream_slices_fini(struct stream *stream)
{
	for (size_t i = 0; i < stream->spare.count; i++) {
		writer_fini(stream->spare.items[i]);
		free(stream->spare.items[i]);
	}
	vec_fini(&stream->spare);
	vec_fini(&stream->slices);
	pthread_cond_destroy(&stream->turn);
	pthread_mutex_destroy(&stream->lock);
}
