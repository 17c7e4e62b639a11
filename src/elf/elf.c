#include "elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/str.h"
#include "elf/inflate.h"

bool elf_is(struct span bytes)
{
	return bytes.len >= EI_NIDENT && memcmp(bytes.data, ELFMAG, SELFMAG) == 0;
}

/* Reads an address, offset or size: 4 or 8 bytes by class. */
static uint64_t take_word(struct cursor *c, bool is64)
{
	return is64 ? take_u64(c) : take_u32(c);
}

struct elf_tables {
	uint64_t segment_offset, section_offset;
	uint32_t segment_size, segment_count, section_size, section_count, names;
};

static int elf_header(struct elf *elf, struct elf_tables *t, struct error *err)
{
	const uint8_t *ident = elf->bytes.data;
	if (!elf_is(elf->bytes)) {
		error_set(err, ERROR_FORMAT, "not an ELF file");
		if (err)
			err->sys = ENOEXEC;
		return -1;
	}
	bool order = ident[EI_DATA] == ELFDATA2LSB || ident[EI_DATA] == ELFDATA2MSB;
	bool class = ident[EI_CLASS] == ELFCLASS32 || ident[EI_CLASS] == ELFCLASS64;
	if (!order || !class)
		return error_set(err, ERROR_FORMAT, "ELF header of unknown class %u and byte order %u", ident[EI_CLASS], ident[EI_DATA]);
	elf->is64 = ident[EI_CLASS] == ELFCLASS64;
	elf->swap = (ident[EI_DATA] == ELFDATA2LSB) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	struct cursor c = cursor_of(elf->bytes.data, elf->bytes.len, elf->swap);
	take(&c, EI_NIDENT);
	elf->type = take_u16(&c);
	elf->machine = take_u16(&c);
	take_u32(&c);
	elf->entry = take_word(&c, elf->is64);
	t->segment_offset = take_word(&c, elf->is64);
	t->section_offset = take_word(&c, elf->is64);
	take_u32(&c);
	take_u16(&c);
	t->segment_size = take_u16(&c);
	t->segment_count = take_u16(&c);
	t->section_size = take_u16(&c);
	t->section_count = take_u16(&c);
	t->names = take_u16(&c);
	if (c.short_read)
		return error_set(err, ERROR_FORMAT, "ELF header cut short at %zu bytes", elf->bytes.len);
	return 0;
}

static void section_read(const struct elf *elf, struct cursor c, struct elf_section *s, uint32_t *name)
{
	*name = take_u32(&c);
	s->type = take_u32(&c);
	s->flags = take_word(&c, elf->is64);
	s->address = take_word(&c, elf->is64);
	s->offset = take_word(&c, elf->is64);
	s->size = take_word(&c, elf->is64);
	s->link = take_u32(&c);
	s->info = take_u32(&c);
	s->align = take_word(&c, elf->is64);
	s->entry_size = take_word(&c, elf->is64);
	s->name = "";
}

/* Names are resolved in a second pass, because the string table is itself a section. */
static void elf_read_sections(struct elf *elf, struct elf_tables *t)
{
	size_t entry = elf->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	if (!t->section_offset || t->section_size < entry || t->section_offset > elf->bytes.len ||
	    elf->bytes.len - t->section_offset < entry)
		return;
	const uint8_t *table = elf->bytes.data + t->section_offset;
	uint64_t room = (elf->bytes.len - t->section_offset) / t->section_size;
	struct elf_section null;
	uint32_t name;
	section_read(elf, cursor_of(table, entry, elf->swap), &null, &name);
	uint64_t count = t->section_count ? t->section_count : null.size;
	if (t->names == SHN_XINDEX)
		t->names = null.link;
	if (!count || count > room || count > ELF_SECTIONS_LIMIT)
		return;
	elf->sections = memory_zero(count, sizeof *elf->sections);
	elf->section_count = (uint32_t)count;
	uint32_t *names = memory_zero(count, sizeof *names);
	for (uint32_t i = 0; i < count; i++)
		section_read(elf, cursor_of(table + (uint64_t)i * t->section_size, entry, elf->swap), &elf->sections[i], &names[i]);
	struct span strings = t->names < count ? elf_strings(elf, &elf->sections[t->names]) : (struct span){ 0 };
	for (uint32_t i = 0; i < count; i++)
		if (names[i] < strings.len)
			elf->sections[i].name = (const char *)strings.data + names[i];
	free(names);
}

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, file_size, memory_size, align;
};

