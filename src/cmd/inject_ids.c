/* Build-ids of the files that samples hit, or that were mapped: as records of their own, within mappings, and as the feature. */
#include <ctype.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cmd/environment.h"
#include "cmd/inject.h"
#include "image/file.h"
#include "image/image.h"
#include "record/acquire/record_out.h"
#include "record/write/build_ids.h"
#include "record/write/buildid_cache.h"

enum { SEEN_SLOTS = 1 << 16, ID_SIZE = 20, ID_SIZE_TOLD = 1 << 15, KNOWN_FILE_MAX = 64 << 20 };

struct known_id {
	const char *path;
	uint8_t bytes[ID_SIZE], len;
};

struct known_ids {
	VEC(struct known_id) list;
	struct arena arena;
};

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* "HEX PATH"; what is of another form does not count, as for perf. */
static void take_known(struct known_ids *known, char *entry)
{
	struct known_id id = { 0 };
	entry += strspn(entry, " \t");
	size_t digits = strspn(entry, "0123456789abcdefABCDEF");
	if (entry[digits] != ' ' || digits % 2 || digits > 2 * ID_SIZE)
		return;
	for (size_t i = 0; i < digits / 2; i++)
		id.bytes[i] = (uint8_t)(digit(entry[2 * i]) << 4 | digit(entry[2 * i + 1]));
	id.len = (uint8_t)(digits / 2);
	entry += digits;
	entry += strspn(entry, " \t");
	id.path = arena_string(&known->arena, entry, strlen(entry));
	vec_push(&known->list, id);
}

/* Entries between commas, or the lines of file://PATH. */
static void take_all_known(struct inject *inject, const char *text)
{
	char *copy, *state = NULL;
	size_t len = strlen(text);
	bool file = strncmp(text, "file://", 7) == 0;
	if (!file)
		copy = memory_string(text);
	else if (rooted_read(-1, text + 7, KNOWN_FILE_MAX, &copy, &len, NULL) == 0)
		copy = memory_resize(copy, len + 1, 1);
	else
		return;
	copy[len] = '\0';
	for (char *entry = strtok_r(copy, file ? "\n" : ",", &state); entry; entry = strtok_r(NULL, file ? "\n" : ",", &state))
		take_known(inject->known, entry);
	free(copy);
}

void ids_open(struct inject *inject)
{
	inject->seen = memory_zero(SEEN_SLOTS, sizeof *inject->seen);
	if (inject->ids != IDS_NONE && inject->options->known_build_ids) {
		inject->known = memory_zero(1, sizeof *inject->known);
		take_all_known(inject, inject->options->known_build_ids);
	}
}

void ids_close(struct inject *inject)
{
	if (inject->known) {
		vec_fini(&inject->known->list);
		arena_fini(&inject->known->arena);
		free(inject->known);
	}
	free(inject->seen);
	vec_fini(&inject->hit);
	idmap_fini(&inject->seen_maps);
	vec_fini(&inject->seen_clocks);
	vec_fini(&inject->origins);
}

/* True the first time. */
static bool hit_first(struct inject *inject, uint32_t module)
{
	while (inject->hit.count <= module)
		vec_push(&inject->hit, false);
	bool first = !inject->hit.items[module];
	inject->hit.items[module] = true;
	return first;
}

void ids_mark(struct inject *inject, uint32_t module)
{
	hit_first(inject, module);
}

static bool is_known(const struct inject *inject, struct module *module)
{
	for (size_t i = 0; inject->known && i < inject->known->list.count; i++) {
		const struct known_id *id = &inject->known->list.items[i];
		if (strcmp(id->path, module->long_name) == 0) {
			memcpy(module->build_id, id->bytes, ID_SIZE);
			module->build_id_len = id->len;
			return true;
		}
	}
	return false;
}

/* The build-id that is recorded, or that the file has; what runs on this machine now tells nothing of a kernel that is recorded. */
static bool id_of(struct hit_module *hit, const struct module *module)
{
	if (module->build_id_len || (module->kind != MODULE_KERNEL && module->kind != MODULE_KMODULE)) {
		bool known = hit_module_of(hit, module);
		hit->path = module->long_name;
		return known;
	}
	*hit = (struct hit_module){ .path = module->long_name, .kind = HIT_KERNEL_MODULE };
	if (module->kind == MODULE_KMODULE && module->long_name[0] == '/')
		hit->build_id_len = image_build_id_of_path(module->long_name, hit->build_id);
	return hit->build_id_len;
}

