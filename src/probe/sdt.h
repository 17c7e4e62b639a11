/* Static probe points of a program (SystemTap's <sys/sdt.h>): notes of section .note.stapsdt. Format: the SystemTap wiki, "UserSpaceProbe
 * Implementation". Arguments are converted for x86-64 and arm64. */
#pragma once
#include "probe/target.h"

struct sdt_note {
	const char *provider, *name, *arguments; /* borrowed from the file */
	uint64_t offset;              /* of the instruction in the file */
	uint64_t semaphore;           /* offset of the counter in the file; 0: none */
};

/* Calls each for every note until it returns true, and returns whether it did. */
bool sdt_notes(const struct elf *elf, bool (*each)(void *context, const struct sdt_note *note), void *context);
/* Appends an argument as the kernel fetches it: "-4@%edi" → "%di:s32". False: it cannot be fetched (a constant, a scaled index). */
bool sdt_argument(uint16_t machine, const char *text, size_t length, struct str *to);
