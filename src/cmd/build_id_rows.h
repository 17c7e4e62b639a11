/* The build-ids of a recording: those of its table, or those of the modules that its samples hit. */
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
	size_t place;    /* its position in the table: the last row of a name counts */
	bool one_of_many; /* other files had this name, too */
};

struct build_id_rows {
	VEC(struct build_id_row) list; /* by machine and name */
	struct arena arena;
	struct losses losses; /* of what was read of the recording */
};

/* hits: only modules that samples lie in, found by reading them; so are the rows of a recording without a table. < 0: the recording cannot
 * be opened. Of one that ends early, rows holds what was found. */
int build_id_rows_read(struct build_id_rows *rows, const char *path, bool force, bool hits, struct budget *budget,
	struct error *err);
void build_id_rows_fini(struct build_id_rows *rows);

/* "ID NAME", the id padded to its full width. */
void build_id_row_print(const struct build_id_row *row, struct writer *out);
void build_id_print(struct writer *out, const uint8_t *id, unsigned len);
