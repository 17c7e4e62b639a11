/* The build-id cache, a folder of copies in perf's layout (perf-buildid-cache(1)): DIR/PATH/ID/elf (or debug, vdso, kallsyms, probes) and
 * links DIR/.build-id/xx/yyyy… → ../../PATH/ID. PATH may come from a process or a recording: nothing is created, read or removed outside of
 * DIR, and copies are made of the open file whose build-id was checked. A copy is readable by users who could read the file, the kernel's
 * symbols only by the user. Knows no module and no recording. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "elf/elf.h"

struct debuginfod;

enum cached_kind { CACHED_FILE, CACHED_VDSO, CACHED_KALLSYMS };

struct cached_file {
	enum cached_kind kind;
	const char *path;            /* of a file; "[vdso]", "[kernel.kallsyms]" */
	int root;                    /* descriptor of the folder from which path is seen; -1: our root */
	bool open;                   /* `file` is a descriptor of the file, which need not be at its path */
	int file;                    /* valid if `open`; borrowed */
	uint8_t id[ELF_BUILD_ID_MAX], id_len;
	struct debuginfod *debuginfod; /* servers for its debug file; NULL: none */
};

enum cache_use { CACHE_READ, CACHE_CHANGE, CACHE_MAKE };

/* Opens the cache's folder for the functions below. dir NULL: no cache, because the user has no home. ERROR_PERMISSION: it, or a folder
 * above it, belongs to another user or can be written by others; ordinary users may read such a cache. */
int cache_open(const char *dir, enum cache_use use, struct error *err);

/* Adds the file, and its separate debug file if this machine has one. 1: added; 0: already present; < 0: not added, for instance if the
 * file has another build-id now. */
int cache_add(int cache, const struct cached_file *file, struct error *err);
/* Removes all files stored under that id. < 0: there was none. */
int cache_remove(int cache, const uint8_t *id, uint8_t len, struct error *err);
bool cache_has(int cache, const uint8_t *id, uint8_t len);
/* Stores PATH/ID of the id's files; false: not in the cache, or its link leads elsewhere (ERROR_FORMAT). */
bool cache_find(int cache, const uint8_t *id, uint8_t len, char folder[static PATH_MAX], struct error *err);

struct cache_entry {
	const char *path;            /* "/usr/bin/x", "[vdso]" */
	uint8_t id[ELF_BUILD_ID_MAX], id_len;
};

struct cache_list {
	VEC(struct cache_entry) entries; /* sorted by id */
	struct arena arena;
};

/* Lists the whole cache; an absent cache (-1) is empty. */
int cache_list(int cache, struct cache_list *list, struct error *err);
/* As cache_list, of the entries alone whose folder has a file of that name, which is not empty. */
int cache_list_having(int cache, const char *file, struct cache_list *list, struct error *err);
/* Lists the builds of one file; path as the file system resolves it. < 0: the cache does not have it. */
int cache_list_builds(int cache, const char *path, struct cache_list *list, struct error *err);
void cache_list_fini(struct cache_list *list); /* accepts a zeroed list */

/* Converts hexadecimal text to an id. Returns its length in bytes, 0 if invalid. */
uint8_t build_id_parse(const char *text, uint8_t id[static ELF_BUILD_ID_MAX]);
