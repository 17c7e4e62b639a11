/* Symbols of the kernel and its modules: from a file if one is found, otherwise from a symbol list; the running kernel's list is used only
 * if the recording is of the running kernel. */
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/memory.h"
#include "image/file.h"
#include "model/model.h"
#include "os/file.h"
#include "os/kernel_state.h"
#include "symbol/load.h"
#include "symbol/load_elf.h"

#define KALLSYMS_LIMIT ((size_t)512 << 20)
#define RUNNING_KALLSYMS "/proc/kallsyms"

/* Opens the list at that path, as seen from root (-1: ours), whose name is dir, and determines how far the kernel was moved since. */
static bool list_open(struct symbol_sources *s, struct kernel_list *list, const struct module *kernel, int root, const char *dir,
	const char *below)
{
	char path[2 * IMAGE_PATH_MAX];
	char *text;
	size_t len;
	struct error err = { 0 };
	snprintf(path, sizeof path, "%s%s", dir, below);
	int failed = rooted_read(root, below, KALLSYMS_LIMIT, &text, &len, &err) < 0;
	image_trail_note(s->kernel_trail, "", path, 'k', failed ? image_finding_of(&err) : IMAGE_USED);
	if (failed)
		return false;
	if (kernel && kernel->relocation_symbol && kernel->relocation) {
		uint64_t now = kallsyms_address(text, len, kernel->relocation_symbol);
		list->shift = (int64_t)(kernel->relocation - now);
		if (!now) {
			image_trail_mark(s->kernel_trail, IMAGE_DAMAGED);
			bool zeros = len > 17 && strspn(text, "0") == 16;
			list->info.state = zeros ? SYMTAB_HIDDEN : SYMTAB_DAMAGED;
			free(text);
			return true;
		}
	}
	/* one byte more: a last line without newline needs room for its NUL */
	kallsyms_parse(&list->list, memory_resize(text, len + 1, 1), len);
	bool none = list->list.kernel.count == 0 && list->list.in_modules_count == 0;
	list->info = (struct symtab_info){ .origin = 'k', .path = arena_string(&s->arena, path, strlen(path)) };
	list->info.state = list->list.hidden ? SYMTAB_HIDDEN : none ? SYMTAB_DAMAGED : SYMTAB_LOADED;
	return true;
}

static bool kallsyms_open_from(struct symbol_sources *s, const struct module *kernel, int root, const char *dir, const char *below)
{
	return list_open(s, &s->host, kernel, root, dir, below);
}

static bool kallsyms_open(struct symbol_sources *s, const struct module *kernel, const char *path)
{
	return kallsyms_open_from(s, kernel, -1, "", path);
}

static void note_cache(struct symbol_sources *s, enum image_finding finding)
{
	CLEANUP_STR struct str path = { 0 };
	if (s->kernel_trail)
		str_printf(&path, "%s/perfuse/%s", s->options.kernel_cache_dir, KERNEL_CACHE_NAME);
	image_trail_note(s->kernel_trail, "", str_text(&path), 'k', finding);
}

/* Searches the list of the running kernel that an earlier run cached. */
static bool cache_find(struct symbol_sources *s, const struct module *kernel, uint64_t state)
{
	struct error err = { 0 };
	if (kernel_cache_open(s->options.kernel_cache_dir, state, &s->cache, &err) < 0) {
		note_cache(s, err.kind == ERROR_FORMAT ? IMAGE_OUTDATED : image_finding_of(&err));
		return false;
	}
	const char *mark = kernel && kernel->relocation ? kernel->relocation_symbol : NULL;
	uint64_t now = !mark ? 0 : strcmp(mark, "_text") == 0 ? s->cache.list.marks.text :
		strcmp(mark, "_stext") == 0 ? s->cache.list.marks.stext : 0;
	note_cache(s, mark && !now ? IMAGE_UNUSED : IMAGE_USED);
	if (mark && !now) {
		kernel_cache_close(&s->cache);
		return false;
	}
	s->host.shift = mark ? (int64_t)(kernel->relocation - now) : 0;
	s->host.info = (struct symtab_info){ .origin = 'k', .path = RUNNING_KALLSYMS, .state = SYMTAB_LOADED };
	return true;
}

