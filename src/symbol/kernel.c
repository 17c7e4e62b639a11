/* The kernel and its modules: a file where there is one, otherwise the kernel's own list, of the running machine only
 * where it is the kernel that was recorded. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/file.h"
#include "model/model.h"
#include "symbol/load.h"
#include "symbol/load_elf.h"

#define KALLSYMS_LIMIT ((size_t)512 << 20)

/* Opens a list of that path and finds out how far the kernel was moved since. */
static bool kallsyms_open(struct symbol_sources *s, const struct module *kernel, const char *path)
{
	char *text;
	size_t len;
	struct error err = { 0 };
	int failed = rooted_read(-1, path, KALLSYMS_LIMIT, &text, &len, &err) < 0;
	image_trail_note(s->kernel_trail, "", path, 'k', failed ? image_finding_of(&err) : IMAGE_USED);
	if (failed)
		return false;
	if (kernel && kernel->relocation_symbol && kernel->relocation) {
		uint64_t now = kallsyms_address(text, len, kernel->relocation_symbol);
		s->kallsyms_shift = (int64_t)(kernel->relocation - now);
		if (!now) {
			image_trail_mark(s->kernel_trail, IMAGE_DAMAGED);
			bool zeros = len > 17 && strspn(text, "0") == 16;
			s->kallsyms_info.state = zeros ? SYMTAB_HIDDEN : SYMTAB_DAMAGED;
			free(text);
			return true;
		}
	}
	/* one byte more, as a last line without newline needs room for its NUL */
	kallsyms_parse(&s->kallsyms, memory_resize(text, len + 1, 1), len);
	bool none = s->kallsyms.kernel.count == 0 && s->kallsyms.in_modules_count == 0;
	s->kallsyms_info = (struct symtab_info){ .origin = 'k', .path = arena_string(&s->arena, path, strlen(path)) };
	s->kallsyms_info.state = s->kallsyms.hidden ? SYMTAB_HIDDEN : none ? SYMTAB_DAMAGED : SYMTAB_LOADED;
	return true;
}

static bool kallsyms_cached(struct symbol_sources *s, const struct module *kernel)
{
	char path[IMAGE_PATH_MAX], hex[2 * ELF_BUILD_ID_MAX + 1];
	uint8_t len = kernel->build_id_len < ELF_BUILD_ID_MAX ? kernel->build_id_len : ELF_BUILD_ID_MAX;
	if (!s->options.buildid_dir)
		return false;
	if (buildid_cache_path(s->options.buildid_dir, kernel->build_id, len, "kallsyms", path, sizeof path) &&
	    kallsyms_open(s, kernel, path))
		return true;
	/* as older recorders left it: a folder, or the list itself */
	build_id_hex(kernel->build_id, len, hex);
	static const char *const leaves[] = { "/kallsyms", "" };
	for (unsigned i = 0; i < 2; i++) {
		int n = snprintf(path, sizeof path, "%s/[kernel.kallsyms]/%s%s", s->options.buildid_dir, hex, leaves[i]);
		if (n > 0 && (size_t)n < sizeof path && kallsyms_open(s, kernel, path))
			return true;
	}
	return false;
}

static void kallsyms_find(struct symbol_sources *s, const struct module *kernel)
{
	s->kallsyms_info = (struct symtab_info){ .state = SYMTAB_MISSING, .path = "", .origin = '!' };
	if (s->options.kallsyms) {
		kallsyms_open(s, kernel, s->options.kallsyms);
		return;
	}
	if (s->options.symfs)
		return;
	uint8_t own[ELF_BUILD_ID_MAX], own_len;
	bool known = kernel && kernel->build_id_len;
	own_len = known && !s->options.no_kernel_lookup ? image_kernel_build_id("/sys/kernel/notes", own) : 0;
	bool same = known && build_id_equal(kernel->build_id, kernel->build_id_len, own, own_len);
	if (!s->options.no_kernel_lookup && (!known || same) && kallsyms_open(s, kernel, "/proc/kallsyms"))
		return;
	if (own_len && !same) {
		image_trail_note(s->kernel_trail, "", "/proc/kallsyms", 'k', IMAGE_OTHER_BUILD);
		image_trail_build(s->kernel_trail, own, own_len);
	}
	if (known && !kallsyms_cached(s, kernel) && own_len)
		s->kallsyms_info.state = SYMTAB_MISMATCH;
}

