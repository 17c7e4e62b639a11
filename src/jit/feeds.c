#include "jit/feeds.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/isa.h"
#include "base/budget.h"
#include "data/jitdump.h"
#include "model/jit.h"

enum {
	DUMPS_MAX = 4096,
	OPEN_MAX_DUMPS = 256,          /* dumps that are still read while a stream lasts */
	FUNCTIONS_MAX = 2 << 20,       /* per dump */
	FUNCTION_BYTES = 256,          /* about what one takes, or a move, without its name */
	LINES_MAX = 8 << 20,
	LINES_BYTES_MAX = 16 << 20,    /* per function */
	ALL_LINES_BYTES_MAX = 1 << 30, /* of all dumps: holes of a sparse file are no work for its author */
	FRAMES_MAX = 64 << 20,         /* bytes of one dump's .eh_frame */
	ELF_HEADER_BIAS = 0x40,        /* V8 and LLVM add it to a line's address for compatibility with old versions of perf */
	CLOCK_ID_MONOTONIC = 1,
};

struct jit_placing {
	uint64_t time_ns;
	uint32_t order;                   /* position in the dump: among equal times the later entry replaces the earlier */
	struct jit_place place;
};

struct reading;

/* One dump; placings from index `at` on are pending. */
struct jit_feed {
	int32_t pid;
	VEC(struct jit_placing) placings; /* by time */
	size_t at;
	struct reading *reading;          /* of a dump that may still grow; NULL: completely read */
};


/* Returns false, once and for all, if the budget has no room for so many bytes. */
static bool has_room(struct jit_feeds *jit, size_t bytes)
{
	enum { STEP = 1 << 20 };
	while (jit->budget && !jit->full && bytes > jit->taken - jit->used) {
		jit->full = !budget_take(jit->budget, STEP);
		jit->taken += jit->full ? 0 : STEP;
	}
	jit->used += jit->budget && !jit->full ? bytes : 0;
	return !jit->full;
}

