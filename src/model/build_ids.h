/* The recording's build-id table: the build-id of each file at the time of the recording. Rows are found by file name, those of kernel
 * modules also by the module's short name, in constant time. Internal to model/. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/module.h"

struct known_build_id {
	const char *filename;                /* borrowed from names */
	uint16_t misc;
	uint8_t id[20], len;                 /* len 0: the table only has rows for single files with the name */
	bool of_files;                       /* the table has rows for single files with the name */
};

/* A row that is valid for one of several files with the same name. */
struct file_build_id {
	struct module_identity identity;
	uint32_t row;                        /* of the name */
	uint32_t next;                       /* index + 1 of another row with the same name and inode; 0: none */
	uint8_t id[20], len;
};

struct known_build_ids {
	struct strtab names;                 /* file names */
	VEC(struct known_build_id) rows;     /* by id in names */
	struct strtab kmodules;              /* short names of the rows of kernel mode */
	VEC(uint32_t) kmodule_rows;          /* by id in kmodules: the first row with the name */
	VEC(struct file_build_id) files;
	struct idmap file_of;                /* hash of name and inode → the last item of `files` with them */
	uint32_t kernel_row;                 /* 1 + the row of the kernel itself; 0: absent */
};

void known_build_ids_fini(struct known_build_ids *known); /* a zeroed one is allowed */
/* Adds or replaces the row of a name (identity NULL), or adds a row for one file with that name. Returns true if the name is new. */
bool known_build_ids_set(struct known_build_ids *known, const char *filename, uint16_t misc, const struct module_identity *identity,
	const uint8_t *id, uint8_t len);
/* Returns the build-id of a module's file, searched by module->name; NULL: unknown. */
const uint8_t *known_build_ids_module(const struct known_build_ids *known, const struct module *module, uint8_t *len);
/* Return a row by name, by the short name of a kernel module, or the kernel's row; NULL: absent. Borrowed until the table changes. */
const struct known_build_id *known_build_ids_file(const struct known_build_ids *known, const char *filename);
const struct known_build_id *known_build_ids_kmodule(const struct known_build_ids *known, const char *short_name);
const struct known_build_id *known_build_ids_kernel(const struct known_build_ids *known);
