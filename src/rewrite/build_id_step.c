/* The step that adds build-ids: as separate records (IDS_HIT, IDS_ALL) or within mappings (IDS_MMAP2_*). In any case it notes what samples
 * hit, for the table in the header. */
#include <stdlib.h>

#include "rewrite/added_record.h"
#include "rewrite/build_id_table.h"
#include "rewrite/known_ids.h"
#include "rewrite/state.h"
#include "rewrite/written_maps.h"

enum { SEEN_SLOTS = 1 << 16 };

struct build_ids {
	bool has_event;              /* mapping_event is known */
	size_t mapping_event;        /* the event of mappings: added records have its trailer */
	uint64_t *seen;              /* a cache: hashes of (address space, address) that were handled */
	struct known_ids known;
	struct written_maps written; /* IDS_MMAP2_HIT */
};

static bool adds_build_ids(const struct rewrite_options *options)
{
	return options->ids != IDS_NONE || options->jit || options->sched_stat;
}

static void *open_step(struct rewrite *r)
{
	struct build_ids *b = memory_zero(1, sizeof *b);
	b->seen = memory_zero(SEEN_SLOTS, sizeof *b->seen);
	if (r->options->ids != IDS_NONE && r->options->known_build_ids)
		known_ids_read(&b->known, r->options->known_build_ids);
	return b;
}

static void close_step(void *state)
{
	struct build_ids *b = state;
	known_ids_fini(&b->known);
	written_maps_fini(&b->written);
	free(b->seen);
	free(b);
}

/* Known build-ids get into the table of a file but not into records, as in perf; a pipe has no table, so there records have them. */
static bool take_known(const struct build_ids *b, struct module *module)
{
	const struct known_id *id = known_ids_find(&b->known, module->long_name);
	if (!id)
		return false;
	memcpy(module->build_id, id->bytes, BUILD_ID_ROOM);
	module->build_id_len = id->len;
	return true;
}

static void write_id(const struct build_ids *b, struct rewrite *r, struct module *module, unsigned cpumode, const struct evsel *evsel,
	const struct sample *sample)
{
	struct hit_module hit;
	if ((take_known(b, module) && !r->out.output.pipe) || !build_id_of_module(&hit, module))
		return;
	added_build_id_write(hit.path, hit.build_id, hit.build_id_len, cpumode, evsel, sample, &r->out.made);
	new_recording_add_made(&r->out);
}

/* Valid until the source delivers the next record: a pipe may add events. */
static const struct evsel *mapping_evsel(struct build_ids *b, const struct rewrite *r)
{
	const struct evlist *evlist = &r->source->header.evlist;
	for (size_t i = 0; !b->has_event && i < evlist->events.count; i++) {
		b->has_event = attr_flag(&evlist->events.items[i].attr, ATTR_MMAP);
		b->mapping_event = i;
	}
	return b->has_event ? &evlist->events.items[b->mapping_event] : NULL;
}

static uint32_t space_of(const struct rewrite *r, int32_t tid)
{
	uint32_t thread = model_thread(&r->model, tid, r->clock);
	return thread == THREAD_NONE ? UINT32_MAX : r->model.threads.items[thread]->space;
}

static void take_fork(struct build_ids *b, const struct rewrite *r, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	take(&c, 8);
	int32_t tid = (int32_t)take_u32(&c), ptid = (int32_t)take_u32(&c);
	uint32_t space = space_of(r, tid), parent = space_of(r, ptid);
	if (r->options->ids == IDS_MMAP2_HIT && !c.short_read && space != UINT32_MAX && parent != UINT32_MAX && space != parent)
		written_maps_fork(&b->written, space, parent, r->clock);
}

/* An address space as of a sample. */
struct address_space {
	const struct map_node *root;
	uint32_t id;
	unsigned cpumode;
};

static void write_hit_mapping(struct build_ids *b, struct rewrite *r, const struct sample *sample, const struct address_space *space,
	const struct map *map)
{
	if (!written_maps_add(&b->written, space->id, map->serial, r->clock))
		return;
	const struct module *module = modules_get(&r->model.modules, map->module);
	bool kernel = module->kind == MODULE_KERNEL || module->kind == MODULE_KMODULE;
	const struct added_mapping m = {
		.pid = (int32_t)sample->pid, .tid = (int32_t)sample->tid, .start = map->start, .len = map->end - map->start, .pgoff = map->pgoff,
		.prot = kernel ? 0 : map->prot, .flags = map->flags, .cpumode = space->cpumode,
		.build_id = module->build_id, .build_id_len = module->build_id_len,
		.path = module->kind == MODULE_ANON ? "//anon" : module->long_name,
	};
	added_mapping_write(&m, mapping_evsel(b, r), sample, &r->out.made);
	new_recording_add_made(&r->out);
}

static void hit_address(struct build_ids *b, struct rewrite *r, const struct sample *sample, const struct address_space *space,
	uint64_t address)
{
	if (!space->root)
		return;
	uint64_t hash = hash_pair((uint64_t)(uintptr_t)space->root, address) | 1;
	uint64_t *slot = &b->seen[hash >> 1 & (SEEN_SLOTS - 1)];
	if (*slot == hash)
		return;
	*slot = hash;
	const struct map *map = map_find(space->root, address);
	if (!map)
		return;
	if (r->options->ids == IDS_MMAP2_HIT)
		write_hit_mapping(b, r, sample, space, map);
	else if (module_set_add(&r->hits, map->module) && r->options->ids == IDS_HIT)
		write_id(b, r, modules_get(&r->model.modules, map->module), space->cpumode, mapping_evsel(b, r), sample);
}

