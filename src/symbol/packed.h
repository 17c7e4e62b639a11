/* The kernel's list of symbols as it is kept between runs: read as it lies there, and only where it is asked. What it says is taken
 * from any bytes without harm; that they are whole, a sum tells. Knows no file, and not whether the list still holds. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "symbol/kallsyms.h"
#include "symbol/symbol.h"

/* Symbols of the kernel, or of one module. A zeroed one has none. */
struct packed_symbols {
	const uint8_t *starts; /* 8 bytes each, in order; as long as the list's bytes */
	const uint8_t *rest;   /* PACKED_REST bytes each */
	uint32_t count;
	int64_t shift;         /* from the list's addresses to those that are asked for */
	struct span names;
};

enum { PACKED_HEADER = 48, PACKED_START = 8, PACKED_REST = 8, PACKED_MODULE = 12 };

/* The last symbol that does not start behind offset, counted from 1; 0: none. Looks at starts alone. */
uint32_t packed_find(const struct packed_symbols *symbols, uint64_t offset);
void packed_get(const struct packed_symbols *symbols, uint32_t id, struct symbol *symbol);
/* The same where its rest was fetched otherwise; the name may not be touched either. */
void packed_describe(const struct packed_symbols *symbols, uint32_t id, const uint8_t rest[static PACKED_REST], struct symbol *symbol);

struct packed_list {
	struct packed_symbols kernel;
	struct kallsyms_marks marks;
	const uint8_t *modules;
	uint32_t module_count;
	struct packed_symbols in_modules; /* all of them, module by module */
	struct span names;
};

/* ERROR_FORMAT: no such list, or one of another state of the kernel. Borrows the bytes. */
int packed_open(struct packed_list *list, struct span bytes, uint64_t state, struct error *err);
/* What belongs to module ("[ext4]"), at distances from start. */
void packed_module(const struct packed_list *list, const char *module, uint64_t start, struct packed_symbols *symbols);

/* Where the modules' names are, behind those of symbols. */
struct span packed_module_names(const struct packed_list *list);

/* Puts a list into malloc'ed bytes. What cannot be asked for is left out: programs of BPF, of ftrace and of kprobes are no
 * modules. < 0: it does not fit. */
int packed_make(const struct kallsyms *k, uint64_t state, char **bytes, size_t *len, struct error *err);

/* The sum of what was added, in pieces: of a multiple of PACKED_PIECE bytes, but for the last. */
#define PACKED_PIECE 32u
struct packed_sum {
	uint64_t lanes[4];
	uint64_t len;
};
void packed_sum_add(struct packed_sum *sum, const void *bytes, size_t len);
/* What the last PACKED_SUM_SIZE bytes of a list have to be, where the others were added. */
#define PACKED_SUM_SIZE 8u
uint64_t packed_sum_end(const struct packed_sum *sum);
