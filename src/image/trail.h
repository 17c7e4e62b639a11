/* Where files of a module were looked for, in order, and what was found there: for who asks why a name is missing. Knows no
 * module. */
#pragma once
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "elf/elf.h"

enum image_finding {
	IMAGE_ABSENT,
	IMAGE_REFUSED,       /* it may not be read */
	IMAGE_DAMAGED,       /* no ELF file, or none that makes sense */
	IMAGE_OTHER_BUILD,   /* of another build-id (or, without any, of another checksum) */
	IMAGE_UNUSED,        /* the right one, with nothing that was looked for */
	IMAGE_USED,
	IMAGE_OUTDATED,      /* what was kept is of another state of the machine, or damaged */
	IMAGE_UNWRITTEN,     /* what was to be kept could not be */
};

struct image_try {
	const char *path;
	enum image_finding finding;
	char origin;                         /* perf's letter for the place; 0: none */
	uint8_t build_id[ELF_BUILD_ID_MAX];  /* of the file there */
	uint8_t build_id_len;
};

/* A zeroed one is empty. */
struct image_trail {
	VEC(struct image_try) tries;
	struct arena arena;
};

void image_trail_fini(struct image_trail *trail);
/* trail may be NULL for all of these. The path is root's (the folder that files are seen from, "" for none) and path. */
void image_trail_note(struct image_trail *trail, const char *root, const char *path, char origin, enum image_finding finding);
/* What became of the place noted last. */
void image_trail_mark(struct image_trail *trail, enum image_finding finding);
void image_trail_build(struct image_trail *trail, const uint8_t *id, uint8_t len);

/* What a failure to open tells. */
enum image_finding image_finding_of(const struct error *err);
/* As in "/usr/bin/x: not there". */
const char *image_finding_text(enum image_finding finding);
