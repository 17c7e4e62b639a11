/* What covers which code: the FDEs of a file's sections, in order of address and without overlaps. Internal to compile.c. */
#pragma once
#include "base/vec.h"
#include "elf/elf.h"
#include "unwind/cfi.h"

#define COLLECT_SECTIONS 4
#define RANK_SFRAME 0xfeu
#define RANK_LAST 0xffu

struct piece {
	uint64_t start, end;
	uint64_t function;             /* where its rules count from: start, before others took what they cover */
	uint32_t program, program_len; /* offset in its section */
	uint32_t cie;                  /* index */
	uint8_t section, rank;         /* the lower rank wins where two cover the same */
};

struct collected_cie {
	struct cie cie;
	uint8_t section;
	bool good;
};

struct collection {
	struct cfi_section sections[COLLECT_SECTIONS];
	void *owned[COLLECT_SECTIONS];                 /* of compressed ones */
	unsigned section_count;
	size_t bytes;            /* of all sections */
	VEC(struct piece) pieces;
	size_t ordered;          /* pieces when they were last put in order */
	VEC(struct collected_cie) cies;
	uint64_t damaged;
};

void collection_init(struct collection *c, const struct elf *runtime, const struct elf *debug);
/* Of one .eh_frame that is told to lie at address. */
void collection_init_frames(struct collection *c, struct span frames, uint64_t address, bool is64);
void collection_fini(struct collection *c);
/* Reads all sections. */
void collection_read(struct collection *c);
/* Drops what lies outside of low … high. */
void collection_clip(struct collection *c, uint64_t low, uint64_t high);
/* After it pieces are in order of start, and each ends where the next begins or earlier. */
void collection_order(struct collection *c);
