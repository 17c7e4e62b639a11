#include "symbol/lines.h"

#include <elf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/str.h"
#include "dwarf/dwarf.h"
#include "image/debug.h"
#include "symbol/lines_module.h"
#include "model/jit.h"
#include "symbol/load.h"
#include "symbol/load_elf.h"
#include "symbol/nearest.h"

#define SYMBOLS_PER_PAGE 1024u
#define SYMBOL_PAGES 2048u
/* Limit on all names of one module; further inlined functions get the name of the function that contains them. */
#define NAMES_LIMIT ((size_t)256 << 20)
/* Longer names are truncated. */
#define NAME_MAX_LEN 4096u

struct inline_page {
	struct symbol symbols[SYMBOLS_PER_PAGE];
	uint32_t bases[SYMBOLS_PER_PAGE];
};

/* Allocated on demand: most modules have no inlined functions, and some recordings have very many modules. */
struct inline_pages {
	struct inline_page *_Atomic pages[SYMBOL_PAGES];
};

struct module_lines {
	pthread_mutex_t lock;             /* held while opening, and while inlined symbols are added */
	_Atomic bool opened, nearest_made;
	struct image_trail trail;         /* the places searched; recorded if options.verbose */
	struct image_debug debug;         /* if there is debug information … */
	struct image image;               /* … otherwise the file with the symbol table */
	struct dwarf *dwarf;              /* NULL: absent */
	bool packed;                      /* its sections are compressed: perf then reads only the symbol table */
	const struct elf *names;          /* the file whose symbol table is read; NULL: none */
	const struct elf *loads;          /* maps offsets to addresses; NULL: offsets are addresses */
	uint64_t relocation;              /* KERNEL: from the file's addresses to the recording's */
	uint64_t shift;                   /* from the running file's addresses to the debug file's, which may be prelinked */
	struct module_lines *whole;       /* of a section of the kernel: the whole kernel's, which owns the members above */
	struct nearest nearest;
	struct inline_pages *_Atomic inlined; /* NULL: none yet */
	uint32_t symbol_count;
	size_t name_bytes;
	struct idmap symbol_ids;          /* by base and name */
	struct arena texts;
};

static struct module_lines *lines_of(struct symtab *tab)
{
	struct module_lines *lines = atomic_load_explicit(&tab->lines, memory_order_acquire);
	if (lines)
		return lines;
	struct module_lines *fresh = memory_zero(1, sizeof *fresh);
	pthread_mutex_init(&fresh->lock, NULL);
	if (atomic_compare_exchange_strong(&tab->lines, &lines, fresh))
		return fresh;
	pthread_mutex_destroy(&fresh->lock);
	free(fresh);
	return lines;
}

void module_lines_free(struct module_lines *lines)
{
	if (!lines)
		return;
	if (!lines->whole)
		dwarf_close(lines->dwarf);
	image_debug_close(&lines->debug);
	image_trail_fini(&lines->trail);
	image_close(&lines->image);
	nearest_fini(&lines->nearest);
	for (unsigned i = 0; lines->inlined && i < SYMBOL_PAGES; i++)
		free(lines->inlined->pages[i]);
	free(lines->inlined);
	idmap_fini(&lines->symbol_ids);
	arena_fini(&lines->texts);
	pthread_mutex_destroy(&lines->lock);
	free(lines);
}

/* Debug information that cannot be related to the recorded addresses is not used. */
static bool is_usable(const struct symtab *tab, const struct module *module)
{
	if (module->kind == MODULE_KMODULE)
		return !module->guest;
	bool has_file = module->kind == MODULE_FILE || module->kind == MODULE_VDSO || module->kind == MODULE_KERNEL;
	return has_file && tab->info.state == SYMTAB_LOADED && *tab->info.path && tab->info.origin != 'k' && tab->info.origin != 'j';
}

static void open_dwarf(struct module_lines *lines)
{
	struct dwarf_parts parts = { .debug = lines->debug.debug, .alternate = image_debug_alternate(&lines->debug),
		.package = image_debug_package(&lines->debug), .split = image_debug_split, .context = &lines->debug,
		.budget = lines->debug.options->budget };
	const struct elf_section *info = elf_section(lines->debug.debug, ".debug_info");
	lines->packed = info && info->flags & SHF_COMPRESSED;
	if (dwarf_open(&lines->dwarf, &parts, NULL) < 0)
		lines->dwarf = NULL;
	/* compressed sections are inflated now; the units of others are read again on demand */
	image_debug_release(&lines->debug);
}

