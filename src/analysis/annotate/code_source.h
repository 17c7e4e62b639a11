/* A range of a module → the bytes of its code: from the file that ran, the vdso, vmlinux, a kernel module's file, a kcore, a JIT dump or
 * the recorded BPF programs. Files are opened once and stay open. Knows no symbol and no sample. */
#pragma once
#include "base/error.h"
#include "code/disassemble.h"
#include "model/module.h"

struct header;
struct symbols;
struct code_source;

struct code_bytes {
	struct span bytes;           /* valid as long as the source; shorter than requested where the file or the segment ends */
	uint64_t address;            /* of the first byte as linked */
	struct code_machine machine;
	const char *path;            /* of the file */
	const char *section;         /* of the file; NULL: unknown */
};

/* header: of the recording, for BPF programs; kcore: the path of a copy of the kernel's memory; both may be NULL. */
struct code_source *code_source_new(struct symbols *symbols, const struct header *header, const char *kcore);
void code_source_free(struct code_source *source); /* NULL is allowed */

/* < 0: the code is absent. The message names the reason, the hint names the places that were searched. */
int code_source_read(struct code_source *source, const struct module *module, uint64_t offset, uint64_t size, struct code_bytes *code,
	struct error *err);
/* A line of source whose text is in the recording. */
struct code_line {
	const char *file;            /* valid as long as the source; "": unknown */
	uint32_t number;
	struct span text;            /* foreign bytes; valid as long as the header */
};

/* The line of code whose source lines were recorded with it, as those of BPF programs are; false: unknown. Names of files behind the first
 * thousands are "". */
bool code_source_line(struct code_source *source, const struct module *module, uint64_t offset, struct code_line *line);
/* As code_source_read, of the file alone. */
int code_source_check(struct code_source *source, const struct module *module, struct error *err);
/* The offset in the module of an address as linked; false: the address is in no segment of the file. */
bool code_source_offset(struct code_source *source, const struct module *module, uint64_t address, uint64_t *offset);
