/* ELF files for tests: sections in order, a PT_LOAD for each section with an address, symbols by name. */
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAKER_SECTIONS 32

struct maker_section {
	const char *name;
	uint32_t type, link, info;
	uint64_t flags, address, entry_size, align;
	uint8_t *data;
	size_t len, offset;      /* len is the size in the header; NOBITS has no data */
};

struct maker {
	bool is64, big;
	uint16_t machine, type;
	struct maker_section sections[MAKER_SECTIONS]; /* [0] stays empty */
	unsigned count;
};

static inline struct maker maker_new(bool is64, bool big, uint16_t machine, uint16_t type)
{
	return (struct maker){ .is64 = is64, .big = big, .machine = machine, .type = type, .count = 1 };
}

static inline void maker_put(const struct maker *m, uint8_t *at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		at[m->big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* Returns the index of the new section; data is copied. */
static inline unsigned maker_section(struct maker *m, const char *name, uint32_t type, uint64_t flags, uint64_t address,
	const void *data, size_t len)
{
	struct maker_section *s = &m->sections[m->count];
	*s = (struct maker_section){ .name = name, .type = type, .flags = flags, .address = address, .len = len, .align = 1 };
	if (type != SHT_NOBITS) {
		s->data = calloc(1, len + 1);
		if (data)
			memcpy(s->data, data, len);
	}
	return m->count++;
}

static inline void maker_append(struct maker *m, unsigned section, const void *data, size_t len)
{
	struct maker_section *s = &m->sections[section];
	s->data = realloc(s->data, s->len + len + 1);
	memcpy(s->data + s->len, data, len);
	s->len += len;
}

/* Adds a symbol table of that name and its string table. */
static inline unsigned maker_symtab(struct maker *m, const char *name, const char *strings, uint32_t type)
{
	uint8_t null[24] = { 0 };
	unsigned size = m->is64 ? 24 : 16, link = maker_section(m, strings, SHT_STRTAB, 0, 0, "", 1);
	unsigned index = maker_section(m, name, type, 0, 0, null, size);
	m->sections[index].link = link;
	m->sections[index].entry_size = size;
	return index;
}

/* name NULL: unnamed. */
static inline void maker_symbol(struct maker *m, unsigned symtab, const char *name, uint64_t value, uint64_t size,
	unsigned binding, unsigned type, unsigned section)
{
	uint8_t entry[24] = { 0 };
	unsigned strings = m->sections[symtab].link;
	if (name) {
		maker_put(m, entry, m->sections[strings].len, 4);
		maker_append(m, strings, name, strlen(name) + 1);
	}
	if (m->is64) {
		entry[4] = (uint8_t)(binding << 4 | type);
		maker_put(m, entry + 6, section, 2);
		maker_put(m, entry + 8, value, 8);
		maker_put(m, entry + 16, size, 8);
	} else {
		maker_put(m, entry + 4, value, 4);
		maker_put(m, entry + 8, size, 4);
		entry[12] = (uint8_t)(binding << 4 | type);
		maker_put(m, entry + 14, section, 2);
	}
	maker_append(m, symtab, entry, m->is64 ? 24 : 16);
}

static inline unsigned maker_build_id(struct maker *m, const void *id, size_t len)
{
	uint8_t note[64] = { 0 };
	maker_put(m, note, 4, 4);
	maker_put(m, note + 4, len, 4);
	maker_put(m, note + 8, 3, 4);
	memcpy(note + 12, "GNU", 4);
	memcpy(note + 16, id, len);
	return maker_section(m, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, note, 16 + ((len + 3) & ~(size_t)3));
}

static inline void maker_program_header(const struct maker *m, uint8_t *at, const struct maker_section *s)
{
	unsigned word = m->is64 ? 8 : 4;
	uint64_t stored = s->type == SHT_NOBITS ? 0 : s->len;
	uint64_t values[] = { s->offset, s->address, s->address, stored, s->len };
	maker_put(m, at, PT_LOAD, 4);
	for (unsigned i = 0; i < 5; i++)
		maker_put(m, at + word + i * word, values[i], word);
	maker_put(m, at + (m->is64 ? 4 : 24), 5, 4);
}

static inline void maker_section_header(const struct maker *m, uint8_t *at, const struct maker_section *s, uint32_t name)
{
	unsigned word = m->is64 ? 8 : 4;
	uint64_t values[] = { s->flags, s->address, s->offset, s->len };
	maker_put(m, at, name, 4);
	maker_put(m, at + 4, s->type, 4);
	for (unsigned i = 0; i < 4; i++)
		maker_put(m, at + 8 + i * word, values[i], word);
	at += 8 + 4 * word;
	maker_put(m, at, s->link, 4);
	maker_put(m, at + 4, s->info, 4);
	maker_put(m, at + 8, s->align, word);
	maker_put(m, at + 8 + word, s->entry_size, word);
}

/* Returns the finished file, malloc'ed; frees the maker's sections. */
static inline uint8_t *maker_finish(struct maker *m, size_t *len)
{
	unsigned word = m->is64 ? 8 : 4, header = m->is64 ? 64 : 52, ph = m->is64 ? 56 : 32, sh = m->is64 ? 64 : 40;
	unsigned names = maker_section(m, ".shstrtab", SHT_STRTAB, 0, 0, "", 1), loads = 0;
	uint32_t name_at[MAKER_SECTIONS] = { 0 };
	for (unsigned i = 1; i < m->count; i++) {
		name_at[i] = (uint32_t)m->sections[names].len;
		maker_append(m, names, m->sections[i].name, strlen(m->sections[i].name) + 1);
		loads += m->sections[i].address != 0;
	}
	size_t at = header + loads * ph;
	for (unsigned i = 1; i < m->count; i++) {
		m->sections[i].offset = at = (at + 15) & ~(size_t)15;
		at += m->sections[i].type == SHT_NOBITS ? 0 : m->sections[i].len;
	}
	size_t table = (at + 15) & ~(size_t)15;
	uint8_t *out = calloc(1, table + m->count * sh);
	memcpy(out, ELFMAG, 4);
	out[EI_CLASS] = m->is64 ? ELFCLASS64 : ELFCLASS32;
	out[EI_DATA] = m->big ? ELFDATA2MSB : ELFDATA2LSB;
	out[EI_VERSION] = 1;
	maker_put(m, out + 16, m->type, 2);
	maker_put(m, out + 18, m->machine, 2);
	maker_put(m, out + 24 + word, loads ? header : 0, word);
	maker_put(m, out + 24 + 2 * word, table, word);
	uint16_t tail[] = { (uint16_t)header, (uint16_t)ph, (uint16_t)loads, (uint16_t)sh, (uint16_t)m->count, (uint16_t)names };
	for (unsigned i = 0; i < 6; i++)
		maker_put(m, out + 28 + 3 * word + 2 * i, tail[i], 2);
	for (unsigned i = 1, load = 0; i < m->count; i++) {
		struct maker_section *s = &m->sections[i];
		if (s->address)
			maker_program_header(m, out + header + load++ * ph, s);
		maker_section_header(m, out + table + i * sh, s, name_at[i]);
		if (s->type != SHT_NOBITS)
			memcpy(out + s->offset, s->data, s->len);
		free(s->data);
	}
	*len = table + m->count * sh;
	return out;
}
