/* Input and output types of the DWARF reader, shared by its modules and its callers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf.h"

struct budget;
struct dwarf;

/* The ELF files with the debug information. Borrowed; must outlive the index. */
struct dwarf_parts {
	const struct elf *debug;      /* has .debug_info, .debug_line … */
	const struct elf *alternate;  /* the alternate file (dwz), named by .gnu_debugaltlink; NULL: absent */
	const struct elf *package;    /* FILE.dwp; NULL: absent */
	/* Returns the .dwo that a skeleton unit refers to (paths as stored), or NULL. Called at most once per unit, by the thread that
	 * needs it. NULL: split files are not used. */
	const struct elf *(*split)(void *context, const char *directory, const char *name, uint64_t id);
	void *context;
	size_t memory_limit;          /* bytes that the index may allocate; further units have no names. 0: DWARF_MEMORY_LIMIT */
	struct budget *budget;        /* charged for the same bytes; NULL: unlimited */
};

#define DWARF_MEMORY_LIMIT ((size_t)2 << 30)
#define DWARF_INLINE_DEPTH 256u   /* further inlined calls are dropped */

/* A source line. */
struct dwarf_place {
	const char *file;             /* full path, made of the directories of the unit and of the table; NULL: unknown */
	uint32_t line, column;        /* 0: unknown */
	uint32_t discriminator;
};

/* One function at an address, concrete or inlined. */
struct dwarf_frame {
	const char *name;             /* the linkage (mangled) name if present, otherwise the source name; NULL: unknown */
	struct dwarf_place place;     /* innermost: of the address itself; others: of the call */
	bool inlined;                 /* into the next frame */
	bool linked;                  /* name is a linkage name; otherwise a symbol that starts where the function does may be more precise */
};

struct dwarf_counters {
	uint64_t units, units_parsed, units_damaged, units_missing; /* missing: split units whose .dwo is absent */
	uint64_t units_refused;       /* beyond the memory limit */
	size_t memory;                /* allocated bytes */
};
