#include "symbol/load_elf.h"

#include "elf/elf_maker.h"
#include "unit.h"

static const struct demangler plain = { 0 };
static const char *const no_name = "";

struct loaded {
	uint8_t *bytes[2];
	struct elf files[2];
	struct arena names;
	struct symbol_table table;
};

static struct elf *loaded_open(struct loaded *l, unsigned which, struct maker *m)
{
	size_t len;
	l->bytes[which] = maker_finish(m, &len);
	EXPECT_INT(elf_open(&l->files[which], (struct span){ l->bytes[which], len }, NULL), 0);
	return &l->files[which];
}

static void load(struct loaded *l, enum elf_use use, const struct elf *symbols, const struct elf *runtime)
{
	struct elf_load_request request = { .symbols = symbols, .runtime = runtime, .dynamic = symbols, .use = use,
		.relocation_symbol = "_text", .relocation = 0xffffffff83000000, .demangler = &plain, .names = &l->names };
	load_elf(&request, &l->table);
}

static void loaded_free(struct loaded *l)
{
	table_fini(&l->table);
	arena_fini(&l->names);
	for (unsigned i = 0; i < 2; i++) {
		elf_close(&l->files[i]);
		free(l->bytes[i]);
	}
}

static const char *name_at(const struct loaded *l, uint64_t offset)
{
	uint32_t id = table_find(&l->table, offset);
	return id ? l->table.symbols[id - 1].name : no_name;
}

#define CODE (SHF_ALLOC | SHF_EXECINSTR)

TEST("functions, objects and visible labels of a file become symbols at file offsets; other entries do not")
{
	struct loaded l = { 0 };
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, CODE, 0x401000, NULL, 0x100);
	unsigned note = maker_section(&m, ".gnu.warning.x", SHT_PROGBITS, 0, 0, NULL, 0x10);
	unsigned odd = maker_section(&m, ".odd", SHT_PROGBITS, SHF_ALLOC, 0x500000, NULL, 0x10);
	unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&m, tab, "function", 0x401000, 0x10, STB_GLOBAL, STT_FUNC, text);
	maker_symbol(&m, tab, "object", 0x401010, 0x10, STB_GLOBAL, STT_OBJECT, text);
	maker_symbol(&m, tab, "label", 0x401020, 0x10, STB_LOCAL, STT_NOTYPE, text);
	maker_symbol(&m, tab, "undefined", 0x401030, 0x10, STB_GLOBAL, STT_FUNC, SHN_UNDEF);
	maker_symbol(&m, tab, "absolute", 0x401030, 0x10, STB_GLOBAL, STT_FUNC, SHN_ABS);
	maker_symbol(&m, tab, "tls", 0x401030, 0x10, STB_GLOBAL, STT_TLS, text);
	maker_symbol(&m, tab, "file.c", 0x401030, 0x10, STB_LOCAL, STT_FILE, text);
	maker_symbol(&m, tab, NULL, 0x401030, 0x10, STB_LOCAL, STT_FUNC, text);
	maker_symbol(&m, tab, "warning", 0x30, 0x10, STB_GLOBAL, STT_OBJECT, note);
	maker_symbol(&m, tab, "odd_label", 0x500000, 0x10, STB_GLOBAL, STT_NOTYPE, odd);
	struct elf *elf = loaded_open(&l, 0, &m);
	load(&l, ELF_USE_FILE, elf, elf);
	uint64_t at = elf->loads[0].offset;
	EXPECT_INT(l.table.count, 3);
	EXPECT_STR(name_at(&l, at), "function");
	EXPECT_STR(name_at(&l, at + 0x1f), "object");
	EXPECT_STR(name_at(&l, at + 0x20), "label");
	EXPECT_STR(name_at(&l, at + 0x30), "");
	loaded_free(&l);
}