/* Reading the running kernel's list costs as much as thousands of samples: the kernel formats each line when it is read. */
static bool kallsyms_running(struct symbol_sources *s, const struct module *kernel)
{
	uint64_t state = s->options.kernel_cache_dir ? kernel_state("") : 0;
	if (state && cache_find(s, kernel, state))
		return true;
	if (!kallsyms_open(s, kernel, RUNNING_KALLSYMS))
		return false;
	/* a module loaded or removed meanwhile may or may not be in the list */
	if (state && s->host.info.state == SYMTAB_LOADED && kernel_state("") == state &&
	    kernel_cache_save(s->options.kernel_cache_dir, state, &s->host.list, NULL) < 0)
		note_cache(s, IMAGE_UNWRITTEN);
	return true;
}

static bool kallsyms_cached(struct symbol_sources *s, const struct module *kernel)
{
	char path[IMAGE_PATH_MAX], hex[2 * ELF_BUILD_ID_MAX + 1];
	uint8_t len = kernel->build_id_len < ELF_BUILD_ID_MAX ? kernel->build_id_len : ELF_BUILD_ID_MAX;
	const char *dir = s->options.buildid_dir;
	CLEANUP_FD int root = dir ? buildid_cache_root(dir, NULL) : -1;
	if (root < 0)
		return false;
	if (buildid_cache_path("", kernel->build_id, len, "kallsyms", path, sizeof path) && kallsyms_open_from(s, kernel, root, dir, path))
		return true;
	/* older recorders stored either a folder or the list itself */
	build_id_hex(kernel->build_id, len, hex);
	static const char *const leaves[] = { "/kallsyms", "" };
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "/[kernel.kallsyms]/%s%s", hex, leaves[i]);
		if (kallsyms_open_from(s, kernel, root, dir, path))
			return true;
	}
	return false;
}

/* Without build-ids the release decides: a kernel of another release has other code. */
static bool is_other_release(const struct symbol_sources *s)
{
	struct utsname uts;
	return s->options.osrelease && uname(&uts) == 0 && strcmp(s->options.osrelease, uts.release) != 0;
}

/* Whether --symfs is the files of another machine; "/" is those of this one. */
static bool has_other_root(const struct symbol_sources *s)
{
	char path[PATH_MAX];
	const char *symfs = s->options.symfs;
	return symfs && *symfs && (!realpath(symfs, path) || strcmp(path, "/") != 0);
}

