#include "symbol/load.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "elf/symtab.h"
#include "image/file.h"
#include "image/perf_map_file.h"
#include "image/recorded_process.h"
#include "model/jit.h"
#include "symbol/go_table.h"
#include "symbol/load_elf.h"
#include "symbol/perf_map.h"

#define PERF_MAP_LIMIT ((size_t)512 << 20)
/* Bytes that its symbols take per byte of the map during loading: a line has more than 16 bytes. */
#define PERF_MAP_GROWTH 8u
/* The largest string tables that are copied: as much as Linux maps around an access to a file. */
#define NAMES_COPIED ((size_t)64 << 10)
/* A power of two. */
#define RECENT 1024u

static const char *option_copy(struct symbol_sources *s, const char *text)
{
	return text && *text ? arena_string(&s->arena, text, strlen(text)) : NULL;
}

void sources_init(struct symbol_sources *s, const struct modules *modules, const struct symbols_options *options)
{
	*s = (struct symbol_sources){ .modules = modules, .options = *options };
	s->options.symfs = option_copy(s, options->symfs);
	s->options.vmlinux = option_copy(s, options->vmlinux);
	s->options.kallsyms = option_copy(s, options->kallsyms);
	s->options.guests = (struct guest_files){ option_copy(s, options->guests.mount), option_copy(s, options->guests.vmlinux),
		option_copy(s, options->guests.kallsyms) };
	s->options.buildid_dir = option_copy(s, options->buildid_dir);
	s->options.osrelease = option_copy(s, options->osrelease);
	s->options.kernel_cache_dir = option_copy(s, options->kernel_cache_dir);
	s->image_options = (struct image_options){ .symfs = s->options.symfs, .buildid_dir = s->options.buildid_dir,
		.vmlinux = s->options.vmlinux, .osrelease = s->options.osrelease, .no_vmlinux = options->no_vmlinux,
		.same_machine = options->same_machine, .processes_until = options->processes_until,
		.debuginfod = options->debuginfod, .budget = options->budget };
	pthread_mutex_init(&s->kernel_lock, NULL);
}

void sources_fini(struct symbol_sources *s)
{
	pthread_mutex_destroy(&s->kernel_lock);
	kallsyms_fini(&s->host.list);
	for (size_t i = 0; i < s->guests.count; i++)
		kallsyms_fini(&s->guests.items[i].list);
	vec_fini(&s->guests);
	kernel_cache_close(&s->cache);
	arena_fini(&s->arena);
}

struct chosen {
	const struct image *symbols, *runtime;
	const struct elf *dynamic;
};

/* Chooses the first file with a symbol table, and the first executable file; often the same. tab->images owns them. */
static struct chosen choose_images(struct symtab *tab, struct image_search *search)
{
	struct chosen c = { 0 };
	unsigned used = 0;
	/* for kernel code the file with the symbol table suffices */
	bool alone = search->module->kind == MODULE_KERNEL || search->module->kind == MODULE_KMODULE;
	while (used < 2 && !(c.symbols && (c.runtime || alone)) && image_search_next(search, &tab->images[used])) {
		struct image *image = &tab->images[used];
		bool wanted = false;
		if (!c.symbols && elf_has_symtab(&image->elf)) {
			c.symbols = image;
			wanted = true;
		}
		if (!c.runtime && (elf_has_dynsym(&image->elf) || elf_has_opd(&image->elf) || go_table_has(&image->elf))) {
			c.runtime = image;
			wanted = true;
		}
		if (wanted) {
			image_trail_mark(search->trail, IMAGE_USED);
			/* then function names need no server */
			search->offline |= image == c.runtime && elf_section(&image->elf, ".gnu_debugdata");
			used++;
		} else {
			image_close(image);
		}
	}
	if (c.runtime && !c.symbols && used == 1 && image_open_debugdata(&tab->images[1], c.runtime, NULL) == 0) {
		tab->images[1].origin = 'n';
		image_trail_note(search->trail, c.runtime->path, "(.gnu_debugdata)", 'n', IMAGE_USED);
		c.symbols = &tab->images[1];
		c.dynamic = &c.runtime->elf;
	}
	c.symbols = c.symbols ? c.symbols : c.runtime;
	c.runtime = c.runtime ? c.runtime : c.symbols;
	if (!c.dynamic && c.symbols)
		c.dynamic = &c.symbols->elf;
	return c;
}

