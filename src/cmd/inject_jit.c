/* --jit: each function of a dump becomes a file of its own beside the dump, and a mapping at the time it was made. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "abi/time_conv.h"
#include "cmd/inject.h"
#include "cmd/same_machine.h"
#include "data/jitdump.h"
#include "elf/jit_image.h"
#include "image/jit_dump.h"
#include "image/recorded_process.h"
#include "record/acquire/record_out.h"

enum {
	CLOCK_ID_MONOTONIC = 1,
	CODE_MAX = 256 << 20,       /* of one function */
	EXTRA_MAX = 64 << 20,       /* its lines, its unwinding tables */
	ELF_HEADER_BIAS = 0x40,     /* what V8 and LLVM add to a line's address for old perf's sake */
	MAP_SHARED_FLAG = 1,
};

/* What has been read for the next function. */
struct extra {
	uint8_t *bytes;
	struct jitdump_debug debug;
	struct jitdump_unwinding unwinding;
};

struct inject_jit {
	struct time_conv conv;
	VEC(int32_t) pids;             /* whose dump was read */
	struct writer image;
	uint8_t *code;
	size_t code_room;
	bool warned;                   /* that a file could not be made */
};

/* One dump. */
struct dumping {
	struct inject *inject;
	const struct step *step;       /* its mapping */
	struct jitdump dump;
	int folder;                    /* where its files go */
	const char *folder_path;
	int32_t pid, tid;              /* of the process that the mapping tells; in a pid namespace, the dump has others */
	bool inside;                   /* which is so */
	struct extra lines, tables;    /* of the next function */
};

static bool times_compare(const struct inject *inject)
{
	const struct evlist *evlist = &inject->source->header.evlist;
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct attr *attr = &evlist->events.items[i].attr;
		if (!attr_flag(attr, ATTR_USE_CLOCKID) || attr->clockid != CLOCK_ID_MONOTONIC)
			return false;
	}
	return true;
}

static uint8_t *read_bytes(const struct jitdump *dump, uint64_t offset, uint64_t size, uint64_t limit)
{
	if (!size || size > limit)
		return NULL;
	uint8_t *bytes = memory_alloc((size_t)size);
	if (reader_at(&dump->reader, bytes, (size_t)size, offset) == (ssize_t)size)
		return bytes;
	free(bytes);
	return NULL;
}

static void forget(struct extra *extra)
{
	free(extra->bytes);
	*extra = (struct extra){ 0 };
}

