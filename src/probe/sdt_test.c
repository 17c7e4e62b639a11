#include "probe/sdt.h"

#include <elf.h>
#include <string.h>

#include "elf/elf_maker.h"
#include "unit.h"

static const char *argument(uint16_t machine, const char *text)
{
	static char shown[128];
	CLEANUP_STR struct str out = { 0 };
	snprintf(shown, sizeof shown, "%s", sdt_argument(machine, text, strlen(text), &out) ? str_text(&out) : "none");
	return shown;
}

TEST("arguments of static points become registers and memory with their types")
{
	EXPECT_STR(argument(EM_X86_64, "-4@%edi"), "%di:s32");
	EXPECT_STR(argument(EM_X86_64, "8@%r12"), "%r12:u64");
	EXPECT_STR(argument(EM_X86_64, "-1@%al"), "%ax:s8");
	EXPECT_STR(argument(EM_X86_64, "4@-8(%rbp)"), "-8(%bp):u32");
	EXPECT_STR(argument(EM_X86_64, "4@(%rax)"), "+0(%ax):u32");
	EXPECT_STR(argument(EM_X86_64, "%rcx"), "%cx");
	EXPECT_STR(argument(EM_X86_64, "-4@$5"), "none");
	EXPECT_STR(argument(EM_X86_64, "8@4(%rax,%rbx,2)"), "none");
	EXPECT_STR(argument(EM_X86_64, "8@x(%rip)"), "none");
	EXPECT_STR(argument(EM_AARCH64, "-4@w3"), "%x3:s32");
	EXPECT_STR(argument(EM_AARCH64, "8@[sp, 16]"), "+16(%sp):u64");
	EXPECT_STR(argument(EM_AARCH64, "8@x31"), "none");
	EXPECT_STR(argument(EM_AARCH64, "8@[x30]"), "+0(%x30):u64");
	/* lines of their own in a list of definitions */
	static const char *const hostile[] = { "8@[x1)\np:a/b /x:0x1\n]", "8@[x1\n]", "8@x\n1", "8@x-1", "8@[x31]", "8@[x]", "8@[", "8@" };
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
		EXPECT_STR(argument(EM_AARCH64, hostile[i]), "none");
	EXPECT_STR(argument(EM_X86_64, "-8@%rax"), "%ax:s64");
	EXPECT_STR(argument(EM_X86_64, "9@%rax"), "%ax");
	EXPECT_STR(argument(EM_X86_64, "-9@%rax"), "%ax");
	EXPECT_STR(argument(EM_X86_64, "-9223372036854775808@%rax"), "%ax");
	EXPECT_STR(argument(EM_RISCV, "8@a0"), "none");
}

TEST("registers of every width are those of the kernel")
{
	static const char *const rows[] = { "rax eax ax al", "rbx ebx bx bl", "rcx ecx cx cl", "rdx edx dx dl", "rsi esi si sil", "rdi edi di dil",
		"rbp ebp bp bpl", "rsp esp sp spl", "r8 r8d r8w r8b", "r15 r15d r15w r15b" };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char row[32], given[32], want[32], *next = row, *word;
		snprintf(row, sizeof row, "%s", rows[i]);
		const char *name = i < 8 ? rows[i] + strlen(rows[i]) - (i < 4 ? 5 : 6) : rows[i];
		for (unsigned size = 8; (word = strsep(&next, " ")); size /= 2) {
			snprintf(given, sizeof given, "%u@%%%s", size, word);
			snprintf(want, sizeof want, "%%%.*s:u%u", (int)strcspn(name, " "), name, 8 * size);
			EXPECT_STR(argument(EM_X86_64, given), want);
			snprintf(given, sizeof given, "-%u@-16(%%%s)", size, word);
			snprintf(want, sizeof want, "-16(%%%.*s):s%u", (int)strcspn(name, " "), name, 8 * size);
			EXPECT_STR(argument(EM_X86_64, given), want);
		}
	}
	EXPECT_STR(argument(EM_X86_64, "8@%ra"), "none");
	EXPECT_STR(argument(EM_X86_64, "8@%raxx"), "none");
	EXPECT_STR(argument(EM_X86_64, "3@%rax"), "%ax");
	EXPECT_STR(argument(EM_AARCH64, "8@x30"), "%x30:u64");
	EXPECT_STR(argument(EM_AARCH64, "2@[sp]"), "+0(%sp):u16");
	EXPECT_STR(argument(EM_AARCH64, "-1@[x2, -8]"), "-8(%x2):s8");
}

struct found {
	unsigned count;
	uint64_t offset, semaphore;
};

static bool on_note(void *context, const struct sdt_note *note)
{
	struct found *found = context;
	found->count += !strcmp(note->provider, "demo") && !strcmp(note->name, "step");
	found->offset = note->offset;
	found->semaphore = note->semaphore;
	return false;
}

TEST("notes give offsets in the file; truncated notes are left out")
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_EXEC);
	uint8_t note[64] = { 0 };
	maker_put(&m, note, 8, 4);
	maker_put(&m, note + 4, 24 + sizeof "demo\0step\0", 4);
	maker_put(&m, note + 8, 3, 4);
	memcpy(note + 12, "stapsdt", 8);
	maker_put(&m, note + 20, 0x401004, 8);
	maker_put(&m, note + 36, 0x402008, 8);
	memcpy(note + 44, "demo\0step\0", 11);
	for (size_t len = 0; len <= 60; len++) {
		struct maker copy = m;
		size_t size;
		struct elf elf;
		struct found found = { 0 };
		maker_section(&copy, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, note, 16);
		maker_section(&copy, ".probes", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x402000, note, 16);
		maker_section(&copy, ".note.stapsdt", SHT_NOTE, 0, 0, note, len);
		uint8_t *file = maker_finish(&copy, &size);
		EXPECT_INT(elf_open(&elf, (struct span){ file, size }, NULL), 0);
		EXPECT(!sdt_notes(&elf, on_note, &found));
		EXPECT_INT(found.count, len >= 20 + 24 + 11);
		if (found.count) {
			EXPECT_INT(found.offset - elf_section(&elf, ".text")->offset, 4);
			EXPECT_INT(found.semaphore - elf_section(&elf, ".probes")->offset, 8);
		}
		elf_close(&elf);
		free(file);
	}
}

TEST("a note whose place is in no segment is left out, and the next one is read")
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_EXEC);
	enum { NOTE = 56 };
	uint8_t notes[2 * NOTE] = { 0 };
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *note = notes + (size_t)i * NOTE;
		maker_put(&m, note, 8, 4);
		maker_put(&m, note + 4, 24 + sizeof "demo\0step\0", 4);
		maker_put(&m, note + 8, 3, 4);
		memcpy(note + 12, "stapsdt", 8);
		maker_put(&m, note + 20, i ? 0x401004 : 0x901004, 8);
		memcpy(note + 44, "demo\0step\0", 11);
	}
	size_t size;
	struct elf elf;
	struct found found = { 0 };
	maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, notes, 16);
	maker_section(&m, ".note.stapsdt", SHT_NOTE, 0, 0, notes, sizeof notes);
	uint8_t *file = maker_finish(&m, &size);
	EXPECT_INT(elf_open(&elf, (struct span){ file, size }, NULL), 0);
	EXPECT(!sdt_notes(&elf, on_note, &found));
	EXPECT_INT(found.count, 1);
	EXPECT_INT(found.offset - elf_section(&elf, ".text")->offset, 4);
	elf_close(&elf);
	free(file);
}
