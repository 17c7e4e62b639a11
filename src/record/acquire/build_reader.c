#include "record/acquire/build_reader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "image/image.h"
#include "image/search.h"
#include "os/file.h"
#include "record/acquire/head_build_id.h"
#include "record/acquire/map_copies.h"
#include "record/acquire/records.h"

enum {
	FILES_MAX = 1 << 16,        /* known at once */
	QUEUE_MAX = 4096,           /* that wait to be opened */
	TRIES_MAX = 8,              /* for one file: one for each process that maps it */
	BURST_FILES = 50,           /* opened before a pause … */
	PAUSE_NS = 25 * 1000 * 1000, /* … of this length */
	STOP_S = 2,                 /* a file system of a user may block its readers for ever */
	PATH_SIZE_MAX = 4096,
};

enum file_state { FILE_QUEUED, FILE_READ, FILE_FAILED };

struct mapped_build {
	enum file_state state;
	uint8_t tries;
	uint8_t id[ELF_BUILD_ID_MAX], id_len;
};

/* A file to be opened; without a path: the perf map of the process. */
struct request {
	uint32_t file;
	int32_t pid;
	uint64_t start, end;
	struct mapped_identity identity;
	char *path;
};

struct build_reader {
	pthread_t thread;
	pthread_mutex_t lock;       /* of the members below */
	pthread_cond_t work, copied;
	bool maps_only;             /* constant */
	bool stop, stopped;
	bool copy;                  /* the maps are to be read now */
	bool abandoned;             /* the thread still reads a file: what it uses is not freed */
	struct idmap by_key;        /* identity and path → files */
	VEC(struct mapped_build) files;
	VEC(struct request) queue;
	size_t next;                /* index in the queue */
	struct idmap makers;        /* processes that make code, as far as their maps were requested */
	unsigned maker_count;
	struct map_copies maps;     /* of the thread alone, until it has ended; the body also while `copy` is false */
};

static uint64_t key_of(const char *path, const struct mapped_identity *identity)
{
	uint64_t key = hash_bytes(path, strlen(path));
	key = hash_pair(key, (uint64_t)identity->maj << 32 | identity->min);
	return hash_pair(hash_pair(key, identity->ino), identity->generation);
}

static uint8_t build_id_of(int fd, const char *path, uint8_t id[static ELF_BUILD_ID_MAX])
{
	struct image image;
	uint8_t found = head_build_id(fd, id);
	if (found)
		return found;
	if (image_open_descriptor(&image, fd, path, NULL, NULL) < 0)
		return 0;
	uint8_t len = elf_build_id(&image.elf, id);
	image_close(&image);
	return len;
}

static bool request_read(const struct request *request, struct mapped_build *build)
{
	int fd = mapped_file_open_at(request->pid, request->start, request->end, &request->identity);
	if (fd < 0) {
		CLEANUP_FD int root = process_root(request->pid);
		fd = mapped_file_or_path(root, request->path, request->pid, &request->identity);
	}
	if (fd < 0)
		return false;
	build->id_len = build_id_of(fd, request->path, build->id);
	close(fd);
	return true;
}

static struct timespec time_after(long seconds, long ns)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds + (until.tv_nsec + ns) / 1000000000;
	until.tv_nsec = (until.tv_nsec + ns) % 1000000000;
	return until;
}

/* Waits, with the lock, for a request, the stop, or the time (< 0: without limit). */
static void wait_for_work(struct build_reader *r, int ms)
{
	const struct timespec until = time_after(ms / 1000, ms % 1000 * 1000000L);
	int status = 0;
	while (!r->stop && !r->copy && r->next == r->queue.count && status == 0) {
		vec_clear(&r->queue);
		r->next = 0;
		status = ms < 0 ? pthread_cond_wait(&r->work, &r->lock) : pthread_cond_timedwait(&r->work, &r->lock, &until);
	}
}

static void pause_reading(struct build_reader *r)
{
	const struct timespec until = time_after(0, PAUSE_NS);
	while (!r->stop && !r->copy && pthread_cond_timedwait(&r->work, &r->lock, &until) == 0)
		;
}

/* Called and returns with the lock. */
static void copy_maps(struct build_reader *r)
{
	pthread_mutex_unlock(&r->lock);
	map_copies_read(&r->maps);
	pthread_mutex_lock(&r->lock);
	r->copy = false;
	pthread_cond_signal(&r->copied);
}

