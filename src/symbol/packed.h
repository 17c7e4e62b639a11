/* The file format of the cached kernel symbol list: used in place, only the requested parts are read. Any bytes can be read safely; a
 * checksum shows whether they are intact. Knows no file, and not whether the list is still valid. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "symbol/kallsyms.h"
#include "symbol/types.h"

/* Symbols of the kernel, or of one module. A zeroed one is empty. */
struct packed_symbols {
	const uint8_t *starts; /* 8 bytes each, in order; borrowed from the list's bytes */
	const uint8_t *rest;   /* PACKED_REST bytes each */
	uint32_t count;
	int64_t shift;         /* from the list's addresses to the requested ones */
	struct span names;
};

enum { PACKED_HEADER = 48, PACKED_START = 8, PACKED_REST = 8, PACKED_MODULE = 12 };

/* The last symbol that starts at or before offset, counted from 1; 0: none. Reads only starts. */
uint32_t packed_find(const struct packed_symbols *symbols, uint64_t offset);
void packed_get(const struct packed_symbols *symbols, uint32_t id, struct symbol *symbol);
/* As packed_get with a rest that the caller read; does not read the name. */
void packed_describe(const struct packed_symbols *symbols, uint32_t id, const uint8_t rest[static PACKED_REST], struct symbol *symbol);

struct packed_list {
	struct packed_symbols kernel;
	struct kallsyms_marks marks;
	const uint8_t *modules;
	uint32_t module_count;
	struct packed_symbols in_modules; /* of all modules, module by module */
	struct span names;
};

/* Borrows the bytes. ERROR_FORMAT: not a list, or one of another state of the kernel. */
int packed_open(struct packed_list *list, struct span bytes, uint64_t state, struct error *err);
/* Finds the symbols of module ("[ext4]"), at distances from start. */
void packed_module(const struct packed_list *list, const char *module, uint64_t start, struct packed_symbols *symbols);

/* The names of the modules, which follow those of the symbols. */
struct span packed_module_names(const struct packed_list *list);

/* Writes a list to malloc'ed bytes, without BPF programs, ftrace and kprobe trampolines, which are not modules and cannot be looked up. <
 * 0: it exceeds the format's limits. */
int packed_make(const struct kallsyms *k, uint64_t state, char **bytes, size_t *len, struct error *err);

/* The checksum, computed in pieces: all but the last have a multiple of PACKED_PIECE bytes. */
#define PACKED_PIECE 32u
struct packed_sum {
	uint64_t lanes[4];
	uint64_t len;
};
void packed_sum_add(struct packed_sum *sum, const void *bytes, size_t len);
/* The value of the last PACKED_SUM_SIZE bytes of a list, after all others were added. */
#define PACKED_SUM_SIZE 8u
uint64_t packed_sum_end(const struct packed_sum *sum);
