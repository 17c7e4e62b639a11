/* A module's debug information with all its parts: the file that runs, the one with .debug_info, what that refers to (the
 * dwz file of .gnu_debugaltlink, FILE.dwp, .dwo files of split units). Finds and opens; reads no DWARF but the identity of a
 * split unit. Knows no symbol and no sample.
 *
 * Everything is seen from where the module's own file is: --symfs, or the root of the process. */
#pragma once
#include <pthread.h>

#include "image/search.h"

struct image_debug {
	struct image executable;       /* the file that runs; path NULL: none was found */
	struct image separate;         /* the file with .debug_info where that is another one */
	struct image alternate;        /* of .gnu_debugaltlink; path NULL: none */
	struct image package;          /* FILE.dwp */
	const struct elf *debug;       /* of one of the first two: the one with .debug_info */
	const struct module *module;
	const struct image_options *options;
	struct image_trail *trail;
	int root;
	char root_name[IMAGE_PATH_MAX];
	pthread_mutex_t lock;          /* of the two lists below, and of the trail after opening */
	VEC(struct image *) splits;
	uint64_t splits_missing;       /* .dwo files that are nowhere */
};

/* .dwo files opened for one module: the rest counts as missing. */
#define IMAGE_SPLITS_MAX 16384u

/* Must not move while open. module, options and trail (NULL: none is kept) are borrowed. < 0: no file of the module has
 * debug information; then there is nothing to close. */
int image_debug_open(struct image_debug *debug, const struct module *module, const struct image_options *options,
	struct image_trail *trail, struct error *err);
void image_debug_close(struct image_debug *debug); /* a zeroed one is fine */
/* Gives the pages of the files back that were touched so far; they come again when they are. */
void image_debug_release(const struct image_debug *debug);

/* As struct dwarf_parts (elf/dwarf.h) wants it: context is the struct image_debug. From any thread. */
const struct elf *image_debug_split(void *context, const char *directory, const char *name, uint64_t id);

static inline const struct elf *image_debug_alternate(const struct image_debug *debug)
{
	return debug->alternate.path ? &debug->alternate.elf : NULL;
}

static inline const struct elf *image_debug_package(const struct image_debug *debug)
{
	return debug->package.path ? &debug->package.elf : NULL;
}
