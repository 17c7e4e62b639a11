/* The code ranges that the FDEs of a file's sections cover, in order of address and without overlaps. Internal to compile.c. */
#pragma once
#include "base/vec.h"
#include "elf/elf.h"
#include "unwind/cfi.h"

#define COLLECT_SECTIONS 4
#define RANK_SFRAME 0xfeu
#define RANK_LAST 0xffu

struct budget;

struct piece {
	uint64_t start, end;
	uint64_t function;             /* base of its rules: start, before overlaps were removed */
	uint32_t program, program_len; /* offset in its section */
	uint32_t cie;                  /* index */
	uint8_t section, rank;         /* of two that cover the same code, the lower rank is used */
};

struct collected_cie {
	struct cie cie;
	uint8_t section;
	bool good;
};

struct collection {
	struct cfi_section sections[COLLECT_SECTIONS];
	void *owned[COLLECT_SECTIONS];                 /* owned inflated sections */
	unsigned section_count;
	size_t bytes;            /* total size of the sections */
	VEC(struct piece) pieces;
	size_t ordered;          /* number of pieces at the last ordering */
	VEC(struct collected_cie) cies;
	uint64_t damaged;
	struct budget *budget;
	size_t taken;            /* bytes taken from the budget */
};

/* budget: memory for compiling a section is taken from it until collection_fini; a section that it refuses is left out. NULL: no limit. */
void collection_init(struct collection *c, const struct elf *runtime, const struct elf *debug, struct budget *budget);
/* Starts a collection of one .eh_frame at the given address. */
void collection_init_frames(struct collection *c, struct span frames, uint64_t address, bool is64);
void collection_fini(struct collection *c);
/* Reads all sections. */
void collection_read(struct collection *c);
/* Drops the parts outside of low … high. */
void collection_clip(struct collection *c, uint64_t low, uint64_t high);
/* Sorts pieces by start, and shortens those that overlap the next. */
void collection_order(struct collection *c);