static uint64_t text_distance(const struct elf *from, const struct elf *to)
{
	const struct elf_section *a = from ? elf_section(from, ".text") : NULL, *b = to ? elf_section(to, ".text") : NULL;
	return a && b ? b->address - a->address : 0;
}

static void open_files(struct module_lines *lines, const struct symbol_sources *sources, const struct symtab *tab,
	const struct module *module)
{
	const struct elf *runs = NULL;
	struct image_trail *trail = sources->options.verbose > 0 ? &lines->trail : NULL;
	if (image_debug_open(&lines->debug, module, &sources->image_options, trail, NULL) == 0) {
		lines->names = lines->debug.debug;
		runs = lines->debug.executable.path ? &lines->debug.executable.elf : lines->debug.debug;
		open_dwarf(lines);
	}
	/* the file of a kernel module is not enough: its sections have no addresses */
	if (module->kind == MODULE_KMODULE)
		return;
	bool own = module->kind == MODULE_VDSO && strcmp(tab->info.path, "[vdso]") == 0;
	bool whole = lines->names && elf_has_symtab(lines->names);
	struct budget *budget = sources->image_options.budget;
	if (!whole && (own ? image_open_vdso(&lines->image, NULL) : image_open(&lines->image, -1, tab->info.path, budget, NULL)) == 0) {
		lines->names = &lines->image.elf;
		runs = runs ? runs : lines->names;
	}
	if (module->kind != MODULE_KERNEL) {
		lines->loads = runs;
		lines->shift = text_distance(runs, lines->names);
	}
	if (module->kind == MODULE_KERNEL && lines->names)
		lines->relocation = load_elf_relocation(lines->names, module->relocation_symbol, module->relocation);
}

const struct image_trail *lines_trail(const struct symtab *tab)
{
	const struct module_lines *lines = tab ? atomic_load_explicit(&tab->lines, memory_order_acquire) : NULL;
	return lines && lines->trail.tries.count ? &lines->trail : NULL;
}

static struct module_lines *lines_get(struct symbols *s, const struct module *module, struct symtab **tab);

static void open_lines(struct module_lines *lines, struct symbols *s, const struct symtab *tab, const struct module *module)
{
	struct symtab *kernel;
	if (!module->whole) {
		open_files(lines, symbols_sources(s), tab, module);
		return;
	}
	lines->whole = lines_get(s, module->whole, &kernel);
	if (!lines->whole)
		return;
	lines->dwarf = lines->whole->dwarf;
	lines->packed = lines->whole->packed;
	lines->names = lines->whole->names;
	lines->relocation = lines->whole->relocation;
}

static struct module_lines *lines_get(struct symbols *s, const struct module *module, struct symtab **tab)
{
	*tab = symbols_table(s, module);
	if (!*tab || (!module->whole && !is_usable(*tab, module)))
		return NULL;
	struct module_lines *lines = lines_of(*tab);
	if (atomic_load_explicit(&lines->opened, memory_order_acquire))
		return lines;
	pthread_mutex_lock(&lines->lock);
	if (!lines->opened)
		open_lines(lines, s, *tab, module);
	atomic_store_explicit(&lines->opened, true, memory_order_release);
	pthread_mutex_unlock(&lines->lock);
	return lines;
}

/* Uses the segment that contains the offset; the segments of a debug file may have no bytes. Files of kernel modules use the offsets of the
 * module. */
static uint64_t address_of(const struct module_lines *lines, const struct module *module, uint64_t offset)
{
	if (module->kind == MODULE_KERNEL)
		return offset - lines->relocation;
	if (module->kind == MODULE_KMODULE)
		return offset;
	for (uint32_t i = 0; lines->loads && i < lines->loads->load_count; i++) {
		const struct elf_load *load = &lines->loads->loads[i];
		if (offset - load->offset < load->file_size)
			return offset - load->offset + load->vaddr + lines->shift;
	}
	const struct elf_section *text = lines->loads ? elf_section(lines->loads, ".text") : NULL;
	return text ? offset + text->address - text->offset + lines->shift : offset;
}

