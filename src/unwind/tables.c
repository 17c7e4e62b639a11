#include "unwind/tables.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/budget.h"
#include "unwind/compile.h"
#include "unwind/tables_internal.h"

enum {
	LOADING_LOCKS = 16,
	TABLE_OVERHEAD = 512, /* bytes charged for an empty table and its module's entry */
};

struct tables_loading {
	pthread_mutex_t locks[LOADING_LOCKS]; /* by module id: a second thread waits while a module is compiled */
};

static const char *option_copy(struct unwind_tables *t, const char *text)
{
	return text && *text ? arena_string(&t->arena, text, strlen(text)) : NULL;
}

struct unwind_tables *unwind_tables_new(const struct modules *modules, const struct image_options *options)
{
	struct unwind_tables *t = memory_zero(1, sizeof *t);
	t->modules = modules;
	if (options) {
		t->options = *options;
		t->options.symfs = option_copy(t, options->symfs);
		t->options.buildid_dir = option_copy(t, options->buildid_dir);
		t->options.vmlinux = option_copy(t, options->vmlinux);
		t->options.osrelease = option_copy(t, options->osrelease);
	}
	t->loading = memory_zero(1, sizeof *t->loading);
	for (unsigned i = 0; i < LOADING_LOCKS; i++)
		pthread_mutex_init(&t->loading->locks[i], NULL);
	return t;
}

static const struct rule_table no_table = { .arch = UNWIND_ARCHES };

/* Replaces a table that the budget refuses by an empty one. */
static void charge(struct unwind_tables *t, struct rule_table *table)
{
	if (budget_take(t->options.budget, rule_table_memory(table) + TABLE_OVERHEAD))
		return;
	rule_table_fini(table);
	*table = no_table;
}

static void table_drop(struct unwind_tables *t, struct rule_table *table)
{
	if (table && table->count)
		budget_give(t->options.budget, rule_table_memory(table) + TABLE_OVERHEAD);
	if (table)
		rule_table_fini(table);
	free(table);
}

static void chunk_free(struct unwind_tables *t, struct tables_chunk *chunk)
{
	for (unsigned i = 0; i < TABLES_CHUNK; i++) {
		table_drop(t, (struct rule_table *)(uintptr_t)atomic_load(&chunk->tables[i]));
		call_map_free((struct call_map *)(uintptr_t)atomic_load(&chunk->calls[i]));
	}
	free(chunk);
}

void unwind_tables_free(struct unwind_tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < sizeof t->chunks / sizeof *t->chunks; i++)
		if (atomic_load(&t->chunks[i]))
			chunk_free(t, atomic_load(&t->chunks[i]));
	for (unsigned i = 0; i < LOADING_LOCKS; i++)
		pthread_mutex_destroy(&t->loading->locks[i]);
	free(t->loading);
	arena_fini(&t->arena);
	free(t);
}

static struct tables_chunk *chunk_of(struct unwind_tables *t, uint32_t module)
{
	_Atomic(struct tables_chunk *) *place = &t->chunks[module / TABLES_CHUNK];
	struct tables_chunk *chunk = atomic_load(place);
	if (chunk)
		return chunk;
	struct tables_chunk *fresh = memory_zero(1, sizeof *fresh);
	if (atomic_compare_exchange_strong(place, &chunk, fresh))
		return fresh;
	free(fresh);
	return chunk;
}

static void compile(struct unwind_tables *t, struct rule_table *table, const struct elf *runtime, const struct elf *debug)
{
	if (!runtime || rules_compile(runtime, debug, t->options.budget, table, NULL) < 0)
		*table = no_table;
}

static bool has_section(const struct elf *elf, const char *name)
{
	const struct elf_section *section = elf_section(elf, name);
	return section && elf_section_bytes(elf, section).len;
}

