/* The step that resolves JIT dumps (--jit): in place of the mapping of a dump, each of its functions becomes a file beside the dump, and a
 * mapping as of the time at which it was compiled. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "abi/time_conv.h"
#include "elf/jit_image.h"
#include "image/jit_dump.h"
#include "image/recorded_process.h"
#include "rewrite/added_record.h"
#include "rewrite/jit_file.h"
#include "rewrite/state.h"

enum { CLOCK_ID_MONOTONIC = 1, MAP_SHARED_FLAG = 1, PATH_SIZE = 4096 };

struct jit_dumps {
	struct time_conv conv;
	VEC(int32_t) pids;           /* processes whose dumps were read */
	struct jit_file file;
};

/* One dump. */
struct dump {
	struct jit_dumps *dumps;
	struct rewrite *rewrite;
	const struct item *item;     /* its mapping */
	struct jitdump data;
	int folder;                  /* where its files are made */
	const char *folder_path;
	int32_t pid, tid;            /* as the mapping states them; a process in a pid namespace writes other ones to its dump */
	bool in_namespace;
};

/* A function's mapping. */
struct function {
	uint64_t start, size, timestamp, index;
	int32_t pid, tid;
	const struct stat *st;       /* of its file; NULL: it does not exist */
	const uint8_t *id;           /* build-id of its file; NULL: the model has it */
};

static bool reads_dumps(const struct rewrite_options *options)
{
	return options->jit;
}

static void *open_step(struct rewrite *r)
{
	struct jit_dumps *dumps = memory_zero(1, sizeof *dumps);
	jit_file_open(&dumps->file);
	return dumps;
}

static void close_step(void *state)
{
	struct jit_dumps *dumps = state;
	vec_fini(&dumps->pids);
	jit_file_close(&dumps->file);
	free(dumps);
}

static enum fate tool_record(void *state, const struct record *record)
{
	struct jit_dumps *dumps = state;
	if (record->type == RECORD_TIME_CONV)
		time_conv_read(&dumps->conv, record);
	/* functions of a dump are written together, whatever their times, so that no round holds */
	return record->type == RECORD_FINISHED_ROUND ? FATE_DROP : FATE_WRITE;
}

static bool times_compare(const struct rewrite *r)
{
	const struct evlist *evlist = &r->source->header.evlist;
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct attr *attr = &evlist->events.items[i].attr;
		if (!attr_flag(attr, ATTR_USE_CLOCKID) || attr->clockid != CLOCK_ID_MONOTONIC)
			return false;
	}
	return true;
}

static void file_name(char name[static 64], int32_t pid, uint64_t index)
{
	snprintf(name, 64, "jitted-%d-%llu.so", pid, (unsigned long long)index);
}

/* The model gets the mapping, too, so that the table of build-ids lists the file. */
static void apply_mapping(struct rewrite *r, const struct added_mapping *m, const struct sample *trailer, const uint8_t *id)
{
	const uint8_t *head = (const uint8_t *)r->out.made.buffer;
	struct record record = { .type = RECORD_MMAP2, .misc = RECORD_MISC_USER, .body = head + 8,
		.body_len = (uint32_t)r->out.made.len - 8 };
	model_apply(&r->model, &record, trailer, r->clock);
	const struct map_node *root = model_root(&r->model, m->pid, model_thread(&r->model, m->pid, r->clock), r->clock);
	const struct map *map = map_find(root, m->start);
	struct module *module = map ? modules_get(&r->model.modules, map->module) : NULL;
	if (module && id) {
		module->build_id_len = JIT_FILE_ID_SIZE;
		memcpy(module->build_id, id, JIT_FILE_ID_SIZE);
	}
	if (module)
		module_set_add(&r->hits, module->id);
}

static void map_function(struct dump *d, const struct function *f)
{
	struct rewrite *r = d->rewrite;
	char name[64];
	file_name(name, f->pid, f->index);
	struct added_mapping m = {
		.pid = d->in_namespace ? d->pid : f->pid, .tid = d->in_namespace ? d->tid : f->tid,
		.start = f->start, .len = jit_file_mapped_size(&d->dumps->file, f->size), .pgoff = JIT_IMAGE_TEXT,
		.ino_generation = 1, .flags = MAP_SHARED_FLAG, .cpumode = RECORD_MISC_USER, .folder = d->folder_path, .path = name,
	};
	if (f->st) {
		m.maj = major(f->st->st_dev);
		m.min = minor(f->st->st_dev);
		m.ino = f->st->st_ino;
		m.prot = f->st->st_mode; /* as perf has it */
	}
	bool counter = d->data.header.arch_timestamp;
	const struct sample trailer = { .pid = (uint32_t)m.pid, .tid = (uint32_t)m.tid,
		.time = counter ? time_conv_time(&d->dumps->conv, f->timestamp) : f->timestamp };
	if (added_mapping_write(&m, d->item->evsel, &trailer, &r->out.made))
		apply_mapping(r, &m, &trailer, f->id);
	new_recording_add_made(&r->out);
}

