#include "base/arena.h"

#include <stdint.h>

#include "unit.h"

TEST("arena memory is zeroed and 16-byte aligned, whatever was allocated before")
{
	struct arena arena = { 0 };
	for (size_t size = 0; size < 3000; size += 7) {
		memset(arena_bytes(&arena, size % 13), 0xff, size % 13);
		unsigned char *piece = arena_alloc(&arena, size);
		EXPECT((uintptr_t)piece % 16 == 0);
		for (size_t i = 0; i < size; i++)
			EXPECT(piece[i] == 0);
		memset(piece, 0xff, size);
	}
	arena_fini(&arena);
}

TEST("a piece larger than a chunk gets its own chunk, and the current chunk stays in use")
{
	struct arena arena = { 0 };
	char *small = arena_bytes(&arena, 10);
	char *large = arena_alloc(&arena, 1 << 20);
	char *next = arena_bytes(&arena, 10);
	EXPECT(next == small + 10);
	memset(large, 1, 1 << 20);
	arena_fini(&arena);
}

TEST("pieces never move and retain their content")
{
	struct arena arena = { 0 };
	enum { COUNT = 20000 };
	static char *pieces[COUNT];
	for (int i = 0; i < COUNT; i++) {
		char text[32];
		int length = snprintf(text, sizeof text, "piece %d", i);
		pieces[i] = arena_string(&arena, text, (size_t)length);
	}
	EXPECT_STR(pieces[0], "piece 0");
	EXPECT_STR(pieces[7777], "piece 7777");
	EXPECT_STR(pieces[COUNT - 1], "piece 19999");
	arena_fini(&arena);
	EXPECT(arena.chunks == NULL);
	EXPECT(arena_alloc(&arena, 8) != NULL);
	arena_fini(&arena);
}

TEST("a large arena has few chunks, and little of them is unused")
{
	enum { PIECE = 1000, PIECES = 40000 };
	struct arena arena = { 0 };
	unsigned chunks = 0;
	const struct arena_chunk *last = NULL;
	for (int i = 0; i < PIECES; i++) {
		unsigned char *piece = arena_alloc(&arena, PIECE);
		EXPECT((uintptr_t)piece % 16 == 0 && piece[0] == 0 && piece[PIECE - 1] == 0);
		memset(piece, 0xff, PIECE);
		chunks += arena.chunks != last;
		last = arena.chunks;
		EXPECT((size_t)(arena.end - arena.next) <= arena.bytes / 4 + (64 << 10));
	}
	EXPECT(chunks < PIECES * PIECE / (1 << 20));
	arena_fini(&arena);
}

TEST("arena_copy copies, and accepts an empty piece without a source")
{
	struct arena arena = { 0 };
	uint64_t value = 0x1122334455667788;
	uint64_t *copy = arena_copy(&arena, &value, sizeof value);
	EXPECT(*copy == value);
	EXPECT(arena_copy(&arena, NULL, 0) != NULL);
	arena_fini(&arena);
}

TEST("a cleared arena reuses its current chunk, and zeroes what it allocates there")
{
	struct arena arena = { 0 };
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 10; i++) {
			unsigned char *piece = arena_alloc(&arena, 10000);
			EXPECT(piece[0] == 0 && piece[9999] == 0);
			memset(piece, 0xff, 10000);
		}
		arena_alloc(&arena, 1 << 20);
		char *last = arena.end;
		EXPECT(arena.bytes >= 100000);
		arena_clear(&arena);
		EXPECT(arena.end == last && arena.bytes == 0);
		char *again = arena_alloc(&arena, 16);
		EXPECT(again < last && last - again <= 64 * 1024);
	}
	arena_fini(&arena);
	arena_clear(&arena);
	EXPECT(!arena.chunks);
}

TEST("pieces of a joined arena stay where they are and are freed with the other one")
{
	struct arena arena = { 0 }, other = { 0 };
	arena_join(&arena, &other);
	char *first = arena_string(&other, "first", 5);
	arena_join(&arena, &other);
	EXPECT(!other.chunks && !other.bytes);
	char *second = arena_string(&arena, "second", 6), *third = arena_string(&other, "third", 5);
	char *large = arena_alloc(&other, 1 << 20);
	arena_join(&arena, &other);
	EXPECT_INT(arena.bytes, 6 + 7 + 6 + (1 << 20));
	EXPECT(arena_string(&arena, "fourth", 6) == second + 7);
	large[0] = 1;
	EXPECT_STR(first, "first");
	EXPECT_STR(third, "third");
	arena_fini(&arena);
}