void load_files(struct symbol_sources *s, const struct module *module, struct symtab *tab)
{
	load_files_of(s, &s->image_options, module, tab);
}

static bool span_holds(struct span span, const char *text)
{
	return (uintptr_t)text - (uintptr_t)span.data < span.len;
}

/* Copies the names of a small table, so that its file need not stay mapped: an access to one name would bring in NAMES_COPIED bytes of the
 * file, and a process has a limited number of mappings. */
static void symtab_copy_names(struct symbol_sources *s, const struct elf_load_request *request, struct symtab *tab)
{
	struct span tables[2] = {
		elf_symtab(request->symbols, elf_section(request->symbols, ".symtab")).strings,
		elf_symtab(request->dynamic, elf_section(request->dynamic, ".dynsym")).strings,
	};
	size_t bytes = tables[0].len + tables[1].len;
	if (!bytes || bytes > NAMES_COPIED || !tab->table.count || !budget_take(s->options.budget, bytes))
		return;
	tab->taken += s->options.budget ? bytes : 0;
	tab->text = memory_alloc(bytes + 1);
	tab->text[bytes] = '\0'; /* whatever was written to the file meanwhile */
	char *at = tab->text;
	for (unsigned k = 0; k < 2; at += tables[k++].len)
		if (tables[k].len)
			memcpy(at, tables[k].data, tables[k].len);
	bool borrowed[2] = { false, false };
	for (uint32_t i = 0; i < tab->table.count; i++) {
		struct symbol *symbol = &tab->table.symbols[i];
		if (span_holds(tables[0], symbol->name))
			symbol->name = tab->text + (symbol->name - (const char *)tables[0].data);
		else if (span_holds(tables[1], symbol->name))
			symbol->name = tab->text + tables[0].len + (symbol->name - (const char *)tables[1].data);
		for (unsigned k = 0; k < 2; k++)
			borrowed[k] |= span_holds(tab->images[k].mapping, symbol->name);
	}
	for (unsigned k = 0; k < 2; k++)
		if (!borrowed[k])
			rooted_unmap(&tab->images[k].mapping);
	tab->own_text = (struct span){ (const uint8_t *)tab->text, bytes };
}

void load_files_of(struct symbol_sources *s, const struct image_options *where, const struct module *module, struct symtab *tab)
{
	struct image_search search;
	image_search_init(&search, module, where);
	search.trail = s->options.verbose > 0 ? &tab->trail : NULL;
	struct chosen c = choose_images(tab, &search);
	image_search_fini(&search);
	tab->info.state = search.mismatched ? SYMTAB_MISMATCH : search.damaged ? SYMTAB_DAMAGED : SYMTAB_MISSING;
	bool kernel = module->kind == MODULE_KERNEL, kmodule = module->kind == MODULE_KMODULE;
	/* for kernel code only a full symbol table is better than kallsyms */
	if (!c.symbols || ((kernel || kmodule) && !elf_has_symtab(&c.symbols->elf)))
		return;
	tab->demangler = (struct demangler){ .off = s->options.no_demangle, .params = s->options.verbose > 0 };
	if (kernel || kmodule)
		tab->demangler.off = !s->options.demangle_kernel;
	struct elf_load_request request = { .symbols = &c.symbols->elf, .runtime = &c.runtime->elf, .dynamic = c.dynamic,
		.use = kernel ? ELF_USE_KERNEL : kmodule ? ELF_USE_KMODULE : ELF_USE_FILE,
		.relocation_symbol = module->relocation_symbol, .relocation = module->relocation, .section = module->section,
		.aliases = s->options.aliases, .unsearched = s->options.unsearched, .demangler = &tab->demangler,
		.budget = s->options.budget, .names = &tab->names };
	tab->taken = load_elf(&request, &tab->table);
	tab->info.path = c.symbols->path;
	/* a name given without a slash is reported as given */
	bool bare = kernel && c.symbols->root_len && s->options.vmlinux && *s->options.vmlinux != '/';
	tab->info.root_len = c.symbols->root_len + bare;
	const struct elf_section *text = kmodule ? elf_section(&c.symbols->elf, ".text") : NULL;
	tab->info.text_at = text ? text->offset : 0;
	tab->info.origin = c.symbols->origin;
	symtab_copy_names(s, &request, tab);
	/* only the strings are needed from here on; the kernel reads pages again on access */
	for (unsigned i = 0; i < 2; i++) {
		elf_close(&tab->images[i].elf);
		rooted_release(tab->images[i].mapping);
	}
}

