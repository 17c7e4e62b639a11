/* Code → its source: file and line, and the chain of calls that were inlined there. From debug information where a module has
 * any, from its symbol table where not (a function's file, no line). A module's is opened at first need, from any thread.
 * Knows no sample and no output. */
#pragma once
#include "symbol/symbol.h"

struct source_line {
	const char *file;      /* whole path, as long as `symbols`; NULL: not known */
	uint32_t line;         /* 0: not known */
};

/* Where the code at an offset of the module was written; outermost: where the function that it lies in called what was
 * inlined there, step by step, in the end. false: not known. */
bool lines_place(struct symbols *symbols, const struct module *module, uint64_t offset, bool outermost, struct source_line *line);

/* Which chains of calls get frames for functions that were inlined. */
enum inline_frames {
	INLINE_NONE,
	INLINE_UNWOUND,        /* those made of registers and stack bytes, as in perf */
	INLINE_ALL,
};

/* Where in an address's function it is looked up: an address that a call returns to stands behind the call. */
enum frame_at { FRAME_EXACT, FRAME_RETURN };

/* One function of a chain. */
struct line_frame {
	uint32_t symbol;       /* for symbols_get and symbols_name: the one asked about, or one of its own, with symbol.inlined */
	struct source_line at; /* innermost: the code's own place; further out: of the call */
};

#define LINE_FRAMES_MAX 256u

/* The functions at an offset that lies in `symbol` (0: in none), innermost first; the last stands for the symbol itself.
 * 0: nothing is known. */
size_t lines_inlines(struct symbols *symbols, const struct module *module, uint64_t offset, uint32_t symbol,
	struct line_frame frames[static LINE_FRAMES_MAX]);

/* A function that no symbol of the module's table holds, under the name that the debug information has for it: an id for symbols_name
 * alone. 0: none. */
uint32_t lines_function(struct symbols *symbols, const struct module *module, uint64_t offset);

/* The address by which the module's file knows an offset, as linked; the offset where there is no file. */
uint64_t lines_address(struct symbols *symbols, const struct module *module, uint64_t offset);
