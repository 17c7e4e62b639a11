/* One function of a JIT dump → the bytes of an ELF file, and the file. */
#pragma once
#include <sys/stat.h>

#include "base/writer.h"
#include "data/jitdump.h"

enum {
	JIT_CODE_MAX = 256 << 20,    /* bytes of one function */
	JIT_EXTRA_MAX = 64 << 20,    /* of its lines, and of its call frame information */
	JIT_ALL_LINES_MAX = 1 << 30, /* of all lines: holes of a sparse dump are no work for its author */
	JIT_FILE_ID_SIZE = 20,
};

/* What records of the dump say about the function that follows them. */
struct jit_extra {
	uint8_t *bytes;              /* NULL: absent */
	struct jitdump_debug debug;
	struct jitdump_unwinding unwinding;
};

/* Reused for each function; a zeroed one is closed. */
struct jit_file {
	struct writer image;         /* the file's bytes */
	uint8_t *code;
	size_t code_room;
	struct jit_extra lines, tables; /* of the next function */
	uint64_t lines_read;         /* bytes, of all functions */
};

void jit_file_open(struct jit_file *file);
void jit_file_close(struct jit_file *file);

/* A record that precedes its function; too large a one is ignored. */
void jit_file_take_lines(struct jit_file *file, const struct jitdump *dump, const struct jitdump_debug *debug);
void jit_file_take_tables(struct jit_file *file, const struct jitdump *dump, const struct jitdump_unwinding *unwinding);
void jit_file_forget_extras(struct jit_file *file);

/* The function's file in memory, and its build-id; false: its code is too large, or the dump does not have all of it. */
bool jit_file_make(struct jit_file *file, const struct jitdump *dump, const struct jitdump_load *load, uint8_t id[static JIT_FILE_ID_SIZE]);
/* Writes it as a new file of that name, see jit_dump_create. An incomplete one is removed. */
int jit_file_write(const struct jit_file *file, int folder, const char *name, struct stat *st, struct error *err);
/* The bytes that code and its call frame information have in memory: the latter may follow the code there. */
uint64_t jit_file_mapped_size(const struct jit_file *file, uint64_t code_size);
