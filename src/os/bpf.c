#include "os/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/str.h"
#include "os/bpf_call.h"
#include "os/file.h"

enum { PROGRAMS_MAX = 65536, ARRAY_BYTES_MAX = 64 << 20, TYPES_BYTES_MAX = 64 << 20, KALLSYMS_MAX = 64 << 20 };

static int next_program(uint32_t id, uint32_t *next)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.start_id = id;
	if (bpf(BPF_PROG_GET_NEXT_ID, &attr) != 0)
		return -1;
	*next = attr.next_id;
	return 0;
}

/* Opens a program or type information: both commands store the id at the same offset. */
static int open_id(int command, uint32_t id)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.prog_id = id;
	return bpf(command, &attr);
}

/* size: in: the room of info; out: the bytes that the kernel filled. */
static int object_info(int fd, void *info, uint32_t *size)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = *size;
	attr.info.info = (uint64_t)(uintptr_t)info;
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) != 0)
		return -1;
	*size = attr.info.info_len;
	return 0;
}

/* The members of struct bpf_prog_info that describe an array: pointer, number of elements, and the size of an element, or its member. */
struct array_place {
	enum bpf_array array;
	size_t pointer, count, size_at;
	uint32_t size;
};

#define AT(field) offsetof(struct bpf_prog_info, field)
static const struct array_place places[] = {
	{ BPF_ARRAY_CODE, AT(jited_prog_insns), AT(jited_prog_len), 0, 1 },
	{ BPF_ARRAY_SYMBOLS, AT(jited_ksyms), AT(nr_jited_ksyms), 0, 8 },
	{ BPF_ARRAY_LENGTHS, AT(jited_func_lens), AT(nr_jited_func_lens), 0, 4 },
	{ BPF_ARRAY_FUNCTIONS, AT(func_info), AT(nr_func_info), AT(func_info_rec_size), 0 },
	{ BPF_ARRAY_LINES, AT(line_info), AT(nr_line_info), AT(line_info_rec_size), 0 },
	{ BPF_ARRAY_CODE_LINES, AT(jited_line_info), AT(nr_jited_line_info), AT(jited_line_info_rec_size), 0 },
	{ BPF_ARRAY_TAGS, AT(prog_tags), AT(nr_prog_tags), 0, BPF_TAG_SIZE },
};
enum { PLACES = sizeof places / sizeof *places };

static uint32_t word_at(const struct bpf_prog_info *info, size_t at)
{
	uint32_t value;
	memcpy(&value, (const uint8_t *)info + at, sizeof value);
	return value;
}

static void set_word(struct bpf_prog_info *info, size_t at, uint32_t value)
{
	memcpy((uint8_t *)info + at, &value, sizeof value);
}

static void set_pointer(struct bpf_prog_info *info, size_t at, uint64_t value)
{
	memcpy((uint8_t *)info + at, &value, sizeof value);
}

static uint32_t element_size(const struct bpf_prog_info *info, const struct array_place *place)
{
	return place->size ? place->size : word_at(info, place->size_at);
}

/* Reads the arrays whose sizes are in `first` into data. arrays: those that this kernel knows; offsets: the offset of each. < 0: the
 * program has changed meanwhile, or was unloaded. */
static int read_arrays(int fd, const struct bpf_prog_info *first, uint64_t arrays, const uint64_t *offsets, uint8_t *data,
	struct bpf_prog_info *info, uint32_t *size)
{
	memset(info, 0, sizeof *info);
	for (unsigned i = 0; i < PLACES; i++) {
		const struct array_place *place = &places[i];
		if (!(arrays >> place->array & 1))
			continue;
		set_word(info, place->count, word_at(first, place->count));
		if (place->size_at)
			set_word(info, place->size_at, word_at(first, place->size_at));
		set_pointer(info, place->pointer, (uint64_t)(uintptr_t)(data + offsets[i]));
	}
	if (object_info(fd, info, size) < 0)
		return -1;
	for (unsigned i = 0; i < PLACES; i++) {
		const struct array_place *place = &places[i];
		if (!(arrays >> place->array & 1))
			continue;
		if (word_at(info, place->count) != word_at(first, place->count) || element_size(info, place) != element_size(first, place))
			return -1;
		set_pointer(info, place->pointer, offsets[i]);
	}
	return 0;
}

