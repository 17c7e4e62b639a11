/* ELF files of either class and byte order, over borrowed bytes: header, sections, segments, and their content. Format: elf(5) and the
 * System V gABI. Knows no file, no module and no symbol rule.
 *
 * All offsets and sizes are checked: a section or segment that does not fit is empty, a name that does not end inside its table is "".
 * Pointers borrow from the span, which must outlive the struct. If the span is a mapped file, its owner may change strings at any time:
 * they end at the latest in the bytes after the mapping (base/mapping.h), and each length is measured once. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/* Beyond these limits a file counts as damaged (sections) or further entries are ignored (loaded segments). */
#define ELF_SECTIONS_LIMIT (1u << 20)
#define ELF_LOADS_LIMIT 256u

struct elf_section {
	const char *name;      /* never NULL */
	uint32_t type, link, info;
	uint64_t flags, address, offset, size, entry_size, align;
};

/* PT_LOAD, in file order. */
struct elf_load {
	uint32_t flags;
	uint64_t offset, vaddr, file_size, memory_size;
};

struct elf {
	struct span bytes;
	bool is64, swap;       /* swap: opposite byte order of this machine */
	uint16_t machine, type;
	uint64_t entry;
	uint32_t section_count, load_count;
	uint64_t segment_offset; /* of the program headers */
	uint32_t segment_count;  /* all that fit, of any type */
	struct elf_section *sections; /* [0] is the null section, as in the file */
	struct elf_load *loads;
};

/* < 0: not ELF; the error's sys is ENOEXEC for a file of another format. A file with an invalid section table opens without sections. */
int elf_open(struct elf *elf, struct span bytes, struct error *err);
void elf_close(struct elf *elf); /* accepts a zeroed one */

bool elf_is(struct span bytes); /* checks the magic */

/* The first section of that name; NULL if absent. */
const struct elf_section *elf_section(const struct elf *elf, const char *name);
/* The next one with the name of `section`; NULL: it is the last. */
const struct elf_section *elf_section_next(const struct elf *elf, const struct elf_section *section);
static inline uint32_t elf_section_index(const struct elf *elf, const struct elf_section *section)
{
	return (uint32_t)(section - elf->sections);
}
/* The bytes as stored; empty for NOBITS, compressed or damaged sections. */
struct span elf_section_bytes(const struct elf *elf, const struct elf_section *section);
/* The number of bytes that elf_section_inflate would allocate, if the claimed size is plausible; 0: not compressed, or rejected. */
uint64_t elf_section_claim(const struct elf *elf, const struct elf_section *section);
/* The content of a section that may be compressed (SHF_COMPRESSED, .zdebug). *owned: to free, or NULL. < 0: damaged or too large. most:
 * limit of the allocation, as the section may have changed since elf_section_claim. */
int elf_section_inflate(const struct elf *elf, const struct elf_section *section, uint64_t most, struct span *bytes, void **owned,
	struct error *err);

/* The bytes of a table of NUL-terminated strings, cut after its last NUL: any offset below len starts a terminated string. */
struct span elf_strings(const struct elf *elf, const struct elf_section *section);

/* The first PT_LOAD that contains vaddr (in memory); NULL if absent. */
const struct elf_load *elf_load_at(const struct elf *elf, uint64_t vaddr);

/* Build-id from .note.gnu.build-id, .notes, .note, or a PT_NOTE segment: its length (1..20, longer ones are truncated), 0 if absent. */
#define ELF_BUILD_ID_MAX 20
uint8_t elf_build_id(const struct elf *elf, uint8_t id[static ELF_BUILD_ID_MAX]);
/* The same from a sequence of notes, such as /sys/kernel/notes. */
uint8_t elf_notes_build_id(struct span notes, bool swap, uint8_t id[static ELF_BUILD_ID_MAX]);

/* Copies the file name of .gnu_debuglink (which contains no folder). Returns false and "" if it is absent or does not fit. */
bool elf_debuglink(const struct elf *elf, char *name, size_t size, uint32_t *crc);
