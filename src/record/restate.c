#include "record/restate.h"

#include <elf.h>
#include <sys/mman.h>

#include "image/search.h"
#include "record/acquire/record_out.h"

#define PAGE ((uint64_t)4096)
#define RANGE_MAX ((uint64_t)1 << 32)

enum {
	WRITTEN_MAX = 1 << 20,       /* hashes; then all is written again */
	FILES_MAX = 1024, SEGMENTS_MAX = 16, /* of one process at once, and of one file: more only occurs in attacks */
};

void restated_fini(struct restated *restated)
{
	idmap_fini(&restated->written);
}

struct restating {
	struct restated *restated;
	struct writer *out;
	int32_t pid, tid;
	uint64_t time, as_of;
	const char *buildid_dir;
	unsigned files;              /* opened */
};

/* Adds a hash of this; returns whether it is new. */
static bool add_hash(const struct restating *t, uint64_t kind, uint64_t what, uint64_t more)
{
	bool added;
	idmap_add(&t->restated->written, hash_pair(hash_pair(kind, what), more), 0, &added);
	return added;
}

static void close_record(const struct restating *t, size_t at)
{
	const struct sample values = { .pid = (uint32_t)t->pid, .tid = (uint32_t)t->tid, .time = t->time };
	record_close_with(t->out, at, &t->restated->attr, &values);
}

static void write_map(void *context, const struct map *map)
{
	const struct restating *t = context;
	const struct module *module = modules_get(t->restated->modules, map->module);
	bool made = module->kind == MODULE_ANON; /* has the name of the file that has its code */
	if (strlen(module->name) > 4096 || !add_hash(t, (uint32_t)t->pid, map->serial, hash_pair(map->start, map->end)))
		return;
	size_t at = record_open(t->out, RECORD_MMAP2, RECORD_MISC_USER | (map->prot & PROT_EXEC ? 0 : RECORD_MISC_MMAP_DATA));
	out_u32(t->out, (uint32_t)t->pid);
	out_u32(t->out, (uint32_t)t->tid);
	out_u64(t->out, map->start);
	out_u64(t->out, map->end - map->start);
	out_u64(t->out, map->pgoff);
	out_u32(t->out, module->maj);
	out_u32(t->out, module->min);
	out_u64(t->out, module->ino);
	out_u64(t->out, module->ino_generation);
	out_u32(t->out, map->prot);
	out_u32(t->out, map->flags);
	out_string(t->out, made ? "//anon" : module->name);
	close_record(t, at);
}

static void write_comm(const struct restating *t, const struct model *model, int32_t tid)
{
	uint32_t comm = model_comm(model, model_thread(model, tid, t->as_of), t->as_of);
	const char *text = comm == COMM_NONE ? "" : strtab_text(&model->strings, comm);
	if (!*text || !add_hash(t, (uint64_t)1 << 32 | (uint32_t)tid, hash_bytes(text, strlen(text)), 0))
		return;
	size_t at = record_open(t->out, RECORD_COMM, 0);
	out_u32(t->out, (uint32_t)t->pid);
	out_u32(t->out, (uint32_t)tid);
	out_string(t->out, text);
	close_record(t, at);
}

void restate(struct restated *restated, const struct model *model, int32_t pid, int32_t tid, uint64_t time, uint64_t as_of,
	struct writer *out)
{
	struct restating restating = { restated, out, pid, tid, time, as_of };
	const struct map_node *root = model_root(model, pid, model_thread(model, tid, as_of), as_of);
	if (pid < 0)
		return;
	if (pid != tid)
		write_comm(&restating, model, pid);
	write_comm(&restating, model, tid);
	if (add_hash(&restating, (uint64_t)2 << 32 | (uint32_t)pid, (uintptr_t)root, 0)) /* otherwise nothing has changed */
		map_each(root, write_map, &restating);
}

/* The data of a file whose code is mapped, as loaders map it relative to the code. */
static void write_segments(const struct restating *t, const struct map *map, const struct elf *elf)
{
	const struct elf_load *code = NULL;
	for (uint32_t i = 0; i < elf->load_count && !code; i++)
		if (elf->loads[i].flags & PF_X && elf->loads[i].file_size && elf->loads[i].offset - map->pgoff < map->end - map->start)
			code = &elf->loads[i];
	unsigned count = 0;
	for (uint32_t i = 0; i < elf->load_count && code && count < SEGMENTS_MAX; i++) {
		const struct elf_load *load = &elf->loads[i];
		uint64_t before = load->vaddr % PAGE;
		if (load->flags & PF_X || !load->file_size || load->file_size > RANGE_MAX || load->offset < before)
			continue;
		struct map data = *map;
		data.start = map->start - (code->vaddr + (map->pgoff - code->offset)) + load->vaddr - before;
		data.end = data.start + (before + load->file_size + PAGE - 1) / PAGE * PAGE;
		data.pgoff = load->offset - before;
		data.prot = PROT_READ | (load->flags & PF_W ? PROT_WRITE : 0);
		if (data.end > map->start && data.start < map->end)
			continue;
		write_map((void *)(uintptr_t)t, &data);
		count++;
	}
}

static void write_data_maps(void *context, const struct map *map)
{
	struct restating *t = context;
	struct module module = *modules_get(t->restated->modules, map->module);
	struct image image;
	if (module.kind != MODULE_FILE || !(map->prot & PROT_EXEC) ||
	    !add_hash(t, (uint64_t)3 << 32 | (uint32_t)t->pid, map->serial, hash_pair(map->start, map->end)) || t->files++ >= FILES_MAX)
		return;
	module.pid = t->pid;
	if (image_find(&module, &(struct image_options){ .buildid_dir = t->buildid_dir, .living = true }, &image, NULL) < 0)
		return;
	write_segments(t, map, &image.elf);
	image_close(&image);
}

void restate_data(struct restated *restated, const struct map_node *root, const struct sample *sample, const char *buildid_dir,
	struct writer *out)
{
	struct restating restating = { .restated = restated, .out = out, .pid = (int32_t)sample->pid, .tid = (int32_t)sample->tid,
		.time = sample->time, .buildid_dir = buildid_dir };
	if (restated->written.count > WRITTEN_MAX)
		restated_fini(restated);
	if (root && add_hash(&restating, (uint64_t)4 << 32 | (uint32_t)restating.pid, (uintptr_t)root, 0))
		map_each(root, write_data_maps, &restating);
}
