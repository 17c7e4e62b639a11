/* Records of regular files: one file, or the parts of a directory in turns. */
#include "base/memory.h"
#include "base/pool.h"
#include "data/feature.h"
#include "data/source_internal.h"
#include "data/time_index.h"

/* Pages are dropped in steps of this size, so that the cost is small. */
#define DROP_STEP_BYTES ((uint64_t)4 << 20)
/* Released pages are not read again: smaller steps cost no more. */
#define RELEASE_STEP_BYTES ((uint64_t)1 << 20)
/* If more than this was used behind a record that still waits, all pages are dropped: what lies between is read again. */
#define WAITING_BYTES ((uint64_t)3 << 20)
#define WAITING_BYTES_ROOMY ((uint64_t)32 << 20)
/* What a second thread maps before a roomy reader comes to it, in these steps, and the least size of a file for which it is started. */
#define AHEAD_STEP_BYTES ((uint64_t)2 << 20)
/* The same for a reader in passing, whose own thread maps them: fewer page faults, in pages that are still in the processor's caches. */
#define PASSING_STEP_BYTES ((uint64_t)512 << 10)
#define AHEAD_LEAST_BYTES ((uint64_t)16 << 20)
/* Bytes read of one part of a directory before the next one's turn. */
#define TURN_BYTES ((uint64_t)2 << 20)

struct lane {
	struct backing backing;
	char *path;
	uint64_t begin, at, end; /* file offsets of the records */
	uint64_t dropped;        /* pages before this offset were dropped while reading */
	uint64_t released;       /* pages before this offset were dropped after release by the consumer */
	uint64_t turn_end;
	uint64_t stop;           /* offset of the next check for dropping and turns */
	bool cut;                /* the header's size exceeds that of the file */
	bool done;
	bool inflating;
	struct inflater inflater;
	struct time_index index; /* empty: no sample is skipped */
	uint64_t from_ns, until_ns;
	size_t chunk, other;     /* in the index: where `at` is, and the next record that is not skipped */
	uint64_t announced;      /* pages before this offset are read ahead, in chunks that are read whole */
	uint64_t ahead;          /* pages before this offset are mapped, or are being mapped; 0: they are mapped when they are read */
};

/* A part of a mapped file that another thread maps. */
struct ahead {
	struct pool *pool;       /* NULL: not used */
	const struct backing *backing;
	uint64_t from, to;
};

struct file_source {
	struct source base;
	VEC(struct lane) lanes;
	size_t current;
	struct lane *easy;  /* the current lane, if its next records need no care until lane->stop; NULL */
	uint64_t inflated;  /* part of the mark from decompressed bytes, which are in no file */
	uint64_t used;      /* of the bytes that the reader has used, those whose pages were dropped since */
	bool finished;
	struct ahead map_ahead;
	struct error damage; /* of the first lane that ended prematurely: the others continue */
};

static uint64_t ahead_step(const struct file_source *file)
{
	return file->base.passing ? PASSING_STEP_BYTES : AHEAD_STEP_BYTES;
}

static void lane_set_stop(const struct file_source *file, struct lane *lane, bool turns)
{
	lane->stop = lane->dropped + 2 * DROP_STEP_BYTES;
	if (turns && lane->turn_end < lane->stop)
		lane->stop = lane->turn_end;
	if (lane->ahead && lane->ahead - ahead_step(file) < lane->stop)
		lane->stop = lane->ahead - ahead_step(file);
}

/* Drops from where it was dropped up to before: the page there, which had bytes behind that place, too. */
static void lane_drop(const struct lane *lane, uint64_t from, uint64_t to)
{
	if (from == lane->begin)
		backing_drop(&lane->backing, from, to); /* bytes in front of the records share the page */
	else if (from < to)
		backing_drop_from(&lane->backing, from, to);
}

/* The kernel reads dropped pages again from the page cache if a consumer still needs them; byte-swapped pages would be lost. */
static void lane_drop_behind(struct file_source *file, struct lane *lane)
{
	if (lane->at - lane->dropped < 2 * DROP_STEP_BYTES)
		return;
	uint64_t to = lane->at - DROP_STEP_BYTES;
	bool stays = file->base.roomy && lane->at - lane->released <= WAITING_BYTES_ROOMY;
	if (!file->base.header.swapped && !stays)
		lane_drop(lane, lane->dropped, to);
	lane->dropped = to;
}

static void map_ahead(void *context, size_t job, unsigned worker)
{
	const struct ahead *ahead = context;
	(void)job, (void)worker;
	backing_map(ahead->backing, ahead->from, ahead->to);
}

