#include "symbol/plt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/search.h"
#include "elf/symtab.h"

/* Limit on the number of named stubs. */
#define PLT_STUBS_LIMIT (1u << 20)

/* Longer names are truncated. */
#define PLT_NAME_MAX 4096u

struct plt {
	const struct elf *elf;
	struct table_builder *builder;
	struct arena *names;
};

/* Sizes in bytes of the first stub, which is special, and of the others. */
struct stub_sizes {
	uint64_t header, entry;
};

static bool machine_is_x86(const struct elf *elf)
{
	return elf->machine == EM_386 || elf->machine == EM_X86_64;
}

static struct stub_sizes stub_sizes_of(const struct elf *elf, const struct elf_section *plt)
{
	static const struct {
		uint16_t machine;
		struct stub_sizes sizes;
	} fixed[] = {
		{ EM_ARM, { 20, 12 } }, { EM_AARCH64, { 32, 16 } }, { 258 /* LoongArch */, { 32, 16 } },
		{ EM_SPARC, { 48, 12 } }, { EM_SPARCV9, { 128, 32 } },
	};
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (elf->machine == fixed[i].machine)
			return fixed[i].sizes;
	uint64_t entry = plt->entry_size;
	/* some linkers write other sizes, or none */
	if (machine_is_x86(elf) && entry != 8 && entry != 16)
		entry = plt->align == 8 ? 8 : 16;
	return (struct stub_sizes){ entry, entry };
}

static const char *plt_name(struct plt *p, const char *name)
{
	size_t len = strnlen(name, PLT_NAME_MAX);
	char *text = arena_bytes(p->names, len + 5);
	memcpy(text, name, len);
	memcpy(text + len, "@plt", 5);
	return text;
}

static const char *plt_offset_name(struct plt *p, uint64_t offset)
{
	char text[40];
	snprintf(text, sizeof text, "offset_%#llx", (unsigned long long)offset);
	return plt_name(p, text);
}

static struct symbol *plt_add(struct plt *p, uint64_t offset, uint64_t size, const char *name)
{
	return builder_add(p->builder, offset, size, name, STB_GLOBAL, STT_FUNC);
}

/* The offset from the start of an x86-64 stub to the slot through which it jumps: [endbr64] [bnd] jmp *disp(%rip); 0: not such a stub. */
static uint32_t stub_slot(const uint8_t *code, size_t len)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = len >= 4 && memcmp(code, endbr64, 4) == 0 ? 4 : 0;
	at += at < len && code[at] == 0xf2;
	if (len - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	return (uint32_t)at + 6 + (code[at + 2] | code[at + 3] << 8 | code[at + 4] << 16 | (uint32_t)code[at + 5] << 24);
}

/* Relocations by the slot that they fill. */
struct slots {
	struct table_key *keys;
	uint32_t count;
};

static struct slots slots_sorted(const struct elf_relocations *rels, bool sort)
{
	struct slots s = { memory_alloc(rels->count * sizeof *s.keys), rels->count };
	for (uint32_t i = 0; i < rels->count; i++)
		s.keys[i] = (struct table_key){ elf_relocation_get(rels, i).offset, i };
	if (sort)
		table_sort_keys(s.keys, s.count);
	return s;
}

/* The number of relocations without a symbol at the start of .rela.dyn, which a linker that sorts them counts: 0: unknown. A large program
 * has half a million of them. */
static uint32_t relative_count(const struct elf *elf)
{
	enum { DYNAMIC_MAX = 4096 };
	const struct elf_section *dynamic = elf_section(elf, ".dynamic");
	struct span bytes = dynamic ? elf_section_bytes(elf, dynamic) : (struct span){ 0 };
	struct cursor cursor = cursor_of(bytes.data, bytes.len, elf->swap);
	for (int i = 0; i < DYNAMIC_MAX && cursor_left(&cursor) >= 16; i++) {
		uint64_t tag = take_u64(&cursor), value = take_u64(&cursor);
		if (tag == DT_NULL)
			break;
		if (tag == DT_RELACOUNT)
			return value < UINT32_MAX ? (uint32_t)value : 0;
	}
	return 0;
}

/* Of the relocations that have a symbol. */
static struct slots slots_named(const struct elf_relocations *rels, uint32_t first)
{
	VEC(struct table_key) keys = { 0 };
	for (uint32_t i = first < rels->count ? first : 0; i < rels->count; i++) {
		struct elf_relocation rel = elf_relocation_get(rels, i);
		if (rel.symbol)
			vec_push(&keys, ((struct table_key){ rel.offset, i }));
	}
	if (keys.count)
		table_sort_keys(keys.items, keys.count);
	return (struct slots){ keys.items, (uint32_t)keys.count };
}

static uint32_t slots_find(const struct slots *s, uint64_t offset)
{
	size_t at = SEARCH_COUNT(s->count, i, s->keys[i].key < offset);
	return at < s->count && s->keys[at].key == offset ? s->keys[at].index : UINT32_MAX;
}

static const char *table_name(const struct elf_symtab *tab, uint32_t index)
{
	return index < tab->count ? elf_symtab_get(tab, index).name : "";
}

