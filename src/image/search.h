/* Module → candidate files on this machine, or their debug files, in perf's order. A file whose build-id differs from the recorded one is
 * skipped and counted. With --symfs no file outside of it is opened, whatever links exist. Knows no symbol and no sample. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "image/debuginfod.h"
#include "image/image.h"
#include "image/trail.h"
#include "model/module.h"

struct image_options {
	const char *symfs;         /* files are searched below it, without this machine's kernel; NULL or "": not set */
	const char *buildid_dir;   /* the build-id cache; NULL: none. With symfs it is SYMFS/.debug instead, as in perf */
	const char *vmlinux;       /* --vmlinux: the only one tried */
	const char *osrelease;     /* of the recorded machine; NULL: of this machine */
	bool no_vmlinux;           /* only the vmlinux of the cache */
	bool living;               /* while recording: use the mapped file even if its path leads elsewhere now */
	struct budget *budget;     /* for unmapped content of files, and for checking them; borrowed; NULL: no limit */
	bool same_machine;         /* the recording is of this machine: recorded inodes can be compared (docs/decisions/009) */
	int64_t processes_until;   /* as until_s of recorded_process; ignored with `living` */
	struct debuginfod *debuginfod; /* asked last; never with symfs; NULL: no servers */
};

#define IMAGE_PATH_MAX 4096
/* Writes into IMAGE_PATH_MAX bytes. False: the path is empty or too long. */
bool path_format(char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct image_search {
	const struct module *module;
	const struct image_options *options;
	uint8_t build_id[ELF_BUILD_ID_MAX]; /* as recorded; if nothing was recorded, that of the file itself */
	uint8_t build_id_len;
	bool recorded;             /* build_id is the recording's */
	int cache_root;            /* the build-id cache, in which links are confined; -1. With --symfs: SYMFS/.debug below root */
	char debuglink[256];       /* name of the debug file in the file's debug link; "" */
	uint32_t debuglink_crc;
	char listed[IMAGE_PATH_MAX]; /* of a kernel module recorded without a path: the file in the folder of its release; "" */
	struct image itself;       /* the file at the module's own path, until it is returned as a candidate */
	int root;                  /* --symfs, or the root of the process if it sees other files than we do; -1 */
	char root_name[IMAGE_PATH_MAX]; /* its path on this machine: options.symfs, "/proc/PID/root"; "" */
	struct image_trail *trail; /* records each place tried; NULL */
	unsigned step;             /* index of the next candidate */
	bool offline;              /* do not ask servers */
	bool runs;                 /* a file that runs was found */
	bool replaced;             /* the path leads to another file */
	bool refused;              /* … and without a build-id it cannot be confirmed */
	bool ours;                 /* the process's root had no file and was replaced by our own */
	uint32_t mismatched;       /* skipped files: of another build … */
	uint32_t damaged;          /* … or not valid ELF */
};

void image_search_init(struct image_search *search, const struct module *module, const struct image_options *options);
void image_search_fini(struct image_search *search);
/* Opens the next candidate that exists and matches; the caller closes it. */
bool image_search_next(struct image_search *search, struct image *image);

/* Opens the file that runs (not its debug file), for disassembling or unwinding. < 0: not found. */
int image_find(const struct module *module, const struct image_options *options, struct image *image, struct error *err);

/* The root folder of a living process that sees other files than this one; -1 if none. */
int process_root(int32_t pid);

/* Opens the build-id cache as a root: links in it cannot lead out of it. < 0: absent, or it belongs to another user, or others can write
 * it. */
int buildid_cache_root(const char *dir, struct error *err);
/* Writes DIR/.build-id/xx/yyyy…/LEAF to path; false if it does not fit. */
bool buildid_cache_path(const char *dir, const uint8_t *id, uint8_t len, const char *leaf, char *path, size_t size);
void build_id_hex(const uint8_t *id, uint8_t len, char text[static 2 * ELF_BUILD_ID_MAX + 1]);