static int compare_lines(const void *a, const void *b)
{
	const struct jit_image_line *left = a, *right = b;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* The lines that lie in the code, by address; to be freed. */
static struct jit_image_line *lines_of(const struct dumping *d, const struct jitdump_load *load, size_t *count)
{
	const struct extra *extra = &d->lines;
	struct jitdump_lines lines;
	struct jitdump_line line;
	uint64_t bias = ELF_HEADER_BIAS;
	VEC(struct jit_image_line) rows = { 0 };
	jitdump_lines_init(&lines, &d->dump, &extra->debug, extra->bytes);
	while (jitdump_lines_next(&lines, &line))
		if (line.address - load->address < ELF_HEADER_BIAS)
			bias = 0;
	jitdump_lines_init(&lines, &d->dump, &extra->debug, extra->bytes);
	while (jitdump_lines_next(&lines, &line)) {
		uint64_t offset = line.address - load->address - bias;
		if (offset < load->size)
			vec_push(&rows, ((struct jit_image_line){ .offset = offset, .line = line.line, .file = line.file }));
	}
	for (size_t i = 1; i < rows.count; i++)
		if (rows.items[i].offset < rows.items[i - 1].offset) {
			qsort(rows.items, rows.count, sizeof *rows.items, compare_lines);
			break;
		}
	*count = rows.count;
	return rows.items;
}

static bool read_code(struct dumping *d, const struct jitdump_load *load)
{
	struct inject_jit *jit = d->inject->jit;
	if (load->size > CODE_MAX)
		return false;
	if (jit->code_room < load->size) {
		jit->code_room = (size_t)load->size * 2;
		free(jit->code);
		jit->code = memory_alloc(jit->code_room);
	}
	return reader_at(&d->dump.reader, jit->code, (size_t)load->size, load->code_offset) == (ssize_t)load->size;
}

static void make_image(struct dumping *d, const struct jitdump_load *load, uint8_t id[static 20])
{
	struct inject_jit *jit = d->inject->jit;
	struct jit_image image = { .address = load->address, .name = load->name, .code = { jit->code, (size_t)load->size } };
	const struct jitdump_unwinding *tables = &d->tables.unwinding;
	struct jit_image_line *lines = NULL;
	if (d->lines.bytes)
		image.lines = lines = lines_of(d, load, &image.line_count);
	if (d->tables.bytes && tables->header_size) {
		size_t head = (size_t)tables->header_size, frames = (size_t)(tables->size - tables->header_size);
		image.eh_frame = (struct span){ d->tables.bytes, frames };
		image.eh_frame_hdr = (struct span){ d->tables.bytes + frames, head };
	}
	jit->image.len = 0;
	jit_image_write(&image, &jit->image, id);
	free(lines);
}

static int write_file(struct dumping *d, const char *name, struct stat *st, struct error *err)
{
	const struct writer *image = &d->inject->jit->image;
	int fd = jit_dump_create(d->folder, name, err);
	if (fd < 0)
		return -1;
	int failed = 0;
	for (size_t at = 0; !failed && at < image->len;) {
		ssize_t n = write(fd, image->buffer + at, image->len - at);
		if (n < 0 && errno != EINTR)
			failed = error_system(err, "cannot write %s", name);
		at += n > 0 ? (size_t)n : 0;
	}
	if (!failed && fstat(fd, st) != 0)
		failed = error_system(err, "cannot look at %s", name);
	close(fd);
	if (failed)
		unlinkat(d->folder, name, 0);
	return failed;
}

struct placed {
	uint64_t start, size, time;
	int32_t pid, tid;
	const struct stat *st;
	const char *name;
};

/* The mapping of a file of ours; the model gets it too, so that the feature lists it. id NULL: it has it. */
static void write_mapping(struct dumping *d, const struct placed *placed, const uint8_t *id)
{
	struct inject *inject = d->inject;
	struct writer *out = &inject->out.made;
	const struct stat none = { 0 }, *st = placed->st ? placed->st : &none;
	size_t at = record_open(out, RECORD_MMAP2, RECORD_MISC_USER);
	out_u32(out, (uint32_t)placed->pid);
	out_u32(out, (uint32_t)placed->tid);
	out_u64(out, placed->start);
	out_u64(out, placed->size);
	out_u64(out, JIT_IMAGE_TEXT);
	out_u32(out, major(st->st_dev));
	out_u32(out, minor(st->st_dev));
	out_u64(out, st->st_ino);
	out_u64(out, 1);
	out_u32(out, st->st_mode);
	out_u32(out, MAP_SHARED_FLAG);
	writer_puts(out, d->folder_path);
	writer_putc(out, '/');
	writer_add(out, placed->name, strlen(placed->name) + 1);
	record_close(out, at, 0);
	struct sample sample = { .pid = (uint32_t)placed->pid, .tid = (uint32_t)placed->tid, .time = placed->time };
	inject_add_trailer(out, d->step->evsel, &sample);
	uint16_t size = (uint16_t)(out->len - at);
	memcpy(out->buffer + at + 6, &size, sizeof size);
	struct record record = { .type = RECORD_MMAP2, .misc = RECORD_MISC_USER, .body = (const uint8_t *)out->buffer + at + 8,
				 .body_len = size - 8u };
	model_apply(&inject->model, &record, &sample, inject->clock);
	const struct map_node *root = model_root(&inject->model, placed->pid,
		model_thread(&inject->model, placed->pid, inject->clock), inject->clock);
	const struct map *map = map_find(root, placed->start);
	struct module *module = map ? modules_get(&inject->model.modules, map->module) : NULL;
	if (module && id) {
		module->build_id_len = 20;
		memcpy(module->build_id, id, 20);
	}
	if (module)
		ids_mark(inject, module->id);
	inject_write_made(&inject->out);
}

static uint64_t time_of(const struct dumping *d, uint64_t timestamp)
{
	return d->dump.header.arch_timestamp ? time_conv_time(&d->inject->jit->conv, timestamp) : timestamp;
}

/* The unwinding tables lie behind the code where the process had them there. */
static uint64_t size_in_memory(const struct dumping *d, uint64_t code_size)
{
	uint64_t tables = d->tables.unwinding.mapped_size;
	return tables && tables < UINT32_MAX ? ((code_size + 7) & ~(uint64_t)7) + tables : code_size;
}

static void take_load(struct dumping *d, const struct jitdump_record *record)
{
	const struct jitdump_load *load = &record->load;
	struct inject_jit *jit = d->inject->jit;
	struct error err = { 0 };
	struct stat st;
	uint8_t id[20];
	char name[64];
	snprintf(name, sizeof name, "jitted-%d-%llu.so", load->pid, (unsigned long long)load->index);
	if (read_code(d, load)) {
		make_image(d, load, id);
		if (write_file(d, name, &st, &err) == 0) {
			struct placed placed = { .start = load->address, .size = size_in_memory(d, load->size), .st = &st, .name = name,
				.time = time_of(d, record->timestamp), .pid = d->inside ? d->pid : load->pid, .tid = d->inside ? d->tid : load->tid };
			write_mapping(d, &placed, id);
		} else if (!jit->warned) {
			jit->warned = true;
			cli_warn(d->inject->cli, "cannot create jit ELF: %s", err.text);
		}
	}
	forget(&d->lines);
	forget(&d->tables);
}

static void take_move(struct dumping *d, const struct jitdump_record *record)
{
	const struct jitdump_move *move = &record->move;
	struct stat st;
	char name[64];
	snprintf(name, sizeof name, "jitted-%d-%llu.so", move->pid, (unsigned long long)move->index);
	bool there = fstatat(d->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	struct placed placed = { .start = move->to, .size = size_in_memory(d, move->size), .st = there ? &st : NULL, .name = name,
		.time = time_of(d, record->timestamp), .pid = d->inside ? d->pid : move->pid, .tid = d->inside ? d->tid : move->tid };
	write_mapping(d, &placed, NULL);
}

static void take_records(struct dumping *d)
{
	struct jitdump_record record;
	while (jitdump_next(&d->dump, &record) == 1) {
		switch (record.type) {
		case JITDUMP_LOAD:
			take_load(d, &record);
			break;
		case JITDUMP_MOVE:
			take_move(d, &record);
			break;
		case JITDUMP_DEBUG_INFO:
			forget(&d->lines);
			d->lines.debug = record.debug;
			d->lines.bytes = read_bytes(&d->dump, record.debug.offset, record.debug.size, EXTRA_MAX);
			break;
		case JITDUMP_UNWINDING_INFO:
			forget(&d->tables);
			d->tables.unwinding = record.unwinding;
			d->tables.bytes = read_bytes(&d->dump, record.unwinding.offset, record.unwinding.size, EXTRA_MAX);
			break;
		default:
			break;
		}
	}
	forget(&d->lines);
	forget(&d->tables);
}

/* 1: its records were taken; 0: it is not this process's; < 0. */
static int read_dump(struct inject *inject, struct dumping *d, struct reader *reader, const char *path, struct error *err)
{
	struct error why = { 0 };
	long named = jitdump_pid_of_path(path);
	if (jitdump_open(&d->dump, reader, &why) < 0)
		return error_set(err, why.kind, "%s: %s", path, why.text);
	d->inside = named != d->pid;
	int result = 1;
	if (d->inside && (uint32_t)named != d->dump.header.pid)
		result = 0;
	else if (d->dump.header.arch_timestamp && !inject->jit->conv.known)
		result = error_set(err, ERROR_UNSUPPORTED, "jitdump file uses arch timestamps but there is no timestamp conversion");
	else if (!d->dump.header.arch_timestamp && !times_compare(inject))
		result = error_set(err, ERROR_USAGE, "error, jitted code must be sampled with perf record -k 1");
	if (result > 0)
		take_records(d);
	jitdump_fini(&d->dump);
	return result;
}

static int take_dump(struct inject *inject, struct dumping *d, const char *path, struct error *err)
{
	uint64_t size;
	char folder[4096];
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
	d->folder_path = folder;
	int32_t pid = recorded_process(d->pid, recorded_until(&inject->source->header), NULL);
	int fd = jit_dump_open_in(pid, path, NULL, inject->options->force, &size, &d->folder, err);
	if (fd < 0)
		return err->kind == ERROR_PERMISSION ? error_hint(err, "Use -f to read it all the same.") : -1;
	struct reader reader = reader_of_fd(fd, size);
	int result = read_dump(inject, d, &reader, path, err);
	close(d->folder);
	reader_close(&reader);
	return result;
}

static bool has_dump(const struct inject_jit *jit, int32_t pid)
{
	for (size_t i = 0; i < jit->pids.count; i++)
		if (jit->pids.items[i] == pid)
			return true;
	return false;
}

/* The memory that code is put into: mapped, and changed, before and after; it would cover what was put there. */
static bool is_code_memory(const char *path)
{
	return strncmp(path, "//anon", 6) == 0 || strncmp(path, "[anon:", 6) == 0 || strncmp(path, "/memfd:", 7) == 0;
}

void jit_open(struct inject *inject)
{
	inject->jit = memory_zero(1, sizeof *inject->jit);
	writer_open(&inject->jit->image, -1, 0);
}

void jit_clock(struct inject *inject, const struct record *record)
{
	time_conv_read(&inject->jit->conv, record);
}

int jit_mapping(struct inject *inject, const struct step *step, struct error *err)
{
	struct cursor c = cursor_of(step->record.body, step->record.body_len, false);
	struct dumping d = { .inject = inject, .step = step };
	d.pid = (int32_t)take_u32(&c);
	d.tid = (int32_t)take_u32(&c);
	take(&c, step->record.type == RECORD_MMAP ? 24 : 56);
	const char *path = (const char *)c.data + c.at;
	if (c.short_read || !memchr(path, '\0', cursor_left(&c)))
		return 0;
	struct inject_jit *jit = inject->jit;
	if (jitdump_pid_of_path(path) < 0)
		return has_dump(jit, d.pid) && is_code_memory(path);
	int result = take_dump(inject, &d, path, err);
	if (result > 0)
		vec_push(&jit->pids, d.pid);
	return result;
}

void jit_close(struct inject *inject)
{
	struct inject_jit *jit = inject->jit;
	if (!jit)
		return;
	vec_fini(&jit->pids);
	writer_fini(&jit->image);
	free(jit->code);
	free(jit);
}
