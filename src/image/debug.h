/* A module's debug information with all its parts: the file that runs, the file with .debug_info, and the files to which that refers (the
 * dwz file of .gnu_debugaltlink, FILE.dwp, .dwo files of split units). Finds and opens them; reads no DWARF but the identity of a split
 * unit. Knows no symbol and no sample.
 *
 * All paths are seen from the same root as the module's own file: --symfs, or the root of the process. */
#pragma once
#include <pthread.h>

#include "image/search.h"

struct image_debug {
	struct image executable;       /* the file that runs; path NULL: not found */
	struct image separate;         /* the file with .debug_info if it is another one */
	struct image alternate;        /* of .gnu_debugaltlink; path NULL: absent */
	struct image package;          /* FILE.dwp */
	const struct elf *debug;       /* the one of the first two that has .debug_info */
	const struct module *module;
	const struct image_options *options;
	struct image_trail *trail;
	int root;
	char *root_name;               /* the root's path on this machine; "" */
	pthread_mutex_t lock;          /* protects the two lists below, and the trail after opening */
	VEC(struct image *) splits;
	uint64_t splits_missing;       /* number of .dwo files that were not found */
};

/* Limit on .dwo files opened for one module: further ones count as missing. */
#define IMAGE_SPLITS_MAX 16384u

/* The object must not move while it is open. module, options and trail (NULL: not recorded) are borrowed. < 0: no file of the module has
 * debug information; then there is nothing to close. */
int image_debug_open(struct image_debug *debug, const struct module *module, const struct image_options *options,
	struct image_trail *trail, struct error *err);
void image_debug_close(struct image_debug *debug); /* accepts a zeroed one */
/* Drops the files' pages from memory; the kernel reads them again on access. */
void image_debug_release(const struct image_debug *debug);

/* For struct dwarf_parts (dwarf/types.h): context is the struct image_debug. Thread-safe. */
const struct elf *image_debug_split(void *context, const char *directory, const char *name, uint64_t id);

static inline const struct elf *image_debug_alternate(const struct image_debug *debug)
{
	return debug->alternate.path ? &debug->alternate.elf : NULL;
}

static inline const struct elf *image_debug_package(const struct image_debug *debug)
{
	return debug->package.path ? &debug->package.elf : NULL;
}