static void take_load(struct dump *d, const struct jitdump_record *record)
{
	const struct jitdump_load *load = &record->load;
	struct rewrite_counters *counters = &d->rewrite->counters;
	struct jit_file *file = &d->dumps->file;
	struct error err = { 0 };
	struct stat st;
	uint8_t id[JIT_FILE_ID_SIZE];
	char name[64];
	file_name(name, load->pid, load->index);
	if (jit_file_make(file, &d->data, load, id)) {
		if (jit_file_write(file, d->folder, name, &st, &err) == 0) {
			map_function(d, &(struct function){ .start = load->address, .size = load->size, .timestamp = record->timestamp,
				.index = load->index, .pid = load->pid, .tid = load->tid, .st = &st, .id = id });
			counters->jit_files++;
		} else if (!counters->jit_unwritable++) {
			counters->jit_error = err;
		}
	}
	jit_file_forget_extras(file);
}

static void take_move(struct dump *d, const struct jitdump_record *record)
{
	const struct jitdump_move *move = &record->move;
	struct stat st;
	char name[64];
	file_name(name, move->pid, move->index);
	bool exists = fstatat(d->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	map_function(d, &(struct function){ .start = move->to, .size = move->size, .timestamp = record->timestamp, .index = move->index,
		.pid = move->pid, .tid = move->tid, .st = exists ? &st : NULL });
}

static void take_records(struct dump *d)
{
	struct jitdump_record record;
	while (jitdump_next(&d->data, &record) == 1) {
		switch (record.type) {
		case JITDUMP_LOAD:
			take_load(d, &record);
			break;
		case JITDUMP_MOVE:
			take_move(d, &record);
			break;
		case JITDUMP_DEBUG_INFO:
			jit_file_take_lines(&d->dumps->file, &d->data, &record.debug);
			break;
		case JITDUMP_UNWINDING_INFO:
			jit_file_take_tables(&d->dumps->file, &d->data, &record.unwinding);
			break;
		default:
			break;
		}
	}
	jit_file_forget_extras(&d->dumps->file);
}

/* FATE_DROP: its records replace the mapping; FATE_WRITE: it is another process's dump; < 0. */
static int read_dump(struct dump *d, struct reader *reader, const char *path, struct error *err)
{
	struct error why = { 0 };
	long named = jitdump_pid_of_path(path);
	if (jitdump_open(&d->data, reader, &why) < 0)
		return error_set(err, why.kind, "%s: %s", path, why.text);
	d->in_namespace = named != d->pid;
	int fate = FATE_DROP;
	if (d->in_namespace && (uint32_t)named != d->data.header.pid)
		fate = FATE_WRITE;
	else if (d->data.header.arch_timestamp && !d->dumps->conv.known)
		fate = error_set(err, ERROR_UNSUPPORTED, "jitdump file uses arch timestamps but there is no timestamp conversion");
	else if (!d->data.header.arch_timestamp && !times_compare(d->rewrite))
		fate = error_set(err, ERROR_USAGE, "error, jitted code must be sampled with perf record -k 1");
	if (fate == FATE_DROP)
		take_records(d);
	jitdump_fini(&d->data);
	return fate;
}

static int take_dump(struct dump *d, const char *path, struct error *err)
{
	const struct rewrite_options *options = d->rewrite->options;
	uint64_t size;
	char folder[PATH_SIZE];
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
	d->folder_path = folder;
	int64_t until = options->recorded_until ? options->recorded_until(&d->rewrite->source->header) : 0;
	int fd = jit_dump_open_in(recorded_process(d->pid, until, NULL), path, NULL, options->force, &size, &d->folder, err);
	if (fd < 0)
		return err->kind == ERROR_PERMISSION ? error_hint(err, "Use -f to read it all the same.") : -1;
	struct reader reader = reader_of_fd(fd, size);
	int fate = read_dump(d, &reader, path, err);
	close(d->folder);
	reader_close(&reader);
	return fate;
}

static bool has_dump(const struct jit_dumps *dumps, int32_t pid)
{
	for (size_t i = 0; i < dumps->pids.count; i++)
		if (dumps->pids.items[i] == pid)
			return true;
	return false;
}

/* Memory for code. Compilers map it again when they change its protection; such a mapping would cover the functions in it. */
static bool is_code_memory(const char *path)
{
	return strncmp(path, "//anon", 6) == 0 || strncmp(path, "[anon:", 6) == 0 || strncmp(path, "/memfd:", 7) == 0;
}

static int before(void *state, struct rewrite *r, struct item *item, struct error *err)
{
	struct jit_dumps *dumps = state;
	const struct record *record = &item->record;
	if (record->type != RECORD_MMAP && record->type != RECORD_MMAP2)
		return FATE_WRITE;
	struct cursor c = cursor_of(record->body, record->body_len, false);
	struct dump d = { .dumps = dumps, .rewrite = r, .item = item };
	d.pid = (int32_t)take_u32(&c);
	d.tid = (int32_t)take_u32(&c);
	take(&c, record->type == RECORD_MMAP ? 24 : 56);
	const char *path = (const char *)c.data + c.at;
	if (c.short_read || !memchr(path, '\0', cursor_left(&c)))
		return FATE_WRITE;
	if (jitdump_pid_of_path(path) < 0)
		return has_dump(dumps, d.pid) && is_code_memory(path) ? FATE_DROP : FATE_WRITE;
	int fate = take_dump(&d, path, err);
	if (fate == FATE_DROP)
		vec_push(&dumps->pids, d.pid);
	return fate;
}

const struct step step_jit = {
	.wanted = reads_dumps, .open = open_step, .tool_record = tool_record, .before = before, .close = close_step,
};