static void read_types(struct bpf_programs *programs, uint32_t id)
{
	for (size_t i = 0; i < programs->types.count; i++)
		if (programs->types.items[i].id == id)
			return;
	CLEANUP_FD int fd = open_id(BPF_BTF_GET_FD_BY_ID, id);
	struct bpf_btf_info info = { 0 };
	uint32_t size = sizeof info;
	if (fd < 0 || object_info(fd, &info, &size) < 0 || !info.btf_size || info.btf_size > TYPES_BYTES_MAX)
		return;
	uint32_t bytes = info.btf_size;
	uint8_t *blob = arena_alloc(&programs->arena, bytes);
	info = (struct bpf_btf_info){ .btf = (uint64_t)(uintptr_t)blob, .btf_size = bytes };
	size = sizeof info;
	if (object_info(fd, &info, &size) == 0 && info.btf_size == bytes)
		vec_push(&programs->types, ((struct bpf_types){ id, { blob, bytes } }));
}

static bool attaches(uint32_t type)
{
	return type == BPF_PROG_TYPE_TRACING || type == BPF_PROG_TYPE_LSM || type == BPF_PROG_TYPE_EXT ||
	       type == BPF_PROG_TYPE_STRUCT_OPS || type == BPF_PROG_TYPE_XDP;
}

/* Checks for one symbol, length, tag and name per function. */
static bool is_sound(const struct bpf_prog_info *info)
{
	bool named = info->btf_id && info->nr_func_info && info->func_info_rec_size;
	return info->nr_jited_ksyms == info->nr_prog_tags && info->nr_jited_ksyms == info->nr_jited_func_lens &&
	       (!named || info->nr_jited_ksyms == info->nr_func_info);
}

static void read_program(struct bpf_programs *programs, uint32_t id)
{
	CLEANUP_FD int fd = open_id(BPF_PROG_GET_FD_BY_ID, id);
	struct bpf_prog_info first, info;
	uint32_t size = sizeof first;
	memset(&first, 0, sizeof first);
	if (fd < 0 || object_info(fd, &first, &size) < 0 || size > sizeof first)
		return;
	programs->attaches |= attaches(first.type);
	struct bpf_program program = { .id = id };
	uint64_t offsets[PLACES] = { 0 }, bytes = 0;
	for (unsigned i = 0; i < PLACES; i++) {
		const struct array_place *place = &places[i];
		if (place->pointer + 8 > size || place->count + 4 > size || place->size_at + 4 > size)
			continue;
		program.arrays |= (uint64_t)1 << place->array;
		offsets[i] = bytes;
		bytes += ((uint64_t)word_at(&first, place->count) * element_size(&first, place) + 7) / 8 * 8;
	}
	if (bytes > ARRAY_BYTES_MAX)
		return;
	uint8_t *data = memset(arena_alloc(&programs->arena, bytes + 1), 0, bytes + 1);
	if (read_arrays(fd, &first, program.arrays, offsets, data, &info, &size) < 0 || !is_sound(&info))
		return;
	memcpy(program.tag, info.tag, sizeof program.tag);
	program.types = info.btf_id;
	program.info = (struct span){ arena_copy(&programs->arena, &info, size), size };
	program.data = (struct span){ data, bytes };
	vec_push(&programs->list, program);
	if (info.btf_id)
		read_types(programs, info.btf_id);
}

void bpf_programs_read(struct bpf_programs *programs)
{
	uint32_t id = 0;
	size_t known = programs->list.count;
	for (int i = 0; i < PROGRAMS_MAX && next_program(id, &id) == 0; i++) {
		size_t at = 0;
		while (at < known && programs->list.items[at].id != id)
			at++;
		if (at == known)
			read_program(programs, id);
	}
}

/* Lines such as "ffffffffc0022000 t bpf_trampoline_6442536576\t[bpf]", which follow the modules. */
void bpf_images_read(struct bpf_programs *programs)
{
	static const char *const marks[] = { " bpf_trampoline_", " bpf_dispatcher_" };
	CLEANUP_STR struct str text = { 0 };
	if (!programs->attaches || programs->images.count || file_read("/proc/kallsyms", &text, KALLSYMS_MAX, NULL) < 0)
		return;
	for (unsigned i = 0; i < sizeof marks / sizeof *marks; i++)
		for (char *at = text.text; at && (at = strstr(at, marks[i])); at++) {
			size_t length = strcspn(at + 1, "\t\n");
			if (at - text.text < 18 || strncmp(at + 1 + length, "\t[bpf]\n", 7) != 0)
				continue;
			vec_push(&programs->images, ((struct bpf_image){ strtoull(at - 18, NULL, 16),
				arena_string(&programs->arena, at + 1, length) }));
		}
}

