#include "elf/go_functions.h"

#include <string.h>

enum {
	MAGIC_1_18 = 0xfffffff0, MAGIC_1_20 = 0xfffffff1,
	TEXT_AT = 2,             /* words before the address of the code, after the first 8 bytes */
	NAME_AT = 4, STACK_AT = 16, FUNCTION_SIZE = 20, /* offsets in a function's entry */
	VALUE_MAX = 1 << 30,
	TABLE_ALIGN = 32,
};

static uint64_t take_word(struct cursor *c, uint8_t size)
{
	return size == 8 ? take_u64(c) : take_u32(c);
}

/* The value to which the loader relocates a 0: in position-independent programs the address of the code. 0: no relocation. */
static uint64_t relocated(const struct elf *elf, uint64_t address)
{
	struct span bytes = elf_section_bytes(elf, elf_section(elf, ".rela.dyn"));
	struct cursor c = cursor_of(bytes.data, bytes.len, elf->swap);
	while (elf->is64 && c.at < bytes.len) {
		uint64_t offset = take_u64(&c);
		take_u64(&c);
		uint64_t addend = take_u64(&c);
		if (offset == address && !c.short_read)
			return addend;
	}
	return 0;
}

/* Reads the header at an offset of the section. */
static bool read_header(struct go_functions *t, const struct elf *elf, const struct elf_section *section, size_t at)
{
	const struct elf_section *text = elf_section(elf, ".text");
	struct span bytes = elf_section_bytes(elf, section);
	if (at >= bytes.len)
		return false;
	t->bytes = (struct span){ bytes.data + at, bytes.len - at };
	t->swap = elf->swap;
	struct cursor c = cursor_of(t->bytes.data, t->bytes.len, elf->swap);
	uint32_t magic = take_u32(&c);
	uint16_t zero = take_u16(&c);
	t->step = take_u8(&c);
	uint8_t size = take_u8(&c);
	if ((magic != MAGIC_1_18 && magic != MAGIC_1_20) || zero || size != (elf->is64 ? 8 : 4))
		return false;
	t->count = take_word(&c, size);
	take_word(&c, size); /* files */
	t->text = take_word(&c, size);
	t->names = take_word(&c, size);
	take_word(&c, size); /* units */
	take_word(&c, size); /* file names */
	t->values = take_word(&c, size);
	t->functions = take_word(&c, size);
	/* the last function is followed by its end */
	if (c.short_read || t->names >= t->bytes.len || t->values > t->bytes.len || t->functions > t->bytes.len || !t->count ||
	    t->count >= (t->bytes.len - t->functions) / 8)
		return false;
	t->text = t->text ? t->text : relocated(elf, section->address + at + 8 + TEXT_AT * size);
	t->text = t->text ? t->text : text->address;
	return true;
}

bool go_functions_open(struct go_functions *t, const struct elf *elf)
{
	const struct elf_section *section = elf_section(elf, ".gopclntab");
	section = section ? section : elf_section(elf, ".data.rel.ro.gopclntab");
	if (!elf_section(elf, ".text"))
		return false;
	if (section)
		return read_header(t, elf, section, 0);
	/* linkers other than Go's place the table in the section that the loader makes read-only */
	section = elf_section(elf, ".go.buildinfo") ? elf_section(elf, ".data.rel.ro") : NULL;
	struct span bytes = elf_section_bytes(elf, section);
	for (size_t at = 0; at + 8 <= bytes.len; at += TABLE_ALIGN) {
		uint32_t magic = (elf->swap ? __builtin_bswap32(load_u32(bytes.data + at)) : load_u32(bytes.data + at)) | 1;
		if (magic == MAGIC_1_20 && read_header(t, elf, section, at))
			return true;
	}
	return false;
}

static uint32_t word_at(const struct go_functions *t, uint64_t offset)
{
	uint32_t value = load_u32(t->bytes.data + offset);
	return t->swap ? __builtin_bswap32(value) : value;
}

bool go_functions_get(const struct go_functions *t, uint64_t index, struct go_function *f)
{
	uint64_t at = t->functions + 8 * index, left = t->bytes.len - t->functions;
	uint32_t start = word_at(t, at), info = word_at(t, at + 4), end = word_at(t, at + 8);
	*f = (struct go_function){ .start = t->text + start, .end = t->text + end };
	if (start >= end || t->text > UINT64_MAX - end || info > left || left - info < FUNCTION_SIZE)
		return false;
	uint64_t name = t->names + word_at(t, t->functions + info + NAME_AT);
	if (name < t->bytes.len && memchr(t->bytes.data + name, 0, t->bytes.len - (size_t)name))
		f->name = (const char *)t->bytes.data + name;
	f->stack = word_at(t, t->functions + info + STACK_AT);
	return true;
}

void go_stack_begin(struct go_stack *s, const struct go_functions *t, const struct go_function *f)
{
	uint64_t left = t->bytes.len - t->values;
	bool told = f->stack && f->stack < left;
	*s = (struct go_stack){ .to = f->start, .size = -1, .step = t->step, .first = true };
	s->bytes = cursor_of(told ? t->bytes.data + t->values + f->stack : NULL, told ? left - f->stack : 0, t->swap);
}

/* Reads seven bits per byte, the lowest first. */
static uint32_t take_number(struct cursor *c)
{
	uint32_t value = 0;
	for (unsigned shift = 0; shift < 32; shift += 7) {
		uint8_t byte = take_u8(c);
		value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* Each entry is the change of the value, with the sign in the lowest bit, and the length of its range; except at the start, a change of 0
 * is the end. */
bool go_stack_next(struct go_stack *s)
{
	uint32_t change = take_number(&s->bytes), length = take_number(&s->bytes);
	if (s->bytes.short_read || !length || (!change && !s->first))
		return false;
	s->first = false;
	s->size += change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
	if (s->size > VALUE_MAX || s->size < -VALUE_MAX)
		return false;
	s->from = s->to;
	s->to += (uint64_t)length * s->step;
	return s->to > s->from;
}