/* HEADER_BUILD_ID. Ids that the user gave go into a file's feature alone, as for perf; a pipe has none. */
static void write_id(struct inject *inject, struct module *module, unsigned cpumode, const struct evsel *evsel, const struct sample *sample)
{
	struct hit_module hit;
	if ((is_known(inject, module) && !inject->out.output.pipe) || !id_of(&hit, module))
		return;
	struct writer *out = &inject->out.made;
	size_t at = record_open(out, RECORD_HEADER_BUILD_ID, (uint16_t)(cpumode | ID_SIZE_TOLD));
	out_u32(out, (uint32_t)-1);
	writer_add(out, hit.build_id, ID_SIZE);
	out_u32(out, hit.build_id_len);
	writer_add(out, hit.path, strlen(hit.path) + 1);
	record_close(out, at, 0);
	inject_add_trailer(out, evsel, sample);
	uint16_t size = (uint16_t)(out->len - at);
	memcpy(out->buffer + at + 6, &size, sizeof size);
	inject_write_made(&inject->out);
}

struct mapping_text {
	int32_t pid, tid;
	uint64_t start, len, pgoff;
	uint32_t prot, flags;
	const char *path;
};

/* MMAP2 with a build-id. */
static void write_mapping(struct inject *inject, const struct mapping_text *m, const struct hit_module *id, unsigned cpumode,
			  const struct evsel *evsel, const struct sample *sample)
{
	struct writer *out = &inject->out.made;
	size_t at = record_open(out, RECORD_MMAP2, (uint16_t)(cpumode | RECORD_MISC_MMAP_BUILD_ID));
	out_u32(out, (uint32_t)m->pid);
	out_u32(out, (uint32_t)m->tid);
	out_u64(out, m->start);
	out_u64(out, m->len);
	out_u64(out, m->pgoff);
	out_u32(out, id->build_id_len);
	writer_add(out, id->build_id, ID_SIZE);
	out_u32(out, m->prot);
	out_u32(out, m->flags);
	writer_add(out, m->path, strlen(m->path) + 1);
	record_close(out, at, 0);
	inject_add_trailer(out, evsel, sample);
	uint16_t size = (uint16_t)(out->len - at);
	memcpy(out->buffer + at + 6, &size, sizeof size);
	inject_write_made(&inject->out);
}

/* The trailers of records of ours are those of the event that mappings come with. */
static const struct evsel *evsel_of_mappings(struct inject *inject)
{
	const struct evlist *evlist = &inject->source->header.evlist;
	for (size_t i = 0; !inject->mmap_evsel && i < evlist->events.count; i++)
		if (attr_flag(&evlist->events.items[i].attr, ATTR_MMAP))
			inject->mmap_evsel = &evlist->events.items[i];
	return inject->mmap_evsel;
}

static uint32_t space_of(const struct inject *inject, int32_t tid)
{
	uint32_t thread = model_thread(&inject->model, tid, inject->clock);
	return thread == THREAD_NONE ? UINT32_MAX : inject->model.threads.items[thread]->space;
}

void ids_fork(struct inject *inject, const struct step *step)
{
	struct cursor c = cursor_of(step->record.body, step->record.body_len, false);
	take(&c, 8);
	int32_t tid = (int32_t)take_u32(&c), ptid = (int32_t)take_u32(&c);
	uint32_t space = space_of(inject, tid), parent = space_of(inject, ptid);
	if (inject->ids != IDS_MMAP2_HIT || c.short_read || space == UINT32_MAX || parent == UINT32_MAX || space == parent)
		return;
	while (inject->origins.count <= space)
		vec_push(&inject->origins, ((struct space_origin){ .parent = UINT32_MAX }));
	inject->origins.items[space] = (struct space_origin){ .parent = parent, .clock = inject->clock };
}

/* Whether the mapping was written for this process, or for one that it was forked from since. */
static bool was_written(const struct inject *inject, uint32_t space, const struct map *map)
{
	uint64_t before = UINT64_MAX;
	for (;;) {
		uint32_t at = idmap_get(&inject->seen_maps, hash_pair(space, map->serial));
		if (at != IDMAP_NONE && inject->seen_clocks.items[at] < before)
			return true;
		if (space >= inject->origins.count || inject->origins.items[space].parent == UINT32_MAX ||
		    inject->origins.items[space].clock >= before)
			return false;
		before = inject->origins.items[space].clock;
		space = inject->origins.items[space].parent;
	}
}