TEST("mapping symbols of ARM are skipped, and Thumb functions begin at their even address")
{
	for (unsigned big = 0; big < 2; big++) {
		struct loaded l = { 0 };
		struct maker m = maker_new(false, big, EM_ARM, ET_DYN);
		unsigned text = maker_section(&m, ".text", SHT_PROGBITS, CODE, 0x8000, NULL, 0x100);
		unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
		maker_symbol(&m, tab, "$t", 0x8010, 0, STB_LOCAL, STT_NOTYPE, text);
		maker_symbol(&m, tab, "$d.12", 0x8014, 0, STB_LOCAL, STT_NOTYPE, text);
		maker_symbol(&m, tab, "thumb", 0x8011, 0x10, STB_GLOBAL, STT_FUNC, text);
		maker_symbol(&m, tab, "$dollar", 0x8020, 0x10, STB_GLOBAL, STT_FUNC, text);
		struct elf *elf = loaded_open(&l, 0, &m);
		load(&l, ELF_USE_FILE, elf, elf);
		EXPECT_INT(l.table.count, 2);
		EXPECT_STR(name_at(&l, elf->loads[0].offset + 0x10), "thumb");
		EXPECT_STR(name_at(&l, elf->loads[0].offset + 0x20), "$dollar");
		loaded_free(&l);
	}
}

TEST("a debug file without code takes offsets from the file that runs")
{
	struct loaded l = { 0 };
	struct maker run = maker_new(true, false, EM_X86_64, ET_DYN), debug = run;
	maker_section(&run, ".text", SHT_PROGBITS, CODE, 0x401000, NULL, 0x1000);
	maker_section(&run, ".more", SHT_PROGBITS, CODE, 0x403000, NULL, 0x100);
	maker_section(&debug, ".text", SHT_NOBITS, CODE, 0, NULL, 0x1000);
	unsigned more = maker_section(&debug, ".more", SHT_NOBITS, CODE, 0, NULL, 0x100);
	unsigned tab = maker_symtab(&debug, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&debug, tab, "there", 0x403010, 0x10, STB_GLOBAL, STT_FUNC, more);
	struct elf *running = loaded_open(&l, 0, &run), *symbols = loaded_open(&l, 1, &debug);
	load(&l, ELF_USE_FILE, symbols, running);
	EXPECT_STR(name_at(&l, running->loads[1].offset + 0x10), "there");
	loaded_free(&l);
}

TEST("descriptors of ppc64 point to the code")
{
	struct loaded l = { 0 };
	struct maker m = maker_new(true, true, EM_PPC64, ET_DYN);
	uint8_t descriptors[48] = { 0 };
	maker_put(&m, descriptors + 24, 0x10040, 8);
	maker_section(&m, ".text", SHT_PROGBITS, CODE, 0x10000, NULL, 0x100);
	unsigned opd = maker_section(&m, ".opd", SHT_PROGBITS, SHF_ALLOC, 0x20000, descriptors, sizeof descriptors);
	unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&m, tab, "described", 0x20018, 0x20, STB_GLOBAL, STT_FUNC, opd);
	struct elf *elf = loaded_open(&l, 0, &m);
	load(&l, ELF_USE_FILE, elf, elf);
	EXPECT_STR(name_at(&l, elf->loads[0].offset + 0x40), "described");
	loaded_free(&l);
}

TEST("stubs are named after the functions that they call, stubs of indirect functions after the function")
{
	struct loaded l = { 0 };
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, CODE, 0x401000, NULL, 0x100);
	unsigned plt = maker_section(&m, ".plt", SHT_PROGBITS, CODE, 0x402000, NULL, 0x50);
	unsigned dyn = maker_symtab(&m, ".dynsym", ".dynstr", SHT_DYNSYM);
	maker_symbol(&m, dyn, "puts", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF);
	maker_symbol(&m, dyn, "_ZN3foo3barEv", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF);
	maker_symbol(&m, dyn, "resolver", 0x401010, 8, STB_GLOBAL, STT_GNU_IFUNC, text);
	static const uint64_t relocations[4][3] = {
		{ 0x403028, 37, 0x401010 }, { 0x403018, (uint64_t)1 << 32 | 7, 0 }, { 0x403020, (uint64_t)2 << 32 | 7, 0 },
		{ 0x403030, 37, 0x401050 },
	};
	uint8_t bytes[sizeof relocations];
	for (unsigned i = 0; i < sizeof bytes / 8; i++)
		maker_put(&m, bytes + i * 8, relocations[i / 3][i % 3], 8);
	unsigned rela = maker_section(&m, ".rela.plt", SHT_RELA, SHF_ALLOC, 0, bytes, sizeof bytes);
	m.sections[rela].link = dyn;
	m.sections[plt].entry_size = 16;
	struct elf *elf = loaded_open(&l, 0, &m);
	load(&l, ELF_USE_FILE, elf, elf);
	uint64_t at = elf->loads[1].offset;
	char unnamed[40];
	snprintf(unnamed, sizeof unnamed, "offset_%#llx@plt", (unsigned long long)at + 64);
	EXPECT_STR(name_at(&l, at), ".plt");
	EXPECT_STR(name_at(&l, at + 16), "puts@plt");
	EXPECT_STR(name_at(&l, at + 47), "_ZN3foo3barEv@plt");
	EXPECT_STR(name_at(&l, at + 48), "resolver@plt");
	EXPECT_STR(name_at(&l, at + 64), unnamed);
	EXPECT_STR(name_at(&l, at + 80), "");
	loaded_free(&l);
}

