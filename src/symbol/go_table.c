#include "symbol/go_table.h"

#include <elf.h>
#include <string.h>

enum { MAGIC_1_18 = 0xfffffff0, MAGIC_1_20 = 0xfffffff1 };

/* The table's header. Functions are listed by address; each place is relative to the first function. */
struct go_table {
	struct span bytes;
	bool swap;
	uint64_t count, text, names, functions; /* text: address; the others: offsets in bytes */
};

static uint64_t take_word(struct cursor *c, uint8_t size)
{
	return size == 8 ? take_u64(c) : take_u32(c);
}

static bool table_open(struct go_table *t, const struct elf *elf)
{
	const struct elf_section *section = elf_section(elf, ".gopclntab"), *text = elf_section(elf, ".text");
	section = section ? section : elf_section(elf, ".data.rel.ro.gopclntab");
	if (!section || !text)
		return false;
	t->bytes = elf_section_bytes(elf, section);
	t->swap = elf->swap;
	struct cursor c = cursor_of(t->bytes.data, t->bytes.len, elf->swap);
	uint32_t magic = take_u32(&c);
	uint16_t zero = take_u16(&c);
	take_u8(&c); /* bytes of the shortest instruction */
	uint8_t size = take_u8(&c);
	if ((magic != MAGIC_1_18 && magic != MAGIC_1_20) || zero || size != (elf->is64 ? 8 : 4))
		return false;
	t->count = take_word(&c, size);
	take_word(&c, size); /* files */
	t->text = take_word(&c, size);
	t->text = t->text ? t->text : text->address; /* the loader puts it in */
	t->names = take_word(&c, size);
	for (unsigned i = 0; i < 3; i++)
		take_word(&c, size); /* units, file names, tables by address */
	t->functions = take_word(&c, size);
	/* after the last function stands where it ends */
	return !c.short_read && t->names < t->bytes.len && t->functions <= t->bytes.len && t->count &&
		t->count < (t->bytes.len - t->functions) / 8;
}

static uint32_t word_at(const struct go_table *t, uint64_t offset)
{
	uint32_t value = load_u32(t->bytes.data + offset);
	return t->swap ? __builtin_bswap32(value) : value;
}

static const char *name_of(const struct go_table *t, uint32_t function)
{
	size_t left = t->bytes.len - (size_t)t->functions;
	if (function > left || left - function < 8)
		return NULL;
	uint64_t name = t->names + word_at(t, t->functions + function + 4);
	if (name >= t->bytes.len || !memchr(t->bytes.data + name, 0, t->bytes.len - (size_t)name))
		return NULL;
	return (const char *)t->bytes.data + name;
}

bool go_table_has(const struct elf *elf)
{
	struct go_table t;
	return table_open(&t, elf);
}

void go_table_symbols(const struct elf *elf, struct table_builder *builder)
{
	struct go_table t;
	if (!table_open(&t, elf))
		return;
	for (uint64_t i = 0; i < t.count; i++) {
		uint64_t at = t.functions + 8 * i;
		uint32_t start = word_at(&t, at), end = word_at(&t, at + 8);
		const struct elf_load *load = elf_load_at(elf, t.text + start);
		const char *name = name_of(&t, word_at(&t, at + 4));
		if (load && name && *name && start < end)
			builder_add(builder, t.text + start - load->vaddr + load->offset, end - start, name, STB_GLOBAL, STT_FUNC);
	}
	builder_merge(builder);
	builder_drop_duplicates(builder);
}
