#include "elf/jit_image.h"

#include <elf.h>

#include "base/hash.h"

enum { SECTIONS_MAX = 12, BUILD_ID_SIZE = 20, DWARF_VERSION = 2 };

/* Offsets of the names in .shstrtab. */
static const char section_names[] =
	"\0.text\0.shstrtab\0.symtab\0.strtab\0.note.gnu.build-id\0.debug_line\0.debug_info\0.debug_abbrev\0.eh_frame_hdr\0.eh_frame";
enum {
	NAME_TEXT = 1, NAME_SHSTRTAB = 7, NAME_SYMTAB = 17, NAME_STRTAB = 25, NAME_BUILD_ID = 33, NAME_DEBUG_LINE = 52,
	NAME_DEBUG_INFO = 64, NAME_DEBUG_ABBREV = 76, NAME_EH_FRAME_HDR = 90, NAME_EH_FRAME = 104,
};

struct layout {
	struct writer *out;
	Elf64_Shdr sections[SECTIONS_MAX];
	unsigned count;
};

static void pad_to(struct writer *out, size_t align)
{
	writer_pad(out, '\0', (align - out->len % align) % align);
}

static Elf64_Shdr *add_section(struct layout *l, uint32_t name, uint32_t type, size_t align, const void *data, size_t size)
{
	pad_to(l->out, align);
	Elf64_Shdr *section = &l->sections[l->count++];
	*section = (Elf64_Shdr){ .sh_name = name, .sh_type = type, .sh_offset = l->out->len, .sh_size = size, .sh_addralign = align };
	writer_add(l->out, data, size);
	return section;
}

static void add_unwinding(struct layout *l, const struct jit_image *image)
{
	uint64_t at = JIT_IMAGE_TEXT + image->code.len;
	at += -at & 7;
	Elf64_Shdr *section = add_section(l, NAME_EH_FRAME, SHT_PROGBITS, 8, image->eh_frame.data, image->eh_frame.len);
	section->sh_addr = at;
	section->sh_flags = SHF_ALLOC;
	section = add_section(l, NAME_EH_FRAME_HDR, SHT_PROGBITS, 4, image->eh_frame_hdr.data, image->eh_frame_hdr.len);
	section->sh_addr = at + image->eh_frame.len;
	section->sh_flags = SHF_ALLOC;
}

static void add_symbols(struct layout *l, const struct jit_image *image)
{
	Elf64_Sym symbols[2] = { 0 };
	symbols[1] = (Elf64_Sym){ .st_name = 1, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_shndx = 1,
				  .st_value = JIT_IMAGE_TEXT, .st_size = image->code.len };
	Elf64_Shdr *section = add_section(l, NAME_SYMTAB, SHT_SYMTAB, 8, symbols, sizeof symbols);
	section->sh_entsize = sizeof symbols[0];
	section->sh_link = l->count;
	section->sh_info = 2; /* both are local */
	section = add_section(l, NAME_STRTAB, SHT_STRTAB, 1, "", 1);
	section->sh_size += strlen(image->name) + 1;
	writer_add(l->out, image->name, strlen(image->name) + 1);
}

/* The same function at the same address has the same id. */
static void add_build_id(struct layout *l, const struct jit_image *image, uint8_t id[static BUILD_ID_SIZE])
{
	struct {
		Elf64_Nhdr head;
		char owner[4];
		uint64_t id[3];
	} note = { .head = { 4, BUILD_ID_SIZE, NT_GNU_BUILD_ID }, .owner = "GNU" };
	uint64_t seed = hash_bytes(image->code.data, image->code.len) ^ hash_u64(image->address);
	seed ^= hash_bytes(image->name, strlen(image->name));
	for (unsigned i = 0; i < 3; i++)
		note.id[i] = hash_u64(seed + (i + 1) * 0x9e3779b97f4a7c15u);
	Elf64_Shdr *section = add_section(l, NAME_BUILD_ID, SHT_NOTE, 4, &note, sizeof note.head + sizeof note.owner + BUILD_ID_SIZE);
	section->sh_flags = SHF_ALLOC;
	memcpy(id, note.id, BUILD_ID_SIZE);
}

static void add_leb(struct writer *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		writer_putc(out, (char)(value | 0x80));
	writer_putc(out, (char)value);
}

static void add_signed_leb(struct writer *out, int64_t value)
{
	for (; value < -64 || value > 63; value >>= 7)
		writer_putc(out, (char)(value | 0x80));
	writer_putc(out, (char)(value & 0x7f));
}

static void add_u16(struct writer *out, uint16_t value)
{
	writer_add(out, &value, sizeof value);
}

static void add_u32(struct writer *out, uint32_t value)
{
	writer_add(out, &value, sizeof value);
}

enum {
	LNS_COPY = 1, LNS_ADVANCE_PC, LNS_ADVANCE_LINE, LNS_SET_FILE,
	LNE_END = 1, LNE_SET_ADDRESS, LNE_DEFINE_FILE,
};

static void add_extended(struct writer *out, uint8_t op, size_t operands)
{
	writer_putc(out, 0);
	add_leb(out, operands + 1);
	writer_putc(out, (char)op);
}