uint64_t lines_address(struct symbols *s, const struct module *module, uint64_t offset)
{
	struct symtab *tab;
	const struct module_lines *lines = lines_get(s, module, &tab);
	return lines ? address_of(lines, module, offset) : offset;
}

bool lines_debug(struct symbols *s, const struct module *module, struct lines_debug *debug)
{
	struct symtab *tab;
	const struct module_lines *lines = lines_get(s, module, &tab);
	if (!lines || !lines->dwarf)
		return false;
	const struct image_debug *files = lines->whole ? &lines->whole->debug : &lines->debug;
	*debug = (struct lines_debug){ .dwarf = lines->dwarf, .runs = files->executable.path ? &files->executable.elf : files->debug,
		.debug = files->separate.path ? &files->separate.elf : NULL };
	return true;
}

static const char *ask_symbols(struct module_lines *lines, uint64_t address, const char **file)
{
	*file = NULL;
	if (!lines->names)
		return NULL;
	if (!atomic_load_explicit(&lines->nearest_made, memory_order_acquire)) {
		pthread_mutex_lock(&lines->lock);
		if (!lines->nearest_made)
			nearest_init(&lines->nearest, lines->names);
		atomic_store_explicit(&lines->nearest_made, true, memory_order_release);
		pthread_mutex_unlock(&lines->lock);
	}
	return nearest_function(&lines->nearest, lines->names, address, file);
}

static bool line_at(struct module_lines *lines, uint64_t address, struct source_line *line)
{
	struct dwarf_place place;
	*line = (struct source_line){ 0 };
	if (lines->dwarf && dwarf_line(lines->dwarf, address, &place) && place.file) {
		*line = (struct source_line){ place.file, place.line };
		return true;
	}
	ask_symbols(lines, address, &line->file);
	return line->file != NULL;
}

bool lines_place(struct symbols *s, const struct module *module, uint64_t offset, bool outermost, struct source_line *line)
{
	struct symtab *tab;
	*line = (struct source_line){ 0 };
	if (module->kind == MODULE_JIT)
		return jit_line(module, offset, &line->file, &line->line);
	struct module_lines *lines = lines_get(s, module, &tab);
	if (!lines || !lines->names)
		return false;
	uint64_t address = address_of(lines, module, offset);
	struct dwarf_frame frames[DWARF_INLINE_DEPTH];
	size_t count = outermost && lines->dwarf ? dwarf_frames(lines->dwarf, address, frames, DWARF_INLINE_DEPTH) : 0;
	if (count < 2)
		return line_at(lines, address, line);
	*line = (struct source_line){ frames[count - 1].place.file, frames[count - 1].place.line };
	return line->file != NULL;
}

static struct inline_page *page_of(const struct module_lines *lines, uint32_t index)
{
	struct inline_pages *inlined = atomic_load_explicit(&lines->inlined, memory_order_acquire);
	return inlined ? atomic_load_explicit(&inlined->pages[index / SYMBOLS_PER_PAGE], memory_order_acquire) : NULL;
}

/* The caller holds the lock. */
static struct inline_page *page_make(struct module_lines *lines, uint32_t index)
{
	struct inline_page *page = page_of(lines, index);
	if (page)
		return page;
	if (!lines->inlined)
		atomic_store_explicit(&lines->inlined, memory_zero(1, sizeof(struct inline_pages)), memory_order_release);
	page = memory_zero(1, sizeof *page);
	atomic_store_explicit(&lines->inlined->pages[index / SYMBOLS_PER_PAGE], page, memory_order_release);
	return page;
}

const struct symbol *module_lines_symbol(struct symtab *tab, uint32_t id)
{
	struct module_lines *lines = atomic_load_explicit(&tab->lines, memory_order_acquire);
	uint32_t index = id & ~SYMBOL_INLINED;
	return &page_of(lines, index)->symbols[index % SYMBOLS_PER_PAGE];
}