/* .plt.got: stubs for functions whose address is also taken: .rela.dyn fills their slots. */
static void plt_got(struct plt *p)
{
	const struct elf *elf = p->elf;
	const struct elf_section *got = elf_section(elf, ".plt.got");
	if (!got || !got->entry_size)
		return;
	struct span code = elf_section_bytes(elf, got);
	const struct elf_section *dyn = elf->machine == EM_X86_64 ? elf_section(elf, ".rela.dyn") : NULL;
	struct elf_relocations rels = elf_relocations(elf, dyn);
	struct slots slots = slots_named(&rels, relative_count(elf));
	struct elf_symtab tab = { 0 };
	if (dyn && dyn->link && dyn->link < elf->section_count)
		tab = elf_symtab(elf, &elf->sections[dyn->link]);
	uint32_t left = PLT_STUBS_LIMIT;
	for (uint64_t at = 0; at < code.len && left--; at += got->entry_size) {
		uint32_t slot = stub_slot(code.data + at, code.len - at);
		uint32_t rel = slot ? slots_find(&slots, got->offset + at + slot) : UINT32_MAX;
		const char *name = rel == UINT32_MAX ? "" : table_name(&tab, elf_relocation_get(&rels, rel).symbol);
		plt_add(p, got->offset + at, got->entry_size, *name ? plt_name(p, name) : plt_offset_name(p, got->offset + at));
		if (got->entry_size > code.len - at)
			break;
	}
	free(slots.keys);
}

/* The relocation of an indirect function's stub has no symbol: on x86-64 its addend is the resolver's address. */
static const char *plt_indirect(struct plt *p, const struct elf_relocations *rels, const struct elf_relocation *rel)
{
	if (p->elf->machine != EM_X86_64 || !rels->addends || rel->type != R_X86_64_IRELATIVE)
		return NULL;
	const struct elf_load *load = elf_load_at(p->elf, (uint64_t)rel->addend);
	if (!load)
		return NULL;
	uint64_t offset = (uint64_t)rel->addend - load->vaddr + load->offset;
	const struct symbol *symbol = builder_find(p->builder, offset);
	if (!symbol || symbol->start != offset || (symbol->type != STT_GNU_IFUNC && !(symbol->flags & SYMBOL_IFUNC_ALIAS)))
		return NULL;
	return plt_name(p, symbol->name);
}

static void plt_stubs(struct plt *p, const struct elf_section *section, const struct elf_symtab *tab, uint64_t offset,
	uint64_t size)
{
	struct elf_relocations rels = elf_relocations(p->elf, section);
	/* x86 linkers place relocations of indirect functions last, whatever the order of the stubs */
	struct slots slots = slots_sorted(&rels, machine_is_x86(p->elf));
	for (uint32_t i = 0; i < slots.count && i < PLT_STUBS_LIMIT; i++, offset += size) {
		struct elf_relocation rel = elf_relocation_get(&rels, slots.keys[i].index);
		const char *name = table_name(tab, rel.symbol), *text = *name ? plt_name(p, name) : plt_indirect(p, &rels, &rel);
		plt_add(p, offset, size, text ? text : plt_offset_name(p, offset));
	}
	free(slots.keys);
}

/* Finds .rela.plt or .rel.plt and its symbol table; NULL if absent or invalid. */
static const struct elf_section *plt_relocations(const struct elf *elf, struct elf_symtab *tab)
{
	const struct elf_section *rel = elf_section(elf, ".rela.plt");
	rel = rel ? rel : elf_section(elf, ".rel.plt");
	if (!rel || (rel->type != SHT_RELA && rel->type != SHT_REL) || !rel->link || rel->link >= elf->section_count)
		return NULL;
	const struct elf_section *symbols = &elf->sections[rel->link];
	const char *name = symbols->type == SHT_DYNSYM ? ".dynsym" : symbols->type == SHT_SYMTAB ? ".symtab" : "";
	if (elf_section(elf, name) != symbols)
		return NULL;
	*tab = elf_symtab(elf, symbols);
	return tab->strings.len ? rel : NULL;
}

void plt_symbols(const struct elf_load_request *request, struct table_builder *builder)
{
	struct plt p = { .elf = request->runtime, .builder = builder, .names = request->names };
	const struct elf_section *plt = elf_section(p.elf, ".plt");
	if (!plt)
		return;
	/* a symbol without a size may extend into the PLT */
	struct symbol *before = builder_find(builder, plt->offset);
	if (before && before->start < plt->offset)
		before->end = plt->offset;
	struct stub_sizes sizes = stub_sizes_of(p.elf, plt);
	if (!sizes.entry)
		return;
	uint32_t header = plt_add(&p, plt->offset, sizes.header, ".plt")->order;
	size_t at = builder->fresh.count - 1;
	uint64_t offset = plt->offset;
	bool lazy = true;
	if (machine_is_x86(p.elf)) {
		plt_got(&p);
		const struct elf_section *second = elf_section(p.elf, ".plt.sec");
		if (second) {
			sizes = stub_sizes_of(p.elf, second);
			builder->fresh.items[at].end = plt->offset + plt->size;
			offset = second->offset;
			lazy = false;
		}
	}
	struct elf_symtab tab;
	const struct elf_section *rel = plt_relocations(p.elf, &tab);
	bool headless = false;
	if (rel && lazy) {
		/* as many stubs as relocations: no header */
		uint64_t count = elf_relocations(p.elf, rel).count;
		headless = count * sizes.entry == plt->size;
		offset += headless ? 0 : sizes.header;
	}
	builder_merge(builder);
	if (headless)
		builder_remove(builder, header);
	if (rel) {
		plt_stubs(&p, rel, &tab, offset, sizes.entry);
		builder_merge(builder);
	}
}
