#include "session/jit.h"

#include <stdlib.h>
#include <string.h>

#include "data/jitdump.h"
#include "model/jit.h"

enum {
	DUMPS_MAX = 4096,
	FUNCTIONS_MAX = 2 << 20,       /* of one dump */
	LINES_MAX = 8 << 20,
	LINES_BYTES_MAX = 16 << 20,    /* of one function */
	ELF_HEADER_BIAS = 0x40,        /* what V8 and LLVM add to a line's address for old perf's sake */
	CLOCK_ID_MONOTONIC = 1,
};

void session_jit_init(struct session_jit *jit)
{
	*jit = (struct session_jit){ .next_ns = UINT64_MAX };
}

void session_jit_fini(struct session_jit *jit)
{
	for (size_t i = 0; i < jit->feeds.count; i++)
		vec_fini(&jit->feeds.items[i].placings);
	vec_fini(&jit->feeds);
	vec_fini(&jit->due);
}

/* Whether the dump's times can be told in the recording's. */
static bool times_compare(const struct session *session, const struct session_jit *jit, bool arch_timestamp)
{
	const struct evlist *evlist = session_evlist(session);
	if (jit->unordered)
		return false;
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct attr *attr = &evlist->events.items[i].attr;
		bool has_clock = attr_flag(attr, ATTR_USE_CLOCKID);
		if (arch_timestamp ? has_clock : !has_clock || attr->clockid != CLOCK_ID_MONOTONIC)
			return false;
	}
	return !arch_timestamp || jit->clock.known;
}

/* A dump as it is read. */
struct reading {
	struct session_jit *jit;
	struct jitdump dump;
	struct jit *functions;
	struct jit_feed *feed;
	struct idmap by_index;         /* code index → index in functions->codes */
	struct jitdump_debug debug;    /* of the next LOAD; count 0: none */
	bool timed;
};

static uint64_t line_bias(const struct reading *reading, const struct jitdump_load *load, const uint8_t *bytes)
{
	struct jitdump_lines lines;
	struct jitdump_line line;
	jitdump_lines_init(&lines, &reading->dump, &reading->debug, bytes);
	while (jitdump_lines_next(&lines, &line))
		if (line.address - load->address < ELF_HEADER_BIAS)
			return 0;
	return ELF_HEADER_BIAS;
}

static void take_lines(struct reading *reading, const struct jitdump_load *load)
{
	struct jit *functions = reading->functions;
	struct jitdump_debug *debug = &reading->debug;
	if (!debug->count || debug->size > LINES_BYTES_MAX || functions->lines.count >= LINES_MAX)
		return;
	uint8_t *bytes = memory_alloc((size_t)debug->size + 1);
	ssize_t got = reader_at(&reading->dump.reader, bytes, (size_t)debug->size, debug->offset);
	debug->size = got > 0 ? (uint64_t)got : 0;
	size_t first = functions->lines.count;
	uint64_t bias = line_bias(reading, load, bytes);
	struct jitdump_lines lines;
	struct jitdump_line line;
	jitdump_lines_init(&lines, &reading->dump, debug, bytes);
	while (jitdump_lines_next(&lines, &line)) {
		uint64_t offset = line.address - load->address - bias;
		if (offset < load->size)
			jit_add_line(functions, load->code_offset + offset, line.line, line.file);
	}
	jit_sort_lines(functions, first);
	free(bytes);
}

static void add_placing(struct reading *reading, uint64_t timestamp, uint64_t start, const struct jit_code *code)
{
	uint64_t time = !reading->timed ? 0 : reading->dump.header.arch_timestamp ? time_conv_time(&reading->jit->clock, timestamp) : timestamp;
	struct jit_place place = { .start = start, .size = code->size, .offset = code->offset };
	if (start + code->size >= start)
		vec_push(&reading->feed->placings, ((struct jit_placing){ time, (uint32_t)reading->feed->placings.count, place }));
}

static void take_load(struct reading *reading, const struct jitdump_record *record)
{
	const struct jitdump_load *load = &record->load;
	struct jit *functions = reading->functions;
	if (load->size && functions->codes.count < FUNCTIONS_MAX) {
		jit_add_code(functions, load->code_offset, load->size, load->name);
		take_lines(reading, load);
		idmap_set(&reading->by_index, load->index, (uint32_t)functions->codes.count - 1);
		add_placing(reading, record->timestamp, load->address, &functions->codes.items[functions->codes.count - 1]);
	}
	reading->debug.count = 0;
}

