/* Slices of a batch, formatted out of order and written in order. A worker that is far ahead waits, so that memory is bounded. The worker
 * of the first slice that is not written never waits; as slices are assigned in order, a worker has it. */
#include <stdlib.h>

#include "script/internal.h"

/* HELD_BYTES: the least memory for each worker that may have to wait; a slice if that is larger. */
enum { SLICE_BYTES = 1 << 16, HELD_BYTES = 1 << 19 };

/* The first row of a table has no separator. */
static void write_text(struct listing *listing, const char *text, size_t len)
{
	size_t separator = 0;

	if (listing->options.format && len && !listing->table_has_rows) {
		separator = listing->options.format->separator;
		listing->table_has_rows = true;
	}
	writer_add(listing->out, text + separator, len - separator);
}

void listing_slices_start(struct listing *listing, size_t count)
{
	vec_clear(&listing->slices);
	vec_reserve(&listing->slices, count);
	memset(listing->slices.items, 0, count * sizeof *listing->slices.items);
	listing->slices.count = count;
	listing->next_slice = 0;
	listing->held = 0;
}

struct writer *listing_slice_begin(struct listing *listing, struct listing_worker *worker, size_t slice)
{
	pthread_mutex_lock(&listing->lock);
	if (listing->spare.count) {
		worker->out = listing->spare.items[--listing->spare.count];
	} else {
		worker->out = memory_zero(1, sizeof *worker->out);
		writer_open(worker->out, -1, SLICE_BYTES);
	}
	worker->slice = slice;
	worker->held = worker->written = 0;
	pthread_mutex_unlock(&listing->lock);
	return worker->out;
}

static void update_held(struct listing *listing, struct listing_worker *worker, size_t bytes)
{
	listing->held += bytes - worker->held;
	worker->held = bytes;
}

static size_t held_limit(const struct listing *listing)
{
	size_t each = listing->largest > HELD_BYTES ? listing->largest : HELD_BYTES;
	return each * (listing->worker_count - 1);
}

void listing_slice_spill(struct listing *listing, struct listing_worker *worker)
{
	pthread_mutex_lock(&listing->lock);
	update_held(listing, worker, worker->out->len);
	while (listing->next_slice != worker->slice && listing->held > held_limit(listing))
		pthread_cond_wait(&listing->turn, &listing->lock);
	if (listing->next_slice == worker->slice) {
		write_text(listing, worker->out->buffer, worker->out->len);
		worker->written += worker->out->len;
		worker->out->len = 0;
		update_held(listing, worker, 0);
	}
	pthread_mutex_unlock(&listing->lock);
}

size_t listing_written(struct listing *listing)
{
	pthread_mutex_lock(&listing->lock);
	size_t bytes = listing->out->len;
	pthread_mutex_unlock(&listing->lock);
	return bytes;
}

static void write_done(struct listing *listing)
{
	for (; listing->next_slice < listing->slices.count && listing->slices.items[listing->next_slice].done; listing->next_slice++) {
		struct writer *text = listing->slices.items[listing->next_slice].text;
		if (!text)
			continue;
		write_text(listing, text->buffer, text->len);
		listing->held -= text->len;
		text->len = 0;
		vec_push(&listing->spare, text);
	}
	pthread_cond_broadcast(&listing->turn);
}

void listing_slice_end(struct listing *listing, struct listing_worker *worker, size_t slice)
{
	struct listing_slice *done = &listing->slices.items[slice];
	pthread_mutex_lock(&listing->lock);
	if (worker->out) {
		size_t size = worker->written + worker->out->len;
		listing->largest = size > listing->largest ? size : listing->largest;
		update_held(listing, worker, worker->out->len);
		done->text = worker->out;
		worker->out = NULL;
	}
	done->done = true;
	if (slice == listing->next_slice)
		write_done(listing);
	pthread_mutex_unlock(&listing->lock);
}

void listing_slices_fini(struct listing *listing)
{
	for (size_t i = 0; i < listing->spare.count; i++) {
		writer_fini(listing->spare.items[i]);
		free(listing->spare.items[i]);
	}
	vec_fini(&listing->spare);
	vec_fini(&listing->slices);
	pthread_cond_destroy(&listing->turn);
	pthread_mutex_destroy(&listing->lock);
}
