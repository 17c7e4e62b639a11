#include "record/write/streams.h"

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
#include "record/write/compress.h"
#include "record/write/output.h"

enum { EVENTS_AT_ONCE = 64 };
enum { LOOK_MS = 50 }; /* with a limit of bytes: a ring wakes its reader when it is half full, which may be more */

/* A ring and its file. */
struct stream {
	struct ring *ring;
	int file;
	uint64_t seen;                   /* the end of the records that `builds` has seen */
	struct compressor compressor;
};

struct reader {
	struct streams *streams;
	const struct stream_group *group;
	VEC(struct stream) list;
	int epoll;
	size_t open;                     /* rings whose tasks live */
	struct writer packed;
	struct error error;
	uint64_t wakeups;
	pthread_t thread;
	bool running;
};

struct streams {
	VEC(struct reader) readers;
	int stop, event;                 /* eventfds: wake the readers, wake the owner */
	int level;
	uint64_t limit;
	struct build_reader *builds;
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
		atomic_fetch_add(&reader->streams->bytes, (unsigned long long)done);
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

static int write_spans(struct reader *reader, struct stream *stream, struct span pieces[2])
{
	if (!reader->streams->level)
		return write_all(reader, stream->file, pieces);
	reader->packed.len = 0;
	for (int i = 0; i < 2; i++)
		if (pieces[i].len && compressor_add(&stream->compressor, pieces[i], &reader->packed, &reader->error) < 0)
			return -1;
	struct span packed[2] = { { (const uint8_t *)reader->packed.buffer, reader->packed.len }, { NULL, 0 } };
	return write_all(reader, stream->file, packed);
}

static void find_mappings(struct reader *reader)
{
	for (size_t i = 0; i < reader->list.count; i++)
		build_reader_see_ring(reader->streams->builds, reader->list.items[i].ring, &reader->list.items[i].seen);
}

/* Waits until something is ready; meanwhile looks for new mappings in the rings. */
static int wait_for_rings(struct reader *reader, struct epoll_event *events)
{
	const struct streams *streams = reader->streams;
	int timeout = streams->limit ? LOOK_MS : streams->builds ? BUILD_READER_LOOK_MS : -1, count;
	while ((count = epoll_wait(reader->epoll, events, EVENTS_AT_ONCE, timeout)) == 0) {
		if (streams->builds)
			find_mappings(reader);
		if (streams->limit)
			break;
	}
	return count;
}

/* Returns whether there were any records. */
static int drain(struct reader *reader)
{
	int any = 0;
	for (size_t i = 0; i < reader->list.count; i++) {
		struct stream *stream = &reader->list.items[i];
		struct span pieces[2];
		size_t pending = ring_pending(stream->ring, pieces);
		if (!pending)
			continue;
		build_reader_see_ring(reader->streams->builds, stream->ring, &stream->seen);
		if (write_spans(reader, stream, pieces) < 0)
			return -1;
		ring_consume(stream->ring, pending);
		any = 1;
	}
	return any;
}

static void remove_ended_rings(struct reader *reader, const struct epoll_event *events, int count)
{
	struct streams *streams = reader->streams;
	for (int i = 0; i < count; i++) {
		if (!(events[i].events & (EPOLLERR | EPOLLHUP)) || events[i].data.u64 >= reader->list.count)
			continue;
		epoll_ctl(reader->epoll, EPOLL_CTL_DEL, reader->list.items[events[i].data.u64].ring->fd, NULL);
		if (atomic_fetch_sub(&streams->open, 1) == 1)
			wake(streams->event);
	}
}

static void *run(void *context)
{
	struct reader *reader = context;
	struct streams *streams = reader->streams;
	for (;;) {
		bool last = atomic_load(&streams->stopping);
		int any = drain(reader);
		if (any < 0) {
			atomic_store(&streams->failed, true);
			wake(streams->event);
			break;
		}
		if (streams->limit && atomic_load(&streams->bytes) >= streams->limit)
			wake(streams->event);
		if (last && !any)
			break;
		if (last)
			continue;
		struct epoll_event events[EVENTS_AT_ONCE];
		int count = wait_for_rings(reader, events);
		reader->wakeups += count != 0;
		remove_ended_rings(reader, events, count);
	}
	return NULL;
}

static void *run_pinned(void *context)
{
	struct reader *reader = context;
	affinity_set(reader->group->affinity.list.items, reader->group->affinity.list.count);
	return run(context);
}

static struct reader *reader_of(struct streams *streams, const struct ring *ring)
{
	for (size_t i = 0; i < streams->readers.count; i++)
		if (cpus_has(&streams->readers.items[i].group->rings, ring->cpu))
			return &streams->readers.items[i];
	return &streams->readers.items[0];
}

static int add_stream(struct streams *streams, struct ring *ring, size_t index, int folder, struct error *err)
{
	struct reader *reader = reader_of(streams, ring);
	struct stream *stream = vec_add(&reader->list);
	*stream = (struct stream){ .ring = ring, .file = output_part(folder, index, err) };
	if (stream->file < 0)
		return -1;
	if (streams->level && compressor_open(&stream->compressor, streams->level, err) < 0)
		return -1;
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = reader->list.count - 1 };
	if (epoll_ctl(reader->epoll, EPOLL_CTL_ADD, ring->fd, &event) != 0)
		return error_system(err, "cannot wait for a ring");
	atomic_fetch_add(&streams->open, 1);
	return 0;
}

