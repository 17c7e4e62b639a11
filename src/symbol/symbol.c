#include "symbol/symbol.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "image/file.h"
#include "symbol/demangle.h"
#include "symbol/load.h"

/* Limit on the text that a symbol's name is converted to. */
#define SHOWN_NAME_MAX ((size_t)16 << 10)
/* perf composes the names of stubs in a buffer of this size. */
#define PLT_NAME_MAX 1023u

#define MODULES_PER_PAGE 256u
#define MODULE_PAGES 4096u
#define LOADING_LOCKS 16u

struct symtab_page {
	struct symtab *_Atomic slots[MODULES_PER_PAGE];
};

struct symbols {
	struct symbol_sources sources;
	pthread_mutex_t loading[LOADING_LOCKS]; /* by module id */
	pthread_mutex_t shown_lock;  /* of `running` */
	struct symtab_page *_Atomic pages[MODULE_PAGES];
	char *running;               /* /proc/kallsyms, if symbols_named needed it; protected by shown_lock */
	size_t running_len;
};

struct symbols *symbols_new(const struct modules *modules, const struct symbols_options *options)
{
	struct symbols *s = memory_zero(1, sizeof *s);
	sources_init(&s->sources, modules, options);
	for (unsigned i = 0; i < LOADING_LOCKS; i++)
		pthread_mutex_init(&s->loading[i], NULL);
	pthread_mutex_init(&s->shown_lock, NULL);
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < MODULE_PAGES; i++) {
		struct symtab_page *page = atomic_load(&s->pages[i]);
		for (unsigned k = 0; page && k < MODULES_PER_PAGE; k++)
			if (page->slots[k])
				symtab_free(&s->sources, page->slots[k]);
		free(page);
	}
	for (unsigned i = 0; i < LOADING_LOCKS; i++)
		pthread_mutex_destroy(&s->loading[i]);
	pthread_mutex_destroy(&s->shown_lock);
	free(s->running);
	sources_fini(&s->sources);
	free(s);
}

static struct symtab *_Atomic *symbols_slot(struct symbols *s, uint32_t module)
{
	if (module / MODULES_PER_PAGE >= MODULE_PAGES)
		return NULL;
	struct symtab_page *_Atomic *where = &s->pages[module / MODULES_PER_PAGE];
	struct symtab_page *page = atomic_load_explicit(where, memory_order_acquire);
	if (!page) {
		struct symtab_page *fresh = memory_zero(1, sizeof *fresh);
		if (atomic_compare_exchange_strong(where, &page, fresh))
			page = fresh;
		else
			free(fresh);
	}
	return &page->slots[module % MODULES_PER_PAGE];
}

static struct symtab *symbols_load_slow(struct symbols *s, const struct module *module, struct symtab *_Atomic *slot)
{
	pthread_mutex_t *lock = &s->loading[module->id % LOADING_LOCKS];
	pthread_mutex_lock(lock);
	struct symtab *tab = atomic_load_explicit(slot, memory_order_acquire);
	if (!tab) {
		tab = symtab_load(&s->sources, module);
		atomic_store_explicit(slot, tab, memory_order_release);
	}
	pthread_mutex_unlock(lock);
	return tab;
}

static inline struct symtab *symbols_tab(struct symbols *s, const struct module *module)
{
	struct symtab *_Atomic *slot = symbols_slot(s, module->id);
	struct symtab *tab = slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
	return tab || !slot ? tab : symbols_load_slow(s, module, slot);
}

struct symtab *symbols_table(struct symbols *s, const struct module *module)
{
	return symbols_tab(s, module);
}

const struct symbol_sources *symbols_sources(const struct symbols *s)
{
	return &s->sources;
}

const struct image_options *symbols_images(const struct symbols *s)
{
	return &s->sources.image_options;
}

uint32_t symbols_lookup(struct symbols *s, const struct module *module, uint64_t offset)
{
	struct symtab *tab = symbols_tab(s, module);
	return tab ? symtab_find(tab, offset) : 0;
}

void symbols_expect(struct symbols *s, const struct symbols_query *queries, size_t count)
{
	struct symtab *tabs[SYMBOLS_EXPECTED];
	uint32_t ids[SYMBOLS_EXPECTED];
	count = count < SYMBOLS_EXPECTED ? count : SYMBOLS_EXPECTED;
	for (size_t i = 0; i < count; i++) {
		struct symtab *_Atomic *slot = symbols_slot(s, queries[i].module);
		tabs[i] = slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
		__builtin_prefetch(tabs[i]);
		__builtin_prefetch(modules_get(s->sources.modules, queries[i].module));
	}
	for (size_t i = 0; i < count; i++)
		if (tabs[i])
			table_expect_part(&tabs[i]->table, queries[i].offset);
	for (size_t i = 0; i < count; i++) {
		ids[i] = tabs[i] ? table_expect(&tabs[i]->table, queries[i].offset) : 0;
		if (ids[i])
			__builtin_prefetch(&tabs[i]->shown[ids[i] - 1]);
	}
	for (size_t i = 0; i < count; i++) {
		const char *shown = ids[i] ? atomic_load_explicit(&tabs[i]->shown[ids[i] - 1], memory_order_relaxed) : NULL;
		__builtin_prefetch(!shown && ids[i] ? tabs[i]->table.symbols[ids[i] - 1].name : shown);
	}
}

