/* The build-ids that a recording names: of its own table, or of what its samples hit. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "base/writer.h"
#include "image/image.h"
#include "session/losses.h"

struct build_id_row {
	int32_t machine; /* -1: the host; guests after it */
	const char *name;
	uint8_t id[ELF_BUILD_ID_MAX], len; /* 0: without */
	size_t place;    /* where it stood: the last of equal ones counts */
	bool one_of_many; /* of one file alone: others had its name, too */
};

struct build_id_rows {
	VEC(struct build_id_row) list; /* by machine and name */
	struct arena arena;
	struct losses losses; /* what of the recording is missing among them */
};

/* hits: only what samples lie in, found by reading them, as it is where there is no table. < 0: the recording cannot be
 * opened. One that breaks off leaves what was found. */
int build_id_rows_read(struct build_id_rows *rows, const char *path, bool force, bool hits, struct error *err);
void build_id_rows_fini(struct build_id_rows *rows);

/* "ID NAME", the id padded to its full width. */
void build_id_row_print(const struct build_id_row *row, struct writer *out);
void build_id_print(struct writer *out, const uint8_t *id, unsigned len);