static struct elf_segment segment_read(const struct elf *elf, uint32_t index)
{
	size_t entry = elf->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	struct cursor c = cursor_of(elf->bytes.data + elf->segment_offset + (uint64_t)index * entry, entry, elf->swap);
	struct elf_segment s = { .type = take_u32(&c) };
	if (elf->is64)
		s.flags = take_u32(&c);
	s.offset = take_word(&c, elf->is64);
	s.vaddr = take_word(&c, elf->is64);
	take_word(&c, elf->is64);
	s.file_size = take_word(&c, elf->is64);
	s.memory_size = take_word(&c, elf->is64);
	if (!elf->is64)
		s.flags = take_u32(&c);
	s.align = take_word(&c, elf->is64);
	return s;
}

static void elf_read_loads(struct elf *elf, const struct elf_tables *t)
{
	size_t entry = elf->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (!t->segment_offset || t->segment_size != entry || t->segment_offset > elf->bytes.len)
		return;
	uint64_t room = (elf->bytes.len - t->segment_offset) / entry;
	uint64_t count = t->segment_count;
	if (count == PN_XNUM && elf->section_count)
		count = elf->sections[0].info;
	elf->segment_offset = t->segment_offset;
	elf->segment_count = (uint32_t)(count < room ? count : room);
	elf->loads = memory_zero(elf->segment_count < ELF_LOADS_LIMIT ? elf->segment_count : ELF_LOADS_LIMIT, sizeof *elf->loads);
	for (uint32_t i = 0; i < elf->segment_count && elf->load_count < ELF_LOADS_LIMIT; i++) {
		struct elf_segment s = segment_read(elf, i);
		if (s.type == PT_LOAD)
			elf->loads[elf->load_count++] = (struct elf_load){ .flags = s.flags, .offset = s.offset, .vaddr = s.vaddr,
				.file_size = s.file_size, .memory_size = s.memory_size };
	}
}

int elf_open(struct elf *elf, struct span bytes, struct error *err)
{
	*elf = (struct elf){ .bytes = bytes };
	struct elf_tables tables = { 0 };
	if (elf_header(elf, &tables, err) < 0)
		return -1;
	elf_read_sections(elf, &tables);
	elf_read_loads(elf, &tables);
	return 0;
}

void elf_close(struct elf *elf)
{
	free(elf->sections);
	free(elf->loads);
	*elf = (struct elf){ 0 };
}

const struct elf_section *elf_section(const struct elf *elf, const char *name)
{
	for (uint32_t i = 1; i < elf->section_count; i++)
		if (strcmp(elf->sections[i].name, name) == 0)
			return &elf->sections[i];
	return NULL;
}

const struct elf_section *elf_section_next(const struct elf *elf, const struct elf_section *section)
{
	for (uint32_t i = elf_section_index(elf, section) + 1; i < elf->section_count; i++)
		if (strcmp(elf->sections[i].name, section->name) == 0)
			return &elf->sections[i];
	return NULL;
}

static struct span section_stored(const struct elf *elf, const struct elf_section *section)
{
	if (!section || section->type == SHT_NOBITS || section->offset > elf->bytes.len ||
	    section->size > elf->bytes.len - section->offset)
		return (struct span){ 0 };
	return (struct span){ elf->bytes.data + section->offset, section->size };
}

struct span elf_section_bytes(const struct elf *elf, const struct elf_section *section)
{
	return section && section->flags & SHF_COMPRESSED ? (struct span){ 0 } : section_stored(elf, section);
}

/* How a section is stored; kind COMPRESSION_NONE: uncompressed. */
struct packing {
	enum compression kind;
	struct span stream;
	uint64_t size;        /* as claimed, in bytes */
};

static int packing_read(const struct elf *elf, const struct elf_section *section, struct packing *p, struct error *err)
{
	struct span stored = section_stored(elf, section);
	struct cursor c = cursor_of(stored.data, stored.len, elf->swap);
	*p = (struct packing){ .kind = COMPRESSION_NONE, .stream = stored };
	if (section->flags & SHF_COMPRESSED) {
		uint32_t type = take_u32(&c);
		if (elf->is64)
			take_u32(&c);
		p->size = take_word(&c, elf->is64);
		take_word(&c, elf->is64);
		p->kind = type == ELFCOMPRESS_ZLIB ? COMPRESSION_ZLIB : type == 2 ? COMPRESSION_ZSTD : COMPRESSION_NONE;
		if (p->kind == COMPRESSION_NONE || c.short_read)
			return error_set(err, ERROR_FORMAT, "section %.64s is compressed in unknown way %u", section->name, type);
	} else if (strncmp(section->name, ".zdebug", 7) == 0 && stored.len >= 12 && memcmp(stored.data, "ZLIB", 4) == 0) {
		take(&c, 4);
		c.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__; /* the size is big-endian in any file */
		p->size = take_u64(&c);
		p->kind = COMPRESSION_ZLIB;
	} else {
		return 0;
	}
	p->stream = (struct span){ c.data + c.at, cursor_left(&c) };
	return 0;
}

