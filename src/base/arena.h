/* Arena allocator: pieces are allocated one by one and freed together. Pieces never move. Out of memory aborts. */
#pragma once
#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	char *next, *end;
	size_t bytes; /* bytes allocated so far */
};

void arena_init(struct arena *arena);
void arena_fini(struct arena *arena); /* accepts a zeroed arena; leaves it zeroed and usable */

/* Frees all pieces; some memory is retained for new ones. */
void arena_clear(struct arena *arena);

/* Moves all pieces of `from` to `arena`. */
void arena_join(struct arena *arena, struct arena *from);

/* Zeroed memory, 16-byte aligned, valid until arena_fini. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_words(struct arena *arena, size_t count); /* of 8 bytes; not zeroed */
/* Unaligned memory, not zeroed. */
char *arena_bytes(struct arena *arena, size_t size);
void *arena_copy(struct arena *arena, const void *data, size_t size); /* 16-byte aligned */
char *arena_string(struct arena *arena, const char *text, size_t length); /* NUL-terminated copy */