/* Lets another thread map the pages that a reader with little work for each record comes to next. Page faults would take a third of its
 * time. */
static void lane_map_ahead(struct file_source *file, struct lane *lane)
{
	struct ahead *ahead = &file->map_ahead;
	bool sequential = !file->base.header.swapped && file->lanes.count == 1 && !lane->index.chunks.count;
	bool passing = file->base.passing;
	if (!sequential || lane->end - lane->begin < AHEAD_LEAST_BYTES || (!passing && (!file->base.roomy || pool_cpus() < 2)))
		return;
	if (!passing && !ahead->pool)
		ahead->pool = pool_new(2);
	if (!passing)
		pool_finish(ahead->pool);
	uint64_t from = lane->at > lane->ahead ? lane->at : lane->ahead, left = from < lane->end ? lane->end - from : 0;
	*ahead = (struct ahead){ ahead->pool, &lane->backing, from, from + (left < ahead_step(file) ? left : ahead_step(file)) };
	lane->ahead = left ? from + ahead_step(file) : UINT64_MAX;
	if (passing)
		map_ahead(ahead, 0, 0);
	else
		pool_start_apart(ahead->pool, 1, map_ahead, ahead);
}

static void file_stop(struct file_source *file, struct lane *lane)
{
	bool turns = file->lanes.count > 1;
	lane_drop_behind(file, lane);
	if (lane->at + ahead_step(file) >= lane->ahead)
		lane_map_ahead(file, lane);
	if (turns && lane->at >= lane->turn_end) {
		lane->turn_end = lane->at + TURN_BYTES;
		do
			file->current = (file->current + 1) % file->lanes.count;
		while (file->lanes.items[file->current].done);
	}
	lane_set_stop(file, lane, turns);
}

/* Ends the current lane. 1: another one continues, 0: all have ended. */
static int file_next_lane(struct file_source *file)
{
	struct lane *ended = &file->lanes.items[file->current];
	ended->done = true;
	ended->inflating = false;
	for (size_t i = 1; i <= file->lanes.count; i++) {
		size_t next = (file->current + i) % file->lanes.count;
		if (!file->lanes.items[next].done) {
			file->current = next;
			return 1;
		}
	}
	return 0;
}

/* Handles a lane without a complete record left: 1: another one continues, 0: all have ended, < 0: premature end. */
static int lane_end(struct file_source *file, struct lane *lane, struct error *err)
{
	uint64_t left = lane->end - lane->at;
	if (left || lane->cut)
		return error_set(err, ERROR_FORMAT, "%s: the data ends at offset %llu, %llu bytes into a record%s", lane->path,
				 (unsigned long long)lane->end, (unsigned long long)left,
				 lane->cut ? "; its header promises more than the file holds" : "");
	if (inflater_end(&lane->inflater, lane->path, err) < 0)
		return -1;
	return file_next_lane(file);
}

/* Handles records that need more than their header. 1: deliver, 0: skip, < 0: *err. */
static int lane_special(struct file_source *file, struct lane *lane, struct record *record, struct error *err)
{
	struct source *source = &file->base;
	uint64_t payload, offset = record->offset + source_lead(source);
	if (source->header.swapped && !record_make_native(record, &source->header.evlist)) {
		source->counters.bad_records++;
		return 0;
	}
	if (record->type < RECORD_USER_TYPE_START) {
		source_note_type(source, record->type);
		return 1;
	}
	if (!record_payload_size(record, &payload) || payload > lane->end - lane->at)
		return error_set(err, ERROR_FORMAT, "%s: %llu bytes are said to follow at offset %llu, but only %llu are left",
				 lane->path, (unsigned long long)payload, (unsigned long long)lane->at,
				 (unsigned long long)(lane->end - lane->at));
	if (record->type == RECORD_HEADER_TRACING_DATA) {
		struct span *data = &source->header.feature_data[FEATURE_TRACING_DATA];
		*data = (struct span){ lane->backing.bytes + lane->at, payload };
		source->header.features[0] |= 1u << FEATURE_TRACING_DATA;
	}
	lane->at += payload;
	source->mark += payload;
	source->counters.bytes_read += payload;
	if (record->type == RECORD_COMPRESSED || record->type == RECORD_COMPRESSED2) {
		if (inflater_begin(&lane->inflater, record, offset, lane->path, err) < 0)
			return -1;
		lane->inflating = true;
	}
	source_note_record(source, record);
	return 1;
}

