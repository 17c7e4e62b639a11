#include "os/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/file.h"

int ring_open(struct ring *ring, int fd, size_t pages, bool backward, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	*ring = (struct ring){ .fd = fd, .size = pages * page, .backward = backward, .cpu = -1 };
	int protection = backward ? PROT_READ : PROT_READ | PROT_WRITE;
	ring->base = mmap(NULL, ring->size + page, protection, MAP_SHARED, fd, 0);
	if (ring->base == MAP_FAILED) {
		ring->base = NULL;
		int64_t limit = 0;
		bool refused = errno == EPERM;
		error_system(err, "cannot map %zu pages of ring", pages);
		if (refused && file_number("/proc/sys/kernel/perf_event_mlock_kb", &limit))
			error_hint(err, "use a smaller -m/--mmap-pages, or raise kernel.perf_event_mlock_kb (%lld now): "
				"sysctl -w kernel.perf_event_mlock_kb=%lld", (long long)limit, (long long)limit * 4);
		return -1;
	}
	ring->data = (uint8_t *)ring->base + page;
	return 0;
}

void ring_close(struct ring *ring)
{
	if (ring->base)
		munmap(ring->base, ring->size + (size_t)sysconf(_SC_PAGESIZE));
	ring->base = NULL;
}

static struct perf_event_mmap_page *ring_control(const struct ring *ring)
{
	return ring->base;
}

static size_t ring_span(const struct ring *ring, uint64_t from, size_t bytes, struct span pieces[2])
{
	size_t at = from & (ring->size - 1);
	size_t first = bytes < ring->size - at ? bytes : ring->size - at;
	pieces[0] = (struct span){ ring->data + at, first };
	pieces[1] = (struct span){ ring->data, bytes - first };
	return bytes;
}

size_t ring_pending(const struct ring *ring, struct span pieces[2])
{
	uint64_t head = __atomic_load_n(&ring_control(ring)->data_head, __ATOMIC_ACQUIRE);
	uint64_t bytes = head - ring->tail;
	if (bytes > ring->size) /* impossible: the kernel does not pass our tail */
		bytes = ring->size;
	return ring_span(ring, ring->tail, (size_t)bytes, pieces);
}

void ring_consume(struct ring *ring, size_t bytes)
{
	ring->tail += bytes;
	__atomic_store_n(&ring_control(ring)->data_tail, ring->tail, __ATOMIC_RELEASE);
}

/* The size in the record header at an offset of the ring; a header never wraps (records are multiples of 8). */
static uint16_t size_at(const struct ring *ring, uint64_t at)
{
	struct perf_event_header header;
	memcpy(&header, ring->data + (at & (ring->size - 1)), sizeof header);
	return header.size;
}

size_t ring_snapshot(struct ring *ring, struct span pieces[2])
{
	uint64_t head = __atomic_load_n(&ring_control(ring)->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = head;
	uint64_t written = ring->tail - head; /* heads decrease */
	uint64_t limit = written < ring->size ? written : ring->size;
	while (at - head < limit) {
		uint16_t size = size_at(ring, at);
		if (size < sizeof(struct perf_event_header) || size % 8 || size > limit - (at - head))
			break;
		at += size;
	}
	ring->tail = head;
	return ring_span(ring, head, (size_t)(at - head), pieces);
}

bool ring_clock(const struct ring *ring, struct ring_clock *clock)
{
	const struct perf_event_mmap_page *page = ring_control(ring);
	uint32_t before;
	do {
		before = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		*clock = (struct ring_clock){
			.shift = page->time_shift, .mult = page->time_mult, .zero = page->time_zero,
			.has_zero = page->cap_user_time_zero, .short_counter = page->cap_user_time_short,
		};
		clock->cycles = clock->short_counter ? page->time_cycles : 0;
		clock->mask = clock->short_counter ? page->time_mask : 0;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != before || (before & 1));
	return clock->has_zero;
}

size_t ring_default_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int64_t kilobytes = 512;
	if (file_number("/proc/sys/kernel/perf_event_mlock_kb", &kilobytes) && kilobytes > (int64_t)(page / 1024))
		kilobytes -= (int64_t)(page / 1024); /* the control page counts, too */
	size_t most = (size_t)kilobytes * 1024 / page, pages = 1;
	while (pages * 2 <= most && pages < ((size_t)1 << 20))
		pages *= 2;
	return pages;
}