/* Notes what a sample hits, and writes what must precede it. */
static void hit_sample(struct build_ids *b, struct rewrite *r, const struct item *item)
{
	const struct sample *sample = &item->sample;
	const struct model *model = &r->model;
	uint32_t thread = model_thread(model, (int32_t)sample->tid, r->clock);
	const struct address_space user = { .root = model_root(model, (int32_t)sample->pid, thread, r->clock),
		.id = space_of(r, (int32_t)sample->tid), .cpumode = RECORD_MISC_USER };
	const struct address_space kernel = { .root = model_kernel_root(model, r->clock), .id = model->kernel_space,
		.cpumode = RECORD_MISC_KERNEL };
	unsigned cpumode = record_cpumode(&item->record);
	const struct address_space *space = cpumode == RECORD_MISC_KERNEL ? &kernel : &user;
	if (cpumode == RECORD_MISC_USER || cpumode == RECORD_MISC_KERNEL)
		hit_address(b, r, sample, space, sample->ip);
	/* otherwise perf's table does not list what only call chains hit */
	bool chain = r->options->ids == IDS_HIT || r->options->ids == IDS_MMAP2_HIT;
	for (uint64_t i = 0; chain && i < sample->callchain_count; i++) {
		uint64_t address = sample_chain_at(sample, i);
		if (address >= CONTEXT_MAX)
			space = address == CONTEXT_KERNEL ? &kernel : &user;
		else
			hit_address(b, r, sample, space, address);
	}
}

/* What the record maps, as of its own clock. */
static struct module *mapped_module(const struct rewrite *r, const struct record *record, const struct map **map)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = (int32_t)take_u32(&c);
	take_u32(&c);
	uint64_t start = take_u64(&c);
	bool kernel = record_cpumode(record) == RECORD_MISC_KERNEL;
	const struct model *model = &r->model;
	const struct map_node *root = kernel ? model_kernel_root(model, r->clock)
					     : model_root(model, pid, model_thread(model, pid, r->clock), r->clock);
	*map = map_find(root, start);
	return *map ? modules_get(&model->modules, (*map)->module) : NULL;
}

/* Writes the mapping with a build-id in place of the file's numbers; false: it is unknown, or there is no room for it. */
static bool rewrite_mapping(struct rewrite *r, const struct item *item, const struct module *module, const struct map *map)
{
	struct hit_module id;
	struct cursor c = cursor_of(item->record.body, item->record.body_len, false);
	if (module->kind == MODULE_KERNEL || !build_id_of_module(&id, module))
		return false;
	struct added_mapping m = { .prot = map->prot, .flags = map->flags, .cpumode = record_cpumode(&item->record),
		.build_id = id.build_id, .build_id_len = id.build_id_len };
	m.pid = (int32_t)take_u32(&c);
	m.tid = (int32_t)take_u32(&c);
	m.start = take_u64(&c);
	m.len = take_u64(&c);
	m.pgoff = take_u64(&c);
	take(&c, item->record.type == RECORD_MMAP2 ? 32 : 0);
	m.path = (const char *)c.data + c.at;
	if (c.short_read || !memchr(m.path, '\0', cursor_left(&c)))
		return false;
	if (!added_mapping_write(&m, item->evsel, &item->sample, &r->out.made))
		return false;
	new_recording_add_made(&r->out);
	return true;
}

static enum fate take_mapping(struct build_ids *b, struct rewrite *r, const struct item *item)
{
	const struct map *map;
	struct module *module = mapped_module(r, &item->record, &map);
	enum rewrite_ids ids = r->options->ids;
	if (item->evsel && !b->has_event) {
		b->has_event = true;
		b->mapping_event = (size_t)(item->evsel - r->source->header.evlist.events.items);
	}
	if (ids == IDS_MMAP2_HIT)
		return FATE_DROP;
	if (!module)
		return FATE_WRITE;
	if (item->record.misc & RECORD_MISC_MMAP_BUILD_ID)
		module_set_add(&r->hits, module->id); /* the mapping has the build-id: no record is added */
	else if (ids == IDS_ALL && item->evsel && module->kind != MODULE_KERNEL && module_set_add(&r->hits, module->id))
		write_id(b, r, module, record_cpumode(&item->record), item->evsel, &item->sample);
	else if (ids == IDS_MMAP2_ALL && item->evsel && rewrite_mapping(r, item, module, map))
		return FATE_DROP;
	return FATE_WRITE;
}

static int after(void *state, struct rewrite *r, struct item *item, struct error *err)
{
	struct build_ids *b = state;
	switch (item->record.type) {
	case RECORD_FORK:
		take_fork(b, r, &item->record);
		return FATE_WRITE;
	case RECORD_MMAP:
	case RECORD_MMAP2:
		return take_mapping(b, r, item);
	case RECORD_SAMPLE:
		if (item->decoded && (r->options->ids != IDS_ALL || item->substituted))
			hit_sample(b, r, item);
		return FATE_WRITE;
	default:
		return FATE_WRITE;
	}
}

const struct step step_build_ids = { .wanted = adds_build_ids, .open = open_step, .after = after, .close = close_step };
