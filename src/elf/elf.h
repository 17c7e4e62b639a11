/* ELF files of either class and byte order, over borrowed bytes: header, sections, segments, and what they hold. Format:
 * elf(5) and the System V gABI. Knows no file, no module and no symbol rule.
 *
 * Everything is checked against the bytes: a section or segment that does not fit has no bytes, a name that does not end
 * inside its table is "". Pointers borrow from the span, which must outlive the struct. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/* Beyond these a file is treated as damaged (sections) or the rest is left out (segments that are loaded). */
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
	bool is64, swap;       /* swap: of the other byte order than this machine */
	uint16_t machine, type;
	uint64_t entry;
	uint32_t section_count, load_count;
	uint64_t segment_offset; /* of the program headers */
	uint32_t segment_count;  /* all that fit, of any type */
	struct elf_section *sections; /* [0] is the null section, as in the file */
	struct elf_load *loads;
};

/* < 0: no ELF at all. A file whose section table makes no sense opens with none. */
int elf_open(struct elf *elf, struct span bytes, struct error *err);
void elf_close(struct elf *elf); /* a zeroed one is fine */

bool elf_is(struct span bytes); /* starts like an ELF file */

/* The first section of that name; NULL. */
const struct elf_section *elf_section(const struct elf *elf, const char *name);
static inline uint32_t elf_section_index(const struct elf *elf, const struct elf_section *section)
{
	return (uint32_t)(section - elf->sections);
}
/* The bytes as stored; empty for NOBITS, compressed or damaged sections. */
struct span elf_section_bytes(const struct elf *elf, const struct elf_section *section);
/* The bytes of a section that may be compressed (SHF_COMPRESSED, .zdebug). *owned: to free, or NULL. < 0: damaged or too
 * large. */
int elf_section_inflate(const struct elf *elf, const struct elf_section *section, struct span *bytes, void **owned,
	struct error *err);

/* The bytes of a table of NUL-terminated strings, cut after its last NUL: any offset below len starts a string that ends. */
struct span elf_strings(const struct elf *elf, const struct elf_section *section);

/* The first PT_LOAD that holds vaddr (in memory); NULL. */
const struct elf_load *elf_load_at(const struct elf *elf, uint64_t vaddr);

/* Build-id from .note.gnu.build-id, .notes, .note, or a PT_NOTE segment: its length (1..20, longer ones are cut), 0 where
 * there is none. */
#define ELF_BUILD_ID_MAX 20
uint8_t elf_build_id(const struct elf *elf, uint8_t id[static ELF_BUILD_ID_MAX]);
/* The same from a run of notes, such as /sys/kernel/notes. */
uint8_t elf_notes_build_id(struct span notes, bool swap, uint8_t id[static ELF_BUILD_ID_MAX]);

/* The file name of .gnu_debuglink (no folder in it); NULL. */
const char *elf_debuglink(const struct elf *elf, uint32_t *crc);
