/* Build-ids that the user gives for files (--known-build-ids): "HEX PATH" pairs, between commas, or "file://PATH" of a file with one pair
 * per line. Pairs of another form are ignored, as by perf. */
#pragma once
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

enum { KNOWN_ID_SIZE = 20 };

struct known_id {
	const char *path;
	uint8_t bytes[KNOWN_ID_SIZE], len;
};

struct known_ids {
	VEC(struct known_id) list;
	struct arena arena;
};

/* Appends the pairs of the text, or of the file that it names; a file that cannot be read has none. */
void known_ids_read(struct known_ids *known, const char *text);
/* The first pair with that path, or NULL. */
const struct known_id *known_ids_find(const struct known_ids *known, const char *path);
void known_ids_fini(struct known_ids *known);
