#include "symbol/nearest.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/vec.h"
#include "elf/symtab.h"

struct nearest_symbol {
	uint64_t value, size;
	const char *name, *file;
	uint32_t section, order;
	bool function;
};

/* Limit on the symbols examined at one address. */
#define TIES_MAX 256u

static bool can_be_function(const struct elf *elf, const struct elf_symbol *symbol)
{
	if (symbol->section == SHN_UNDEF || symbol->section >= elf->section_count)
		return false;
	if (symbol->type != STT_NOTYPE && symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC)
		return false;
	bool mark = symbol->type == STT_NOTYPE && symbol->binding == STB_LOCAL && symbol->visibility == STV_HIDDEN && !symbol->size;
	bool arm = elf->machine == EM_ARM || elf->machine == EM_AARCH64;
	return !mark && !(arm && symbol->name[0] == '$');
}

static int compare(const void *a, const void *b)
{
	const struct nearest_symbol *x = a, *y = b;
	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void nearest_init(struct nearest *nearest, const struct elf *elf)
{
	struct elf_symtab tab = elf_symtab(elf, elf_section(elf, ".symtab"));
	VEC(struct nearest_symbol) found = { 0 };
	const char *file = NULL;
	bool symbols_seen = false, files_mixed = false;
	for (uint32_t i = 1; i < tab.count; i++) {
		struct elf_symbol symbol = elf_symtab_get(&tab, i);
		if (symbol.type == STT_FILE) {
			files_mixed |= symbols_seen;
			file = symbol.name;
			continue;
		}
		symbols_seen = true;
		if (!can_be_function(elf, &symbol))
			continue;
		/* if STT_FILE entries follow other symbols, the last one is not the file of the global symbols after it */
		bool known = symbol.binding == STB_LOCAL || !files_mixed;
		vec_push(&found, ((struct nearest_symbol){ .value = symbol.value, .size = symbol.size ? symbol.size : 1,
			.name = symbol.name, .file = known && file && *file ? file : NULL, .section = symbol.section,
			.order = i, .function = symbol.type != STT_NOTYPE }));
	}
	if (found.count)
		qsort(found.items, found.count, sizeof *found.items, compare);
	*nearest = (struct nearest){ .symbols = found.items, .count = (uint32_t)found.count };
}

void nearest_fini(struct nearest *nearest)
{
	free(nearest->symbols);
	*nearest = (struct nearest){ 0 };
}

static const struct elf_section *section_at(const struct elf *elf, uint64_t address)
{
	for (uint32_t i = 1; i < elf->section_count; i++)
		if (elf->sections[i].flags & SHF_ALLOC && address - elf->sections[i].address < elf->sections[i].size)
			return &elf->sections[i];
	return NULL;
}

static bool same_place(const struct nearest_symbol *a, const struct nearest_symbol *b)
{
	return a->section == b->section && a->value == b->value;
}

/* Both start at one address, a precedes b in the table. */
static bool is_better(const struct nearest_symbol *b, const struct nearest_symbol *a)
{
	return b->size != a->size ? b->size > a->size : b->function && !a->function;
}

/* Of the last-starting symbols at or before address, returns the best. */
static const struct nearest_symbol *find_symbol(const struct nearest *nearest, const struct elf *elf, uint64_t address)
{
	const struct elf_section *section = section_at(elf, address);
	if (!section || !nearest->count)
		return NULL;
	uint32_t index = elf_section_index(elf, section);
	/* symbols of object files are relative to their section */
	uint64_t base = elf->type == ET_REL ? section->address : 0;
	struct nearest_symbol wanted = { .section = index, .value = address - base, .order = UINT32_MAX };
	uint32_t end = (uint32_t)SEARCH_COUNT(nearest->count, i, compare(&nearest->symbols[i], &wanted) <= 0);
	if (!end || nearest->symbols[end - 1].section != index)
		return NULL;
	uint32_t first = end - 1;
	while (first && end - first < TIES_MAX && same_place(&nearest->symbols[first - 1], &nearest->symbols[end - 1]))
		first--;
	const struct nearest_symbol *best = &nearest->symbols[first];
	for (uint32_t i = first + 1; i < end; i++)
		if (is_better(&nearest->symbols[i], best))
			best = &nearest->symbols[i];
	return best;
}

const char *nearest_function(const struct nearest *nearest, const struct elf *elf, uint64_t address, const char **file)
{
	const struct nearest_symbol *best = find_symbol(nearest, elf, address);
	*file = best ? best->file : NULL;
	return best ? best->name : NULL;
}

const char *nearest_entry(const struct nearest *nearest, const struct elf *elf, uint64_t entry)
{
	const struct nearest_symbol *best = find_symbol(nearest, elf, entry);
	const struct elf_section *section = best ? &elf->sections[best->section] : NULL;
	return best && best->value + (elf->type == ET_REL ? section->address : 0) == entry ? best->name : NULL;
}