static void add_line_program(struct writer *out, const struct jit_image *image)
{
	uint64_t offset = 0, start = JIT_IMAGE_TEXT, files = 0;
	int64_t line = 1;
	const char *file = NULL;
	add_extended(out, LNE_SET_ADDRESS, sizeof start);
	writer_add(out, &start, sizeof start);
	for (size_t i = 0; i < image->line_count; i++) {
		const struct jit_image_line *row = &image->lines[i];
		if (!file || strcmp(file, row->file) != 0) {
			file = row->file;
			add_extended(out, LNE_DEFINE_FILE, strlen(file) + 4);
			writer_add(out, file, strlen(file) + 1);
			writer_add(out, "\0\0\0", 3); /* folder, time, size: unknown */
			writer_putc(out, LNS_SET_FILE);
			add_leb(out, ++files);
		}
		writer_putc(out, LNS_ADVANCE_LINE);
		add_signed_leb(out, (int64_t)row->line - line);
		writer_putc(out, LNS_ADVANCE_PC);
		add_leb(out, row->offset - offset);
		writer_putc(out, LNS_COPY);
		line = row->line;
		offset = row->offset;
	}
	writer_putc(out, LNS_ADVANCE_PC);
	add_leb(out, image->code.len - offset);
	add_extended(out, LNE_END, 0);
}

/* Stores the number of bytes that follow the u32 at `at` in it. */
static void set_length(struct writer *out, size_t at)
{
	uint32_t length = (uint32_t)(out->len - at - sizeof length);
	memcpy(out->buffer + at, &length, sizeof length);
}

static void add_line_table(struct writer *out, const struct jit_image *image)
{
	static const uint8_t header[] = { 1, 1, (uint8_t)-5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0 };
	size_t at = out->len;
	add_u32(out, 0);
	add_u16(out, DWARF_VERSION);
	add_u32(out, sizeof header);
	writer_add(out, header, sizeof header);
	add_line_program(out, image);
	set_length(out, at);
}

static void add_lines(struct layout *l, const struct jit_image *image)
{
	/* one kind of unit: no children, its line table */
	static const uint8_t abbreviations[] = { 1, 0x11, 0, 0x10, 0x06, 0, 0, 0 };
	size_t at = l->out->len;
	Elf64_Shdr *section = add_section(l, NAME_DEBUG_LINE, SHT_PROGBITS, 1, NULL, 0);
	add_line_table(l->out, image);
	section->sh_size = l->out->len - at;
	section = add_section(l, NAME_DEBUG_INFO, SHT_PROGBITS, 1, NULL, 0);
	at = l->out->len;
	add_u32(l->out, 0);
	add_u16(l->out, DWARF_VERSION);
	add_u32(l->out, 0); /* offset of its abbreviations */
	writer_add(l->out, "\10\1", 2); /* size of an address, the abbreviation */
	add_u32(l->out, 0); /* offset of its line table */
	set_length(l->out, at);
	section->sh_size = l->out->len - at;
	add_section(l, NAME_DEBUG_ABBREV, SHT_PROGBITS, 1, abbreviations, sizeof abbreviations);
}

static uint16_t own_machine(void)
{
#if defined(__aarch64__)
	return EM_AARCH64;
#elif defined(__riscv)
	return EM_RISCV;
#elif defined(__powerpc64__)
	return EM_PPC64;
#elif defined(__s390x__)
	return EM_S390;
#elif defined(__loongarch__)
	return EM_LOONGARCH;
#else
	return EM_X86_64;
#endif
}

static void set_heads(struct writer *out, const struct jit_image *image, const struct layout *l, unsigned names, size_t sections_at)
{
	Elf64_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
		.e_machine = own_machine(), .e_version = EV_CURRENT, .e_entry = JIT_IMAGE_TEXT, .e_phoff = sizeof head,
		.e_shoff = sections_at, .e_ehsize = sizeof head, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = (uint16_t)l->count, .e_shstrndx = (uint16_t)names };
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		head.e_ident[EI_DATA] = ELFDATA2MSB;
	Elf64_Phdr load = { .p_type = PT_LOAD, .p_flags = PF_X | PF_R, .p_offset = JIT_IMAGE_TEXT, .p_vaddr = JIT_IMAGE_TEXT,
		.p_paddr = JIT_IMAGE_TEXT, .p_filesz = image->code.len, .p_memsz = image->code.len, .p_align = 8 };
	memcpy(out->buffer, &head, sizeof head);
	memcpy(out->buffer + sizeof head, &load, sizeof load);
}

void jit_image_write(const struct jit_image *image, struct writer *out, uint8_t build_id[static BUILD_ID_SIZE])
{
	struct layout l = { .out = out, .count = 1 };
	writer_pad(out, '\0', sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
	Elf64_Shdr *text = add_section(&l, NAME_TEXT, SHT_PROGBITS, 16, image->code.data, image->code.len);
	text->sh_addr = JIT_IMAGE_TEXT;
	text->sh_flags = SHF_EXECINSTR | SHF_ALLOC;
	if (image->eh_frame_hdr.len)
		add_unwinding(&l, image);
	unsigned names = l.count;
	add_section(&l, NAME_SHSTRTAB, SHT_STRTAB, 1, section_names, sizeof section_names);
	add_symbols(&l, image);
	add_build_id(&l, image, build_id);
	if (image->line_count)
		add_lines(&l, image);
	pad_to(out, 8);
	size_t sections_at = out->len;
	writer_add(out, l.sections, l.count * sizeof l.sections[0]);
	set_heads(out, image, &l, names, sections_at);
}
