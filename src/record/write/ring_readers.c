#include "record/write/ring_readers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/acquire/affinity.h"
#include "record/acquire/urgency.h"
#include "record/write/compress.h"
#include "record/write/output.h"

enum { EVENTS_AT_ONCE = 64 };
enum { LOOK_MS = 50 }; /* with a limit of bytes: a ring wakes its reader when it is half full, which may be more */

/* A ring and its file. */
struct ring_part {
	struct ring *ring;
	int file;
	uint64_t seen;                   /* the end of the records that `builds` has seen */
	struct compressor compressor;
};

struct reader {
	struct ring_readers *ring_readers;
	const struct reader_group *group;
	VEC(struct ring_part) list;
	int epoll;
	size_t open;                     /* rings whose tasks live */
	struct writer packed;
	struct urgency urgency;
	struct error error;
	uint64_t wakeups;
	pthread_t thread;
	bool running;
};

struct ring_readers {
	VEC(struct reader) readers;
	int stop, event;                 /* eventfds: wake the readers, wake the owner */
	struct ring_readers_options options;
	atomic_bool stopping, failed;
	atomic_size_t open;              /* rings whose tasks live */
	atomic_ullong bytes;
};

static void wake(int fd)
{
	const uint64_t one = 1;
	ssize_t done = write(fd, &one, sizeof one);
	(void)done;
}