/* Copies the text that the recording has; 0: it has none. */
static int recorded_text(const struct symbol_sources *s, int32_t pid, size_t limit, char **text, size_t *len, struct error *err)
{
	for (size_t i = s->options.perf_map_count; i-- > 0;) {
		const struct recorded_perf_map *map = &s->options.perf_maps[i];
		if (map->pid != pid)
			continue;
		if (map->len > limit)
			return error_set(err, ERROR_LIMIT, "the memory limit leaves no room for %zu bytes of a perf map", map->len);
		*text = memory_alloc(map->len + 1);
		memcpy(*text, map->text, map->len);
		*len = map->len;
		return 1;
	}
	return 0;
}

static void load_perf_map(const struct symbol_sources *s, const struct module *module, struct symtab *tab)
{
	char *text;
	size_t len;
	struct image_trail *trail = s->options.verbose > 0 ? &tab->trail : NULL;
	tab->demangler.off = true;
	struct error err = { 0 };
	size_t left = budget_left(s->options.budget) / PERF_MAP_GROWTH;
	int32_t pid = recorded_process(module->pid, s->options.processes_until, NULL);
	left = left < PERF_MAP_LIMIT ? left : PERF_MAP_LIMIT;
	int found = recorded_text(s, module->pid, left, &text, &len, &err);
	int failed = found < 0 || (!found && perf_map_file_read(module, pid, s->options.force, left, &text, &len, &err) < 0);
	if (!failed && !budget_take(s->options.budget, len * PERF_MAP_GROWTH)) {
		free(text);
		failed = error_set(&err, ERROR_LIMIT, "the memory limit leaves no room for %zu bytes of a file", len);
	}
	if (failed && err.kind == ERROR_LIMIT)
		budget_refuse(s->options.budget);
	image_trail_note(trail, "", module->name, 'j', failed ? image_finding_of(&err) : IMAGE_USED);
	if (failed && err.kind == ERROR_PERMISSION)
		tab->info.state = SYMTAB_FOREIGN;
	if (failed)
		return;
	perf_map_parse(memory_resize(text, len + 1, 1), len, &tab->table, &tab->text);
	tab->taken = tab->table.count * (sizeof(struct symbol) + sizeof(char *));
	if (tab->taken > len * PERF_MAP_GROWTH)
		tab->taken = len * PERF_MAP_GROWTH;
	budget_give(s->options.budget, len * PERF_MAP_GROWTH - tab->taken);
	tab->info.path = module->name;
	tab->info.origin = 'j';
}

/* The dump was read with the recording: only names by offset remain. */
static void load_jit(const struct symbol_sources *s, const struct module *module, struct symtab *tab)
{
	const struct jit *jit = module->jit;
	tab->demangler = (struct demangler){ .off = s->options.no_demangle, .params = s->options.verbose > 0 };
	tab->table.symbols = memory_zero(jit->codes.count ? jit->codes.count : 1, sizeof *tab->table.symbols);
	for (size_t i = 0; i < jit->codes.count; i++) {
		const struct jit_code *code = &jit->codes.items[i];
		tab->table.symbols[i] = (struct symbol){ .start = code->offset, .end = code->offset + code->size, .name = code->name,
			.type = STT_FUNC, .order = (uint32_t)i };
	}
	tab->table.count = (uint32_t)jit->codes.count;
	tab->info.path = module->long_name;
	tab->info.origin = 'd';
}

static void load_alone(const struct module *module, struct symtab *tab)
{
	tab->demangler.off = true;
	tab->alone = (struct symbol){ .end = module->size, .name = module->name };
	tab->table = (struct symbol_table){ .symbols = &tab->alone, .count = 1 };
}

/* The letter while no file is found: a kernel module is recognized by its name, compressed or not. */
static char origin_before(const struct module *module)
{
	if (module->kind != MODULE_KMODULE)
		return '!';
	const char *ending = strrchr(module->long_name, '.');
	return ending && (!strcmp(ending, ".gz") || !strcmp(ending, ".xz") || !strcmp(ending, ".zst")) ? 'm' : 'K';
}