static void write_hit_mapping(struct inject *inject, const struct step *step, uint32_t space, const struct map *map, unsigned cpumode)
{
	if (was_written(inject, space, map))
		return;
	idmap_set(&inject->seen_maps, hash_pair(space, map->serial), (uint32_t)inject->seen_clocks.count);
	vec_push(&inject->seen_clocks, inject->clock);
	const struct module *module = modules_get(&inject->model.modules, map->module);
	bool kernel = module->kind == MODULE_KERNEL || module->kind == MODULE_KMODULE;
	struct hit_module id = { .build_id_len = module->build_id_len };
	memcpy(id.build_id, module->build_id, ID_SIZE);
	struct mapping_text m = {
		.pid = (int32_t)step->sample.pid, .tid = (int32_t)step->sample.tid, .start = map->start, .len = map->end - map->start,
		.pgoff = map->pgoff, .prot = kernel ? 0 : map->prot, .flags = map->flags,
		.path = module->kind == MODULE_ANON ? "//anon" : module->long_name,
	};
	write_mapping(inject, &m, &id, cpumode, evsel_of_mappings(inject), &step->sample);
}

struct place {
	const struct map_node *root;
	uint32_t space;
	unsigned cpumode;
};

static void mark_address(struct inject *inject, const struct step *step, const struct place *place, uint64_t address)
{
	if (!place->root)
		return;
	uint64_t hash = hash_pair((uint64_t)(uintptr_t)place->root, address) | 1;
	uint64_t *slot = &inject->seen[hash >> 1 & (SEEN_SLOTS - 1)];
	if (*slot == hash)
		return;
	*slot = hash;
	const struct map *map = map_find(place->root, address);
	if (!map)
		return;
	if (inject->ids == IDS_MMAP2_HIT)
		write_hit_mapping(inject, step, place->space, map, place->cpumode);
	else if (hit_first(inject, map->module) && inject->ids == IDS_HIT)
		write_id(inject, modules_get(&inject->model.modules, map->module), place->cpumode, evsel_of_mappings(inject), &step->sample);
}

void ids_sample(struct inject *inject, const struct step *step)
{
	const struct model *model = &inject->model;
	const struct sample *sample = &step->sample;
	if (!step->decoded)
		return;
	uint32_t thread = model_thread(model, (int32_t)sample->tid, inject->clock);
	struct place user = { .root = model_root(model, (int32_t)sample->pid, thread, inject->clock), .cpumode = RECORD_MISC_USER };
	user.space = space_of(inject, (int32_t)sample->tid);
	struct place kernel = { .root = model_kernel_root(model, inject->clock), .space = model->kernel_space, .cpumode = RECORD_MISC_KERNEL };
	unsigned cpumode = record_cpumode(&step->record);
	if (cpumode == RECORD_MISC_USER || cpumode == RECORD_MISC_KERNEL)
		mark_address(inject, step, cpumode == RECORD_MISC_USER ? &user : &kernel, sample->ip);
	const struct place *place = cpumode == RECORD_MISC_KERNEL ? &kernel : &user;
	bool chain = inject->ids == IDS_HIT || inject->ids == IDS_MMAP2_HIT; /* otherwise perf's table has not what stacks hit */
	for (uint64_t i = 0; chain && i < sample->callchain_count; i++) {
		uint64_t address = sample_chain_at(sample, i);
		if (address >= CONTEXT_MAX)
			place = address == CONTEXT_KERNEL ? &kernel : &user;
		else
			mark_address(inject, step, place, address);
	}
}

/* What a mapping maps. */
static struct module *module_at(const struct inject *inject, const struct step *step, const struct map **map)
{
	struct cursor c = cursor_of(step->record.body, step->record.body_len, false);
	int32_t pid = (int32_t)take_u32(&c);
	take_u32(&c);
	uint64_t start = take_u64(&c);
	bool kernel = record_cpumode(&step->record) == RECORD_MISC_KERNEL;
	const struct model *model = &inject->model;
	const struct map_node *root = kernel ? model_kernel_root(model, inject->clock)
					     : model_root(model, pid, model_thread(model, pid, inject->clock), inject->clock);
	*map = map_find(root, start);
	return *map ? modules_get(&model->modules, (*map)->module) : NULL;
}

