/* JIT-compiled code: the functions of a JIT dump, their source lines and their call frame information. A module of kind MODULE_JIT is
 * such a dump. Its offsets are the file offsets of the code bytes, so that a mapping of the module states which function was at an
 * address at a time, and a moved function keeps its identity. The code bytes are in the file module->long_name, as process module->pid
 * sees it, at the module's offset. Does not read files. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/module.h"

struct jit_code {
	uint64_t offset, size;
	const char *name;
	size_t frames_at, frames_len; /* in jit.frames; frames_len 0: absent */
};

struct jit_line {
	uint64_t offset;
	uint32_t line, file;     /* file: id in jit.files */
};

struct jit {
	uint16_t machine;            /* EM_* of the code */
	VEC(struct jit_code) codes;  /* by offset, without overlaps */
	VEC(struct jit_line) lines;  /* by offset */
	VEC(uint8_t) frames;         /* .eh_frame of the functions; each is relative to an address after its function's code, rounded up to
	                              * a multiple of 8 */
	struct strtab files;
	struct arena names;
};

void jit_free(struct jit *jit); /* NULL is allowed */
/* Appends a function. Functions must be in order of offset; returns false and adds nothing otherwise. */
bool jit_add_code(struct jit *jit, uint64_t offset, uint64_t size, const char *name);
/* Adds a line to the last function; unprintable bytes of the file name are replaced. */
void jit_add_line(struct jit *jit, uint64_t offset, uint32_t line, const char *file);
/* Adds the .eh_frame of the last function. */
void jit_add_frames(struct jit *jit, const uint8_t *bytes, size_t len);
/* Sorts the lines from index `first` on; call it after the last line of a function. */
void jit_sort_lines(struct jit *jit, size_t first);

/* Returns the function at offset, or NULL. */
const struct jit_code *jit_code_at(const struct jit *jit, uint64_t offset);
/* Returns the source line of an offset in a module of any kind; false: unknown. *file is borrowed from the module. */
bool jit_line(const struct module *module, uint64_t offset, const char **file, uint32_t *line);