static int open_readers(struct streams *streams, const struct stream_groups *groups, struct error *err)
{
	for (size_t i = 0; i < groups->list.count; i++) {
		struct reader *reader = vec_add(&streams->readers);
		struct epoll_event event = { .events = EPOLLIN, .data.u64 = UINT64_MAX };
		reader->streams = streams;
		reader->group = &groups->list.items[i];
		writer_open(&reader->packed, -1, 0);
		reader->epoll = epoll_create1(EPOLL_CLOEXEC);
		if (reader->epoll < 0 || epoll_ctl(reader->epoll, EPOLL_CTL_ADD, streams->stop, &event) != 0)
			return error_system(err, "cannot set up waiting");
	}
	return 0;
}

int streams_start(struct streams **out, struct counters *counters, const struct stream_groups *groups, int folder, int level,
	uint64_t limit, struct build_reader *builds, struct error *err)
{
	struct streams *streams = *out = memory_zero(1, sizeof *streams);
	streams->level = level;
	streams->limit = limit;
	streams->builds = builds;
	streams->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	streams->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (streams->stop < 0 || streams->event < 0)
		return error_system(err, "cannot set up waiting");
	if (open_readers(streams, groups, err) < 0)
		return -1;
	for (size_t i = 0; i < counters->rings.count; i++)
		if (!counters->rings.items[i].backward && add_stream(streams, &counters->rings.items[i], i, folder, err) < 0)
			return -1;
	for (size_t i = 0; i < streams->readers.count; i++) {
		struct reader *reader = &streams->readers.items[i];
		errno = reader->list.count ? pthread_create(&reader->thread, NULL, run_pinned, reader) : 0;
		reader->running = reader->list.count && !errno;
		if (errno)
			return error_system(err, "cannot start a thread");
	}
	return 0;
}

int streams_fd(const struct streams *streams)
{
	return streams->event;
}

bool streams_ended(const struct streams *streams)
{
	return atomic_load(&streams->failed) || !atomic_load(&streams->open);
}

int streams_stop(struct streams *streams, struct error *err)
{
	int status = 0;
	atomic_store(&streams->stopping, true);
	if (streams->stop >= 0)
		wake(streams->stop);
	for (size_t i = 0; i < streams->readers.count; i++) {
		struct reader *reader = &streams->readers.items[i];
		if (reader->running)
			pthread_join(reader->thread, NULL);
		reader->running = false;
		for (size_t k = 0; k < reader->list.count; k++) {
			struct stream *stream = &reader->list.items[k];
			if (stream->file >= 0 && close(stream->file) != 0 && errno != EINTR && reader->error.kind == ERROR_NONE)
				error_system(&reader->error, "cannot write the recording");
			stream->file = -1;
		}
		if (status == 0 && reader->error.kind != ERROR_NONE) {
			status = -1;
			if (err)
				*err = reader->error;
		}
	}
	return status;
}

struct stream_totals streams_totals(const struct streams *streams)
{
	struct stream_totals totals = { .bytes = atomic_load(&streams->bytes) };
	for (size_t i = 0; i < streams->readers.count; i++) {
		const struct reader *reader = &streams->readers.items[i];
		totals.wakeups += reader->running ? 0 : reader->wakeups; /* a running thread writes it */
		for (size_t k = 0; k < reader->list.count && !reader->running; k++) {
			totals.compressed_from += reader->list.items[k].compressor.in;
			totals.compressed_to += reader->list.items[k].compressor.out;
		}
	}
	return totals;
}

void streams_free(struct streams *streams)
{
	if (!streams)
		return;
	streams_stop(streams, NULL);
	for (size_t i = 0; i < streams->readers.count; i++) {
		struct reader *reader = &streams->readers.items[i];
		for (size_t k = 0; k < reader->list.count; k++)
			compressor_close(&reader->list.items[k].compressor);
		vec_fini(&reader->list);
		writer_fini(&reader->packed);
		if (reader->epoll >= 0)
			close(reader->epoll);
	}
	vec_fini(&streams->readers);
	if (streams->stop >= 0)
		close(streams->stop);
	if (streams->event >= 0)
		close(streams->event);
	free(streams);
}