static bool holds_code(const struct elf *elf)
{
	const struct elf_section *text = elf_section(elf, ".text");
	return text ? elf_section_bytes(elf, text).len != 0 : elf->load_count != 0;
}

/* The file that runs and its debug file may be one file, two, or only the former exists. */
static void compile_files(struct unwind_tables *t, const struct module *module, struct rule_table *table)
{
	struct image_search search;
	struct image found[2] = { 0 }, *runtime = NULL, *debug = NULL;
	unsigned count = 0;
	image_search_init(&search, module, &t->options);
	while (count < 2 && !(runtime && debug) && image_search_next(&search, &found[count])) {
		struct image *image = &found[count];
		if (!runtime && holds_code(&image->elf)) {
			runtime = image;
			count++;
			if (has_section(&image->elf, ".debug_frame"))
				debug = image;
		} else if (!debug && has_section(&image->elf, ".debug_frame")) {
			debug = image;
			count++;
		} else {
			image_close(image);
		}
	}
	image_search_fini(&search);
	compile(t, table, runtime ? &runtime->elf : NULL, debug && debug != runtime ? &debug->elf : NULL);
	image_close(&found[0]);
	image_close(&found[1]);
}

static void publish(struct unwind_tables *t, uint32_t module, struct rule_table *table)
{
	if (table->count)
		charge(t, table);
	/* needed registers first: a thread that sees the table must see them */
	struct tables_chunk *chunk = chunk_of(t, module);
	atomic_fetch_or(&t->needed, table->needed);
	atomic_fetch_add(&t->memory, rule_table_memory(table) + TABLE_OVERHEAD);
	atomic_store(&chunk->used[module % TABLES_CHUNK], atomic_load(&t->now));
	atomic_store_explicit(&chunk->tables[module % TABLES_CHUNK], table, memory_order_release);
}

static void publish_calls(struct unwind_tables *t, uint32_t module, const struct call_map *calls)
{
	struct tables_chunk *chunk = chunk_of(t, module);
	atomic_fetch_add(&t->memory, calls->memory);
	atomic_store_explicit(&chunk->calls[module % TABLES_CHUNK], calls, memory_order_release);
}

/* For a file that no longer exists the map is empty. */
static void load_calls(struct unwind_tables *t, const struct module *module)
{
	struct image_search search;
	struct image image = { 0 };
	bool found = false;
	image_search_init(&search, module, &t->options);
	while (!found && image_search_next(&search, &image))
		if (!(found = holds_code(&image.elf)))
			image_close(&image);
	image_search_fini(&search);
	publish_calls(t, module->id, call_map_new(found ? &image.elf : NULL, tables_of(t, module->id)));
	if (found)
		image_close(&image);
}

void unwind_tables_load(struct unwind_tables *t, const struct module *module)
{
	if (module->id >= UNWIND_MODULES_LIMIT)
		return;
	pthread_mutex_t *lock = &t->loading->locks[module->id % LOADING_LOCKS];
	pthread_mutex_lock(lock);
	if (!tables_of(t, module->id)) {
		struct rule_table *table = memory_zero(1, sizeof *table);
		table->arch = UNWIND_ARCHES;
		if (module->kind == MODULE_FILE || module->kind == MODULE_VDSO)
			compile_files(t, module, table);
		else if (module->kind == MODULE_JIT && rules_compile_jit(module->jit, table, NULL) < 0)
			*table = no_table;
		publish(t, module->id, table);
	}
	struct tables_chunk *chunk = chunk_of(t, module->id);
	if (atomic_load(&chunk->calls_wanted[module->id % TABLES_CHUNK]) && !atomic_load(&chunk->calls[module->id % TABLES_CHUNK]))
		load_calls(t, module);
	pthread_mutex_unlock(lock);
}

