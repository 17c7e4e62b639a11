/* Slices of a batch, formatted out of order and written in order. */
#include <stdlib.h>

#include "analysis/stream_internal.h"

enum { SLICE_BYTES = 1 << 16 };

void stream_slices_start(struct stream *stream, size_t count)
{
	vec_clear(&stream->waiting);
	vec_reserve(&stream->waiting, count);
	memset(stream->waiting.items, 0, count * sizeof *stream->waiting.items);
	stream->waiting.count = count;
	stream->next_slice = 0;
	for (unsigned i = 0; i < stream->worker_count; i++)
		stream->workers[i]->out = NULL;
}

/* Writes what is done before slice `end`. */
static void write_until(struct stream *stream, size_t end)
{
	for (; stream->next_slice < end; stream->next_slice++) {
		struct writer *done = stream->waiting.items[stream->next_slice];
		if (!done)
			continue; /* nothing in it was printed */
		writer_add(stream->out, done->buffer, done->len);
		done->len = 0;
		vec_push(&stream->spare, done);
		stream->waiting.items[stream->next_slice] = NULL;
	}
}

static void park(struct stream *stream, struct stream_worker *worker)
{
	if (worker->out)
		stream->waiting.items[worker->slice] = worker->out;
	worker->out = NULL;
}

/* Slices are handed out in order: all before the least that any worker is at are done. */
static size_t done_until(const struct stream *stream)
{
	size_t least = SIZE_MAX;

	for (unsigned i = 0; i < stream->worker_count; i++) {
		const struct stream_worker *worker = stream->workers[i];
		size_t at = worker->out ? worker->slice : 0;
		least = at < least ? at : least;
	}
	return least;
}

struct writer *stream_slice_begin(struct stream *stream, struct stream_worker *worker, size_t slice)
{
	pthread_mutex_lock(&stream->lock);
	park(stream, worker);
	if (stream->spare.count) {
		worker->out = stream->spare.items[--stream->spare.count];
	} else {
		worker->out = memory_zero(1, sizeof *worker->out);
		writer_open(worker->out, -1, SLICE_BYTES);
	}
	worker->slice = slice;
	write_until(stream, done_until(stream));
	pthread_mutex_unlock(&stream->lock);
	return worker->out;
}

void stream_slice_spill(struct stream *stream, struct stream_worker *worker)
{
	pthread_mutex_lock(&stream->lock);
	write_until(stream, done_until(stream));
	if (stream->next_slice == worker->slice) {
		writer_add(stream->out, worker->out->buffer, worker->out->len);
		worker->out->len = 0;
	}
	pthread_mutex_unlock(&stream->lock);
}

void stream_slices_end(struct stream *stream)
{
	for (unsigned i = 0; i < stream->worker_count; i++)
		park(stream, stream->workers[i]);
	write_until(stream, stream->waiting.count);
}

void stream_slices_fini(struct stream *stream)
{
	for (size_t i = 0; i < stream->spare.count; i++) {
		writer_fini(stream->spare.items[i]);
		free(stream->spare.items[i]);
	}
	vec_fini(&stream->spare);
	vec_fini(&stream->waiting);
	pthread_mutex_destroy(&stream->lock);
}
