#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A chunk is a share of what the arena has, so that large arenas have few page faults, and little of them is unused. */
enum { CHUNK_SIZE = 64 << 10, CHUNK_MAX = 8 << 20, CHUNK_SHARE = 4 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	_Alignas(16) char data[];
};

void arena_init(struct arena *arena)
{
	*arena = (struct arena){ 0 };
}

void arena_fini(struct arena *arena)
{
	struct arena_chunk *chunk = arena->chunks;
	while (chunk) {
		struct arena_chunk *next = chunk->next;
		free(chunk);
		chunk = next;
	}
	*arena = (struct arena){ 0 };
}

void arena_clear(struct arena *arena)
{
	struct arena_chunk *last = arena->chunks;
	if (!last)
		return;
	for (struct arena_chunk *chunk = last->next, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	last->next = NULL;
	arena->next = last->data;
	arena->end = last->data + last->size;
	arena->bytes = 0;
}

void arena_join(struct arena *arena, struct arena *from)
{
	if (!arena->chunks) {
		*arena = *from;
	} else if (from->chunks) {
		struct arena_chunk *last = from->chunks;
		while (last->next)
			last = last->next;
		last->next = arena->chunks->next;
		arena->chunks->next = from->chunks;
		arena->bytes += from->bytes;
	}
	*from = (struct arena){ 0 };
}

/* A piece larger than a quarter of a chunk gets a chunk of its own behind the current one, so that the rest of the current one is used. */
static void *arena_grow(struct arena *arena, size_t size)
{
	bool own = size > CHUNK_SIZE / 4;
	size_t share = arena->bytes / CHUNK_SHARE & ~(size_t)(CHUNK_SIZE - 1);
	size_t room = own ? size : share < CHUNK_SIZE ? CHUNK_SIZE : share < CHUNK_MAX ? share : CHUNK_MAX;
	struct arena_chunk *chunk = memory_block(sizeof *chunk + room);
	chunk->size = room;
	if (own && arena->chunks) {
		chunk->next = arena->chunks->next;
		arena->chunks->next = chunk;
		return chunk->data;
	}
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->next = chunk->data + size;
	arena->end = chunk->data + room;
	return chunk->data;
}

static void *arena_take(struct arena *arena, size_t size, size_t align)
{
	arena->bytes += size;
	uintptr_t at = ((uintptr_t)arena->next + align - 1) & ~(uintptr_t)(align - 1);
	if (!arena->next || at > (uintptr_t)arena->end || size > (uintptr_t)arena->end - at)
		return arena_grow(arena, size);
	char *piece = arena->next + (at - (uintptr_t)arena->next);
	arena->next = piece + size;
	return piece;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return memset(arena_take(arena, size, 16), 0, size);
}

void *arena_words(struct arena *arena, size_t count)
{
	return arena_take(arena, count * sizeof(uint64_t), sizeof(uint64_t));
}

char *arena_bytes(struct arena *arena, size_t size)
{
	return arena_take(arena, size, 1);
}

void *arena_copy(struct arena *arena, const void *data, size_t size)
{
	void *copy = arena_take(arena, size, 16);
	return size ? memcpy(copy, data, size) : copy;
}

char *arena_string(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_take(arena, length + 1, 1);
	if (length)
		memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}