void unwind_tables_add(struct unwind_tables *t, const struct module *module, const struct elf *runtime, const struct elf *debug)
{
	if (module->id >= UNWIND_MODULES_LIMIT || tables_of(t, module->id))
		return;
	struct rule_table *table = memory_zero(1, sizeof *table);
	compile(t, table, runtime, debug);
	publish(t, module->id, table);
	publish_calls(t, module->id, call_map_new(runtime, table));
}

size_t unwind_tables_memory(const struct unwind_tables *t)
{
	return atomic_load(&t->memory);
}

bool unwind_tables_tried(const struct unwind_tables *t, uint32_t module)
{
	return tables_of(t, module) != NULL;
}

/* A table that may be dropped. */
struct trimmed {
	uint32_t module, age;
	size_t bytes;
};

static int compare_ages(const void *a, const void *b)
{
	const struct trimmed *x = a, *y = b;
	return x->age != y->age ? (x->age < y->age ? 1 : -1) : (x->module > y->module) - (x->module < y->module);
}

static void drop(struct unwind_tables *t, const struct trimmed *trimmed)
{
	struct tables_chunk *chunk = chunk_of(t, trimmed->module);
	struct rule_table *table = (struct rule_table *)(uintptr_t)atomic_exchange(&chunk->tables[trimmed->module % TABLES_CHUNK], NULL);
	atomic_fetch_sub(&t->memory, trimmed->bytes);
	table_drop(t, table);
	call_map_free((struct call_map *)(uintptr_t)atomic_exchange(&chunk->calls[trimmed->module % TABLES_CHUNK], NULL));
	atomic_store(&chunk->calls_wanted[trimmed->module % TABLES_CHUNK], false);
}

/* Bytes used by a module with a compiled table. */
static size_t module_bytes(const struct unwind_tables *t, uint32_t module)
{
	const struct call_map *calls = atomic_load(&atomic_load(&t->chunks[module / TABLES_CHUNK])->calls[module % TABLES_CHUNK]);
	return rule_table_memory(tables_of(t, module)) + TABLE_OVERHEAD + (calls ? calls->memory : 0);
}

void unwind_tables_trim(struct unwind_tables *t, size_t most, bool (*counts)(void *context, uint32_t module), void *context)
{
	enum { AGE_MAX = 2 };
	VEC(struct trimmed) list = { 0 };
	uint32_t now = atomic_fetch_add(&t->now, 1) + 1;
	size_t all = 0;
	for (uint32_t i = 0; i < t->modules->list.count && i < UNWIND_MODULES_LIMIT; i++) {
		const struct rule_table *table = tables_of(t, i);
		if (!table || (counts && !counts(context, i)))
			continue;
		uint32_t age = now - atomic_load(&chunk_of(t, i)->used[i % TABLES_CHUNK]);
		size_t bytes = module_bytes(t, i);
		all += bytes;
		if (age >= AGE_MAX)
			vec_push(&list, ((struct trimmed){ .module = i, .age = age, .bytes = bytes }));
	}
	if (all > most && list.count)
		qsort(list.items, list.count, sizeof *list.items, compare_ages);
	for (size_t i = 0; i < list.count && all > most; i++) {
		all -= list.items[i].bytes;
		drop(t, &list.items[i]);
	}
	vec_fini(&list);
}

bool unwind_tables_has(const struct unwind_tables *t, const struct module *module)
{
	const struct rule_table *table = tables_of(t, module->id);
	return table && table->arch != UNWIND_ARCHES;
}

struct unwind_counters unwind_tables_counters(const struct unwind_tables *t)
{
	struct unwind_counters counters = { 0 };
	for (uint32_t i = 0; i < t->modules->list.count && i < UNWIND_MODULES_LIMIT; i++) {
		const struct rule_table *table = tables_of(t, i);
		if (!table)
			continue;
		if (table->has_info)
			counters.modules++;
		else
			counters.modules_without++;
		counters.rules += table->count;
		counters.damaged_entries += table->damaged;
		counters.memory += rule_table_memory(table);
	}
	return counters;
}
