/* Module → the files on this machine that may be it, or its debug file, in perf's order. A file of another build-id than
 * the recording's is passed over and counted. With --symfs nothing outside of it is opened, whatever links say. Knows no
 * symbol and no sample. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "image/image.h"
#include "image/trail.h"
#include "model/module.h"

struct image_options {
	const char *symfs;         /* files are looked for below it, none of this machine's kernel; NULL or "": no such */
	const char *buildid_dir;   /* the build-id cache; NULL: none. With symfs it is SYMFS/.debug instead, as for perf */
	const char *vmlinux;       /* --vmlinux: the only one to try */
	const char *osrelease;     /* of the recorded machine; NULL: of this one */
	bool no_vmlinux;           /* none but that of the cache */
	bool living;               /* what is mapped counts, where its path leads elsewhere by now: while recording */
	bool debuginfod;           /* at last the servers of $DEBUGINFOD_URLS are asked; never with symfs */
};

#define IMAGE_PATH_MAX 4096

struct image_search {
	const struct module *module;
	const struct image_options *options;
	uint8_t build_id[ELF_BUILD_ID_MAX]; /* as recorded, or as the file itself has it where nothing was recorded */
	uint8_t build_id_len;
	bool recorded;             /* build_id is the recording's */
	char cache[IMAGE_PATH_MAX]; /* the build-id cache; "" */
	char debuglink[256];       /* what the file says its debug file is called; "" */
	uint32_t debuglink_crc;
	char listed[IMAGE_PATH_MAX]; /* of a kernel module that was recorded without a path: the file that its release's folder has; "" */
	struct image itself;       /* the file under the module's own path, until its turn comes */
	int root;                  /* --symfs, or of the process where it sees other files than we do; -1 */
	char root_name[IMAGE_PATH_MAX]; /* what it is called from here: as options.symfs, "/proc/PID/root"; "" */
	struct image_trail *trail; /* where each place tried is noted; NULL */
	unsigned step;             /* next candidate */
	bool offline;              /* servers are not asked */
	bool runs;                 /* a file that runs was found */
	bool replaced;             /* its path leads to another file */
	bool ours;                 /* root was a process's, had nothing, and was given up for our own */
	uint32_t mismatched;       /* files passed over: of another build-id … */
	uint32_t damaged;          /* … or no ELF at all */
};

void image_search_init(struct image_search *search, const struct module *module, const struct image_options *options);
void image_search_fini(struct image_search *search);
/* Opens the next candidate that is there and matches; the caller closes it. */
bool image_search_next(struct image_search *search, struct image *image);

/* The file that runs (not its debug file), to disassemble or unwind from. < 0: none. */
int image_find(const struct module *module, const struct image_options *options, struct image *image, struct error *err);

/* The root folder of a living process that sees other files than this one; -1. */
int process_root(int32_t pid);
/* The text of a process's perf map (MODULE_ANON): of the place the process sees as /tmp, or ours. */
int image_read_perf_map(const struct module *module, size_t limit, char **text, size_t *len, struct error *err);

/* DIR/.build-id/xx/yyyy…/LEAF into path; false where it does not fit. */
bool buildid_cache_path(const char *dir, const uint8_t *id, uint8_t len, const char *leaf, char *path, size_t size);
void build_id_hex(const uint8_t *id, uint8_t len, char text[static 2 * ELF_BUILD_ID_MAX + 1]);
