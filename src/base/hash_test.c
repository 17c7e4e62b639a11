#include "base/hash.h"

#include "unit.h"

TEST("a map returns the values that were set, and IDMAP_NONE for absent keys")
{
	struct idmap map = { 0 };
	EXPECT(idmap_get(&map, 1) == IDMAP_NONE);
	for (uint32_t i = 0; i < 50000; i++)
		idmap_set(&map, (uint64_t)i << 32 | 7, i);
	EXPECT_INT(map.count, 50000);
	for (uint32_t i = 0; i < 50000; i++)
		EXPECT(idmap_get(&map, (uint64_t)i << 32 | 7) == i);
	EXPECT(idmap_get(&map, 8) == IDMAP_NONE);
	idmap_fini(&map);
}

TEST("setting a key again replaces its value; adding it does not")
{
	struct idmap map = { 0 };
	bool added;
	idmap_set(&map, 0, 1);
	idmap_set(&map, 0, 2);
	EXPECT_INT(idmap_get(&map, 0), 2);
	EXPECT_INT(idmap_add(&map, 0, 3, &added), 2);
	EXPECT(!added);
	EXPECT_INT(idmap_add(&map, UINT64_MAX, 3, &added), 3);
	EXPECT(added);
	EXPECT_INT(map.count, 2);
	idmap_fini(&map);
}

TEST("hashes of consecutive numbers differ in their low bits")
{
	unsigned seen[256] = { 0 }, most = 0;
	for (uint64_t page = 0; page < 256 * 64; page++)
		seen[hash_u64(page << 12) & 255]++;
	for (int i = 0; i < 256; i++)
		most = seen[i] > most ? seen[i] : most;
	EXPECT(most < 64 * 3);
}

TEST("a hash of bytes depends on every byte and on the length")
{
	char text[40] = "the quick brown fox jumps over the lazy";
	uint64_t before = hash_bytes(text, sizeof text);
	for (size_t i = 0; i < sizeof text; i++) {
		text[i] ^= 1;
		EXPECT(hash_bytes(text, sizeof text) != before);
		EXPECT(hash_bytes(text, i) != before);
		text[i] ^= 1;
	}
	EXPECT(hash_bytes(text, sizeof text) == before);
	EXPECT(hash_bytes("\0\0", 1) != hash_bytes("\0\0", 2));
	EXPECT(hash_bytes_from(1, "a", 1) != hash_bytes_from(2, "a", 1));
}
