/* A file as an opened ELF image, compressed or not. Immutable once open. Knows no symbol and no module. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "elf/elf.h"

struct budget;

struct image {
	struct elf elf;          /* over the bytes below */
	struct span mapping;     /* the mapped file; empty if it was inflated or copied */
	struct span extended;    /* the mapped file with bytes of our own, of a program of Windows; pages of it cannot be dropped */
	void *owned;             /* the bytes if they are not mapped */
	char *path;              /* where it was found; "[vdso]" for this process's own vdso */
	char origin;             /* perf's letter for its source ('d', 'B' …); 0: opened by path */
	uint32_t root_len;       /* length of the prefix of path that is the root's path (such as --symfs); 0: our root */
	struct budget *budget;   /* the budget of its memory … */
	size_t taken;            /* … and the bytes taken from it */
};

/* root: as in rooted_open. Kernel modules (x.ko.gz, .xz, .zst) are inflated. budget: for memory that is not mapped; borrowed; NULL: no
 * limit. */
int image_open(struct image *image, int root, const char *path, struct budget *budget, struct error *err);
/* Opens a regular file by its descriptor, which remains the caller's; path: its name. */
int image_open_descriptor(struct image *image, int fd, const char *path, struct budget *budget, struct error *err);
void image_close(struct image *image); /* accepts a zeroed one */
/* Returns whether it contains code, unlike a debug file. Depends on its origin. */
bool image_runs(const struct image *image);
/* Prefixes path with root, the root's path on this machine ("/target" of --symfs), or "". */
void image_set_root(struct image *image, const char *root);
/* Opens the symbol table in .gnu_debugdata as an image of its own. < 0: absent or invalid. */
int image_open_debugdata(struct image *image, const struct image *of, struct error *err);
/* Opens the vdso of this process. */
int image_open_vdso(struct image *image, struct error *err);

/* Compares build-ids; a recorded one may have zeros up to 20 bytes after a shorter id. */
bool build_id_equal(const uint8_t *recorded, uint8_t recorded_len, const uint8_t *id, uint8_t len);

/* Length of the build-id, 0 if absent. */
uint8_t image_build_id_of_path(const char *path, uint8_t id[static ELF_BUILD_ID_MAX]);
/* Reads the build-id from the kernel's notes: "/sys/kernel/notes" or a copy. */
uint8_t image_kernel_build_id(const char *notes_path, uint8_t id[static ELF_BUILD_ID_MAX]);