/* A program with one stub of .plt.got, whose slot is at this offset of the file; counted: the linker's number of relocations without a
 * symbol, of which there are two before and one behind that of the slot. */
static struct elf *open_got(struct loaded *l, size_t file, uint64_t slot, uint64_t counted)
{
	static const uint8_t stub[8] = { 0xff, 0x25, 0x10, 0, 0, 0, 0x66, 0x90 }; /* jmp *0x10(%rip) */
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, CODE, 0x400000, NULL, 0x100);
	maker_section(&m, ".plt", SHT_PROGBITS, CODE, 0x401000, NULL, 16);
	unsigned got = maker_section(&m, ".plt.got", SHT_PROGBITS, CODE, 0x402000, stub, sizeof stub);
	unsigned dyn = maker_symtab(&m, ".dynsym", ".dynstr", SHT_DYNSYM);
	maker_symbol(&m, dyn, "__cxa_finalize", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF);
	maker_symbol(&m, dyn, "f", 0x400000, 8, STB_GLOBAL, STT_FUNC, text);
	const uint64_t words[][3] = { { slot - 8, 8, 0 }, { slot + 8, 8, 0 }, { slot, (uint64_t)1 << 32 | 6, 0 }, { slot + 16, 8, 0 } };
	const uint64_t dynamic[][2] = { { DT_NEEDED, 1 }, { DT_RELACOUNT, counted }, { DT_NULL, 0 } };
	uint8_t bytes[sizeof words], tags[sizeof dynamic];
	for (unsigned i = 0; i < sizeof bytes / 8; i++)
		maker_put(&m, bytes + i * 8, words[i / 3][i % 3], 8);
	for (unsigned i = 0; i < sizeof tags / 8; i++)
		maker_put(&m, tags + i * 8, dynamic[i / 2][i % 2], 8);
	unsigned rela = maker_section(&m, ".rela.dyn", SHT_RELA, SHF_ALLOC, 0, bytes, sizeof bytes);
	maker_section(&m, ".dynamic", SHT_DYNAMIC, SHF_ALLOC, 0x404000, tags, sizeof tags);
	m.sections[rela].link = dyn;
	m.sections[got].entry_size = sizeof stub;
	return loaded_open(l, file, &m);
}

TEST("a stub of .plt.got is named after the symbol of its slot, however many relocations have none")
{
	static const uint64_t counts[] = { 0, 2, 3, 4, 100, UINT64_MAX };
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct loaded first = { 0 }, l = { 0 };
		uint64_t at = elf_section(open_got(&first, 0, 0, 0), ".plt.got")->offset;
		loaded_free(&first);
		struct elf *elf = open_got(&l, 0, at + 6 + 0x10, counts[i]);
		char unnamed[40];
		snprintf(unnamed, sizeof unnamed, "offset_%#llx@plt", (unsigned long long)at);
		load(&l, ELF_USE_FILE, elf, elf);
		EXPECT_STR(name_at(&l, at), counts[i] == 3 ? unnamed : "__cxa_finalize@plt");
		loaded_free(&l);
	}
}

