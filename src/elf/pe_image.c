#include "elf/pe_image.h"

#include <elf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "elf/symtab.h"

enum {
	PE_AT = 0x3c,            /* of the offset of the PE header in the DOS header */
	COFF_SIZE = 20, SECTION_SIZE = 40, SYMBOL_SIZE = 18, DEBUG_SIZE = 28, SHORT_NAME = 8,
	MAGIC_32 = 0x10b, MAGIC_64 = 0x20b,
	DIRECTORY_DEBUG = 6, DEBUG_CODEVIEW = 2, GUID_SIZE = 16, DEBUG_ENTRIES_LIMIT = 64,
	SECTION_UNINITIALIZED = 0x80, SECTION_DISCARDABLE = 0x2000000, SECTION_RUNS = 0x20000000,
	CLASS_EXTERNAL = 2, CLASS_STATIC = 3, CLASS_WEAK = 105,
	TYPE_FUNCTION = 0x20, TYPE_DERIVED = 0x30,
	SECTIONS_LIMIT = 4096,   /* Windows loads 96 */
	EXTRA_SECTIONS = 5,      /* of the ELF file, beside those of the program: null, symbols, strings, build-id, dynamic symbols */
};
#define SECTION_WRITES 0x80000000u

/* The first strings of the ELF file. */
static const char own_names[] = "\0.symtab\0.strtab\0.note.gnu.build-id\0.dynsym";
enum { NAME_SYMTAB = 1, NAME_STRTAB = 9, NAME_NOTE = 17, NAME_DYNSYM = 36 };

struct pe_section {
	uint32_t name;           /* offset in the strings of the ELF file */
	uint32_t memory_size, address, file_size, offset, flags;
};

struct pe {
	struct span bytes;
	uint16_t machine;
	bool is64;
	uint32_t section_count, symbol_at, symbol_count, entry;
	uint64_t base;
	uint32_t debug_address, debug_size;
	struct pe_section *sections;
	uint64_t tables_at;
	struct writer strings;   /* of the ELF file: own_names, those of the program, then its short names */
};

