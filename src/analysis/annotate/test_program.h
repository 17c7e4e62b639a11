/* For tests: a program in a file, with the functions f and g. */
#pragma once
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_maker.h"
#include "image/test_folder.h"

/* Addresses as linked, and the offset of f in the file. */
enum { PROGRAM_F = 0x1000, PROGRAM_G = 0x1018, PROGRAM_OFFSET = 0x80, PROGRAM_F_SIZE = 0x13 };

static const uint8_t program_code[] = {
	0x85, 0xff,                         /* 1000 test %edi, %edi */
	0x74, 0x06,                         /* 1002 je 100a */
	0xe8, 0x0f, 0x00, 0x00, 0x00,       /* 1004 call g */
	0x90,                               /* 1009 nop */
	0xc3,                               /* 100a ret */
	0x06,                               /* 100b no instruction */
	0x48, 0x8d, 0x05, 0x05, 0, 0, 0,    /* 100c lea g(%rip), %rax */
	0, 0, 0, 0, 0,
	0xc3,                               /* 1018 g: ret */
};

/* Writes the program to the folder; f_size: as its symbol claims. Returns its path, valid until the next use of the folder. */
static inline const char *program_write(struct folder *folder, uint64_t f_size)
{
	struct maker maker = maker_new(true, false, EM_X86_64, ET_DYN);
	unsigned text = maker_section(&maker, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, PROGRAM_F, program_code, sizeof program_code);
	unsigned symtab = maker_symtab(&maker, ".symtab", ".strtab", SHT_SYMTAB);
	size_t len;
	maker_symbol(&maker, symtab, "f", PROGRAM_F, f_size, STB_GLOBAL, STT_FUNC, text);
	maker_symbol(&maker, symtab, "g", PROGRAM_G, 1, STB_GLOBAL, STT_FUNC, text);
	uint8_t *bytes = maker_finish(&maker, &len);
	const char *path = folder_write(folder, "program", bytes, len);
	free(bytes);
	return path;
}
