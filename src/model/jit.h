/* Code that a just-in-time compiler made: which function the bytes of a dump belong to, from which source lines they came, and how its
 * stack is unwound.
 * A module of kind MODULE_JIT is such a dump; its offsets are those of the code's bytes in the file, so that a mapping of it says
 * which function lay somewhere at a time, and a function that was moved stays the same one. The bytes of the code are those of the
 * file module->long_name, as process module->pid sees it, at the module's offset. Knows no file and no format. */
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
	size_t frames_at, frames_len; /* in jit.frames; len 0: none */
};

struct jit_line {
	uint64_t offset;
	uint32_t line, file;     /* file: id in jit.files */
};

struct jit {
	uint16_t machine;            /* EM_*: what the code is for */
	VEC(struct jit_code) codes;  /* by offset, none overlaps another */
	VEC(struct jit_line) lines;  /* by offset */
	VEC(uint8_t) frames;         /* functions' .eh_frame, each as if it lay behind its code, at the next multiple of 8 */
	struct strtab files;
	struct arena names;
};

void jit_free(struct jit *jit); /* NULL is fine */
/* Functions come in order of offset: false where one does not, which is not taken. */
bool jit_add_code(struct jit *jit, uint64_t offset, uint64_t size, const char *name);
/* Lines of the function added last; the file's name is made printable. */
void jit_add_line(struct jit *jit, uint64_t offset, uint32_t line, const char *file);
/* The .eh_frame of the function added last. */
void jit_add_frames(struct jit *jit, const uint8_t *bytes, size_t len);
/* When all of a function's lines are there. */
void jit_sort_lines(struct jit *jit, size_t first);

/* The function that holds offset; NULL. */
const struct jit_code *jit_code_at(const struct jit *jit, uint64_t offset);
/* The source line of an offset in a module of any kind; false where none is known. Borrowed as long as the module. */
bool jit_line(const struct module *module, uint64_t offset, const char **file, uint32_t *line);