static int write_all(struct reader *reader, int file, struct span pieces[2])
{
	struct iovec vector[2] = {
		{ (void *)(uintptr_t)pieces[0].data, pieces[0].len }, { (void *)(uintptr_t)pieces[1].data, pieces[1].len },
	};
	struct iovec *at = vector;
	int count = 2;
	while (count > 0) {
		ssize_t done = writev(file, at, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return error_system(&reader->error, "cannot write the recording");
		atomic_fetch_add(&reader->ring_readers->bytes, (unsigned long long)done);
		size_t left = (size_t)done;
		while (count > 0 && left >= at->iov_len) {
			left -= at->iov_len;
			at++;
			count--;
		}
		if (count > 0) {
			at->iov_base = (char *)at->iov_base + left;
			at->iov_len -= left;
		}
	}
	return 0;
}

static int write_spans(struct reader *reader, struct ring_part *part, struct span pieces[2])
{
	if (!reader->ring_readers->options.level)
		return write_all(reader, part->file, pieces);
	reader->packed.len = 0;
	for (int i = 0; i < 2; i++)
		if (pieces[i].len && compressor_add(&part->compressor, pieces[i], &reader->packed, &reader->error) < 0)
			return -1;
	struct span packed[2] = { { (const uint8_t *)reader->packed.buffer, reader->packed.len }, { NULL, 0 } };
	return write_all(reader, part->file, packed);
}

static void find_mappings(struct reader *reader)
{
	for (size_t i = 0; i < reader->list.count; i++)
		build_reader_see_ring(reader->ring_readers->options.builds, reader->list.items[i].ring, &reader->list.items[i].seen,
			UINT64_MAX);
}

/* Waits until something is ready; meanwhile looks for new mappings in the rings. */
static int wait_for_rings(struct reader *reader, struct epoll_event *events)
{
	const struct ring_readers_options *options = &reader->ring_readers->options;
	int usual = options->limit ? LOOK_MS : options->builds ? BUILD_READER_LOOK_MS : -1;
	int timeout = urgency_wait_ms(&reader->urgency, usual), count;
	while ((count = epoll_wait(reader->epoll, events, EVENTS_AT_ONCE, timeout)) == 0) {
		if (options->builds)
			find_mappings(reader);
		if (options->limit || timeout != usual)
			break;
	}
	return count;
}

static void see_fullest(struct reader *reader)
{
	struct fullest_ring fullest = { 0 };
	for (size_t i = 0; i < reader->list.count; i++)
		fullest_ring_see(&fullest, reader->list.items[i].ring);
	urgency_see(&reader->urgency, fullest.pending, fullest.size);
}

/* Returns whether there were any records. */
static int drain(struct reader *reader)
{
	int any = 0;
	see_fullest(reader);
	for (size_t i = 0; i < reader->list.count; i++) {
		struct ring_part *part = &reader->list.items[i];
		struct span pieces[2];
		size_t pending = ring_pending(part->ring, pieces);
		if (!pending)
			continue;
		if (write_spans(reader, part, pieces) < 0)
			return -1;
		build_reader_see_ring(reader->ring_readers->options.builds, part->ring, &part->seen, part->ring->tail + pending);
		ring_consume(part->ring, pending);
		any = 1;
	}
	return any;
}

static void remove_ended_rings(struct reader *reader, const struct epoll_event *events, int count)
{
	struct ring_readers *ring_readers = reader->ring_readers;
	for (int i = 0; i < count; i++) {
		if (!(events[i].events & (EPOLLERR | EPOLLHUP)) || events[i].data.u64 >= reader->list.count)
			continue;
		epoll_ctl(reader->epoll, EPOLL_CTL_DEL, reader->list.items[events[i].data.u64].ring->fd, NULL);
		if (atomic_fetch_sub(&ring_readers->open, 1) == 1)
			wake(ring_readers->event);
	}
}

static void read_rings(struct reader *reader)
{
	struct ring_readers *ring_readers = reader->ring_readers;
	for (;;) {
		bool last = atomic_load(&ring_readers->stopping);
		int any = drain(reader);
		if (any < 0) {
			atomic_store(&ring_readers->failed, true);
			wake(ring_readers->event);
			break;
		}
		if (ring_readers->options.limit && atomic_load(&ring_readers->bytes) >= ring_readers->options.limit)
			wake(ring_readers->event);
		if (last && !any)
			break;
		if (last)
			continue;
		struct epoll_event events[EVENTS_AT_ONCE];
		int count = wait_for_rings(reader, events);
		reader->wakeups += count != 0;
		remove_ended_rings(reader, events, count);
	}
}

static void *run_pinned(void *context)
{
	struct reader *reader = context;
	const struct ring_readers_options *options = &reader->ring_readers->options;
	affinity_set(reader->group->affinity.list.items, reader->group->affinity.list.count);
	urgency_open(&reader->urgency, options->may_raise, options->at_once);
	read_rings(reader);
	urgency_close(&reader->urgency);
	return NULL;
}

static struct reader *reader_of(struct ring_readers *ring_readers, const struct ring *ring)
{
	for (size_t i = 0; i < ring_readers->readers.count; i++)
		if (cpus_has(&ring_readers->readers.items[i].group->rings, ring->cpu))
			return &ring_readers->readers.items[i];
	return &ring_readers->readers.items[0];
}

static int add_part(struct ring_readers *ring_readers, struct ring *ring, size_t index, int folder, struct error *err)
{
	struct reader *reader = reader_of(ring_readers, ring);
	struct ring_part *part = vec_add(&reader->list);
	*part = (struct ring_part){ .ring = ring, .file = output_part(folder, index, err) };
	if (part->file < 0)
		return -1;
	if (ring_readers->options.level && compressor_open(&part->compressor, ring_readers->options.level, err) < 0)
		return -1;
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = reader->list.count - 1 };
	if (epoll_ctl(reader->epoll, EPOLL_CTL_ADD, ring->fd, &event) != 0)
		return error_system(err, "cannot wait for a ring");
	atomic_fetch_add(&ring_readers->open, 1);
	return 0;
}

static int open_readers(struct ring_readers *ring_readers, const struct reader_groups *groups, struct error *err)
{
	for (size_t i = 0; i < groups->list.count; i++) {
		struct reader *reader = vec_add(&ring_readers->readers);
		struct epoll_event event = { .events = EPOLLIN, .data.u64 = UINT64_MAX };
		reader->ring_readers = ring_readers;
		reader->group = &groups->list.items[i];
		writer_open(&reader->packed, -1, 0);
		reader->epoll = epoll_create1(EPOLL_CLOEXEC);
		if (reader->epoll < 0 || epoll_ctl(reader->epoll, EPOLL_CTL_ADD, ring_readers->stop, &event) != 0)
			return error_system(err, "cannot set up waiting");
	}
	return 0;
}