static int lane_inflate(struct file_source *file, struct lane *lane, struct record *record, struct error *err)
{
	uint64_t before = file->base.mark;
	int result = inflater_next(&lane->inflater, &file->base, lane->path, record, err);
	file->inflated += file->base.mark - before;
	if (result == 0)
		lane->inflating = false;
	return result;
}

/* The bytes from here to `to` are needed: the kernel reads them while the first of them are used. */
static void lane_announce(struct lane *lane, uint64_t to)
{
	if (lane->at < lane->announced)
		return;
	uint64_t most = lane->at + DROP_STEP_BYTES;
	lane->announced = to < most ? to : most;
	backing_announce(&lane->backing, lane->at, lane->announced);
}

/* Moves to the next record that is needed. */
static void lane_skip(struct file_source *file, struct lane *lane)
{
	while (lane->chunk < lane->index.chunks.count) {
		const struct time_chunk *chunk = &lane->index.chunks.items[lane->chunk];
		if (lane->at >= chunk->end) {
			lane->chunk++;
			lane->other = chunk->others_end;
			continue;
		}
		if (chunk->first_ns <= lane->until_ns && chunk->last_ns >= lane->from_ns) {
			lane_announce(lane, chunk->end);
			return;
		}
		while (lane->other < chunk->others_end && chunk->offset + lane->index.others.items[lane->other] < lane->at)
			lane->other++;
		bool stops = lane->other < chunk->others_end;
		uint64_t to = stops ? chunk->offset + lane->index.others.items[lane->other] : chunk->end;
		file->base.mark += to - lane->at;
		file->base.counters.bytes_read += to - lane->at;
		lane->at = to;
		if (stops)
			return;
	}
}

static int file_read(struct file_source *file, struct record *record, struct error *err)
{
	struct source *source = &file->base;
	bool swapped = source->header.swapped;
	uint64_t lead = source_lead(source);
	for (;;) {
		struct lane *lane = &file->lanes.items[file->current];
		int result;
		if (__builtin_expect(lane->inflating, 0)) {
			result = lane_inflate(file, lane, record, err);
			if (result)
				return result;
		}
		if (__builtin_expect(lane->at >= lane->stop, 0)) {
			file_stop(file, lane);
			lane = &file->lanes.items[file->current];
		}
		if (__builtin_expect(lane->index.chunks.count, 0))
			lane_skip(file, lane);
		uint64_t left = lane->end - lane->at;
		if (__builtin_expect(left < RECORD_HEADER_BYTES, 0)) {
			result = lane_end(file, lane, err);
			if (result <= 0)
				return result;
			continue;
		}
		uint32_t size = record_take_header(record, lane->backing.bytes + lane->at, swapped);
		if (__builtin_expect(size < RECORD_HEADER_BYTES || size > left, 0))
			return source_bad_size(lane->path, lane->at, size, left, err);
		record->offset = lane->at - lead;
		lane->at += size;
		source->mark += size;
		source->counters.bytes_read += size;
		if (__builtin_expect(!swapped && record_type_is_kernels(record->type), 1))
			return 1;
		result = lane_special(file, lane, record, err);
		if (result)
			return result;
	}
}

/* Continues after a premature end of a lane: a truncated part of a folder must not affect the records of other parts. */
static __attribute__((noinline)) int file_go_on(struct file_source *file, struct record *record, struct error *err)
{
	struct error ignored, first = { .kind = ERROR_FORMAT };
	int result = -1;
	if (err)
		first = *err;
	else
		err = &ignored;
	while (result < 0 && file_next_lane(file))
		result = file_read(file, record, err);
	if (file->damage.kind == ERROR_NONE)
		file->damage = first;
	return result > 0 ? result : 0;
}

static __attribute__((noinline)) int file_next_with_care(struct file_source *file, struct record *record, struct error *err)
{
	file->easy = NULL;
	if (file->finished)
		return 0;
	int result = file_read(file, record, err);
	if (result < 0)
		result = file_go_on(file, record, err);
	struct lane *lane = &file->lanes.items[file->current];
	if (__builtin_expect(result > 0, 1)) {
		file->easy = file->base.header.swapped || lane->inflating || lane->index.chunks.count ? NULL : lane;
		return result;
	}
	file->finished = true;
	if (file->damage.kind == ERROR_NONE)
		return 0;
	if (err)
		*err = file->damage;
	return -1;
}

