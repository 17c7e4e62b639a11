/* Records the places searched for files of a module, in order, with their results, to explain missing names. Knows no module. */
#pragma once
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "elf/elf.h"

enum image_finding {
	IMAGE_ABSENT,
	IMAGE_REFUSED,       /* access denied */
	IMAGE_DAMAGED,       /* an invalid ELF file */
	IMAGE_NOT_ELF,       /* a file of another format */
	IMAGE_OTHER_BUILD,   /* has another build-id (or, without any, another checksum) */
	IMAGE_UNUSED,        /* the right file, without the requested content */
	IMAGE_USED,
	IMAGE_OUTDATED,      /* the cached data belongs to another state of the machine, or is damaged */
	IMAGE_UNWRITTEN,     /* the cache could not be written */
};

struct image_try {
	const char *path;
	enum image_finding finding;
	char origin;                         /* perf's letter for the source; 0: none */
	uint8_t build_id[ELF_BUILD_ID_MAX];  /* of the file there */
	uint8_t build_id_len;
};

/* A zeroed one is empty. */
struct image_trail {
	VEC(struct image_try) tries;
	struct arena arena;
};

void image_trail_fini(struct image_trail *trail);
/* trail may be NULL in all of these functions. The recorded path is root (the folder from which files are seen, or "") and path. */
void image_trail_note(struct image_trail *trail, const char *root, const char *path, char origin, enum image_finding finding);
/* Sets the result of the place noted last. */
void image_trail_mark(struct image_trail *trail, enum image_finding finding);
void image_trail_build(struct image_trail *trail, const uint8_t *id, uint8_t len);

/* Converts an error of opening. */
enum image_finding image_finding_of(const struct error *err);
/* The text in "/usr/bin/x: not there". */
const char *image_finding_text(enum image_finding finding);
