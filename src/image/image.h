/* One file as an opened ELF image, whatever it is packed in. Immutable once open. Knows no symbol and no module. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "elf/elf.h"

struct image {
	struct elf elf;          /* over the bytes below */
	struct span mapping;     /* the file as mapped; empty where it was inflated or copied */
	void *owned;             /* the bytes where they are not the mapping */
	char *path;              /* where it was found; "[vdso]" for this process's own */
	char origin;             /* perf's letter for where it was found ('d', 'B' …); 0: opened by path */
	uint32_t root_len;       /* of what path starts with: the folder from which it was seen, as --symfs; 0: our root */
};

/* root as in file_open. Kernel modules (x.ko.gz, .xz, .zst) are inflated. */
int image_open(struct image *image, int root, const char *path, struct error *err);
/* Of a regular file that is open, and stays so; path: what it is called. */
int image_open_descriptor(struct image *image, int fd, const char *path, struct error *err);
void image_close(struct image *image); /* a zeroed one is fine */
/* Whether it holds code, as opposed to a debug file. By its origin. */
bool image_runs(const struct image *image);
/* Makes path whole: root is what stands before it on this machine ("/target" of --symfs), or "". */
void image_set_root(struct image *image, const char *root);
/* The symbol table that hides in .gnu_debugdata, as an image of its own. < 0: none. */
int image_open_debugdata(struct image *image, const struct image *of, struct error *err);
/* The vdso of this very process. */
int image_open_vdso(struct image *image, struct error *err);

/* Same build-id; the recorded one may carry zeros up to 20 bytes behind a shorter one. */
bool build_id_equal(const uint8_t *recorded, uint8_t recorded_len, const uint8_t *id, uint8_t len);

/* Length of the build-id, 0 where there is none. */
uint8_t image_build_id_of_path(const char *path, uint8_t id[static ELF_BUILD_ID_MAX]);
/* From the kernel's notes, "/sys/kernel/notes" of the machine or a copy. */
uint8_t image_kernel_build_id(const char *notes_path, uint8_t id[static ELF_BUILD_ID_MAX]);