/* Most records are read without a call. */
static int file_next(struct source *source, struct record *record, struct error *err)
{
	struct file_source *file = (struct file_source *)source;
	struct lane *lane = file->easy;
	if (__builtin_expect(!lane || lane->at >= lane->stop || lane->end - lane->at < RECORD_HEADER_BYTES, 0))
		return file_next_with_care(file, record, err);
	uint32_t size = record_take_header(record, lane->backing.bytes + lane->at, false);
	if (__builtin_expect(size < RECORD_HEADER_BYTES || size > lane->end - lane->at || !record_type_is_kernels(record->type), 0))
		return file_next_with_care(file, record, err);
	memory_fetch_ahead(lane->backing.bytes + lane->at, size);
	record->offset = lane->at - source_lead(source);
	lane->at += size;
	source->mark += size;
	source->counters.bytes_read += size;
	return 1;
}

static void file_release(struct source *source, uint64_t mark)
{
	struct file_source *file = (struct file_source *)source;
	for (size_t i = 0; i < file->lanes.count; i++) {
		struct lane *lane = &file->lanes.items[i];
		uint64_t to = lane->at;
		chain_release(&lane->inflater.chain, mark);
		/* with one lane a mark is a file offset; with several, only pages that can be read again are dropped */
		if (file->lanes.count == 1)
			to = mark > file->inflated ? lane->begin + mark - file->inflated : 0;
		else if (source->header.swapped)
			continue;
		uint64_t behind = to > lane->released ? to - lane->released : 0;
		uint64_t most = behind + (source->roomy ? WAITING_BYTES_ROOMY : WAITING_BYTES);
		bool all = !source->header.swapped && lane->at - lane->released > most && source->used - file->used > most;
		if (all || behind > RELEASE_STEP_BYTES) {
			lane_drop(lane, lane->released, all ? lane->at : to);
			lane->released += behind;
			file->used = all || source->used - file->used < behind ? source->used : file->used + behind;
		}
	}
}

static void file_close(struct source *source)
{
	struct file_source *file = (struct file_source *)source;
	if (file->map_ahead.pool)
		pool_finish(file->map_ahead.pool);
	pool_free(file->map_ahead.pool);
	for (size_t i = 0; i < file->lanes.count; i++) {
		struct lane *lane = &file->lanes.items[i];
		inflater_fini(&lane->inflater);
		time_index_fini(&lane->index);
		backing_close(&lane->backing);
		free(lane->path);
	}
	vec_fini(&file->lanes);
	header_fini(&source->header);
	free(file);
}

static void file_set_window(struct source *source, uint64_t from_ns, uint64_t until_ns)
{
	struct file_source *file = (struct file_source *)source;
	struct lane *lane = &file->lanes.items[0];
	if (file->lanes.count > 1 || source->header.swapped || source->header.pipe || lane->at != lane->begin || lane->cut)
		return;
	file->easy = NULL;
	time_index_fini(&lane->index);
	time_index_read(&lane->index, (struct span){ lane->backing.bytes, lane->backing.size }, lane->begin, lane->end);
	if (lane->index.chunks.count)
		backing_read_places(&lane->backing);
	lane->from_ns = from_ns;
	lane->until_ns = until_ns;
}

static const struct source_ops file_ops = { file_next, file_release, file_close, file_set_window };

static int file_add_lane(struct file_source *file, struct backing *backing, const char *path, uint64_t begin, uint64_t size,
			 struct error *err)
{
	struct lane *lane = vec_add(&file->lanes);
	file->easy = NULL; /* lanes moved */
	lane->backing = *backing;
	*backing = (struct backing){ 0 };
	lane->path = memory_string(path);
	lane->begin = lane->at = lane->dropped = lane->released = begin;
	lane->cut = size > lane->backing.size - begin;
	lane->end = lane->cut ? lane->backing.size : begin + size;
	lane->turn_end = begin + TURN_BYTES;
	for (size_t i = 0; i < file->lanes.count; i++)
		file->lanes.items[i].stop = 0; /* it is set before the first record, when the reader has said what it needs */
	file->base.counters.bytes_total += lane->end - begin;
	return file->base.header.swapped ? backing_make_writable(&lane->backing, path, err) : 0;
}