/* The mapping with a build-id in place of its inode; false: it has none. */
static bool rewrite_mapping(struct inject *inject, const struct step *step, const struct module *module, const struct map *map)
{
	struct hit_module id;
	struct cursor c = cursor_of(step->record.body, step->record.body_len, false);
	if (module->kind == MODULE_KERNEL || !id_of(&id, module))
		return false;
	struct mapping_text m = { .pid = (int32_t)take_u32(&c), .prot = map->prot, .flags = map->flags };
	m.tid = (int32_t)take_u32(&c);
	m.start = take_u64(&c);
	m.len = take_u64(&c);
	m.pgoff = take_u64(&c);
	take(&c, step->record.type == RECORD_MMAP2 ? 32 : 0);
	m.path = (const char *)c.data + c.at;
	write_mapping(inject, &m, &id, record_cpumode(&step->record), step->evsel, &step->sample);
	return true;
}

bool ids_mapping(struct inject *inject, const struct step *step)
{
	const struct map *map;
	struct module *module = module_at(inject, step, &map);
	bool has_id = step->record.misc & RECORD_MISC_MMAP_BUILD_ID;
	if (step->evsel && !inject->mmap_evsel)
		inject->mmap_evsel = step->evsel;
	if (inject->ids == IDS_MMAP2_HIT)
		return true;
	if (!module)
		return false;
	if (has_id)
		hit_first(inject, module->id); /* it needs no record of ours */
	else if (inject->ids == IDS_ALL && step->evsel && module->kind != MODULE_KERNEL && hit_first(inject, module->id))
		write_id(inject, module, record_cpumode(&step->record), step->evsel, &step->sample);
	else if (inject->ids == IDS_MMAP2_ALL && step->evsel)
		return rewrite_mapping(inject, step, module, map);
	return false;
}

static int compare_paths(const void *a, const void *b)
{
	const struct hit_module *left = a, *right = b;
	return strcmp(left->path, right->path);
}

static void add_whole_table(const struct inject *inject, struct recording_facts *facts)
{
	const struct header *header = &inject->source->header;
	for (size_t i = 0; i < header->build_ids.count; i++) {
		const struct build_id_entry *row = &header->build_ids.items[i];
		bool kernel = (row->misc & RECORD_MISC_CPUMODE_MASK) == RECORD_MISC_KERNEL;
		struct hit_module hit = { .path = row->filename, .kind = kernel ? HIT_KERNEL : HIT_FILE, .build_id_len = row->id.len };
		memcpy(hit.build_id, row->id.bytes, ID_SIZE);
		if (row->id.len)
			vec_push(&facts->modules, hit);
	}
}

/* Nothing but the recording's own table tells the id of a vdso later: it stays in it. */
static void add_vdso_of_table(const struct inject *inject, struct recording_facts *facts)
{
	const struct header *header = &inject->source->header;
	for (size_t i = 0; i < header->build_ids.count; i++) {
		const struct build_id_entry *row = &header->build_ids.items[i];
		struct hit_module hit = { .path = "[vdso]", .kind = HIT_VDSO, .build_id_len = row->id.len };
		memcpy(hit.build_id, row->id.bytes, ID_SIZE);
		if (strcmp(row->filename, "[vdso]") == 0 && row->id.len)
			vec_push(&facts->modules, hit);
	}
}

/* Files that samples hit are kept, as when they are recorded. */
void ids_feature(const struct inject *inject, struct writer *out)
{
	struct recording_facts facts = { 0 }, kept = { 0 };
	bool vdso = false;
	if (inject->out.aux.count) { /* nobody knows yet what the traces hit */
		add_whole_table(inject, &facts);
		build_ids_body(&facts, out);
		vec_fini(&facts.modules);
		return;
	}
	for (size_t i = 0; i < inject->model.modules.list.count; i++) {
		const struct module *module = inject->model.modules.list.items[i];
		struct hit_module hit;
		bool was_hit = i < inject->hit.count && inject->hit.items[i];
		vdso |= module->kind == MODULE_VDSO;
		if ((!was_hit && module->kind != MODULE_VDSO) || !id_of(&hit, module))
			continue;
		vec_push(&facts.modules, hit);
		if (was_hit && module->kind != MODULE_VDSO)
			vec_push(&kept.modules, hit);
	}
	buildid_cache_add(environment_cache(inject->cli, true), &kept, NULL);
	vec_fini(&kept.modules);
	if (!vdso)
		add_vdso_of_table(inject, &facts);
	if (facts.modules.count)
		qsort(facts.modules.items, facts.modules.count, sizeof *facts.modules.items, compare_paths);
	build_ids_body(&facts, out);
	vec_fini(&facts.modules);
}
