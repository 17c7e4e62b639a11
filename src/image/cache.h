/* The build-id cache, a folder of copies: DIR/PATH/ID/elf (or debug, vdso, kallsyms, probes) and links
 * DIR/.build-id/xx/yyyy… → ../../PATH/ID. Knows no module and no recording. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "elf/elf.h"

enum cached_kind { CACHED_FILE, CACHED_VDSO, CACHED_KALLSYMS };

struct cached_file {
	enum cached_kind kind;
	const char *path;            /* of a file; "[vdso]", "[kernel.kallsyms]" */
	int root;                    /* where path is seen from; -1 */
	bool open;                   /* `file` is the file itself, which need not be under its path */
	int file;                    /* … a descriptor */
	uint8_t id[ELF_BUILD_ID_MAX], id_len;
	bool debuginfod;             /* its debug file may come from a server */
};

/* The file, and its debug file where this machine has one apart. 1: added, 0: it was there. < 0: not added; a file that is
 * no longer of that build-id is one reason. */
int cache_add(const char *dir, const struct cached_file *file, struct error *err);
/* What is kept under that id, all of it. < 0: nothing was. */
int cache_remove(const char *dir, const uint8_t *id, uint8_t len, struct error *err);
bool cache_has(const char *dir, const uint8_t *id, uint8_t len);

struct cache_entry {
	const char *path;            /* "/usr/bin/x", "[vdso]" */
	uint8_t id[ELF_BUILD_ID_MAX], id_len;
};

struct cache_list {
	VEC(struct cache_entry) entries; /* by id */
	struct arena arena;
};

/* All that the cache holds; an absent cache holds nothing. */
int cache_list(const char *dir, struct cache_list *list, struct error *err);
/* Of one file alone; path as the file system resolves it. < 0: the cache does not know it. */
int cache_list_builds(const char *dir, const char *path, struct cache_list *list, struct error *err);
void cache_list_fini(struct cache_list *list); /* a zeroed one is fine */

/* Hexadecimal text → id; its length, 0 where it is none. */
uint8_t build_id_parse(const char *text, uint8_t id[static ELF_BUILD_ID_MAX]);