/* Called and returns with the lock, without which it reads. */
static void do_request(struct build_reader *r)
{
	struct request request = r->queue.items[r->next++];
	struct mapped_build build = { 0 };
	pthread_mutex_unlock(&r->lock);
	if (!request.path)
		map_copies_add(&r->maps, request.pid);
	bool read = request.path && request_read(&request, &build);
	pthread_mutex_lock(&r->lock);
	if (!request.path)
		return;
	free(request.path);
	build.tries = r->files.items[request.file].tries;
	build.state = read ? FILE_READ : FILE_FAILED;
	r->files.items[request.file] = build;
}

static void *read_builds(void *context)
{
	struct build_reader *r = context;
	unsigned opened = 0;
	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		pthread_mutex_unlock(&r->lock);
		int wait_ms = map_copies_open(&r->maps);
		pthread_mutex_lock(&r->lock);
		wait_for_work(r, wait_ms);
		if (r->copy)
			copy_maps(r);
		if (r->stop || r->next == r->queue.count)
			continue;
		do_request(r);
		if (++opened % BURST_FILES == 0)
			pause_reading(r);
	}
	pthread_mutex_unlock(&r->lock);
	map_copies_read(&r->maps);
	return NULL;
}

struct build_reader *build_reader_new(bool maps_only)
{
	struct build_reader *r = memory_zero(1, sizeof *r);
	r->maps_only = maps_only;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->work, NULL);
	pthread_cond_init(&r->copied, NULL);
	if (pthread_create(&r->thread, NULL, read_builds, r) == 0)
		return r;
	r->stopped = true;
	build_reader_free(r);
	return NULL;
}

void build_reader_stop(struct build_reader *r)
{
	if (!r || r->stopped)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->work);
	pthread_mutex_unlock(&r->lock);
	const struct timespec until = time_after(STOP_S, 0);
	r->abandoned = pthread_timedjoin_np(r->thread, NULL, &until) != 0;
	if (r->abandoned)
		pthread_detach(r->thread);
	r->stopped = true;
}

void build_reader_free(struct build_reader *r)
{
	if (!r)
		return;
	build_reader_stop(r);
	if (r->abandoned)
		return;
	for (size_t i = r->next; i < r->queue.count; i++)
		free(r->queue.items[i].path);
	vec_fini(&r->queue);
	vec_fini(&r->files);
	idmap_fini(&r->by_key);
	idmap_fini(&r->makers);
	map_copies_fini(&r->maps);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->work);
	pthread_cond_destroy(&r->copied);
	free(r);
}

/* Sets the index of the file; returns whether it must be opened. */
static bool file_wanted(struct build_reader *r, uint64_t key, uint32_t *file)
{
	*file = idmap_get(&r->by_key, key);
	if (r->stop || r->queue.count - r->next >= QUEUE_MAX)
		return false;
	if (*file == IDMAP_NONE) {
		if (r->files.count >= FILES_MAX)
			return false;
		*file = (uint32_t)r->files.count;
		idmap_set(&r->by_key, key, *file);
		vec_push(&r->files, ((struct mapped_build){ .state = FILE_FAILED }));
	}
	struct mapped_build *build = &r->files.items[*file];
	if (build->state != FILE_FAILED || build->tries >= TRIES_MAX)
		return false;
	build->state = FILE_QUEUED;
	build->tries++;
	return true;
}

static void add_request(struct build_reader *r, struct request *request, const char *path)
{
	if (r->maps_only)
		return;
	uint64_t key = key_of(path, &request->identity);
	pthread_mutex_lock(&r->lock);
	if (file_wanted(r, key, &request->file)) {
		request->path = memory_string(path);
		vec_push(&r->queue, *request);
		pthread_cond_signal(&r->work);
	}
	pthread_mutex_unlock(&r->lock);
}

void build_reader_add_maker(struct build_reader *r, int32_t pid)
{
	bool added = false;
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	if (!r->stop && r->queue.count - r->next < QUEUE_MAX && r->maker_count < MAP_COPIES_MAX)
		idmap_add(&r->makers, (uint64_t)(uint32_t)pid, 0, &added);
	if (added) {
		r->maker_count++;
		vec_push(&r->queue, ((struct request){ .pid = pid }));
		pthread_cond_signal(&r->work);
	}
	pthread_mutex_unlock(&r->lock);
}