/* Reads from an offset of the program on; nothing if it has no such offset. */
static struct cursor bytes_at(const struct pe *pe, uint64_t offset)
{
	size_t from = offset < pe->bytes.len ? (size_t)offset : pe->bytes.len;
	const uint8_t *at = from ? pe->bytes.data + from : pe->bytes.data; /* an empty program may have no address */
	return cursor_of(at, pe->bytes.len - from, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Where the PE header is; 0: none. */
static uint32_t header_offset(struct span bytes)
{
	struct pe pe = { .bytes = bytes };
	struct cursor dos = bytes_at(&pe, 0), place = bytes_at(&pe, PE_AT);
	const uint8_t *magic = take(&dos, 2);
	uint32_t offset = take_u32(&place);
	struct cursor head = bytes_at(&pe, offset);
	const uint8_t *signature = take(&head, 4);
	return magic && signature && memcmp(magic, "MZ", 2) == 0 && memcmp(signature, "PE\0\0", 4) == 0 ? offset : 0;
}

bool pe_is(struct span bytes)
{
	return header_offset(bytes) != 0;
}

static uint16_t elf_machine_of(uint16_t machine)
{
	switch (machine) {
	case 0x14c:
		return EM_386;
	case 0x1c0:
	case 0x1c2:
	case 0x1c4:
		return EM_ARM;
	case 0x8664:
		return EM_X86_64;
	case 0xaa64:
		return EM_AARCH64;
	case 0x5032:
	case 0x5064:
		return EM_RISCV;
	default:
		return EM_NONE;
	}
}

/* Reads the headers; *sections_at: where the table of sections is. */
static int read_headers(struct pe *pe, uint64_t *sections_at, struct error *err)
{
	uint32_t start = header_offset(pe->bytes);
	struct cursor c = bytes_at(pe, start);
	take(&c, 4);
	uint16_t machine = take_u16(&c);
	pe->section_count = take_u16(&c);
	take_u32(&c);
	pe->symbol_at = take_u32(&c);
	pe->symbol_count = take_u32(&c);
	uint16_t optional = take_u16(&c);
	take_u16(&c);
	uint64_t optional_at = start + 4u + COFF_SIZE;
	*sections_at = optional_at + optional;
	pe->machine = elf_machine_of(machine);
	uint16_t magic = take_u16(&c);
	take(&c, 14);
	pe->entry = take_u32(&c);
	if (c.short_read || (magic != MAGIC_32 && magic != MAGIC_64))
		return error_set(err, ERROR_FORMAT, "PE header without an image's optional header");
	if (pe->section_count > SECTIONS_LIMIT)
		return error_set(err, ERROR_LIMIT, "PE header that claims %u sections", pe->section_count);
	if (pe->machine == EM_NONE)
		return error_set(err, ERROR_FORMAT, "PE file for unknown processor 0x%x", machine);
	pe->is64 = magic == MAGIC_64;
	struct cursor base = bytes_at(pe, optional_at + (pe->is64 ? 24 : 28));
	pe->base = pe->is64 ? take_u64(&base) : take_u32(&base);
	struct cursor directories = bytes_at(pe, optional_at + (pe->is64 ? 108 : 92));
	if (take_u32(&directories) > DIRECTORY_DEBUG) {
		take(&directories, (size_t)DIRECTORY_DEBUG * 8);
		pe->debug_address = take_u32(&directories);
		pe->debug_size = take_u32(&directories);
	}
	return 0;
}

/* The program's table of strings, which follows the symbols, with its length before it. Empty if it does not fit. */
static struct span program_strings(const struct pe *pe)
{
	struct cursor c = bytes_at(pe, pe->symbol_at + (uint64_t)pe->symbol_count * SYMBOL_SIZE);
	const uint8_t *start = c.data;
	uint32_t size = take_u32(&c);
	if (!pe->symbol_at || c.short_read || size > c.len)
		return (struct span){ 0 };
	return (struct span){ start, size };
}

/* The offset of a name in the ELF file's strings, to which a short name is added. by_number: "/123" is the offset of a long name. */
static uint32_t string_of(struct pe *pe, struct span own, const uint8_t name[static SHORT_NAME], bool by_number)
{
	struct cursor c = cursor_of(name, SHORT_NAME, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint64_t offset = 0;
	if (by_number)
		for (size_t i = 1; i < SHORT_NAME && name[i] >= '0' && name[i] <= '9'; i++)
			offset = offset * 10 + (name[i] - '0');
	else if (take_u32(&c) == 0)
		offset = take_u32(&c);
	if (offset || by_number)
		return offset < own.len ? (uint32_t)(sizeof own_names + offset) : 0;
	uint32_t start = (uint32_t)pe->strings.len;
	writer_add(&pe->strings, name, strnlen((const char *)name, SHORT_NAME));
	writer_putc(&pe->strings, '\0');
	return start;
}

static void read_sections(struct pe *pe, uint64_t sections_at, struct span own)
{
	pe->sections = memory_zero(pe->section_count, sizeof *pe->sections);
	struct cursor c = bytes_at(pe, sections_at);
	uint32_t count = 0;
	for (; count < pe->section_count; count++) {
		struct pe_section *s = &pe->sections[count];
		const uint8_t *name = take(&c, SHORT_NAME);
		s->memory_size = take_u32(&c);
		s->address = take_u32(&c);
		s->file_size = take_u32(&c);
		s->offset = take_u32(&c);
		take(&c, 12);
		s->flags = take_u32(&c);
		if (c.short_read)
			break;
		s->name = string_of(pe, own, name, name[0] == '/');
		/* the file's part is rounded up, and may be missing, as in files of debug information */
		if (s->memory_size && s->memory_size < s->file_size)
			s->file_size = s->memory_size;
		if (s->flags & SECTION_UNINITIALIZED || !s->offset)
			s->file_size = 0;
	}
	pe->section_count = count;
}

static void add_number(struct writer *out, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		writer_putc(out, (char)(value >> 8 * i));
}

static void add_word(struct writer *out, uint64_t value, bool is64)
{
	add_number(out, value, is64 ? 8 : 4);
}

/* The offset in the ELF file of what is written next. */
static uint64_t offset_of_next(const struct pe *pe, const struct writer *out)
{
	return pe->tables_at + out->len;
}

static void align(struct writer *out)
{
	writer_pad(out, '\0', -out->len & 7);
}

static bool is_loaded(const struct pe_section *s)
{
	return !(s->flags & SECTION_DISCARDABLE);
}

static void add_symbol(struct pe *pe, struct span own, struct cursor record, struct writer *out)
{
	const uint8_t *name = take(&record, SHORT_NAME);
	uint32_t value = take_u32(&record);
	uint16_t section = take_u16(&record), type = take_u16(&record);
	uint8_t class = take_u8(&record), more = take_u8(&record);
	bool function = (type & TYPE_DERIVED) == TYPE_FUNCTION;
	bool names_section = class == CLASS_STATIC && more && !function;
	if ((class != CLASS_EXTERNAL && class != CLASS_STATIC && class != CLASS_WEAK) || names_section || !section ||
	    section > pe->section_count)
		return;
	unsigned binding = class == CLASS_EXTERNAL ? STB_GLOBAL : class == CLASS_STATIC ? STB_LOCAL : STB_WEAK;
	uint8_t info = ELF64_ST_INFO(binding, function ? STT_FUNC : STT_NOTYPE);
	uint32_t string = string_of(pe, own, name, false);
	/* C names of 32-bit x86 start with an underscore */
	if (pe->machine == EM_386 && string < pe->strings.len && pe->strings.buffer[string] == '_')
		string++;
	uint64_t address = pe->base + pe->sections[section - 1].address + value;
	add_number(out, string, 4);
	if (!pe->is64) {
		add_number(out, address, 4);
		add_number(out, 0, 4);
	}
	add_number(out, info, 2);
	add_number(out, section, 2);
	if (pe->is64) {
		add_number(out, address, 8);
		add_number(out, 0, 8);
	}
}

static void add_symbols(struct pe *pe, struct span own, struct writer *out)
{
	struct cursor c = bytes_at(pe, pe->symbol_at);
	uint32_t limit = pe->symbol_at ? pe->symbol_count : 0;
	writer_pad(out, '\0', pe->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	for (uint32_t i = 0; i < limit && i < ELF_SYMBOLS_LIMIT; i++) {
		const uint8_t *record = take(&c, SYMBOL_SIZE);
		if (!record)
			return;
		add_symbol(pe, own, cursor_of(record, SYMBOL_SIZE, c.swap), out);
		take(&c, (size_t)record[SYMBOL_SIZE - 1] * SYMBOL_SIZE);
		i += record[SYMBOL_SIZE - 1];
	}
}

/* The offset in the file of an address; beyond its end: none. */
static uint64_t file_offset(const struct pe *pe, uint32_t address)
{
	for (uint32_t i = 0; i < pe->section_count; i++) {
		const struct pe_section *s = &pe->sections[i];
		if (address >= s->address && address - s->address < s->file_size)
			return (uint64_t)s->offset + (address - s->address);
	}
	return UINT64_MAX;
}

/* The GUID of the debug information, whose first three numbers are shown as numbers; false: the program has none. */
static bool read_guid(const struct pe *pe, uint8_t guid[static GUID_SIZE])
{
	static const uint8_t order[GUID_SIZE] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct cursor c = bytes_at(pe, pe->debug_size ? file_offset(pe, pe->debug_address) : UINT64_MAX);
	for (uint32_t i = 0; i < pe->debug_size / DEBUG_SIZE && i < DEBUG_ENTRIES_LIMIT; i++) {
		take(&c, 12);
		uint32_t type = take_u32(&c);
		take(&c, 8);
		struct cursor view = bytes_at(pe, take_u32(&c));
		const uint8_t *signature = take(&view, 4), *bytes = take(&view, GUID_SIZE);
		if (c.short_read)
			return false;
		if (type != DEBUG_CODEVIEW || !bytes || memcmp(signature, "RSDS", 4) != 0)
			continue;
		for (size_t k = 0; k < GUID_SIZE; k++)
			guid[k] = bytes[order[k]];
		return true;
	}
	return false;
}

struct table {
	uint64_t offset, size;
};

static struct table add_build_id(const struct pe *pe, struct writer *out)
{
	uint8_t guid[GUID_SIZE];
	size_t start = out->len;
	struct table note = { .offset = offset_of_next(pe, out) };
	if (read_guid(pe, guid)) {
		add_number(out, 4, 4);
		add_number(out, GUID_SIZE, 4);
		add_number(out, NT_GNU_BUILD_ID, 4);
		writer_add(out, "GNU", 4);
		writer_add(out, guid, GUID_SIZE);
	}
	note.size = out->len - start;
	return note;
}

static void add_section(const struct pe *pe, const Elf64_Shdr *s, struct writer *out)
{
	add_number(out, s->sh_name, 4);
	add_number(out, s->sh_type, 4);
	add_word(out, s->sh_flags, pe->is64);
	add_word(out, s->sh_addr, pe->is64);
	add_word(out, s->sh_offset, pe->is64);
	add_word(out, s->sh_size, pe->is64);
	add_number(out, s->sh_link, 4);
	add_number(out, s->sh_info, 4);
	add_word(out, s->sh_addralign, pe->is64);
	add_word(out, s->sh_entsize, pe->is64);
}

static void add_program_section(const struct pe *pe, const struct pe_section *s, struct writer *out)
{
	Elf64_Shdr section = { .sh_name = s->name, .sh_type = s->file_size ? SHT_PROGBITS : SHT_NOBITS, .sh_offset = s->offset,
		.sh_size = s->file_size ? s->file_size : s->memory_size, .sh_addralign = 1 };
	if (is_loaded(s)) {
		section.sh_flags = SHF_ALLOC | (s->flags & SECTION_RUNS ? SHF_EXECINSTR : 0) | (s->flags & SECTION_WRITES ? SHF_WRITE : 0);
		section.sh_addr = pe->base + s->address;
	}
	add_section(pe, &section, out);
}

static uint32_t add_segments(const struct pe *pe, struct writer *out)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < pe->section_count; i++) {
		const struct pe_section *s = &pe->sections[i];
		uint32_t flags = PF_R | (s->flags & SECTION_RUNS ? PF_X : 0) | (s->flags & SECTION_WRITES ? PF_W : 0);
		if (!is_loaded(s) || !s->file_size)
			continue;
		count++;
		add_number(out, PT_LOAD, 4);
		if (pe->is64)
			add_number(out, flags, 4);
		add_word(out, s->offset, pe->is64);
		add_word(out, pe->base + s->address, pe->is64);
		add_word(out, pe->base + s->address, pe->is64);
		add_word(out, s->file_size, pe->is64);
		add_word(out, s->memory_size > s->file_size ? s->memory_size : s->file_size, pe->is64);
		if (!pe->is64)
			add_number(out, flags, 4);
		add_word(out, 1, pe->is64);
	}
	return count;
}

static bool has_code(const struct pe *pe)
{
	for (uint32_t i = 0; i < pe->section_count; i++)
		if (pe->sections[i].flags & SECTION_RUNS && pe->sections[i].file_size)
			return true;
	return false;
}

struct parts {
	uint64_t segments, sections;
	uint32_t segment_count;
};

/* Appends what the ELF header refers to. */
static struct parts add_parts(struct pe *pe, struct span own, struct writer *out)
{
	struct parts parts = { 0 };
	struct table symbols, strings, note;
	symbols.offset = offset_of_next(pe, out);
	add_symbols(pe, own, out);
	symbols.size = out->len;
	strings = (struct table){ offset_of_next(pe, out), pe->strings.len };
	writer_add(out, pe->strings.buffer, pe->strings.len);
	align(out);
	note = add_build_id(pe, out);
	align(out);
	parts.segments = offset_of_next(pe, out);
	parts.segment_count = add_segments(pe, out);
	parts.sections = offset_of_next(pe, out);
	add_section(pe, &(Elf64_Shdr){ 0 }, out);
	for (uint32_t i = 0; i < pe->section_count; i++)
		add_program_section(pe, &pe->sections[i], out);
	uint32_t names = pe->section_count + 2; /* index of the strings */
	size_t entry = pe->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	add_section(pe, &(Elf64_Shdr){ .sh_name = NAME_SYMTAB, .sh_type = symbols.size > entry ? SHT_SYMTAB : SHT_NULL,
		.sh_offset = symbols.offset, .sh_size = symbols.size, .sh_link = names, .sh_entsize = entry, .sh_addralign = 8 }, out);
	add_section(pe, &(Elf64_Shdr){ .sh_name = NAME_STRTAB, .sh_type = SHT_STRTAB, .sh_offset = strings.offset, .sh_size = strings.size,
		.sh_addralign = 1 }, out);
	add_section(pe, &(Elf64_Shdr){ .sh_name = NAME_NOTE, .sh_type = SHT_NOTE, .sh_offset = note.offset, .sh_size = note.size,
		.sh_addralign = 4 }, out);
	/* an empty table of dynamic symbols tells the program from a file of its debug information, which has no offsets */
	add_section(pe, &(Elf64_Shdr){ .sh_name = NAME_DYNSYM, .sh_type = has_code(pe) ? SHT_DYNSYM : SHT_NULL, .sh_link = names,
		.sh_entsize = entry }, out);
	return parts;
}

static void write_header(const struct pe *pe, const struct parts *parts, struct pe_elf *made)
{
	static const uint8_t ident[EI_NIDENT] = { 0x7f, 'E', 'L', 'F', 0, ELFDATA2LSB, EV_CURRENT };
	struct writer w;
	writer_open(&w, -1, PE_HEAD_MAX);
	writer_add(&w, ident, sizeof ident);
	w.buffer[EI_CLASS] = pe->is64 ? ELFCLASS64 : ELFCLASS32;
	add_number(&w, ET_EXEC, 2);
	add_number(&w, pe->machine, 2);
	add_number(&w, EV_CURRENT, 4);
	add_word(&w, pe->base + pe->entry, pe->is64);
	add_word(&w, parts->segments, pe->is64);
	add_word(&w, parts->sections, pe->is64);
	add_number(&w, 0, 4);
	add_number(&w, pe->is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
	add_number(&w, pe->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
	add_number(&w, parts->segment_count, 2);
	add_number(&w, pe->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
	add_number(&w, pe->section_count + EXTRA_SECTIONS, 2);
	add_number(&w, pe->section_count + 2, 2);
	made->head_size = w.len;
	memcpy(made->head, w.buffer, w.len);
	writer_fini(&w);
}

/* The most that the tables can have in bytes. */
static uint64_t size_bound(const struct pe *pe, struct span own)
{
	uint64_t symbols = pe->symbol_at && pe->symbol_at < pe->bytes.len ? (pe->bytes.len - pe->symbol_at) / SYMBOL_SIZE + 1 : 1;
	symbols = symbols < pe->symbol_count + 1ull ? symbols : pe->symbol_count + 1ull;
	symbols = symbols < ELF_SYMBOLS_LIMIT ? symbols : ELF_SYMBOLS_LIMIT;
	uint64_t sections = pe->section_count + (uint64_t)EXTRA_SECTIONS;
	return own.len + symbols * (sizeof(Elf64_Sym) + SHORT_NAME + 1) +
	       sections * (sizeof(Elf64_Shdr) + sizeof(Elf64_Phdr) + SHORT_NAME + 1) + 256;
}

int pe_to_elf(struct span bytes, uint64_t tables_at, size_t most, struct pe_elf *made, struct error *err)
{
	struct pe pe = { .bytes = bytes, .tables_at = tables_at };
	uint64_t sections_at;
	*made = (struct pe_elf){ 0 };
	writer_open(&made->tables, -1, 0);
	if (read_headers(&pe, &sections_at, err) < 0)
		return -1;
	struct span own = program_strings(&pe);
	if (bytes.len < PE_HEAD_MAX || size_bound(&pe, own) > most)
		return error_set(err, ERROR_LIMIT, "no room for the symbols of a PE file of %zu bytes", bytes.len);
	writer_open(&pe.strings, -1, 4096);
	writer_add(&pe.strings, own_names, sizeof own_names);
	writer_add(&pe.strings, own.data, own.len);
	writer_putc(&pe.strings, '\0');
	read_sections(&pe, sections_at, own);
	struct parts parts = add_parts(&pe, own, &made->tables);
	write_header(&pe, &parts, made);
	writer_fini(&pe.strings);
	free(pe.sections);
	return 0;
}