/* Returns whether the dump's times can be converted to the recording's clock. */
static bool times_compare(const struct jit_feeds *jit, bool arch_timestamp)
{
	const struct evlist *evlist = jit->evlist;
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

/* The state of reading a dump. */
struct reading {
	struct jit_feeds *jit;
	struct jitdump dump;
	struct jit *functions;         /* destination of new functions; NULL: a module part of their own */
	uint32_t module;               /* of the functions */
	struct jit_feed *feed;         /* while the dump is read */
	struct idmap by_index;         /* code index → index in codes */
	VEC(struct jit_place) codes;   /* without a start */
	struct jitdump_debug debug;    /* of the next LOAD; count 0: absent */
	struct jitdump_unwinding unwinding; /* of the next LOAD; size 0: absent */
	bool timed;
};

static void reading_free(struct reading *reading)
{
	if (!reading)
		return;
	idmap_fini(&reading->by_index);
	vec_fini(&reading->codes);
	reader_close(&reading->dump.reader);
	jitdump_fini(&reading->dump);
	free(reading);
}

void jit_feeds_fini(struct jit_feeds *jit)
{
	for (size_t i = 0; i < jit->feeds.count; i++) {
		vec_fini(&jit->feeds.items[i].placings);
		reading_free(jit->feeds.items[i].reading);
	}
	vec_fini(&jit->feeds);
	vec_fini(&jit->due);
	budget_give(jit->budget, jit->taken);
}

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
	struct jit_feeds *jit = reading->jit;
	if (jit->no_lines || !debug->count || debug->size > LINES_BYTES_MAX || functions->lines.count >= LINES_MAX ||
	    debug->size > ALL_LINES_BYTES_MAX - jit->lines_read || !has_room(jit, (size_t)debug->size))
		return;
	jit->lines_read += debug->size;
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

static void take_unwinding(struct reading *reading)
{
	struct jit *functions = reading->functions;
	const struct jitdump_unwinding *unwinding = &reading->unwinding;
	if (unwinding->header_size >= unwinding->size || unwinding->size > FRAMES_MAX - functions->frames.count)
		return;
	size_t len = (size_t)(unwinding->size - unwinding->header_size);
	if (!has_room(reading->jit, len))
		return;
	uint8_t *bytes = memory_alloc(len);
	if (reader_at(&reading->dump.reader, bytes, len, unwinding->offset) == (ssize_t)len)
		jit_add_frames(functions, bytes, len);
	free(bytes);
}

static void add_placing(struct reading *reading, uint64_t timestamp, uint64_t start, struct jit_place place)
{
	uint64_t time = !reading->timed ? 0 : reading->dump.header.arch_timestamp ? time_conv_time(&reading->jit->clock, timestamp) : timestamp;
	place.start = start;
	if (start + place.size >= start)
		vec_push(&reading->feed->placings, ((struct jit_placing){ time, (uint32_t)reading->feed->placings.count, place }));
}

/* Python 3.13 leaves the machine out. */
static uint16_t machine_of(const struct reading *reading)
{
	const char *recorded = reading->jit->machine;
	if (reading->dump.header.machine || !recorded)
		return (uint16_t)reading->dump.header.machine;
	if (isa_of_machine(recorded) == ISA_X86)
		return strcmp(recorded, "x86_64") == 0 ? EM_X86_64 : EM_386;
	return isa_of_machine(recorded) == ISA_ARM64 ? EM_AARCH64 : EM_NONE;
}

static void take_load(struct reading *reading, const struct jitdump_record *record)
{
	const struct jitdump_load *load = &record->load;
	if (load->size && reading->codes.count < FUNCTIONS_MAX && has_room(reading->jit, FUNCTION_BYTES + strlen(load->name))) {
		if (!reading->functions) {
			struct module *part = modules_jit_part(&reading->jit->model->modules, reading->module);
			reading->module = part->id;
			reading->functions = part->jit;
			reading->functions->machine = machine_of(reading);
		}
		struct jit_place place = { .size = load->size, .offset = load->code_offset, .module = reading->module };
		if (jit_add_code(reading->functions, load->code_offset, load->size, load->name)) {
			take_lines(reading, load);
			take_unwinding(reading);
		}
		idmap_set(&reading->by_index, load->index, (uint32_t)reading->codes.count);
		vec_push(&reading->codes, place);
		add_placing(reading, record->timestamp, load->address, place);
	}
	reading->debug.count = 0;
	reading->unwinding.size = 0;
}

static void take_move(struct reading *reading, const struct jitdump_record *record)
{
	uint32_t code = idmap_get(&reading->by_index, record->move.index);
	if (code != IDMAP_NONE && reading->feed->placings.count < 2 * FUNCTIONS_MAX && has_room(reading->jit, FUNCTION_BYTES))
		add_placing(reading, record->timestamp, record->move.to, reading->codes.items[code]);
}

static void read_all(struct reading *reading)
{
	struct jitdump_record record;
	while (!reading->jit->full && jitdump_next(&reading->dump, &record) == 1) {
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
		case JITDUMP_UNWINDING_INFO:
			reading->unwinding = record.unwinding;
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

/* Threads of a compiler may write slightly out of order. */
static void sort_placings(struct jit_feed *feed)
{
	size_t count = feed->placings.count - feed->at;
	struct jit_placing *waiting = count ? feed->placings.items + feed->at : NULL;
	for (size_t i = 1; i < count; i++)
		if (waiting[i].time_ns < waiting[i - 1].time_ns) {
			qsort(waiting, count, sizeof *waiting, compare_placings);
			return;
		}
}

static uint64_t feed_next(const struct jit_feed *feed)
{
	return feed->at < feed->placings.count ? feed->placings.items[feed->at].time_ns : UINT64_MAX;
}

/* Returns true if the reading took ownership of the reader and is stored in a feed. */
static bool read_dump(struct jit_feeds *jit, struct reader *reader, int32_t pid, long named, uint32_t module)
{
	struct reading *reading = memory_zero(1, sizeof *reading);
	*reading = (struct reading){ .jit = jit, .module = module };
	bool usable = jitdump_open(&reading->dump, reader, NULL) == 0 && (named == pid || (uint32_t)named == reading->dump.header.pid);
	if (usable)
		reading->functions = modules_make_jit(&jit->model->modules, module);
	if (!reading->functions) {
		jitdump_fini(&reading->dump);
		free(reading);
		return false;
	}
	reading->functions->machine = machine_of(reading);
	reading->timed = times_compare(jit, reading->dump.header.arch_timestamp);
	jit->dumps++;
	jit->untimed += !reading->timed;
	struct jit_feed *feed = reading->feed = vec_add(&jit->feeds);
	feed->pid = pid;
	read_all(reading);
	sort_placings(feed);
	if (jit->grows && jit->growing < OPEN_MAX_DUMPS) {
		feed->reading = reading;
		jit->growing++;
	} else {
		reading_free(reading);
	}
	return true;
}

void jit_feeds_refresh(struct jit_feeds *jit)
{
	for (size_t i = 0; i < jit->feeds.count; i++) {
		struct jit_feed *feed = &jit->feeds.items[i];
		size_t before = feed->placings.count;
		if (!feed->reading)
			continue;
		feed->reading->feed = feed;
		feed->reading->functions = NULL;
		read_all(feed->reading);
		if (feed->placings.count == before)
			continue;
		sort_placings(feed);
		uint64_t next = feed_next(feed);
		jit->next_ns = next < jit->next_ns ? next : jit->next_ns;
	}
}

void jit_feeds_take_mapping(struct jit_feeds *jit, const struct record *record, uint64_t clock)
{
	if (!jitdump_is_mapped(record))
		return;
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = (int32_t)take_u32(&c);
	take_u32(&c);
	uint64_t start = take_u64(&c);
	take(&c, record->type == RECORD_MMAP ? 16 : 48);
	const char *path = (const char *)c.data + c.at;
	long named = jitdump_pid_of_path(path);
	if (named < 0 || !jit->open || jit->feeds.count >= DUMPS_MAX)
		return;
	const struct map *map = map_find(model_root(jit->model, pid, model_thread(jit->model, pid, clock), clock), start);
	if (!map || modules_get(&jit->model->modules, map->module)->kind != MODULE_FILE)
		return;
	struct reader reader;
	if (jit->open(jit->context, pid, path, &reader) < 0)
		return;
	if (!read_dump(jit, &reader, pid, named, map->module))
		reader_close(&reader);
	jit_feeds_advance(jit, 0, clock);
}

void jit_feeds_advance(struct jit_feeds *jit, uint64_t time_ns, uint64_t clock)
{
	jit->next_ns = UINT64_MAX;
	for (size_t i = 0; i < jit->feeds.count; i++) {
		struct jit_feed *feed = &jit->feeds.items[i];
		vec_clear(&jit->due);
		for (; feed->at < feed->placings.count && feed->placings.items[feed->at].time_ns <= time_ns; feed->at++)
			vec_push(&jit->due, feed->placings.items[feed->at].place);
		if (jit->due.count)
			model_place_jit(jit->model, feed->pid, jit->due.items, jit->due.count, clock);
		uint64_t next = feed_next(feed);
		jit->next_ns = next < jit->next_ns ? next : jit->next_ns;
	}
}

void jit_feeds_end(struct jit_feeds *jit, int32_t pid)
{
	for (size_t i = jit->feeds.count; i-- > 0;) {
		struct jit_feed *feed = &jit->feeds.items[i];
		if (feed->pid != pid)
			continue;
		jit->growing -= feed->reading != NULL;
		reading_free(feed->reading);
		vec_fini(&feed->placings);
		*feed = jit->feeds.items[--jit->feeds.count];
	}
}