TEST("symbols of vmlinux move with the kernel")
{
	struct loaded l = { 0 };
	struct maker m = maker_new(true, false, EM_X86_64, ET_EXEC);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, CODE, 0xffffffff81000000, NULL, 0x100);
	unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&m, tab, "_text", 0xffffffff81000000, 0, STB_GLOBAL, STT_NOTYPE, text);
	maker_symbol(&m, tab, "function", 0xffffffff81000080, 0x10, STB_GLOBAL, STT_FUNC, text);
	struct elf *elf = loaded_open(&l, 0, &m);
	load(&l, ELF_USE_KERNEL, elf, elf);
	EXPECT_STR(name_at(&l, 0xffffffff83000000), "_text");
	EXPECT_STR(name_at(&l, 0xffffffff83000085), "function");
	loaded_free(&l);
}

TEST("in vmlinux, the kernel itself is .text, and each other section has its own symbols")
{
	struct loaded l = { 0 };
	struct maker m = maker_new(true, false, EM_X86_64, ET_EXEC);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, CODE, 0xffffffff81000000, NULL, 0x100);
	unsigned init = maker_section(&m, ".init.text", SHT_PROGBITS, CODE, 0xffffffff81001000, NULL, 0x100);
	unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&m, tab, "_text", 0xffffffff81000000, 0, STB_GLOBAL, STT_NOTYPE, text);
	maker_symbol(&m, tab, "start_up", 0xffffffff81001000, 0x10, STB_GLOBAL, STT_FUNC, init);
	struct elf *elf = loaded_open(&l, 0, &m);
	load(&l, ELF_USE_KERNEL, elf, elf);
	EXPECT_INT(l.table.count, 1);
	table_fini(&l.table);
	struct elf_load_request request = { .symbols = elf, .runtime = elf, .dynamic = elf, .use = ELF_USE_KERNEL, .section = ".init.text",
		.relocation_symbol = "_text", .relocation = 0xffffffff83000000, .demangler = &plain, .names = &l.names };
	load_elf(&request, &l.table);
	EXPECT_INT(l.table.count, 1);
	EXPECT_STR(name_at(&l, 0xffffffff83001008), "start_up");
	loaded_free(&l);
}

TEST("in a kernel module, sections next to .text have offsets relative to it")
{
	struct loaded l = { 0 };
	struct maker m = maker_new(true, false, EM_X86_64, ET_REL);
	unsigned first = maker_section(&m, ".first", SHT_PROGBITS, SHF_ALLOC, 0, NULL, 0x20);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, CODE, 0, NULL, 0x40);
	unsigned second = maker_section(&m, ".noinstr.text", SHT_PROGBITS, CODE, 0, NULL, 0x20);
	maker_section(&m, ".between", SHT_PROGBITS, SHF_ALLOC, 0, NULL, 0x20);
	unsigned init = maker_section(&m, ".init.text", SHT_PROGBITS, CODE, 0, NULL, 0x20);
	unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&m, tab, "data", 0, 8, STB_GLOBAL, STT_OBJECT, first);
	maker_symbol(&m, tab, "one", 0, 8, STB_GLOBAL, STT_FUNC, text);
	maker_symbol(&m, tab, "two", 8, 8, STB_GLOBAL, STT_FUNC, second);
	maker_symbol(&m, tab, "start_up", 0, 8, STB_GLOBAL, STT_FUNC, init);
	struct elf *elf = loaded_open(&l, 0, &m);
	load(&l, ELF_USE_KMODULE, elf, elf);
	EXPECT_INT(l.table.count, 2);
	EXPECT_STR(name_at(&l, 0), "one");
	EXPECT_STR(name_at(&l, 0x48), "two");
	loaded_free(&l);
}

TEST("a symbol of a section that does not exist ends the reading of its table")
{
	struct loaded l = { 0 };
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, CODE, 0x401000, NULL, 0x100);
	unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&m, tab, "kept", 0x401000, 8, STB_GLOBAL, STT_FUNC, text);
	maker_symbol(&m, tab, "broken", 0x401010, 8, STB_GLOBAL, STT_FUNC, 77);
	maker_symbol(&m, tab, "lost", 0x401020, 8, STB_GLOBAL, STT_FUNC, text);
	struct elf *elf = loaded_open(&l, 0, &m);
	load(&l, ELF_USE_FILE, elf, elf);
	EXPECT_INT(l.table.count, 1);
	EXPECT_STR(name_at(&l, elf->loads[0].offset), "kept");
	loaded_free(&l);
}
