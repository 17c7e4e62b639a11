/* Code → source: file and line, and the chain of calls inlined there. Uses the module's debug information, otherwise its symbol table (a
 * function's file, no line). A module is opened on first use; thread-safe. Knows no sample and no output. */
#pragma once
#include "symbol/symbol.h"

struct source_line {
	const char *file;      /* full path, valid as long as `symbols`; NULL: unknown */
	uint32_t line;         /* 0: unknown */
};

/* The source line of the code at an offset of the module; outermost: the line in the function that contains the code, from which the
 * inlined call (or chain of calls) was made. Returns false if unknown. */
bool lines_place(struct symbols *symbols, const struct module *module, uint64_t offset, bool outermost, struct source_line *line);

/* Selects the call chains that get frames for inlined functions. */
enum inline_frames {
	INLINE_NONE,
	INLINE_UNWOUND,        /* the user part of chains that the reader or the recorder unwound from registers and stack bytes */
	INLINE_ALL,
};

/* FRAME_RETURN: the address is a return address, which follows the call; the look-up uses the call. */
enum frame_at { FRAME_EXACT, FRAME_RETURN };

/* One function of an inline chain. */
struct line_frame {
	uint32_t symbol;       /* for symbols_get and symbols_name: the symbol passed in, or an inlined function's own, with symbol.inlined */
	struct source_line at; /* innermost: the line of the code; others: the line of the call */
};

#define LINE_FRAMES_MAX 256u

/* Stores the functions at an offset in `symbol` (0: in none), innermost first; the last one is the symbol itself. Returns their number, 0
 * if unknown. */
size_t lines_inlines(struct symbols *symbols, const struct module *module, uint64_t offset, uint32_t symbol,
	struct line_frame frames[static LINE_FRAMES_MAX]);

/* A function that is not in the module's symbol table, named by the debug information: an id only for symbols_name. 0: none. */
uint32_t lines_function(struct symbols *symbols, const struct module *module, uint64_t offset);

/* The address of an offset in the module's file, as linked; the offset itself if there is no file. */
uint64_t lines_address(struct symbols *symbols, const struct module *module, uint64_t offset);

/* The debug information of a module and the files that it belongs to; valid as long as `symbols`. False: absent. */
struct dwarf;
struct elf;
struct lines_debug {
	struct dwarf *dwarf;
	const struct elf *runs;   /* the file that runs */
	const struct elf *debug;  /* its debug file; NULL: the same file */
};
bool lines_debug(struct symbols *symbols, const struct module *module, struct lines_debug *debug);
