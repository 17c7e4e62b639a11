#include "symbol/load_elf.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "elf/module_layout.h"
#include "elf/symtab.h"
#include "symbol/go_table.h"
#include "symbol/plt.h"

/* How the symbols of one section are treated. */
struct place {
	bool exists;           /* a debug file may have a section that the running file lacks */
	bool usable, labels;   /* labels: untyped symbols are used */
	uint64_t shift;        /* from a symbol's value to its offset, if the section determines it */
};

struct loader {
	const struct elf_load_request *request;
	struct table_builder builder;
	struct place *places;
	uint32_t place_count;
	const struct elf_section *opd;  /* of the running file; NULL if absent */
	uint32_t opd_index;
	uint64_t opd_address;           /* its address in the file with the symbols */
	struct span opd_bytes;
	uint64_t relocation;
	uint64_t searched;              /* number of sections searched for descriptors */
};

static const struct elf_section *section_of_type(const struct elf *elf, const char *name, uint32_t type)
{
	const struct elf_section *section = elf_section(elf, name);
	return section && section->type == type ? section : NULL;
}

bool elf_has_symtab(const struct elf *elf)
{
	return section_of_type(elf, ".symtab", SHT_SYMTAB) != NULL;
}

bool elf_has_dynsym(const struct elf *elf)
{
	return section_of_type(elf, ".dynsym", SHT_DYNSYM) != NULL;
}

bool elf_has_opd(const struct elf *elf)
{
	return section_of_type(elf, ".opd", SHT_PROGBITS) != NULL;
}

/* Longer names are not compared. */
#define SECTION_NAME_MAX 256u

static bool name_contains(const char *name, const char *word)
{
	return memmem(name, strnlen(name, SECTION_NAME_MAX), word, strlen(word)) != NULL;
}

static bool section_is_code(const struct elf_section *section)
{
	return (section->flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR);
}

/* The file offset up to which a module's code sections follow .text without a gap, and so follow it in memory, too. */
static uint64_t module_text_end(const struct elf *elf)
{
	uint64_t end = 0;
	if (elf->machine == EM_PARISC || elf->machine == EM_ALPHA)
		return 0;
	for (uint32_t i = 1; i < elf->section_count; i++) {
		const struct elf_section *s = &elf->sections[i];
		if (!section_is_code(s))
			continue;
		uint64_t align = s->align ? s->align : 1;
		bool elsewhere = strncmp(s->name, ".init", 5) == 0 || strncmp(s->name, ".exit", 5) == 0;
		if (elsewhere || (end && ((end + align - 1) & -align) != s->offset))
			break;
		end = s->offset + s->size;
	}
	return end;
}

static void loader_place_sections(struct loader *l, const struct elf *elf)
{
	const struct elf *runtime = l->request->runtime;
	bool kmodule = l->request->use == ELF_USE_KMODULE;
	const struct elf_section *text = elf_section(runtime, ".text");
	uint64_t text_end = kmodule ? module_text_end(runtime) : 0;
	const char *wanted = l->request->section ? l->request->section : elf_section(elf, ".text") ? ".text" : NULL;
	l->place_count = elf->section_count;
	free(l->places);
	l->places = memory_zero(elf->section_count, sizeof *l->places);
	for (uint32_t i = 1; i < elf->section_count; i++) {
		const struct elf_section *s = &elf->sections[i];
		struct place *place = &l->places[i];
		bool left_out = s->type == SHT_NOBITS; /* a debug file retains their headers, but not their offsets */
		place->exists = !(s->flags & SHF_ALLOC) || !left_out || i < runtime->section_count;
		if (!(s->flags & SHF_ALLOC) || !place->exists)
			continue;
		s = left_out ? &runtime->sections[i] : s;
		place->usable = true;
		place->labels = name_contains(s->name, "text") || name_contains(s->name, "data");
		place->shift = s->offset - s->address;
		if (l->request->use == ELF_USE_KERNEL && wanted)
			place->usable = strcmp(s->name, wanted) == 0;
		if (kmodule) {
			if (text && text->type == SHT_NOBITS && elf->type == ET_REL) { /* a debug file has no offsets: module_layout.h */
				place->usable = section_is_code(s) && s->address < module_elsewhere(elf);
				place->shift = s->address;
				continue;
			}
			bool is_text = strcmp(s->name, ".text") == 0;
			place->usable = text && (is_text || (section_is_code(s) && s->offset <= text_end));
			place->shift = text ? s->offset - text->offset - (elf->type == ET_REL ? 0 : s->address) : 0;
		}
	}
}