void build_reader_see(struct build_reader *r, const struct record *record)
{
	if (!r || record->type != RECORD_MMAP2 || record_cpumode(record) != RECORD_MISC_USER ||
	    record->misc & (RECORD_MISC_MMAP_DATA | RECORD_MISC_MMAP_BUILD_ID))
		return;
	struct cursor c = cursor_of(record->body, record->body_len, false);
	struct request request = { .pid = (int32_t)take_u32(&c) };
	take_u32(&c);
	request.start = take_u64(&c);
	request.end = request.start + take_u64(&c);
	take_u64(&c);
	request.identity.maj = take_u32(&c);
	request.identity.min = take_u32(&c);
	request.identity.ino = take_u64(&c);
	request.identity.generation = take_u64(&c);
	uint32_t prot = take_u32(&c);
	take_u32(&c);
	const char *path = (const char *)c.data + c.at;
	size_t room = c.short_read ? 0 : cursor_left(&c), len = strnlen(path, room);
	if (len < room && len < PATH_SIZE_MAX && path[0] == '/' && request.identity.ino && prot & PROT_EXEC)
		add_request(r, &request, path);
	else if (len < room && prot & PROT_EXEC && !request.identity.ino && path[0] != '[') /* "//anon", "/memfd:…": code made by the process */
		build_reader_add_maker(r, request.pid);
}

void build_reader_see_all(struct build_reader *r, struct span records)
{
	struct record record;
	while (r && records_next(&records, &record))
		build_reader_see(r, &record);
}

/* A record of a ring, which may begin at the end of the ring and continue at its start. */
static void see_at(struct build_reader *r, const struct ring *ring, uint64_t place, size_t size)
{
	size_t at = place & (ring->size - 1), first = ring->size - at < size ? ring->size - at : size;
	if (first == size) {
		build_reader_see_all(r, (struct span){ ring->data + at, size });
		return;
	}
	CLEANUP_FREE uint8_t *whole = memory_alloc(size);
	memcpy(whole, ring->data + at, first);
	memcpy(whole + first, ring->data, size - first);
	build_reader_see_all(r, (struct span){ whole, size });
}

void build_reader_see_ring(struct build_reader *r, const struct ring *ring, uint64_t *seen, uint64_t until)
{
	enum { LINE = 64, AHEAD = 4096 };
	struct span pieces[2];
	if (!r || ring->backward)
		return;
	uint64_t end = ring->tail + ring_pending(ring, pieces), at = *seen > ring->tail ? *seen : ring->tail, mask = ring->size - 1;
	end = end < until ? end : until;
	for (uint64_t ahead = at; at < end;) {
		/* each header gives the place of the next: without this, every one is waited for */
		for (; ahead < at + AHEAD && ahead < end; ahead += LINE)
			__builtin_prefetch(ring->data + (ahead & mask));
		/* a header never wraps: records are multiples of 8 */
		const uint8_t *header = ring->data + (at & mask);
		uint16_t size = record_size_at(header);
		if (size < RECORD_HEADER_SIZE || size > end - at)
			break;
		uint32_t type = load_u32(header);
		if (__builtin_expect(type == RECORD_MMAP2, 0))
			see_at(r, ring, at, size);
		at += size;
	}
	*seen = end > *seen ? end : *seen;
}

/* Returns whether the thread has read the maps of now. */
static bool copy_now(struct build_reader *r)
{
	const struct timespec until = time_after(STOP_S, 0);
	pthread_mutex_lock(&r->lock);
	r->copy = true;
	pthread_cond_signal(&r->work);
	while (r->copy && pthread_cond_timedwait(&r->copied, &r->lock, &until) == 0)
		;
	bool copied = !r->copy;
	pthread_mutex_unlock(&r->lock);
	return copied;
}

struct span build_reader_maps(struct build_reader *r)
{
	struct span none = { 0 };
	if (!r || (r->stopped ? r->abandoned || !r->maps.read : !copy_now(r)))
		return none;
	return (struct span){ (const uint8_t *)r->maps.body.buffer, r->maps.body.len };
}

int build_reader_get(struct build_reader *r, const char *path, const struct mapped_identity *identity, uint8_t id[static ELF_BUILD_ID_MAX])
{
	int len = -1;
	if (!r)
		return -1;
	pthread_mutex_lock(&r->lock);
	uint32_t file = idmap_get(&r->by_key, key_of(path, identity));
	/* a request behind such a file is given up */
	if (file != IDMAP_NONE && r->abandoned && r->files.items[file].state == FILE_QUEUED)
		len = 0;
	if (file != IDMAP_NONE && r->files.items[file].state == FILE_READ) {
		len = r->files.items[file].id_len;
		memcpy(id, r->files.items[file].id, ELF_BUILD_ID_MAX);
	}
	pthread_mutex_unlock(&r->lock);
	return len;
}