static const struct module *kernel_of_host(const struct symbol_sources *s)
{
	for (size_t i = 0; i < s->modules->list.count; i++) {
		const struct module *module = s->modules->list.items[i];
		if (module->kind == MODULE_KERNEL && !module->guest)
			return module;
	}
	return NULL;
}

/* The list, loaded at the first call; s->kernel_lock is held until kallsyms_put. */
static struct kallsyms *kallsyms_get(struct symbol_sources *s, struct symtab *tab)
{
	pthread_mutex_lock(&s->kernel_lock);
	s->kernel_trail = s->options.verbose > 0 ? &tab->trail : NULL;
	if (!s->kallsyms_tried)
		kallsyms_find(s, kernel_of_host(s));
	s->kallsyms_tried = true;
	return &s->kallsyms;
}

static void kallsyms_put(struct symbol_sources *s)
{
	pthread_mutex_unlock(&s->kernel_lock);
}

static size_t parts_of(const struct elf *elf, uint64_t relocation, struct kernel_part *parts, size_t max)
{
	size_t count = 0;
	for (uint32_t i = 1; i < elf->section_count && count < max; i++) {
		const struct elf_section *section = &elf->sections[i];
		uint64_t start = section->address + relocation;
		if (section->flags & SHF_ALLOC && section->address && start + section->size > start)
			parts[count++] = (struct kernel_part){ .section = section->name, .start = start, .end = start + section->size,
				.offset = section->offset };
	}
	return count;
}

size_t load_kernel_parts(struct symbol_sources *s, const struct module *kernel, struct kernel_part *parts, size_t max)
{
	struct image_search search;
	struct image image;
	size_t count = 0;
	bool found;
	if (s->options.kallsyms)
		return 0;
	image_search_init(&search, kernel, &s->image_options);
	search.offline = true;
	while ((found = image_search_next(&search, &image)) && !elf_has_symtab(&image.elf))
		image_close(&image);
	image_search_fini(&search);
	if (!found)
		return 0;
	if (elf_section(&image.elf, ".text"))
		count = parts_of(&image.elf, load_elf_relocation(&image.elf, kernel->relocation_symbol, kernel->relocation), parts, max);
	for (size_t i = 0; i < count; i++)
		parts[i].section = arena_string(&s->arena, parts[i].section, strlen(parts[i].section));
	image_close(&image);
	return count;
}

void load_kernel(struct symbol_sources *s, const struct module *module, struct symtab *tab)
{
	if (module->guest)
		return;
	if (!s->options.kallsyms)
		load_files(s, module, tab);
	if (tab->table.count || module->section || (s->options.vmlinux && !s->options.no_vmlinux && !s->options.kallsyms))
		return;
	enum symtab_state of_files = tab->info.state;
	struct kallsyms *k = kallsyms_get(s, tab);
	tab->info = s->kallsyms_info;
	if (tab->info.state == SYMTAB_MISSING)
		tab->info.state = of_files;
	tab->demangler.off = true;
	table_fini(&tab->table);
	/* the list stays for the modules; the kernel's own part moves over here */
	tab->table = k->kernel;
	k->kernel = (struct symbol_table){ 0 };
	kallsyms_put(s);
	for (uint32_t i = 0; i < tab->table.count && s->kallsyms_shift; i++) {
		tab->table.symbols[i].start += (uint64_t)s->kallsyms_shift;
		tab->table.symbols[i].end += (uint64_t)s->kallsyms_shift;
	}
}

void load_kernel_module(struct symbol_sources *s, const struct module *module, struct symtab *tab)
{
	if (module->guest)
		return;
	load_files(s, module, tab);
	if (tab->table.count)
		return;
	table_fini(&tab->table);
	const struct kallsyms *k = kallsyms_get(s, tab);
	kallsyms_module(k, module->short_name, module->start, &tab->table);
	tab->demangler.off = true;
	if (tab->table.count)
		tab->info = s->kallsyms_info;
	kallsyms_put(s);
}