void bpf_programs_fini(struct bpf_programs *programs)
{
	vec_fini(&programs->list);
	vec_fini(&programs->types);
	vec_fini(&programs->images);
	arena_fini(&programs->arena);
	programs->attaches = false;
}

int bpf_map_make(enum bpf_map_kind kind, uint32_t value_size, uint32_t count, struct error *err)
{
	static const uint32_t types[] = {
		[BPF_MAP_KIND_ARRAY] = BPF_MAP_TYPE_ARRAY, [BPF_MAP_KIND_HASH] = BPF_MAP_TYPE_HASH,
		[BPF_MAP_KIND_PER_CPU] = BPF_MAP_TYPE_PERCPU_ARRAY, [BPF_MAP_KIND_MAPPED] = BPF_MAP_TYPE_ARRAY,
	};
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.map_type = types[kind];
	attr.map_flags = kind == BPF_MAP_KIND_MAPPED ? BPF_F_MMAPABLE : 0;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = value_size;
	attr.max_entries = count;
	int fd = bpf(BPF_MAP_CREATE, &attr);
	return fd < 0 ? error_system(err, "cannot make a BPF map") : fd;
}

static long element(int command, int map, uint32_t key, const void *value, uint64_t flags)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)value;
	attr.flags = flags;
	return bpf(command, &attr);
}

bool bpf_map_read(int map, uint32_t key, void *value)
{
	return element(BPF_MAP_LOOKUP_ELEM, map, key, value, 0) == 0;
}

int bpf_map_write(int map, uint32_t key, const void *value, bool is_new)
{
	return element(BPF_MAP_UPDATE_ELEM, map, key, value, is_new ? BPF_NOEXIST : BPF_ANY) < 0 ? -errno : 0;
}

void bpf_map_remove(int map, uint32_t key)
{
	element(BPF_MAP_DELETE_ELEM, map, key, NULL, 0);
}

bool bpf_has_file_system(const char *path)
{
	struct statfs fs;
	return statfs(path, &fs) == 0 && (uint32_t)fs.f_type == BPF_FS_MAGIC;
}

static int pinned_object(int command, int fd, const char *path)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.pathname = (uintptr_t)path;
	attr.bpf_fd = (uint32_t)fd;
	return bpf(command, &attr);
}

int bpf_pin(int fd, const char *path)
{
	return pinned_object(BPF_OBJ_PIN, fd, path);
}

int bpf_pinned(const char *path)
{
	return pinned_object(BPF_OBJ_GET, 0, path);
}

int bpf_link_counter(int program, int counter, uint64_t cookie)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.link_create.prog_fd = (uint32_t)program;
	attr.link_create.target_fd = (uint32_t)counter;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	int fd = bpf(BPF_LINK_CREATE, &attr);
	return fd < 0 ? -errno : fd;
}

static int load_program(uint32_t type, const void *instructions, size_t count, const char *what, struct error *err)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.prog_type = type;
	attr.insns = (uintptr_t)instructions;
	attr.insn_cnt = (uint32_t)count;
	attr.license = (uintptr_t)"Dual MIT/GPL";
	int fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd >= 0)
		return fd;
	error_system(err, "cannot load the BPF program of a %s", what);
	return error_hint(err, "it needs CAP_BPF and CAP_PERFMON, or root");
}

int bpf_sample_program_load(const void *instructions, size_t count, struct error *err)
{
	return load_program(BPF_PROG_TYPE_PERF_EVENT, instructions, count, "filter", err);
}

int bpf_probe_program_load(const void *instructions, size_t count, struct error *err)
{
	return load_program(BPF_PROG_TYPE_KPROBE, instructions, count, "probe", err);
}

int bpf_program_load(struct error *err)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof code / sizeof *code;
	attr.license = (uintptr_t)"Dual MIT/GPL";
	int fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		return error_system(err, "cannot load a BPF program");
	close(fd);
	return 0;
}
