/* DWARF 2 to 5 as one index per debug file: an address → source line, function, chain of inlined calls. Format: DWARF 5
 * (sections 2, 3, 6, 7) and its GNU predecessors (split DWARF 4, .gnu_debugaltlink). Knows no module and finds no file:
 * whoever opens it hands over the parts.
 *
 * Opening reads only what tells units' addresses apart; a unit is parsed once, when an address first falls into it. All
 * look-ups are safe from several threads. Every text borrows from the sections or the index and lives until dwarf_close.
 * Addresses are the file's own (as linked). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/elf.h"

struct dwarf;

/* Where parts that lie in other files come from. Borrowed; must outlive the index. */
struct dwarf_parts {
	const struct elf *debug;      /* with .debug_info, .debug_line … */
	const struct elf *alternate;  /* what .gnu_debugaltlink names (dwz), or NULL */
	const struct elf *package;    /* FILE.dwp, or NULL */
	/* The .dwo that a skeleton unit names, paths as stored; NULL where there is none. Called at most once per unit, from the
	 * thread that needs it. NULL: none is looked for. */
	const struct elf *(*split)(void *context, const char *directory, const char *name, uint64_t id);
	void *context;
	size_t memory_limit;          /* bytes that the index may allocate; units beyond have no names. 0: DWARF_MEMORY_LIMIT */
};

#define DWARF_MEMORY_LIMIT ((size_t)2 << 30)
#define DWARF_INLINE_DEPTH 256u   /* deeper chains are cut */

struct dwarf_place {
	const char *file;             /* whole path, made of the unit's and the table's directories; NULL: not known */
	uint32_t line, column;        /* 0: not known */
	uint32_t discriminator;
};

/* One function of the chain at an address. */
struct dwarf_frame {
	const char *name;             /* as linked (mangled) where it has such a name, else as written; NULL: none */
	struct dwarf_place place;     /* innermost: the address's own; further out: the call's */
	bool inlined;                 /* into the frame after it */
	bool linked;                  /* name is the linker's; otherwise a symbol that starts where the function does may tell more */
};

struct dwarf_counters {
	uint64_t units, units_parsed, units_damaged, units_missing; /* missing: split units whose .dwo is nowhere */
	uint64_t units_refused;       /* for want of memory, by the limit */
	size_t memory;                /* bytes held */
};

/* < 0: no debug information, or none that makes sense. */
int dwarf_open(struct dwarf **dwarf, const struct dwarf_parts *parts, struct error *err);
void dwarf_close(struct dwarf *dwarf); /* NULL is fine */

bool dwarf_line(struct dwarf *dwarf, uint64_t address, struct dwarf_place *place);
/* The function at address and those inlined around it, innermost first, at most max. 0: in no function known. Costs no
 * allocation once the unit is parsed, but for the path of a file that was not asked for before. */
size_t dwarf_frames(struct dwarf *dwarf, uint64_t address, struct dwarf_frame *frames, size_t max);
/* The concrete function that holds address: its name and extent, for code that has no symbol. */
bool dwarf_function(struct dwarf *dwarf, uint64_t address, const char **name, uint64_t *start, uint64_t *end);
/* Where the concrete function that holds address begins: its code may lie in several runs, the first as it tells them. */
bool dwarf_entry(struct dwarf *dwarf, uint64_t address, uint64_t *entry);
struct dwarf_counters dwarf_counters(const struct dwarf *dwarf);

/* What a debug file asks for: the name (as stored) and build-id of .gnu_debugaltlink; false: none. */
bool dwarf_alternate(const struct elf *elf, const char **name, struct span *build_id);
