#include "symbol/table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"

#define PAGE 4096u
/* Limit on the compared length of names: real names are shorter. */
#define COMPARED_NAME 4096u
#define DEMANGLE_BUDGET 500000u
/* A larger tree would take too long to build. */
#define TREE_LIMIT (2u << 20)

void builder_init(struct table_builder *b, const struct demangler *demangler)
{
	*b = (struct table_builder){ .demangler = demangler, .demangle_budget = DEMANGLE_BUDGET };
}

void builder_fini(struct table_builder *b)
{
	vec_fini(&b->fresh);
	vec_fini(&b->sorted);
	vec_fini(&b->events);
}

struct symbol *builder_add(struct table_builder *b, uint64_t start, uint64_t size, const char *name, uint8_t binding,
	uint8_t type)
{
	/* with a size that wraps around, the symbol covers nothing */
	struct symbol symbol = { .start = start, .end = start + size, .name = name, .binding = binding, .type = type,
		.order = b->added++ };
	vec_push(&b->fresh, symbol);
	return &b->fresh.items[b->fresh.count - 1];
}

/* One stable counting pass over 11 bits of the keys. */
static void sort_pass(const struct table_key *in, struct table_key *out, size_t count, unsigned shift)
{
	uint32_t at[2048] = { 0 };
	for (size_t i = 0; i < count; i++)
		at[in[i].key >> shift & 2047]++;
	for (uint32_t digit = 0, sum = 0; digit < 2048; digit++) {
		uint32_t n = at[digit];
		at[digit] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		out[at[in[i].key >> shift & 2047]++] = in[i];
}

void table_sort_keys(struct table_key *keys, size_t count)
{
	uint64_t differing = 0;
	for (size_t i = 1; i < count; i++)
		differing |= keys[i].key ^ keys[0].key;
	struct table_key *spare = memory_alloc(count * sizeof *spare), *in = keys, *out = spare;
	for (unsigned shift = 0; shift < 64; shift += 11) {
		if (!(differing >> shift & 2047))
			continue;
		sort_pass(in, out, count, shift);
		struct table_key *swap = in;
		in = out;
		out = swap;
	}
	if (in != keys)
		memcpy(keys, in, count * sizeof *keys);
	free(spare);
}

static bool symbols_sorted(const struct symbol *symbols, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (symbols[i - 1].start > symbols[i].start)
			return false;
	return true;
}

/* Sorts the fresh symbols by address. */
static void builder_sort_fresh(struct table_builder *b)
{
	size_t count = b->fresh.count;
	if (symbols_sorted(b->fresh.items, count))
		return;
	struct table_key *keys = memory_alloc(count * sizeof *keys);
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct table_key){ b->fresh.items[i].start, (uint32_t)i };
	table_sort_keys(keys, count);
	struct symbol *sorted = memory_alloc(count * sizeof *sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = b->fresh.items[keys[i].index];
	free(keys);
	free(b->fresh.items);
	b->fresh.items = sorted;
	b->fresh.capacity = count;
}

void builder_merge(struct table_builder *b)
{
	size_t fresh = b->fresh.count, old = b->sorted.count;
	if (!fresh)
		return;
	builder_sort_fresh(b);
	if (!old) {
		vec_fini(&b->sorted);
		b->sorted.items = b->fresh.items;
		b->sorted.count = fresh;
		b->sorted.capacity = b->fresh.capacity;
		memset(&b->fresh, 0, sizeof b->fresh);
	} else {
		vec_reserve(&b->sorted, old + fresh);
		/* merges from the end, in place: of equal ones, those of earlier rounds precede */
		struct symbol *sorted = b->sorted.items;
		for (size_t to = old + fresh, i = old, j = fresh; j > 0;) {
			if (i > 0 && sorted[i - 1].start > b->fresh.items[j - 1].start)
				sorted[--to] = sorted[--i];
			else
				sorted[--to] = b->fresh.items[--j];
		}
		b->sorted.count = old + fresh;
		vec_clear(&b->fresh);
	}
	struct table_event event = { .order = b->added };
	vec_push(&b->events, event);
}

static uint64_t page_after(uint64_t address)
{
	uint64_t next = (address + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	return next + PAGE > address ? next + PAGE : UINT64_MAX;
}

/* Kernel and modules are separate in memory: the last symbol of one does not extend to the first of the next. */
static bool same_module(const char *a, const char *b)
{
	a = strchr(a, '[');
	b = strchr(b, '[');
	return !a == !b && (!a || strcmp(a, b) == 0);
}

void builder_fix_ends(struct table_builder *b, bool kallsyms)
{
	struct symbol *previous = NULL;
	for (size_t i = 0; i < b->sorted.count; i++) {
		struct symbol *symbol = &b->sorted.items[i];
		if (previous && previous->end == previous->start) {
			if (kallsyms && !same_module(previous->name, symbol->name))
				previous->end = page_after(previous->end);
			else
				previous->end = symbol->start;
		}
		previous = symbol;
	}
	if (previous && previous->end == previous->start)
		previous->end = page_after(previous->start);
}

/* Constructors and destructors exist in pairs with one demangled name (C1 and C2, D1 and D2): recognized without demangling. */
static bool mangled_twins(const char *a, const char *b)
{
	if (a[0] != '_' || a[1] != 'Z')
		return false;
	size_t i = 0;
	while (a[i] && a[i] == b[i])
		i++;
	char kind = i ? a[i - 1] : 0;
	return (kind == 'C' || kind == 'D') && (a[i] == '1' || a[i] == '2') && (b[i] == '1' || b[i] == '2') &&
	       strncmp(a + i + 1, b + i + 1, COMPARED_NAME) == 0;
}

struct shown {
	size_t underscores, len;
};

static struct shown shown_of(struct table_builder *b, const char *name)
{
	size_t len = strnlen(name, COMPARED_NAME);
	char *text = NULL;
	if (len < COMPARED_NAME && b->demangle_budget) {
		text = name_demangle(b->demangler, name);
		uint32_t cost = text ? 1 + (uint32_t)(strlen(text) / 64) : name[0] == '_' ? 16 : 1;
		b->demangle_budget -= cost < b->demangle_budget ? cost : b->demangle_budget;
	}
	const char *shown = text ? text : name;
	struct shown result = { strspn(shown, "_"), text ? strlen(text) : len };
	free(text);
	return result;
}

/* Returns whether the first of two symbols at one address is retained: prefers a size, not weak, global, fewer leading underscores, the
 * longer name; old system call aliases are dropped. */
static bool keeps_first(struct table_builder *b, const struct symbol *first, const struct symbol *second)
{
	bool empty1 = first->start == first->end, empty2 = second->start == second->end;
	if (empty1 != empty2)
		return empty2;
	bool weak1 = first->binding == STB_WEAK, weak2 = second->binding == STB_WEAK;
	if (weak1 != weak2)
		return weak2;
	bool global1 = first->binding == STB_GLOBAL, global2 = second->binding == STB_GLOBAL;
	if (global1 != global2)
		return global1;
	bool old_alias = strncmp(first->name, "SyS", 3) == 0 || strncmp(first->name, "compat_SyS", 10) == 0;
	if (strncmp(first->name, second->name, COMPARED_NAME) == 0 || mangled_twins(first->name, second->name))
		return !old_alias;
	struct shown shown1 = shown_of(b, first->name), shown2 = shown_of(b, second->name);
	if (shown1.underscores != shown2.underscores)
		return shown1.underscores < shown2.underscores;
	if (shown1.len != shown2.len)
		return shown1.len > shown2.len;
	return !old_alias;
}

static void builder_erased(struct table_builder *b, const struct symbol *symbol)
{
	struct table_event event = { .start = symbol->start, .order = symbol->order, .erased = true };
	vec_push(&b->events, event);
}

/* Names are spread over the file: prefetches those that are compared soon. */
static void prefetch_tie(const struct table_builder *b, size_t i)
{
	if (i < b->sorted.count && b->sorted.items[i].start == b->sorted.items[i - 1].start) {
		__builtin_prefetch(b->sorted.items[i - 1].name);
		__builtin_prefetch(b->sorted.items[i].name);
	}
}

void builder_drop_duplicates(struct table_builder *b)
{
	struct symbol *sorted = b->sorted.items;
	size_t kept = 0;
	for (size_t i = 0; i < b->sorted.count; i++) {
		prefetch_tie(b, i + 16);
		if (!kept || sorted[kept - 1].start != sorted[i].start) {
			if (kept != i)
				sorted[kept] = sorted[i];
			kept++;
			continue;
		}
		struct symbol goes = sorted[i];
		if (!keeps_first(b, &sorted[kept - 1], &sorted[i])) {
			goes = sorted[kept - 1];
			sorted[kept - 1] = sorted[i];
		}
		if (goes.type == STT_GNU_IFUNC)
			sorted[kept - 1].flags |= SYMBOL_IFUNC_ALIAS;
		builder_erased(b, &goes);
	}
	b->sorted.count = kept;
}

void builder_remove(struct table_builder *b, uint32_t order)
{
	struct symbol *sorted = b->sorted.items;
	for (size_t i = 0; i < b->sorted.count; i++) {
		if (sorted[i].order != order)
			continue;
		builder_erased(b, &sorted[i]);
		memmove(sorted + i, sorted + i + 1, (b->sorted.count - i - 1) * sizeof *sorted);
		b->sorted.count--;
		return;
	}
}

struct symbol *builder_find(struct table_builder *b, uint64_t offset)
{
	size_t end = SEARCH_COUNT(b->sorted.count, i, b->sorted.items[i].start <= offset);
	struct symbol *symbol = end ? &b->sorted.items[end - 1] : NULL;
	return symbol && symbol_holds(symbol, offset) ? symbol : NULL;
}

/* Replays the insertions and removals, and stores the resulting tree with final ids. */
static void builder_grow_tree(struct table_builder *b, struct symbol_table *table)
{
	struct tree tree;
	uint64_t *starts = memory_alloc(b->added * sizeof *starts);
	uint32_t *id = memory_zero((size_t)b->added + 1, sizeof *id), inserted = 0;
	for (uint32_t i = 0; i < b->sorted.count; i++) {
		starts[b->sorted.items[i].order] = b->sorted.items[i].start;
		id[b->sorted.items[i].order + 1] = i + 1;
	}
	for (size_t e = 0; e < b->events.count; e++)
		if (b->events.items[e].erased)
			starts[b->events.items[e].order] = b->events.items[e].start;
	tree_init(&tree, b->added);
	for (size_t e = 0; e < b->events.count; e++) {
		struct table_event event = b->events.items[e];
		if (event.erased)
			tree_erase(&tree, event.order + 1);
		for (; !event.erased && inserted < event.order; inserted++) {
			uint32_t parent = 0;
			int on_left = 0;
			for (uint32_t at = tree.root; at; at = on_left ? tree.left[at] : tree.right[at]) {
				parent = at;
				on_left = starts[inserted] < starts[at - 1];
			}
			tree_insert(&tree, inserted + 1, parent, on_left);
		}
	}
	table->left = memory_zero(b->sorted.count + 1, sizeof *table->left);
	table->right = memory_zero(b->sorted.count + 1, sizeof *table->right);
	table->root = id[tree.root];
	for (uint32_t i = 0; i < b->sorted.count; i++) {
		uint32_t node = b->sorted.items[i].order + 1;
		table->left[i + 1] = id[tree.left[node]];
		table->right[i + 1] = id[tree.right[node]];
	}
	free(starts);
	free(id);
	tree_fini(&tree);
}

/* Marks symbols whose look-up needs the tree; returns whether there are any. */
static bool builder_mark_overlaps(struct table_builder *b)
{
	bool overlapping = false;
	const struct symbol *previous = NULL;
	uint64_t reach = 0;
	for (size_t i = 0; i < b->sorted.count; i++) {
		struct symbol *symbol = &b->sorted.items[i];
		if (previous && (reach > symbol->start || previous->start == symbol->start)) {
			symbol->flags |= SYMBOL_OVERLAPPED;
			overlapping = true;
		}
		reach = symbol->end > reach ? symbol->end : reach;
		previous = symbol;
	}
	return overlapping;
}

/* A part has about two symbols, so that a look-up reads few cache lines. */
static void table_divide(struct symbol_table *table)
{
	enum { DIVIDED = 16 };
	if (table->count < DIVIDED)
		return;
	uint64_t range = table->symbols[table->count - 1].start - table->symbols[0].start;
	table->first = table->symbols[0].start;
	while (range >> table->shift >= table->count / 2)
		table->shift++;
	table->part_count = (uint32_t)(range >> table->shift) + 1;
	table->parts = memory_alloc(((size_t)table->part_count + 1) * sizeof *table->parts);
	uint32_t part = 0;
	for (uint32_t i = 0; i < table->count; i++)
		for (uint64_t at = (table->symbols[i].start - table->first) >> table->shift; part <= at; part++)
			table->parts[part] = i;
	table->parts[part] = table->count;
}

void builder_finish(struct table_builder *b, struct symbol_table *table)
{
	*table = (struct symbol_table){ .count = (uint32_t)b->sorted.count };
	if (!b->unsearched && builder_mark_overlaps(b) && b->added <= TREE_LIMIT)
		builder_grow_tree(b, table);
	table->symbols = memory_resize(b->sorted.items, b->sorted.count, sizeof *table->symbols);
	b->sorted.items = NULL;
	table_divide(table);
	builder_fini(b);
}

void table_fini(struct symbol_table *table)
{
	free(table->symbols);
	free(table->left);
	free(table->right);
	free(table->parts);
	*table = (struct symbol_table){ 0 };
}

uint32_t table_find(const struct symbol_table *table, uint64_t offset)
{
	const struct symbol *symbols = table->symbols;
	const uint32_t *part = table_part(table, offset);
	uint32_t low = part ? part[0] : 0, left = part ? part[1] - low : table->count;
	while (left) {
		uint32_t half = left / 2;
		if (symbols[low + half].start <= offset) {
			low += half + 1;
			left -= half + 1;
		} else {
			left = half;
		}
	}
	if (!low)
		return 0;
	if (!(symbols[low - 1].flags & SYMBOL_OVERLAPPED) || !table->root)
		return symbol_holds(&symbols[low - 1], offset) ? low : 0;
	for (uint32_t id = table->root; id;) {
		const struct symbol *symbol = &symbols[id - 1];
		if (symbol_holds(symbol, offset))
			return id;
		id = offset < symbol->start ? table->left[id] : table->right[id];
	}
	return 0;
}