int ring_readers_start(struct ring_readers **out, struct counters *counters, const struct ring_readers_options *options,
	int folder, struct error *err)
{
	struct ring_readers *ring_readers = *out = memory_zero(1, sizeof *ring_readers);
	ring_readers->options = *options;
	ring_readers->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ring_readers->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ring_readers->stop < 0 || ring_readers->event < 0)
		return error_system(err, "cannot set up waiting");
	if (open_readers(ring_readers, options->groups, err) < 0)
		return -1;
	for (size_t i = 0; i < counters->rings.count; i++)
		if (!counters->rings.items[i].backward && add_part(ring_readers, &counters->rings.items[i], i, folder, err) < 0)
			return -1;
	for (size_t i = 0; i < ring_readers->readers.count; i++) {
		struct reader *reader = &ring_readers->readers.items[i];
		errno = reader->list.count ? pthread_create(&reader->thread, NULL, run_pinned, reader) : 0;
		reader->running = reader->list.count && !errno;
		if (errno)
			return error_system(err, "cannot start a thread");
	}
	return 0;
}

int ring_readers_fd(const struct ring_readers *ring_readers)
{
	return ring_readers->event;
}

bool ring_readers_ended(const struct ring_readers *ring_readers)
{
	return atomic_load(&ring_readers->failed) || !atomic_load(&ring_readers->open);
}

int ring_readers_stop(struct ring_readers *ring_readers, struct error *err)
{
	int status = 0;
	atomic_store(&ring_readers->stopping, true);
	if (ring_readers->stop >= 0)
		wake(ring_readers->stop);
	for (size_t i = 0; i < ring_readers->readers.count; i++) {
		struct reader *reader = &ring_readers->readers.items[i];
		if (reader->running)
			pthread_join(reader->thread, NULL);
		reader->running = false;
		for (size_t k = 0; k < reader->list.count; k++) {
			struct ring_part *part = &reader->list.items[k];
			if (part->file >= 0 && close(part->file) != 0 && errno != EINTR && reader->error.kind == ERROR_NONE)
				error_system(&reader->error, "cannot write the recording");
			part->file = -1;
		}
		if (status == 0 && reader->error.kind != ERROR_NONE) {
			status = -1;
			if (err)
				*err = reader->error;
		}
	}
	return status;
}

struct ring_reader_totals ring_readers_totals(const struct ring_readers *ring_readers)
{
	struct ring_reader_totals totals = { .bytes = atomic_load(&ring_readers->bytes) };
	for (size_t i = 0; i < ring_readers->readers.count; i++) {
		const struct reader *reader = &ring_readers->readers.items[i];
		totals.wakeups += reader->running ? 0 : reader->wakeups; /* a running thread writes it */
		for (size_t k = 0; k < reader->list.count && !reader->running; k++) {
			totals.compressed_from += reader->list.items[k].compressor.in;
			totals.compressed_to += reader->list.items[k].compressor.out;
		}
	}
	return totals;
}

void ring_readers_free(struct ring_readers *ring_readers)
{
	if (!ring_readers)
		return;
	ring_readers_stop(ring_readers, NULL);
	for (size_t i = 0; i < ring_readers->readers.count; i++) {
		struct reader *reader = &ring_readers->readers.items[i];
		for (size_t k = 0; k < reader->list.count; k++)
			compressor_close(&reader->list.items[k].compressor);
		vec_fini(&reader->list);
		writer_fini(&reader->packed);
		if (reader->epoll >= 0)
			close(reader->epoll);
	}
	vec_fini(&ring_readers->readers);
	if (ring_readers->stop >= 0)
		close(ring_readers->stop);
	if (ring_readers->event >= 0)
		close(ring_readers->event);
	free(ring_readers);
}