struct symtab *symtab_load(struct symbol_sources *s, const struct module *module)
{
	struct symtab *tab = memory_zero(1, sizeof *tab);
	pthread_mutex_init(&tab->unpacking, NULL);
	tab->info = (struct symtab_info){ .state = SYMTAB_MISSING, .path = "", .origin = origin_before(module) };
	switch (module->kind) {
	case MODULE_FILE:
	case MODULE_VDSO:
		load_files(s, module, tab);
		break;
	case MODULE_KERNEL:
		load_kernel(s, module, tab);
		break;
	case MODULE_KMODULE:
		load_kernel_module(s, module, tab);
		break;
	case MODULE_ANON:
		load_perf_map(s, module, tab);
		break;
	case MODULE_JIT:
		load_jit(s, module, tab);
		break;
	case MODULE_KSYMBOL:
		load_alone(module, tab);
		break;
	case MODULE_NONE:
		break;
	}
	tab->info.count = tab->table.count;
	if (tab->table.count) {
		tab->info.state = SYMTAB_LOADED;
		tab->shown = memory_zero(tab->table.count, sizeof *tab->shown);
	} else {
		image_close(&tab->images[0]);
		image_close(&tab->images[1]);
		tab->info.path = "";
	}
	return tab;
}

void symtab_free(struct symbol_sources *s, struct symtab *tab)
{
	budget_give(s->options.budget, tab->taken);
	module_lines_free(tab->lines);
	if (tab->table.symbols == &tab->alone)
		tab->table.symbols = NULL;
	table_fini(&tab->table);
	idmap_fini(&tab->ids);
	free(tab->recent);
	free(tab->shown);
	image_close(&tab->images[0]);
	image_close(&tab->images[1]);
	free(tab->text);
	arena_fini(&tab->names);
	image_trail_fini(&tab->trail);
	pthread_mutex_destroy(&tab->unpacking);
	free(tab);
}

void symtab_take_packed(struct symtab *tab, const struct packed_symbols *packed, const struct kernel_cache *cache)
{
	tab->packed = *packed;
	tab->cache = cache;
	tab->table.count = packed->count;
	tab->table.symbols = memory_zero(packed->count, sizeof *tab->table.symbols);
	tab->recent = memory_zero(RECENT, sizeof *tab->recent);
}

static uint32_t symtab_unpack(struct symtab *tab, uint32_t place)
{
	pthread_mutex_lock(&tab->unpacking);
	bool fresh;
	uint32_t id = idmap_add(&tab->ids, place, tab->unpacked + 1, &fresh);
	if (fresh)
		kernel_cache_get(tab->cache, &tab->packed, place, &tab->table.symbols[tab->unpacked++], &tab->names);
	atomic_store_explicit(&tab->recent[place % RECENT], (uint64_t)place << 32 | id, memory_order_release);
	pthread_mutex_unlock(&tab->unpacking);
	return id;
}

uint32_t symtab_find(struct symtab *tab, uint64_t offset)
{
	if (tab->table.parts || !tab->packed.count) /* a table with parts is not packed, which another cache line says */
		return table_find(&tab->table, offset);
	uint32_t place = packed_find(&tab->packed, offset);
	if (!place)
		return 0;
	uint64_t recent = atomic_load_explicit(&tab->recent[place % RECENT], memory_order_acquire);
	uint32_t id = recent >> 32 == place ? (uint32_t)recent : symtab_unpack(tab, place);
	return symbol_holds(&tab->table.symbols[id - 1], offset) ? id : 0;
}

bool symtab_extent(const struct symtab *tab, uint64_t *start, uint64_t *end)
{
	struct symbol first, last;
	if (!tab->table.count)
		return false;
	first = tab->table.symbols[0];
	last = tab->table.symbols[tab->table.count - 1];
	if (tab->packed.count) {
		struct arena names = { 0 };
		kernel_cache_get(tab->cache, &tab->packed, 1, &first, &names);
		kernel_cache_get(tab->cache, &tab->packed, tab->packed.count, &last, &names);
		arena_fini(&names);
	}
	*start = first.start;
	*end = last.end;
	return true;
}

bool symtab_named(const struct symtab *tab, const char *name, uint64_t *start, uint64_t *end)
{
	struct arena names = { 0 };
	bool found = false;
	for (uint32_t i = 0, count = tab->packed.count ? tab->packed.count : tab->table.count; i < count && !found; i++) {
		struct symbol symbol;
		if (tab->packed.count)
			kernel_cache_get(tab->cache, &tab->packed, i + 1, &symbol, &names);
		else
			symbol = tab->table.symbols[i];
		found = strcmp(symbol.name, name) == 0;
		*start = symbol.start;
		*end = symbol.end;
		if (tab->packed.count)
			arena_clear(&names);
	}
	arena_fini(&names);
	return found;
}