/* On ARM, "$a", "$d", "$t", "$x" mark the kind of code or data that follows; they name no function. */
static bool is_mapping_symbol(const struct elf *elf, const char *name)
{
	if (elf->machine != EM_ARM && elf->machine != EM_AARCH64)
		return false;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (name[2] == '\0' || name[2] == '.');
}

enum keep { KEEP_NOT, KEEP_TYPED, KEEP_LABEL };

static enum keep symbol_keep(const struct elf *elf, const struct elf_symbol *symbol)
{
	if (symbol->section == SHN_UNDEF || !symbol->named || is_mapping_symbol(elf, symbol->name))
		return KEEP_NOT;
	switch (symbol->type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		return KEEP_TYPED;
	case STT_NOTYPE:
		return symbol->visibility == STV_HIDDEN || symbol->visibility == STV_INTERNAL ? KEEP_NOT : KEEP_LABEL;
	default:
		return KEEP_NOT;
	}
}

/* Each descriptor searches the sections; this suffices for any real file. */
#define DESCRIPTOR_SEARCH_LIMIT ((uint64_t)1 << 28)

/* ppc64: a function's symbol points to its descriptor, whose first word is the address of the code. */
static void loader_follow_descriptor(struct loader *l, struct elf_symbol *symbol)
{
	uint64_t at = (uint32_t)(symbol->value - l->opd_address);
	if (at > l->opd_bytes.len || l->opd_bytes.len - at < 8 || l->searched > DESCRIPTOR_SEARCH_LIMIT)
		return;
	const struct elf *runtime = l->request->runtime;
	uint64_t code = load_u64(l->opd_bytes.data + at);
	symbol->value = runtime->swap ? __builtin_bswap64(code) : code;
	uint32_t i = 1;
	while (i < runtime->section_count && symbol->value - runtime->sections[i].address >= runtime->sections[i].size)
		i++;
	symbol->section = i;
	l->searched += i;
}

static uint64_t loader_offset(struct loader *l, uint64_t value, const struct place *place)
{
	switch (l->request->use) {
	case ELF_USE_KERNEL:
		return value + l->relocation;
	case ELF_USE_KMODULE:
		return value + place->shift;
	default:
		break;
	}
	const struct elf_load *load = elf_load_at(l->request->runtime, value);
	return load ? value - load->vaddr + load->offset : value + place->shift;
}

/* Adds one symbol of the file. Returns false if it is invalid, which ends the reading of its table, as in perf. */
static bool loader_take(struct loader *l, const struct elf *elf, struct elf_symbol *symbol)
{
	enum keep keep = symbol_keep(elf, symbol);
	if (keep != KEEP_NOT && l->opd && symbol->section == l->opd_index)
		loader_follow_descriptor(l, symbol);
	if (keep == KEEP_NOT || symbol->section == SHN_ABS)
		return true;
	if (symbol->section >= l->place_count || !l->places[symbol->section].exists)
		return false;
	const struct place *place = &l->places[symbol->section];
	if (!place->usable || (keep == KEEP_LABEL && !place->labels))
		return true;
	/* the lowest bit marks Thumb code */
	if (elf->machine == EM_ARM && symbol->type == STT_FUNC)
		symbol->value &= ~(uint64_t)1;
	builder_add(&l->builder, loader_offset(l, symbol->value, place), symbol->size, symbol->name, symbol->binding, symbol->type);
	return true;
}

