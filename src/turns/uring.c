/* Source: io_uring_setup(2), io_uring_enter(2); linux/io_uring.h. */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "turns/exchange.h"

enum { READ_BIT = 1, END_BIT = 2, PAIR_SHIFT = 2 };

struct uring {
	struct exchange exchange;
	int fd;
	struct io_uring_params params;
	char *rings;             /* both rings are in one mapping (IORING_FEAT_SINGLE_MMAP) */
	size_t rings_size;
	struct io_uring_sqe *entries;
	uint32_t queued;         /* entries that the kernel has not been told of */
	uint32_t submitted_tail;
	char (*buffers)[TURNS_BYTES_MAX]; /* what each end receives */
};

static uint32_t *word(const struct uring *uring, uint32_t offset)
{
	return (uint32_t *)(uring->rings + offset);
}

/* Each end has at most one read and one write at a time: 4 entries for each pair are always enough. */
static void queue(struct uring *uring, uint8_t operation, int fd, const void *memory, uint32_t bytes, uint64_t tag)
{
	uint32_t mask = *word(uring, uring->params.sq_off.ring_mask), at = uring->submitted_tail++ & mask;
	uring->entries[at] = (struct io_uring_sqe){ .opcode = operation, .fd = fd, .addr = (uintptr_t)memory, .len = bytes,
		.off = (uint64_t)-1, .user_data = tag };
	word(uring, uring->params.sq_off.array)[at] = at;
	__atomic_store_n(word(uring, uring->params.sq_off.tail), uring->submitted_tail, __ATOMIC_RELEASE);
	uring->queued++;
}

static void queue_read(struct uring *uring, uint32_t pair, unsigned end)
{
	uint32_t missing = exchange_missing(&uring->exchange, pair, end);
	queue(uring, IORING_OP_READ, uring->exchange.pairs[pair].channel.ends[end].in, uring->buffers[2 * pair + end], missing,
		(uint64_t)pair << PAIR_SHIFT | (end ? END_BIT : 0) | READ_BIT);
}

static int send_message(void *context, uint32_t pair, unsigned end, struct error *err)
{
	struct uring *uring = context;
	const struct channel *channel = &uring->exchange.pairs[pair].channel;
	(void)err;
	queue(uring, IORING_OP_WRITE, channel->ends[end].out, channel_message(channel),
		uring->exchange.run->plan->bytes, (uint64_t)pair << PAIR_SHIFT | (end ? END_BIT : 0));
	return 0;
}

static int uring_open(struct uring *uring, struct turns_run *run, struct error *err)
{
	uring->fd = (int)syscall(SYS_io_uring_setup, 4 * run->plan->pairs, &uring->params);
	if (uring->fd < 0) {
		error_system(err, "cannot use io_uring");
		return errno == EPERM ? error_hint(err, "sysctl kernel.io_uring_disabled=0 permits it") : -1;
	}
	if (!(uring->params.features & IORING_FEAT_SINGLE_MMAP))
		return error_set(err, ERROR_UNSUPPORTED, "io_uring of this kernel is older than Linux 5.4");
	size_t submissions = uring->params.sq_off.array + uring->params.sq_entries * sizeof(uint32_t);
	size_t completions = uring->params.cq_off.cqes + uring->params.cq_entries * sizeof(struct io_uring_cqe);
	uring->rings_size = submissions > completions ? submissions : completions;
	uring->rings = mmap(NULL, uring->rings_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, uring->fd, IORING_OFF_SQ_RING);
	uring->entries = mmap(NULL, uring->params.sq_entries * sizeof *uring->entries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		uring->fd, IORING_OFF_SQES);
	if (uring->rings == MAP_FAILED || uring->entries == MAP_FAILED)
		return error_system(err, "cannot map the rings of io_uring");
	return 0;
}

static void uring_close(struct uring *uring)
{
	if (uring->rings && uring->rings != MAP_FAILED)
		munmap(uring->rings, uring->rings_size);
	if (uring->entries && uring->entries != MAP_FAILED)
		munmap(uring->entries, uring->params.sq_entries * sizeof *uring->entries);
	if (uring->fd >= 0)
		close(uring->fd);
}

static int completed(struct uring *uring, const struct io_uring_cqe *event, struct error *err)
{
	uint32_t pair = (uint32_t)(event->user_data >> PAIR_SHIFT);
	unsigned end = event->user_data & END_BIT ? 1 : 0;
	bool read = event->user_data & READ_BIT;
	if (event->res <= 0 || (!read && (uint32_t)event->res != uring->exchange.run->plan->bytes)) {
		errno = event->res < 0 ? -event->res : EIO;
		return error_system(err, "io_uring cannot %s a %s", read ? "read from" : "write to", turn_way_name(uring->exchange.run->plan->way));
	}
	if (!read)
		return 0;
	if (exchange_received(&uring->exchange, pair, end, (uint32_t)event->res, err) < 0)
		return -1;
	if (uring->exchange.pairs[pair].rounds)
		queue_read(uring, pair, end);
	return 0;
}

static int loop(struct uring *uring, struct error *err)
{
	uint32_t *head = word(uring, uring->params.cq_off.head), *tail = word(uring, uring->params.cq_off.tail);
	uint32_t mask = *word(uring, uring->params.cq_off.ring_mask);
	const struct io_uring_cqe *events = (const struct io_uring_cqe *)(uring->rings + uring->params.cq_off.cqes);
	while (uring->exchange.unfinished) {
		long n = syscall(SYS_io_uring_enter, uring->fd, uring->queued, 1, IORING_ENTER_GETEVENTS, NULL, 0);
		if (n < 0 && errno != EINTR)
			return error_system(err, "io_uring_enter");
		uring->queued -= n > 0 ? (uint32_t)n : 0;
		uint32_t at = *head, end = __atomic_load_n(tail, __ATOMIC_ACQUIRE);
		for (; at != end; at++) {
			const struct io_uring_cqe event = events[at & mask];
			__atomic_store_n(head, at + 1, __ATOMIC_RELEASE);
			if (completed(uring, &event, err) < 0)
				return -1;
		}
	}
	return 0;
}

int turns_uring(struct turns_run *run, struct error *err)
{
	struct uring uring = { .fd = -1 };
	uring.exchange.context = &uring;
	uring.exchange.send = send_message;
	uring.buffers = memory_zero(2 * run->plan->pairs, sizeof *uring.buffers);
	int status = exchange_open(&uring.exchange, run, err);
	if (status == 0)
		status = uring_open(&uring, run, err);
	for (uint32_t i = 0; status == 0 && i < 2 * run->plan->pairs; i++)
		queue_read(&uring, i / 2, i % 2);
	if (status == 0)
		status = exchange_begin(&uring.exchange, err);
	if (status == 0)
		status = loop(&uring, err);
	uring_close(&uring);
	exchange_close(&uring.exchange);
	free(uring.buffers);
	return status;
}