const struct symbol *symbols_get(struct symbols *s, const struct module *module, uint32_t id)
{
	struct symtab *tab = symbols_tab(s, module);
	return __builtin_expect(symbol_is_inlined(id), 0) ? module_lines_symbol(tab, id) : &tab->table.symbols[id - 1];
}

/* A list that an earlier run cached is the running kernel's: names are searched in its source, which is read once. 1: found, 0: the
 * kernel has no such symbol; < 0: the source cannot be read. */
static int running_named(struct symbols *s, const char *name, uint64_t *start)
{
	enum { LIST_MAX = 512 << 20 };
	uint64_t address = 0;
	bool readable;
	pthread_mutex_lock(&s->shown_lock);
	readable = s->running || rooted_read(-1, "/proc/kallsyms", LIST_MAX, &s->running, &s->running_len, NULL) == 0;
	if (readable)
		address = kallsyms_any_address(s->running, s->running_len, name);
	pthread_mutex_unlock(&s->shown_lock);
	*start = address + (uint64_t)s->sources.host.shift;
	return readable ? address != 0 : -1;
}

bool symbols_named(struct symbols *s, const struct module *module, const char *name, uint64_t *start, uint64_t *end)
{
	struct symtab *tab = symbols_tab(s, module);
	bool listed = tab && strcmp(tab->info.path, "/proc/kallsyms") == 0;
	int found = listed && module->kind == MODULE_KERNEL ? running_named(s, name, start) : -1;
	if (found > 0) {
		uint32_t id = symtab_find(tab, *start);
		*end = id ? tab->table.symbols[id - 1].end : *start;
	}
	if (found >= 0)
		return found;
	return tab && symtab_named(tab, name, start, end);
}

void symbols_load(struct symbols *s, const struct module *module)
{
	symbols_tab(s, module);
}

void symbols_drop(struct symbols *s, const struct module *module)
{
	struct symtab *_Atomic *slot = symbols_slot(s, module->id);
	struct symtab *tab = slot ? atomic_exchange(slot, NULL) : NULL;
	if (tab)
		symtab_free(&s->sources, tab);
}

bool symbols_extent(struct symbols *s, const struct module *module, uint64_t *start, uint64_t *end)
{
	const struct symtab *tab = symbols_tab(s, module);
	return tab && symtab_extent(tab, start, end);
}

size_t symbols_kernel_parts(struct symbols *s, const struct module *kernel, struct kernel_part *parts, size_t max)
{
	return load_kernel_parts(&s->sources, kernel, parts, max);
}

/* Whether the name is shown as it is, and does not change with the file. */
static bool name_is_shown(const struct symtab *tab, const char *raw, size_t len)
{
	return (uintptr_t)raw - (uintptr_t)tab->own_text.data < tab->own_text.len && len <= PLT_NAME_MAX && text_is_line(raw, len);
}

static const char *name_show(struct symbols *s, struct symtab *tab, const char *raw)
{
	char *text = name_demangle(&tab->demangler, raw);
	const char *shown = text ? text : raw;
	size_t shown_len = strnlen(shown, SHOWN_NAME_MAX);
	if (shown_len > PLT_NAME_MAX && memcmp(shown + shown_len - 4, "@plt", 4) == 0)
		shown_len = PLT_NAME_MAX;
	if (!text && !s->sources.options.short_names && name_is_shown(tab, raw, shown_len))
		return raw;
	bool shorten = s->sources.options.short_names && !tab->demangler.off && memchr(shown, '<', shown_len);
	pthread_mutex_lock(&tab->unpacking);
	char *copy = arena_string(&tab->names, shown, shown_len);
	pthread_mutex_unlock(&tab->unpacking);
	text_join_lines(copy, strlen(copy));
	if (shorten)
		name_shorten(copy);
	free(text);
	return copy;
}

const char *symbols_name(struct symbols *s, const struct module *module, uint32_t id)
{
	struct symtab *tab = symbols_tab(s, module);
	if (__builtin_expect(symbol_is_inlined(id), 0))
		return module_lines_symbol(tab, id)->name;
	const char *_Atomic *where = &tab->shown[id - 1];
	const char *shown = atomic_load_explicit(where, memory_order_acquire);
	if (!shown) {
		/* two threads may both create it: either text is valid */
		shown = name_show(s, tab, tab->table.symbols[id - 1].name);
		atomic_store_explicit(where, shown, memory_order_release);
	}
	return shown;
}

static const struct symtab *symtab_of(const struct symbols *s, const struct module *module)
{
	struct symtab_page *page = module->id / MODULES_PER_PAGE < MODULE_PAGES ?
		atomic_load(&s->pages[module->id / MODULES_PER_PAGE]) : NULL;
	return page ? atomic_load(&page->slots[module->id % MODULES_PER_PAGE]) : NULL;
}

const struct image_trail *symbols_trail(const struct symbols *s, const struct module *module)
{
	const struct symtab *tab = symtab_of(s, module);
	return tab && tab->trail.tries.count ? &tab->trail : NULL;
}

const struct image_trail *symbols_trail_of_lines(const struct symbols *s, const struct module *module)
{
	return lines_trail(symtab_of(s, module));
}

struct symtab_info symbols_info(const struct symbols *s, const struct module *module)
{
	const struct symtab *tab = symtab_of(s, module);
	return tab ? tab->info : (struct symtab_info){ .state = SYMTAB_NOT_TRIED, .path = "", .origin = '!' };
}