static void take_move(struct reading *reading, const struct jitdump_record *record)
{
	uint32_t code = idmap_get(&reading->by_index, record->move.index);
	if (code != IDMAP_NONE && reading->feed->placings.count < 2 * FUNCTIONS_MAX)
		add_placing(reading, record->timestamp, record->move.to, &reading->functions->codes.items[code]);
}

static void read_all(struct reading *reading)
{
	struct jitdump_record record;
	while (jitdump_next(&reading->dump, &record) == 1) {
		switch (record.type) {
		case JITDUMP_LOAD:
			take_load(reading, &record);
			break;
		case JITDUMP_MOVE:
			take_move(reading, &record);
			break;
		case JITDUMP_DEBUG_INFO:
			reading->debug = record.debug;
			break;
		default:
			break;
		}
	}
}

static int compare_placings(const void *a, const void *b)
{
	const struct jit_placing *left = a, *right = b;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

/* Threads of a compiler may write a little out of order. */
static void sort_placings(struct jit_feed *feed)
{
	for (size_t i = 1; i < feed->placings.count; i++)
		if (feed->placings.items[i].time_ns < feed->placings.items[i - 1].time_ns) {
			qsort(feed->placings.items, feed->placings.count, sizeof *feed->placings.items, compare_placings);
			return;
		}
}

static void read_dump(struct session *session, struct session_jit *jit, struct reader *reader, int32_t pid, long named,
		      uint32_t module)
{
	struct reading reading = { .jit = jit };
	if (jitdump_open(&reading.dump, reader, NULL) < 0)
		return;
	if (named == pid || (uint32_t)named == reading.dump.header.pid)
		reading.functions = modules_make_jit(&session->model.modules, module);
	if (reading.functions) {
		reading.timed = times_compare(session, jit, reading.dump.header.arch_timestamp);
		session->counters.jit_dumps++;
		session->counters.jit_untimed += !reading.timed;
		reading.feed = vec_add(&jit->feeds);
		reading.feed->pid = pid;
		reading.feed->module = module;
		read_all(&reading);
		sort_placings(reading.feed);
	}
	idmap_fini(&reading.by_index);
	jitdump_fini(&reading.dump);
}

void session_jit_take_mapping(struct session *session, struct session_jit *jit, const struct record *record, uint64_t clock)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = (int32_t)take_u32(&c);
	take_u32(&c);
	uint64_t start = take_u64(&c);
	take(&c, record->type == RECORD_MMAP ? 16 : 48);
	const char *path = (const char *)c.data + c.at;
	if (c.short_read || !memchr(path, '\0', cursor_left(&c)))
		return;
	long named = jitdump_pid_of_path(path);
	if (named < 0 || jit->feeds.count >= DUMPS_MAX)
		return;
	const struct map *map = map_find(model_root(&session->model, pid, model_thread(&session->model, pid, clock), clock), start);
	if (!map || modules_get(&session->model.modules, map->module)->kind != MODULE_FILE)
		return;
	struct reader reader;
	if (session->jit_open(session->jit_context, pid, path, &reader) < 0)
		return;
	read_dump(session, jit, &reader, pid, named, map->module);
	reader_close(&reader);
	session_jit_advance(session, jit, 0, clock);
}

static uint64_t feed_next(const struct jit_feed *feed)
{
	return feed->at < feed->placings.count ? feed->placings.items[feed->at].time_ns : UINT64_MAX;
}

void session_jit_advance(struct session *session, struct session_jit *jit, uint64_t time_ns, uint64_t clock)
{
	jit->next_ns = UINT64_MAX;
	for (size_t i = 0; i < jit->feeds.count; i++) {
		struct jit_feed *feed = &jit->feeds.items[i];
		vec_clear(&jit->due);
		for (; feed->at < feed->placings.count && feed->placings.items[feed->at].time_ns <= time_ns; feed->at++)
			vec_push(&jit->due, feed->placings.items[feed->at].place);
		if (jit->due.count)
			model_place_jit(&session->model, feed->pid, feed->module, jit->due.items, jit->due.count, clock);
		uint64_t next = feed_next(feed);
		jit->next_ns = next < jit->next_ns ? next : jit->next_ns;
	}
}
