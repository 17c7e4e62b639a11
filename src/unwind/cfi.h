/* Parses the entries of .eh_frame and .debug_frame: CIEs and FDEs. Formats: DWARF 5 §6.4.1; LSB 5 core "DWARF Extensions" (augmentations,
 * pointer encodings); the psABIs. program.h executes the instructions in them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct cfi_section {
	struct span bytes;
	uint64_t address;        /* of its first byte, as linked */
	uint64_t text, data;     /* bases of textrel and datarel pointers */
	bool eh, is64;
};

struct cie {
	uint64_t offset;         /* in the section */
	struct span program;     /* initial instructions */
	uint64_t program_at;     /* their offset in the section */
	uint64_t code_align;
	int64_t data_align;
	uint8_t ra;              /* column of the return address */
	uint8_t encoding;        /* of pointers in FDEs */
	uint8_t address_size;
	bool sized;              /* FDEs have a length of their augmentation */
	bool signal;
};

struct fde {
	uint64_t start, size;    /* the code that it covers */
	uint64_t cie;            /* offset of its CIE in the section */
	uint64_t body;           /* offset after the CIE pointer; the rest needs the CIE: cfi_fde */
	uint64_t end;
};

enum cfi_entry { CFI_END, CFI_CIE, CFI_FDE, CFI_DAMAGED };

/* Parses the entry at *offset and advances *offset. CFI_DAMAGED: the entry is invalid; if its length is valid, *offset has advanced,
 * otherwise the section ends. */
enum cfi_entry cfi_next(const struct cfi_section *section, uint64_t *offset, struct fde *fde, uint64_t *cie);

bool cfi_cie(const struct cfi_section *section, uint64_t offset, struct cie *cie);
/* Fills start, size and the position of the instructions. */
bool cfi_fde(const struct cfi_section *section, const struct cie *cie, struct fde *fde, struct span *program, uint64_t *program_at);

#define POINTER_OMIT 0xffu
/* Reads a pointer in one of the encodings (DW_EH_PE_*); for an indirect one, yields the address at which the value is stored. */
bool take_pointer(struct cursor *c, const struct cfi_section *section, uint8_t encoding, uint8_t address_size, uint64_t function,
	uint64_t *value);