uint64_t elf_section_claim(const struct elf *elf, const struct elf_section *section)
{
	struct packing p;
	bool packed = packing_read(elf, section, &p, NULL) == 0 && p.kind != COMPRESSION_NONE;
	return packed && inflate_plausible(p.stream.len, p.size) ? p.size : 0;
}

int elf_section_inflate(const struct elf *elf, const struct elf_section *section, uint64_t most, struct span *bytes, void **owned,
	struct error *err)
{
	struct packing p;
	uint8_t *out;
	*owned = NULL;
	*bytes = (struct span){ 0 };
	if (packing_read(elf, section, &p, err) < 0)
		return -1;
	if (p.kind == COMPRESSION_NONE) {
		*bytes = p.stream;
		return 0;
	}
	if (p.size > most)
		return error_set(err, ERROR_LIMIT, "section %.64s claims %llu bytes", section->name, (unsigned long long)p.size);
	if (inflate_exactly(p.kind, p.stream, p.size, &out, err) < 0)
		return -1;
	*owned = out;
	*bytes = (struct span){ out, p.size };
	return 0;
}

struct span elf_strings(const struct elf *elf, const struct elf_section *section)
{
	struct span s = elf_section_bytes(elf, section);
	const uint8_t *last = s.len ? memrchr(s.data, 0, s.len) : NULL;
	s.len = last ? (size_t)(last - s.data) + 1 : 0;
	return s;
}

const struct elf_load *elf_load_at(const struct elf *elf, uint64_t vaddr)
{
	for (uint32_t i = 0; i < elf->load_count; i++) {
		const struct elf_load *load = &elf->loads[i];
		uint64_t size = load->memory_size > load->file_size ? load->memory_size : load->file_size;
		if (vaddr >= load->vaddr && vaddr - load->vaddr < size)
			return load;
	}
	return NULL;
}

uint8_t elf_notes_build_id(struct span notes, bool swap, uint8_t id[static ELF_BUILD_ID_MAX])
{
	struct cursor c = cursor_of(notes.data, notes.len, swap);
	while (cursor_left(&c) >= 12) {
		uint32_t name_size = take_u32(&c), size = take_u32(&c), type = take_u32(&c);
		const uint8_t *name = take(&c, (name_size + (size_t)3) & ~(size_t)3);
		const uint8_t *body = take(&c, size);
		if (!name || !body)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 && size) {
			uint8_t len = size < ELF_BUILD_ID_MAX ? (uint8_t)size : ELF_BUILD_ID_MAX;
			memcpy(id, body, len);
			return len;
		}
		size_t padding = -size & 3;
		take(&c, padding < cursor_left(&c) ? padding : cursor_left(&c));
	}
	return 0;
}

uint8_t elf_build_id(const struct elf *elf, uint8_t id[static ELF_BUILD_ID_MAX])
{
	static const char *const names[] = { ".note.gnu.build-id", ".notes", ".note" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct elf_section *section = elf_section(elf, names[i]);
		uint8_t len = section ? elf_notes_build_id(elf_section_bytes(elf, section), elf->swap, id) : 0;
		if (len)
			return len;
	}
	for (uint32_t i = 0; i < elf->segment_count; i++) {
		struct elf_segment s = segment_read(elf, i);
		if (s.type != PT_NOTE || s.align == 8 || s.offset > elf->bytes.len || s.file_size > elf->bytes.len - s.offset)
			continue;
		uint8_t len = elf_notes_build_id((struct span){ elf->bytes.data + s.offset, s.file_size }, elf->swap, id);
		if (len)
			return len;
	}
	return 0;
}

bool elf_debuglink(const struct elf *elf, char *name, size_t size, uint32_t *crc)
{
	struct span s = elf_section_bytes(elf, elf_section(elf, ".gnu_debuglink"));
	struct cursor c = cursor_of(s.data, s.len, elf->swap);
	size_t room = size - 1 < s.len ? size - 1 : s.len, len = text_copy(name, size, s.data, room);
	bool ends = len < room && !memchr(name, '/', len);
	if (!len || !ends)
		*name = '\0';
	take(&c, (len + 4) & ~(size_t)3);
	*crc = take_u32(&c);
	return *name;
}
