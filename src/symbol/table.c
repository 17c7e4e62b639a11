#include "symbol/table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PAGE 4096u
/* Names are compared up to here: real ones end long before. */
#define COMPARED_NAME 4096u
#define DEMANGLE_BUDGET 500000u
/* A tree of more would take longer to grow than its shape is worth. */
#define TREE_LIMIT (2u << 20)

void builder_init(struct table_builder *b, const struct demangler *demangler)
{
	*b = (struct table_builder){ .demangler = demangler, .demangle_budget = DEMANGLE_BUDGET };
}

void builder_fini(struct table_builder *b)
{
	vec_fini(&b->all);
	vec_fini(&b->order);
	vec_fini(&b->events);
}

uint32_t builder_add(struct table_builder *b, uint64_t start, uint64_t size, const char *name, uint8_t binding, uint8_t type)
{
	/* a size that wraps around gives a symbol that holds nothing */
	struct symbol symbol = { .start = start, .end = start + size, .name = name, .binding = binding, .type = type };
	vec_push(&b->all, symbol);
	return (uint32_t)b->all.count - 1;
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
	bool sorted = true;
	for (size_t i = 1; i < count; i++) {
		differing |= keys[i].key ^ keys[0].key;
		sorted &= keys[i - 1].key <= keys[i].key;
	}
	if (sorted)
		return;
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

void builder_merge(struct table_builder *b)
{
	size_t fresh = b->all.count - b->merged, old = b->order.count;
	if (!fresh)
		return;
	struct table_key *keys = memory_alloc(fresh * sizeof *keys);
	for (size_t i = 0; i < fresh; i++)
		keys[i] = (struct table_key){ b->all.items[b->merged + i].start, b->merged + (uint32_t)i };
	table_sort_keys(keys, fresh);
	vec_reserve(&b->order, old + fresh);
	/* from the end, in place: of equal ones, those already there come first */
	uint32_t *order = b->order.items;
	for (size_t to = old + fresh, i = old, j = fresh; j > 0;) {
		if (i > 0 && b->all.items[order[i - 1]].start > keys[j - 1].key)
			order[--to] = order[--i];
		else
			order[--to] = keys[--j].index;
	}
	b->order.count = old + fresh;
	struct table_event event = { .index = b->merged, .count = (uint32_t)fresh };
	vec_push(&b->events, event);
	b->merged = (uint32_t)b->all.count;
	free(keys);
}

static uint64_t page_after(uint64_t address)
{
	uint64_t next = (address + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	return next + PAGE > address ? next + PAGE : UINT64_MAX;
}

/* Kernel and modules lie apart: what is last in one does not reach to the first of the next. */
static bool same_module(const char *a, const char *b)
{
	a = strchr(a, '[');
	b = strchr(b, '[');
	return !a == !b && (!a || strcmp(a, b) == 0);
}

void builder_fix_ends(struct table_builder *b, bool kallsyms)
{
	struct symbol *all = b->all.items, *previous = NULL;
	for (size_t i = 0; i < b->order.count; i++) {
		struct symbol *symbol = &all[b->order.items[i]];
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

/* Constructors and destructors come in pairs of one shown name (C1 and C2, D1 and D2): told apart without demangling. */
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

/* Of two at one address, whether the first is the one to keep: what has a size, is not weak, is global, starts with fewer
 * underscores, has the longer name; an old system call alias goes. */
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

static void event_erase(struct table_builder *b, uint32_t index)
{
	struct table_event event = { .index = index };
	vec_push(&b->events, event);
}

void builder_drop_duplicates(struct table_builder *b)
{
	struct symbol *all = b->all.items;
	uint32_t *order = b->order.items;
	size_t kept = 0;
	for (size_t i = 0; i < b->order.count; i++) {
		if (!kept || all[order[kept - 1]].start != all[order[i]].start) {
			order[kept++] = order[i];
			continue;
		}
		bool first = keeps_first(b, &all[order[kept - 1]], &all[order[i]]);
		uint32_t stays = first ? order[kept - 1] : order[i], goes = first ? order[i] : order[kept - 1];
		if (all[goes].type == STT_GNU_IFUNC)
			all[stays].flags |= SYMBOL_IFUNC_ALIAS;
		order[kept - 1] = stays;
		event_erase(b, goes);
	}
	b->order.count = kept;
}

void builder_remove(struct table_builder *b, uint32_t index)
{
	for (size_t i = 0; i < b->order.count; i++) {
		if (b->order.items[i] != index)
			continue;
		memmove(b->order.items + i, b->order.items + i + 1, (b->order.count - i - 1) * sizeof *b->order.items);
		b->order.count--;
		event_erase(b, index);
		return;
	}
}

static bool symbol_holds(const struct symbol *symbol, uint64_t offset)
{
	return offset >= symbol->start && (offset < symbol->end || (offset == symbol->start && offset == symbol->end));
}

struct symbol *builder_find(struct table_builder *b, uint64_t offset)
{
	size_t low = 0, high = b->order.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (b->all.items[b->order.items[middle]].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	struct symbol *symbol = low ? &b->all.items[b->order.items[low - 1]] : NULL;
	return symbol && symbol_holds(symbol, offset) ? symbol : NULL;
}

/* Plays back what was inserted and erased, and keeps the tree that this gives, in final ids. */
static void builder_grow_tree(struct table_builder *b, struct symbol_table *table)
{
	struct tree tree;
	const struct symbol *all = b->all.items;
	tree_init(&tree, b->all.count);
	for (size_t e = 0; e < b->events.count; e++) {
		struct table_event event = b->events.items[e];
		if (!event.count)
			tree_erase(&tree, event.index + 1);
		for (uint32_t i = event.index; i < event.index + event.count; i++) {
			uint32_t parent = 0;
			int on_left = 0;
			for (uint32_t at = tree.root; at; at = on_left ? tree.left[at] : tree.right[at]) {
				parent = at;
				on_left = all[i].start < all[at - 1].start;
			}
			tree_insert(&tree, i + 1, parent, on_left);
		}
	}
	uint32_t *id = memory_zero(b->all.count + 1, sizeof *id);
	for (uint32_t i = 0; i < b->order.count; i++)
		id[b->order.items[i] + 1] = i + 1;
	table->left = memory_zero(b->order.count + 1, sizeof *table->left);
	table->right = memory_zero(b->order.count + 1, sizeof *table->right);
	table->root = id[tree.root];
	for (uint32_t i = 0; i < b->order.count; i++) {
		uint32_t node = b->order.items[i] + 1;
		table->left[i + 1] = id[tree.left[node]];
		table->right[i + 1] = id[tree.right[node]];
	}
	free(id);
	tree_fini(&tree);
}

/* Marks what only the tree can answer; whether there is any. */
static bool builder_mark_overlaps(struct table_builder *b)
{
	bool overlapping = false;
	const struct symbol *previous = NULL;
	uint64_t reach = 0;
	for (size_t i = 0; i < b->order.count; i++) {
		struct symbol *symbol = &b->all.items[b->order.items[i]];
		if (previous && (reach > symbol->start || previous->start == symbol->start)) {
			symbol->flags |= SYMBOL_OVERLAPPED;
			overlapping = true;
		}
		reach = symbol->end > reach ? symbol->end : reach;
		previous = symbol;
	}
	return overlapping;
}

void builder_finish(struct table_builder *b, struct symbol_table *table)
{
	size_t count = b->order.count;
	const uint32_t *order = b->order.items;
	*table = (struct symbol_table){ .count = (uint32_t)count };
	if (builder_mark_overlaps(b) && b->all.count <= TREE_LIMIT)
		builder_grow_tree(b, table);
	bool rising = true;
	for (size_t i = 1; i < count && rising; i++)
		rising = order[i - 1] < order[i];
	/* what came sorted closes its gaps where it stands */
	struct symbol *symbols = rising ? b->all.items : memory_alloc(count * sizeof *symbols);
	for (size_t i = 0; i < count; i++)
		symbols[i] = b->all.items[order[i]];
	if (rising)
		b->all.items = NULL;
	table->symbols = rising ? memory_resize(symbols, count, sizeof *symbols) : symbols;
	builder_fini(b);
}

void table_fini(struct symbol_table *table)
{
	free(table->symbols);
	free(table->left);
	free(table->right);
	*table = (struct symbol_table){ 0 };
}

uint32_t table_find(const struct symbol_table *table, uint64_t offset)
{
	const struct symbol *symbols = table->symbols;
	uint32_t low = 0, left = table->count;
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