static void kallsyms_find(struct symbol_sources *s, const struct module *kernel)
{
	s->host.info = (struct symtab_info){ .state = SYMTAB_MISSING, .path = "", .origin = '!' };
	if (s->options.kallsyms) {
		kallsyms_open(s, kernel, s->options.kallsyms);
		return;
	}
	if (has_other_root(s))
		return;
	uint8_t own[ELF_BUILD_ID_MAX], own_len;
	bool known = kernel && kernel->build_id_len;
	if (!known && !s->options.no_kernel_lookup && is_other_release(s)) {
		image_trail_note(s->kernel_trail, "", RUNNING_KALLSYMS, 'k', IMAGE_OTHER_BUILD);
		s->host.info.state = SYMTAB_MISMATCH;
		return;
	}
	own_len = known && !s->options.no_kernel_lookup ? image_kernel_build_id("/sys/kernel/notes", own) : 0;
	bool same = known && build_id_equal(kernel->build_id, kernel->build_id_len, own, own_len);
	if (!s->options.no_kernel_lookup && (!known || same) && kallsyms_running(s, kernel))
		return;
	if (own_len && !same) {
		image_trail_note(s->kernel_trail, "", RUNNING_KALLSYMS, 'k', IMAGE_OTHER_BUILD);
		image_trail_build(s->kernel_trail, own, own_len);
	}
	if (known && !kallsyms_cached(s, kernel) && own_len)
		s->host.info.state = SYMTAB_MISMATCH;
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

/* Loads the list at the first call; s->kernel_lock is held until kallsyms_put. */
static void kallsyms_get(struct symbol_sources *s, struct symtab *tab)
{
	pthread_mutex_lock(&s->kernel_lock);
	s->kernel_trail = s->options.verbose > 0 ? &tab->trail : NULL;
	if (!s->host.tried)
		kallsyms_find(s, kernel_of_host(s));
	s->host.tried = true;
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

static void shift_symbols(struct symtab *tab, int64_t shift)
{
	tab->table.first += (uint64_t)shift;
	for (uint32_t i = 0; i < tab->table.count && shift; i++) {
		tab->table.symbols[i].start += (uint64_t)shift;
		tab->table.symbols[i].end += (uint64_t)shift;
	}
}

/* Whose files can be anything: the path is resolved below its root, and what is no regular file is not read. */
static void guest_list_find(struct symbol_sources *s, struct kernel_list *list, const struct module *kernel)
{
	char dir[IMAGE_PATH_MAX];
	list->info = (struct symtab_info){ .state = SYMTAB_MISSING, .path = "", .origin = '!' };
	if (!list->pid && s->options.guests.kallsyms)
		list_open(s, list, kernel, -1, "", s->options.guests.kallsyms);
	if (!list->pid || !s->options.guests.mount)
		return;
	snprintf(dir, sizeof dir, "%s/%d", s->options.guests.mount, list->pid);
	CLEANUP_FD int root = root_open(dir);
	if (root >= 0)
		list_open(s, list, kernel, root, dir, "/proc/kallsyms");
}

static const struct module *kernel_of_guest(const struct symbol_sources *s, int32_t pid)
{
	for (size_t i = 0; i < s->modules->list.count; i++) {
		const struct module *module = s->modules->list.items[i];
		if (module && module->kind == MODULE_KERNEL && module->guest && module->pid == pid)
			return module;
	}
	return NULL;
}

static struct kernel_list *guest_list_get(struct symbol_sources *s, int32_t pid)
{
	for (size_t i = 0; i < s->guests.count; i++)
		if (s->guests.items[i].pid == pid)
			return &s->guests.items[i];
	struct kernel_list *list = vec_add(&s->guests);
	*list = (struct kernel_list){ .pid = pid };
	guest_list_find(s, list, kernel_of_guest(s, pid));
	return list;
}

/* The kernel of a virtual machine, or a module of it. */
static void load_guest(struct symbol_sources *s, const struct module *module, struct symtab *tab)
{
	const struct image_options where = { .vmlinux = s->options.guests.vmlinux, .budget = s->options.budget };
	if (!module->pid && where.vmlinux) {
		if (module->kind == MODULE_KERNEL)
			load_files_of(s, &where, module, tab);
		return;
	}
	pthread_mutex_lock(&s->kernel_lock);
	s->kernel_trail = s->options.verbose > 0 ? &tab->trail : NULL;
	struct kernel_list *list = guest_list_get(s, module->pid);
	tab->info = list->info;
	tab->demangler.off = true;
	if (module->kind == MODULE_KERNEL) {
		tab->table = list->list.kernel;
		list->list.kernel = (struct symbol_table){ 0 };
		shift_symbols(tab, list->shift);
	} else {
		kallsyms_module(&list->list, module->short_name, module->start, &tab->table);
	}
	pthread_mutex_unlock(&s->kernel_lock);
}

void load_kernel(struct symbol_sources *s, const struct module *module, struct symtab *tab)
{
	if (module->guest) {
		load_guest(s, module, tab);
		return;
	}
	if (!s->options.kallsyms)
		load_files(s, module, tab);
	if (tab->table.count || module->section || (s->options.vmlinux && !s->options.no_vmlinux && !s->options.kallsyms))
		return;
	enum symtab_state of_files = tab->info.state;
	kallsyms_get(s, tab);
	tab->info = s->host.info;
	if (tab->info.state == SYMTAB_MISSING)
		tab->info.state = of_files;
	tab->demangler.off = true;
	table_fini(&tab->table);
	/* the list remains for the modules; the kernel's part moves to tab */
	tab->table = s->host.list.kernel;
	s->host.list.kernel = (struct symbol_table){ 0 };
	struct packed_symbols cached = s->cache.list.kernel;
	kallsyms_put(s);
	if (cached.count) {
		cached.shift = s->host.shift;
		symtab_take_packed(tab, &cached, &s->cache);
		return;
	}
	shift_symbols(tab, s->host.shift);
}

void load_kernel_module(struct symbol_sources *s, const struct module *module, struct symtab *tab)
{
	/* if the recording has no path, perf uses the list's names */
	bool listed = *module->long_name != '/';
	if (module->guest) {
		load_guest(s, module, tab);
		return;
	}
	if (!listed)
		load_files(s, module, tab);
	if (tab->table.count)
		return;
	table_fini(&tab->table);
	struct packed_symbols cached;
	kallsyms_get(s, tab);
	packed_module(&s->cache.list, module->short_name, module->start, &cached);
	if (cached.count)
		symtab_take_packed(tab, &cached, &s->cache);
	else
		kallsyms_module(&s->host.list, module->short_name, module->start, &tab->table);
	tab->demangler.off = true;
	char by_name = tab->info.origin;
	if (tab->table.count)
		tab->info = s->host.info;
	/* perf's letter remains that of a module */
	tab->info.origin = by_name;
	kallsyms_put(s);
	if (!listed || tab->table.count)
		return;
	table_fini(&tab->table);
	load_files(s, module, tab);
}
