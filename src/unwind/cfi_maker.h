/* Call frame information for tests: CIEs and FDEs in .eh_frame format, in a file with one piece of code. */
#pragma once
#include "elf/elf_maker.h"
#include "model/module.h"
#include "model/space.h"
#include "unwind/compile.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"

enum { MADE_CODE = 0x1000, MADE_FRAME = 0x400000, MADE_LENGTH = 0x400 };

struct cfi_maker {
	uint8_t bytes[4096];
	size_t len, cie;
	enum unwind_arch arch;
	bool go;                     /* the file is a Go program */
};

#define CFI(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof (const uint8_t[]){ __VA_ARGS__ }

static inline void cfi_put(struct cfi_maker *m, const void *data, size_t len)
{
	memcpy(m->bytes + m->len, data, len);
	m->len += len;
}

static inline void cfi_put32(struct cfi_maker *m, uint32_t value)
{
	cfi_put(m, &value, sizeof value);
}

static inline void cfi_finish(struct cfi_maker *m, size_t at)
{
	while (m->len % 4)
		m->bytes[m->len++] = 0;
	uint32_t length = (uint32_t)(m->len - at - 4);
	memcpy(m->bytes + at, &length, sizeof length);
}

/* The initial rules of every function: CFA = sp + word, return address there (x86); CFA = sp (AArch64). letters: "zR" or "zRS". */
static inline void cfi_cie_made(struct cfi_maker *m, const char *letters)
{
	static const uint8_t x86_64[] = { 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1 }, aarch64[] = { 4, 0x78, 30, 1, 0x1b, 0x0c, 31, 0 },
		x86[] = { 1, 0x7c, 8, 1, 0x1b, 0x0c, 4, 4, 0x88, 1 };
	m->cie = m->len;
	cfi_put32(m, 0);
	cfi_put32(m, 0);
	cfi_put(m, "\1", 1);
	cfi_put(m, letters, strlen(letters) + 1);
	if (m->arch == UNWIND_X86_64)
		cfi_put(m, x86_64, sizeof x86_64);
	else if (m->arch == UNWIND_AARCH64)
		cfi_put(m, aarch64, sizeof aarch64);
	else
		cfi_put(m, x86, sizeof x86);
	cfi_finish(m, m->cie);
}

/* Adds an FDE for code at offset `at` of the piece. */
static inline void cfi_fde_made(struct cfi_maker *m, uint32_t at, uint32_t size, const uint8_t *program, size_t program_len)
{
	size_t start = m->len;
	cfi_put32(m, 0);
	cfi_put32(m, (uint32_t)(m->len - m->cie));
	cfi_put32(m, (uint32_t)(MADE_CODE + at - (MADE_FRAME + m->len)));
	cfi_put32(m, size);
	cfi_put(m, "\0", 1);
	cfi_put(m, program, program_len);
	cfi_finish(m, start);
}

static inline uint8_t *cfi_file(const struct cfi_maker *m, const void *code, size_t code_len, size_t *len)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_386 };
	uint8_t text[MADE_LENGTH] = { 0 };
	struct maker maker = maker_new(m->arch != UNWIND_X86, false, machines[m->arch], ET_DYN);
	memcpy(text, code, code_len);
	maker_section(&maker, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, MADE_CODE, text, sizeof text);
	maker_section(&maker, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, MADE_FRAME, m->bytes, m->len);
	if (m->go)
		maker_section(&maker, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, MADE_FRAME + MADE_LENGTH, NULL, 0);
	return maker_finish(&maker, len);
}

/* A process with that file mapped, and its copied stack. */
struct scene {
	struct modules modules;
	struct unwind_tables *tables;
	struct map maps[2];
	struct map_node nodes[2];
	struct unwind_input input;
	uint8_t stack[1024];
	struct unwind_frame frames[64];
	struct unwind_result result;
	uint64_t code;               /* address of the piece of code */
};

static inline void scene_open(struct scene *s, const struct cfi_maker *m, const void *code, size_t code_len)
{
	size_t len;
	struct elf elf;
	memset(s, 0, sizeof *s);
	modules_init(&s->modules);
	uint8_t *file = cfi_file(m, code, code_len, &len);
	struct module *module = modules_file(&s->modules, "/made", MODULE_FILE, &(struct module_identity){ 0 });
	struct module *anon = modules_file(&s->modules, "//anon", MODULE_ANON, &(struct module_identity){ 0 });
	s->tables = unwind_tables_new(&s->modules, NULL);
	if (elf_open(&elf, (struct span){ file, len }, NULL) >= 0) {
		const struct elf_section *text = elf_section(&elf, ".text");
		uint64_t load = m->arch == UNWIND_X86 ? 0x8000000 : 0x555500000000;
		s->code = load + (text->offset & 0xfff);
		s->maps[0] = (struct map){ .start = load, .end = load + 0x2000, .pgoff = text->offset & ~(uint64_t)0xfff, .module = module->id };
		unwind_tables_add(s->tables, module, &elf, NULL);
		elf_close(&elf);
	}
	s->maps[1] = (struct map){ .start = 0x7000000, .end = 0x7001000, .module = anon->id, .identity = true };
	s->nodes[0] = (struct map_node){ .start = s->maps[0].start, .end = s->maps[0].end, .map = &s->maps[0], .left = &s->nodes[1] };
	s->nodes[1] = (struct map_node){ .start = s->maps[1].start, .end = s->maps[1].end, .map = &s->maps[1] };
	s->input = (struct unwind_input){ .arch = m->arch, .tables = s->tables, .maps = s->nodes, .max_frames = 64 };
	s->input.stack_address = m->arch == UNWIND_X86 ? 0xff000000 : 0x7ffc00000000;
	s->input.stack = (struct span){ s->stack, sizeof s->stack };
	unwind_tables_load(s->tables, anon);
	free(file);
}

static inline void scene_close(struct scene *s)
{
	unwind_tables_free(s->tables);
	modules_fini(&s->modules);
}

static inline void scene_register(struct scene *s, unsigned reg, uint64_t value)
{
	s->input.registers.values[reg] = value;
	s->input.registers.known |= (uint64_t)1 << reg;
}

static inline void scene_word(struct scene *s, size_t at, uint64_t value)
{
	memcpy(s->stack + at, &value, s->input.arch == UNWIND_X86 ? 4 : 8);
}

static inline const struct unwind_frame *scene_run(struct scene *s, uint64_t pc)
{
	s->input.registers.pc = pc;
	unwind(&s->input, s->frames, &s->result);
	return s->frames;
}