/* A recorder that does not read the finished file states no times of its first and last sample, but an index has them. */
static void take_times_of_index(struct file_source *file)
{
	struct header *header = &file->base.header;
	const struct lane *lane = &file->lanes.items[0];
	struct feature_sample_time stated;
	struct time_index index = { 0 };
	uint64_t times[2];
	if (header->pipe || header->swapped || (feature_sample_time(header, &stated) == 0 && (stated.first_ns || stated.last_ns)))
		return;
	if (time_index_read(&index, (struct span){ lane->backing.bytes, lane->backing.size }, lane->begin, lane->end) &&
	    time_index_bounds(&index, &times[0], &times[1]))
		header->feature_data[FEATURE_SAMPLE_TIME] = (struct span){ arena_copy(&header->arena, times, sizeof times), sizeof times };
	time_index_fini(&index);
}

bool source_lend(const struct source *source, struct backing *backing)
{
	const struct file_source *file = (const struct file_source *)source;
	if (source->ops != &file_ops || file->lanes.count != 1 || source->header.swapped || file->lanes.items[0].backing.mapped)
		return false;
	*backing = file->lanes.items[0].backing;
	backing->lent = true;
	return true;
}

int source_open_file(struct source **source, struct backing *backing, const char *path, size_t event_memory, struct error *err)
{
	struct header header = { .event_memory = event_memory };
	int container = container_detect(backing->bytes, backing->size, &header.swapped, &header.v1, path, err);
	header.file_size = backing->size;
	if (container == CONTAINER_STREAM) {
		header.pipe = true;
		header.data_offset = STREAM_HEADER_BYTES;
		header.data_size = backing->size - STREAM_HEADER_BYTES;
	}
	if (container < 0 || (container == CONTAINER_FILE && header_read_file(&header, backing, path, err) < 0)) {
		header_fini(&header);
		backing_close(backing);
		return -1;
	}
	struct file_source *file = memory_zero(1, sizeof *file);
	file->base.ops = &file_ops;
	file->base.header = header;
	size_t want;
	file->base.traced = header.pipe && records_find_trace(backing->bytes + STREAM_HEADER_BYTES, header.data_size, header.swapped, &want) > 0;
	int result = file_add_lane(file, backing, path, header.data_offset, header.data_size, err);
	file->base.path = file->lanes.items[0].path;
	if (result < 0) {
		file_close(&file->base);
		return result;
	}
	take_times_of_index(file);
	*source = &file->base;
	return 0;
}

int source_add_part(struct source *source, struct backing *backing, const char *path, struct error *err)
{
	return file_add_lane((struct file_source *)source, backing, path, 0, backing->size, err);
}

const uint8_t *source_payload(struct source *source, const struct record *record, uint64_t len)
{
	struct file_source *file = (struct file_source *)source;
	if (source->ops != &file_ops)
		return len <= source->payload.len ? source->payload.data : NULL;
	for (size_t i = 0; i < file->lanes.count; i++) {
		const struct backing *backing = &file->lanes.items[i].backing;
		if (record->body < backing->bytes || record->body > backing->bytes + backing->size)
			continue;
		uint64_t at = (uint64_t)(record->body - backing->bytes) + record->body_len;
		return at <= backing->size && len <= backing->size - at ? backing->bytes + at : NULL;
	}
	return NULL;
}

void source_drop_payload(struct source *source, const uint8_t *bytes, uint64_t len)
{
	const struct file_source *file = (const struct file_source *)source;
	for (size_t i = 0; source->ops == &file_ops && i < file->lanes.count; i++) {
		const struct backing *backing = &file->lanes.items[i].backing;
		if (bytes < backing->bytes || bytes >= backing->bytes + backing->size)
			continue;
		uint64_t from = (uint64_t)(bytes - backing->bytes);
		backing_drop_from(backing, from, len <= backing->size - from ? from + len : backing->size);
	}
}

bool source_file_offset(const struct source *source, const uint8_t *byte, uint64_t *offset)
{
	const struct file_source *file = (const struct file_source *)source;
	if (source->ops != &file_ops || file->lanes.count != 1 || source->header.directory)
		return false;
	const struct backing *backing = &file->lanes.items[0].backing;
	if (byte < backing->bytes || byte >= backing->bytes + backing->size)
		return false;
	*offset = (uint64_t)(byte - backing->bytes);
	return true;
}

const char *source_record_path(const struct source *source, const struct record *record)
{
	const struct file_source *file = (const struct file_source *)source;
	if (source->ops != &file_ops)
		return source->path;
	for (size_t i = 1; i < file->lanes.count; i++) {
		const struct backing *backing = &file->lanes.items[i].backing;
		if (record->body >= backing->bytes && record->body <= backing->bytes + backing->size)
			return file->lanes.items[i].path;
	}
	return source->path;
}