/* The symbol of a function of that name inlined into base; base itself if there are too many. The caller holds the lock. */
static uint32_t add_symbol(struct module_lines *lines, const struct symtab *tab, uint32_t base, const char *name, size_t len)
{
	uint64_t key = hash_pair(hash_bytes(name, len), base);
	uint32_t found;
	for (; (found = idmap_get(&lines->symbol_ids, key)) != IDMAP_NONE; key++) {
		const struct inline_page *page = page_of(lines, found);
		const struct symbol *symbol = &page->symbols[found % SYMBOLS_PER_PAGE];
		if (page->bases[found % SYMBOLS_PER_PAGE] == base && strlen(symbol->name) == len && memcmp(symbol->name, name, len) == 0)
			return found | SYMBOL_INLINED;
	}
	uint32_t index = lines->symbol_count;
	if (index >= SYMBOLS_PER_PAGE * SYMBOL_PAGES || len >= NAMES_LIMIT - lines->name_bytes)
		return base;
	struct inline_page *page = page_make(lines, index);
	struct symbol *symbol = &page->symbols[index % SYMBOLS_PER_PAGE];
	*symbol = base ? tab->table.symbols[base - 1] : (struct symbol){ 0 };
	const char *text = text_one_line(&lines->texts, name, len);
	lines->name_bytes += len + 1;
	symbol->name = text;
	page->bases[index % SYMBOLS_PER_PAGE] = base;
	idmap_set(&lines->symbol_ids, key, index);
	lines->symbol_count++;
	return index | SYMBOL_INLINED;
}

/* The symbol of a frame: the symbol itself if the names agree. */
static uint32_t frame_symbol(struct symbols *s, const struct module *module, struct symtab *tab, uint32_t base, const char *name)
{
	struct module_lines *lines = tab->lines;
	if (!name || (base && strcmp(name, tab->table.symbols[base - 1].name) == 0))
		return base;
	char *text = strnlen(name, NAME_MAX_LEN) < NAME_MAX_LEN ? name_demangle(&tab->demangler, name) : NULL;
	const char *shown = text ? text : name;
	uint32_t id = base;
	if (!base || strcmp(shown, symbols_name(s, module, base)) != 0) {
		pthread_mutex_lock(&lines->lock);
		id = add_symbol(lines, tab, base, shown, strnlen(shown, NAME_MAX_LEN));
		pthread_mutex_unlock(&lines->lock);
	}
	free(text);
	return id;
}

/* The name of the function that contains the code, as perf prints it. If the symbol table has several names for one function, it differs
 * from the symbol's. NULL: use the symbol's. */
static const char *outermost_name(struct module_lines *lines, uint64_t address, uint32_t symbol, const struct dwarf_frame *frame)
{
	const char *file, *name = lines->packed ? ask_symbols(lines, address, &file) : NULL;
	if (name)
		return name;
	/* a function with a linkage name has the name of its symbol, as written in the source */
	return !frame->linked && symbol ? NULL : frame->name;
}

size_t lines_inlines(struct symbols *s, const struct module *module, uint64_t offset, uint32_t symbol,
	struct line_frame frames[static LINE_FRAMES_MAX])
{
	_Static_assert(LINE_FRAMES_MAX >= DWARF_INLINE_DEPTH, "a chain fits");
	struct symtab *tab;
	struct module_lines *lines = lines_get(s, module, &tab);
	struct dwarf_frame found[DWARF_INLINE_DEPTH];
	if (!lines || !lines->names)
		return 0;
	uint64_t address = address_of(lines, module, offset);
	size_t count = lines->dwarf ? dwarf_frames(lines->dwarf, address, found, DWARF_INLINE_DEPTH) : 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = found[i].inlined ? found[i].name : outermost_name(lines, address, symbol, &found[i]);
		frames[i].symbol = frame_symbol(s, module, tab, symbol, name);
		frames[i].at = (struct source_line){ found[i].place.file, found[i].place.line };
	}
	if (count)
		return count;
	const char *file, *name = ask_symbols(lines, address, &file);
	if (!name && !file)
		return 0;
	line_at(lines, address, &frames[0].at);
	frames[0].symbol = frame_symbol(s, module, tab, symbol, name);
	return 1;
}

uint32_t lines_function(struct symbols *s, const struct module *module, uint64_t offset)
{
	struct symtab *tab;
	struct module_lines *lines = lines_get(s, module, &tab);
	const char *name;
	uint64_t start, end;
	if (!lines || !lines->dwarf || !dwarf_function(lines->dwarf, address_of(lines, module, offset), &name, &start, &end))
		return 0;
	return frame_symbol(s, module, tab, 0, name);
}