/* Returns false if the table could not be read to its end; the symbols read so far remain. */
static bool loader_read(struct loader *l, const struct elf *elf, const char *name, uint32_t type)
{
	struct elf_symtab tab = elf_symtab(elf, section_of_type(elf, name, type));
	if (!tab.count)
		return true;
	loader_place_sections(l, elf);
	bool whole = true;
	for (uint32_t i = 0; i < tab.count && whole; i++) {
		struct elf_symbol symbol = elf_symtab_get(&tab, i);
		whole = loader_take(l, elf, &symbol);
	}
	builder_merge(&l->builder);
	/* perf does this for the kernel, not for its other sections */
	if (whole && !l->request->section) {
		builder_fix_ends(&l->builder, false);
		if (!l->request->aliases)
			builder_drop_duplicates(&l->builder);
	}
	return whole;
}

uint64_t load_elf_relocation(const struct elf *kernel, const char *name, uint64_t address)
{
	if (!name || !address)
		return 0;
	struct elf_symtab tab = elf_symtab(kernel, section_of_type(kernel, ".symtab", SHT_SYMTAB));
	for (uint32_t i = 0; i < tab.count; i++) {
		struct elf_symbol symbol = elf_symtab_get(&tab, i);
		if (strcmp(symbol.name, name) == 0)
			return address - symbol.value;
	}
	return 0;
}

/* A symbol, its nodes of the tree, and the pointer to its shown name. */
enum { SYMBOL_BYTES = sizeof(struct symbol) + 3 * sizeof(uint32_t) + sizeof(char *) };

/* Counts all entries that may become symbols. */
static size_t memory_needed(const struct elf_load_request *request)
{
	size_t count = elf_symtab(request->symbols, section_of_type(request->symbols, ".symtab", SHT_SYMTAB)).count;
	count += elf_symtab(request->dynamic, section_of_type(request->dynamic, ".dynsym", SHT_DYNSYM)).count;
	return count * SYMBOL_BYTES;
}

size_t load_elf(const struct elf_load_request *request, struct symbol_table *table)
{
	struct loader l = { .request = request };
	*table = (struct symbol_table){ 0 };
	size_t needed = memory_needed(request);
	if (!budget_take(request->budget, needed))
		return 0;
	if (request->use == ELF_USE_KERNEL)
		l.relocation = load_elf_relocation(request->symbols, request->relocation_symbol, request->relocation);
	builder_init(&l.builder, request->demangler);
	l.builder.unsearched = request->unsearched;
	if (elf_has_opd(request->runtime)) {
		const struct elf_section *own = elf_section(request->symbols, ".opd");
		l.opd = elf_section(request->runtime, ".opd");
		l.opd_index = elf_section_index(request->runtime, l.opd);
		l.opd_bytes = elf_section_bytes(request->runtime, l.opd);
		l.opd_address = own ? own->address : l.opd->address;
	}
	bool whole = loader_read(&l, request->symbols, ".symtab", SHT_SYMTAB);
	/* for the kernel, a file without a full symbol table has too few symbols */
	if (whole && (request->use == ELF_USE_FILE || elf_has_symtab(request->symbols)))
		whole = loader_read(&l, request->dynamic, ".dynsym", SHT_DYNSYM);
	if (request->use == ELF_USE_FILE && !elf_has_symtab(request->symbols))
		go_table_symbols(request->runtime, &l.builder);
	if (whole && request->use == ELF_USE_FILE && l.builder.sorted.count)
		plt_symbols(request, &l.builder);
	builder_finish(&l.builder, table);
	free(l.places);
	size_t taken = table->count * SYMBOL_BYTES;
	if (taken > needed)
		taken = needed;
	budget_give(request->budget, needed - taken);
	return request->budget ? taken : 0;
}
