/* The offsets of a file's code to which calls may return: directly after a call instruction of x86-64, i386 or AArch64. Built once per file
 * on the first guess that leads to it, one bit per byte (AArch64: per instruction) of its executable segments. Internal to unwind/. */
#pragma once
#include "elf/elf.h"
#include "unwind/rules.h"

struct call_segment {
	uint64_t offset, size;   /* in the file */
	uint8_t *bits;
};

struct call_map {
	struct call_segment *segments;
	uint32_t count;
	uint8_t unit_shift;      /* log2 of the number of bytes per bit */
	size_t memory;
};

/* table: the rules of the same file. Calls of functions with rules are excluded, unless the function only jumps elsewhere: the map serves
 * to find callers of code without rules. elf NULL: an empty map. */
struct call_map *call_map_new(const struct elf *elf, const struct rule_table *table);
void call_map_free(struct call_map *map); /* accepts NULL */
/* Returns whether the byte at this offset of the file follows a call. */
bool call_map_has(const struct call_map *map, uint64_t offset);
