#include "os/ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "os/test_planted.h"

/* A ring of one page that a file without a name holds in place of the kernel's memory. */
struct made_ring {
	struct ring ring;
	int fd;
	size_t page;
	struct perf_event_mmap_page *control;
	uint8_t *data;
};

static void made_open(struct made_ring *made, bool backward)
{
	struct error err = { 0 };
	made->page = (size_t)sysconf(_SC_PAGESIZE);
	made->fd = memfd_create("ring", 0);
	EXPECT_INT(ftruncate(made->fd, (off_t)(2 * made->page)), 0);
	EXPECT_INT(ring_open(&made->ring, made->fd, 1, backward, &err), 0);
	EXPECT_STR(err.text, "");
	made->control = mmap(NULL, 2 * made->page, PROT_READ | PROT_WRITE, MAP_SHARED, made->fd, 0);
	made->data = (uint8_t *)made->control + made->page;
}

static void made_close(struct made_ring *made)
{
	munmap(made->control, 2 * made->page);
	ring_close(&made->ring);
	ring_close(&made->ring);
	close(made->fd);
}

static void put_header(struct made_ring *made, size_t at, uint16_t size)
{
	const struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = size };
	memcpy(made->data + at, &header, sizeof header);
}

TEST("a ring has what was written since it was consumed, in two pieces where it wraps, and never more than its size")
{
	struct made_ring made;
	struct span pieces[2];
	made_open(&made, false);
	size_t size = made.page;
	EXPECT_INT(made.ring.size, size);
	EXPECT_INT(made.ring.cpu, -1);
	const struct {
		size_t head, consumed, first_at, first, second;  /* consumed: before the head is read */
	} rows[] = { { 0, 0, 0, 0, 0 }, { 48, 0, 0, 48, 0 }, { 48, 48, 48, 0, 0 }, { size, 0, 48, size - 48, 0 },
		{ size + 16, 0, 48, size - 48, 16 },
		{ size + 48, 0, 48, size - 48, 48 }, { size + 56, 0, 48, size - 48, 48 }, { size + 56, size, 48, 8, 0 } };
	size_t consumed = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].consumed)
			ring_consume(&made.ring, rows[i].consumed);
		consumed += rows[i].consumed;
		made.control->data_head = rows[i].head;
		EXPECT_INT(ring_pending(&made.ring, pieces), rows[i].first + rows[i].second);
		EXPECT_INT(made.control->data_tail, consumed);
		EXPECT(pieces[0].data == (uint8_t *)made.ring.base + size + rows[i].first_at);
		EXPECT_INT(pieces[0].len, rows[i].first);
		EXPECT_INT(pieces[1].len, rows[i].second);
		EXPECT(pieces[1].data == (uint8_t *)made.ring.base + size);
	}
	made_close(&made);
}

TEST("a snapshot of an overwritten ring has the whole records that are newer than the last one, newest first")
{
	struct made_ring made;
	struct span pieces[2];
	made_open(&made, true);
	size_t size = made.page;
	for (size_t at = 0; at < size; at += 32) /* full, but for the part that the newest ones overwrote */
		put_header(&made, at, 32);
	EXPECT_INT(ring_snapshot(&made.ring, pieces), 0);
	made.control->data_head = (uint64_t)-64;
	EXPECT_INT(ring_snapshot(&made.ring, pieces), 64);
	EXPECT(pieces[0].data == (uint8_t *)made.ring.base + 2 * size - 64);
	EXPECT_INT(pieces[0].len, 64);
	EXPECT_INT(ring_snapshot(&made.ring, pieces), 0); /* nothing is newer */
	made.control->data_head = (uint64_t)-64 - 32;
	EXPECT_INT(ring_snapshot(&made.ring, pieces), 32);
	made.control->data_head = (uint64_t)-64 - 32 - 3 * size + 16; /* overwritten several times: its oldest record is cut */
	EXPECT_INT(ring_snapshot(&made.ring, pieces), 0); /* half a record from the old ones: no header is there */
	for (size_t at = 16; at < size; at += 32)
		put_header(&made, at % size, 32);
	made.ring.tail = 0;
	EXPECT_INT(ring_snapshot(&made.ring, pieces), size); /* from the middle to the end, and on from the start */
	EXPECT_INT(pieces[0].len, 80);
	EXPECT_INT(pieces[1].len, size - 80);
	put_header(&made, size - 80, 48);
	made.ring.tail = 0;
	EXPECT_INT(ring_snapshot(&made.ring, pieces), size - 16); /* the oldest record has lost its end */
	static const uint16_t wrong[] = { 0, 7, 12, 33 };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		made.ring.tail = 0;
		made.control->data_head = (uint64_t)-64;
		put_header(&made, size - 64, 8);
		put_header(&made, size - 56, wrong[i]);
		EXPECT_INT(ring_snapshot(&made.ring, pieces), 8);
	}
	put_header(&made, size - 64, 64);
	made.ring.tail = 0;
	EXPECT_INT(ring_snapshot(&made.ring, pieces), 64);
	put_header(&made, size - 64, 72); /* longer than what was written */
	made.ring.tail = 0;
	EXPECT_INT(ring_snapshot(&made.ring, pieces), 0);
	made_close(&made);
}

TEST("the clock of a ring has the kernel's factors, and a counter of few bits where it says so")
{
	struct made_ring made;
	struct ring_clock clock;
	made_open(&made, false);
	struct perf_event_mmap_page *page = made.control;
	page->lock = 4;
	page->time_shift = 10;
	page->time_mult = 11;
	page->time_zero = 12;
	page->time_cycles = 13;
	page->time_mask = 14;
	EXPECT(!ring_clock(&made.ring, &clock));
	EXPECT_INT(clock.shift, 10);
	EXPECT_INT(clock.mult, 11);
	EXPECT_INT(clock.zero, 12);
	EXPECT(!clock.has_zero && !clock.short_counter && !clock.cycles && !clock.mask);
	page->cap_user_time_zero = 1;
	page->cap_user_time_short = 1;
	EXPECT(ring_clock(&made.ring, &clock));
	EXPECT(clock.has_zero && clock.short_counter);
	EXPECT_INT(clock.cycles, 13);
	EXPECT_INT(clock.mask, 14);
	made_close(&made);
}

static void answer_pages(struct str *out)
{
	str_printf(out, "%zu", ring_default_pages() * (size_t)sysconf(_SC_PAGESIZE) / 1024);
}

TEST("a ring has the largest power of two of pages that the limit of locked memory leaves beside its control page")
{
	static const struct {
		const char *limit, *kilobytes;
	} rows[] = { { "516\n", "512" }, { "515\n", "256" }, { "1028\n", "1024" }, { "8\n", "4" }, { "0\n", "4" }, { "99999999\n", "4194304" } };
	if (sysconf(_SC_PAGESIZE) != 4096) {
		unit_skip("needs pages of 4 KiB");
		return;
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct planted file = { "/proc/sys/kernel/perf_event_mlock_kb", rows[i].limit };
		if (!expect_answer(&file, 1, false, answer_pages, rows[i].kilobytes))
			return;
	}
}

TEST("a descriptor that has no ring is refused with the number of pages, and closing it does nothing")
{
	struct ring ring;
	struct error err = { 0 };
	EXPECT_INT(ring_open(&ring, -1, 8, false, &err), -1);
	EXPECT(strncmp(err.text, "cannot map 8 pages of ring", 26) == 0);
	EXPECT_STR(err.hint, "");
	ring_close(&ring);
}
