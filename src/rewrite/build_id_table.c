#include "rewrite/build_id_table.h"

#include <stdlib.h>

#include "image/image.h"
#include "record/write/buildid_cache.h"
#include "rewrite/added_record.h"

bool build_id_of_module(struct hit_module *hit, const struct module *module)
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

static void add_row(const struct build_id_entry *row, const char *path, enum hit_kind kind, struct recording_facts *facts)
{
	struct hit_module hit = { .path = path, .kind = kind, .build_id_len = row->id.len };
	memcpy(hit.build_id, row->id.bytes, BUILD_ID_ROOM);
	if (row->id.len)
		vec_push(&facts->modules, hit);
}

/* machine: the virtual machine that it is the table of; 0: the host. */
static void add_all_rows(const struct header *header, int32_t machine, struct recording_facts *facts)
{
	for (size_t i = 0; i < header->build_ids.count; i++) {
		const struct build_id_entry *row = &header->build_ids.items[i];
		bool kernel = (row->misc & RECORD_MISC_CPUMODE_MASK) == RECORD_MISC_KERNEL;
		size_t before = facts->modules.count;
		add_row(row, row->filename, kernel ? HIT_KERNEL : HIT_FILE, facts);
		if (facts->modules.count > before)
			facts->modules.items[before].machine = machine;
	}
}

/* Only the table of the source has the build-id of its vdso: no file has it later. */
static void add_vdso_rows(const struct header *header, struct recording_facts *facts)
{
	for (size_t i = 0; i < header->build_ids.count; i++)
		if (strcmp(header->build_ids.items[i].filename, "[vdso]") == 0)
			add_row(&header->build_ids.items[i], "[vdso]", HIT_VDSO, facts);
}

static void add_hit_modules(const struct rewrite *r, struct recording_facts *table, struct recording_facts *cached)
{
	bool vdso = false;
	for (size_t i = 0; i < r->model.modules.list.count; i++) {
		const struct module *module = r->model.modules.list.items[i];
		struct hit_module hit;
		bool was_hit = module_set_has(&r->hits, (uint32_t)i);
		vdso |= module->kind == MODULE_VDSO;
		if ((!was_hit && module->kind != MODULE_VDSO) || !build_id_of_module(&hit, module))
			continue;
		vec_push(&table->modules, hit);
		if (module->kind != MODULE_VDSO)
			vec_push(&cached->modules, hit);
	}
	if (!vdso)
		add_vdso_rows(&r->source->header, table);
}

static int compare_paths(const void *a, const void *b)
{
	const struct hit_module *left = a, *right = b;
	return strcmp(left->path, right->path);
}

void build_id_table_make(const struct rewrite *r, const char *cache, struct writer *out)
{
	struct recording_facts table = { 0 }, cached = { 0 };
	if (r->out.aux.count) {
		add_all_rows(&r->source->header, 0, &table);
	} else {
		add_hit_modules(r, &table, &cached);
		buildid_cache_add(cache, &cached, NULL);
		if (table.modules.count)
			qsort(table.modules.items, table.modules.count, sizeof *table.modules.items, compare_paths);
	}
	if (r->guest.source)
		add_all_rows(&r->guest.source->header, r->guest.options->machine, &table);
	build_ids_body(&table, out);
	vec_fini(&table.modules);
	vec_fini(&cached.modules);
}
