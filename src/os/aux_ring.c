#include "os/aux_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "os/file.h"

static struct perf_event_mmap_page *control_of(const struct aux_ring *aux)
{
	return aux->control;
}

int aux_ring_open(struct aux_ring *aux, const struct ring *ring, size_t size, bool overwrite, struct error *err)
{
	size_t after = ring->size + (size_t)sysconf(_SC_PAGESIZE);
	*aux = (struct aux_ring){ .control = ring->base, .size = size, .overwrite = overwrite };
	control_of(aux)->aux_offset = after;
	control_of(aux)->aux_size = size;
	/* an area that cannot be written is one whose reader the hardware does not wait for */
	int protection = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;
	void *area = mmap(NULL, size, protection, MAP_SHARED, ring->fd, (off_t)after);
	if (area != MAP_FAILED) {
		aux->data = area;
		return 0;
	}
	int64_t limit = 0;
	bool refused = errno == EPERM;
	error_system(err, "cannot map %zu KiB of AUX area", size / 1024);
	if (refused && file_number("/proc/sys/kernel/perf_event_mlock_kb", &limit))
		error_hint(err, "use a smaller -m ,PAGES, or raise kernel.perf_event_mlock_kb (%lld now): sysctl -w "
			"kernel.perf_event_mlock_kb=%lld", (long long)limit, (long long)(size / 1024) + limit);
	return -1;
}

void aux_ring_close(struct aux_ring *aux)
{
	if (aux->data)
		munmap(aux->data, aux->size);
	free(aux->seen);
	*aux = (struct aux_ring){ 0 };
}

static uint64_t head_of(const struct aux_ring *aux)
{
	return __atomic_load_n(&control_of(aux)->aux_head, __ATOMIC_ACQUIRE);
}

/* The `size` bytes before the position `head`. */
static void set_piece(const struct aux_ring *aux, uint64_t head, size_t size, size_t align, struct aux_piece *piece)
{
	size_t at = (size_t)(head - size) & (aux->size - 1);
	size_t first = size < aux->size - at ? size : aux->size - at;
	size_t unwanted = align ? first % align : 0;
	piece->spans[0] = (struct span){ aux->data + at, first - unwanted };
	piece->spans[1] = (struct span){ aux->data, size - first };
	piece->offset = head - size;
	piece->size = size - unwanted;
	piece->head = head;
}

/* A full ring has its head where its tail is, one round later. */
static size_t unread(const struct aux_ring *aux, uint64_t tail, uint64_t head)
{
	size_t distance = (size_t)(head - tail) & (aux->size - 1);
	return tail == head ? 0 : distance ? distance : aux->size;
}

bool aux_ring_pending(const struct aux_ring *aux, size_t align, struct aux_piece *piece)
{
	uint64_t head = head_of(aux);
	size_t size = unread(aux, aux->tail, head);
	if (size)
		set_piece(aux, head, size, align, piece);
	return size != 0;
}

void aux_ring_consume(struct aux_ring *aux, const struct aux_piece *piece)
{
	aux->tail = piece->head;
	if (!aux->overwrite)
		__atomic_store_n(&control_of(aux)->aux_tail, aux->tail, __ATOMIC_RELEASE);
}

static bool end_is_written(const struct aux_ring *aux)
{
	enum { END = 4096 };
	size_t at = aux->size > END ? aux->size - END : 0;
	for (; at < aux->size; at++)
		if (aux->data[at])
			return true;
	return false;
}

/* Copies the bytes before the position, for the next snapshot. */
static void remember(struct aux_ring *aux, size_t head)
{
	size_t before = head < aux->seen_size ? head : aux->seen_size, rest = aux->seen_size - before;
	memcpy(aux->seen, aux->data + aux->size - rest, rest);
	memcpy(aux->seen + rest, aux->data + head - before, before);
}

/* Whether the hardware has passed the end of the area since the last snapshot. The end of the area is compared with the bytes before the
 * last position, so that from the second snapshot on all of the area is read: decoders find where pieces overlap, and need a part that
 * they know to continue without a gap. */
static bool has_wrapped(struct aux_ring *aux, size_t reference, size_t head)
{
	if (!reference || reference > aux->size) {
		aux->wrapped |= end_is_written(aux);
		return aux->wrapped;
	}
	if (!aux->seen) {
		aux->seen = memory_zero(1, reference);
		aux->seen_size = reference;
	}
	size_t from = aux->size - aux->seen_size;
	bool wrapped = head > from || memcmp(aux->seen, aux->data + from, aux->seen_size) != 0;
	remember(aux, head);
	return wrapped;
}

bool aux_ring_snapshot(struct aux_ring *aux, size_t limit, size_t reference, size_t align, struct aux_piece *piece)
{
	uint64_t head = head_of(aux), tail = aux->tail & (aux->size - 1);
	size_t place = (size_t)head & (aux->size - 1);
	if (has_wrapped(aux, reference, place)) {
		tail = place;
		head = place + aux->size;
	} else {
		head = place < tail ? place + aux->size : place;
	}
	size_t size = unread(aux, tail, head);
	if (!size)
		return false;
	set_piece(aux, head, size < limit ? size : limit, align, piece);
	return true;
}
