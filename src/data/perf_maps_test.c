#include "data/perf_maps.h"

#include "unit.h"

static struct span body_of(const struct writer *out)
{
	return (struct span){ (const uint8_t *)out->buffer, out->len };
}

static void add(struct writer *out, int32_t pid, const char *text)
{
	stored_map_add(out, &(struct stored_map){ pid, { (const uint8_t *)text, strlen(text) } });
}

TEST("stored perf maps are read again in their order, with empty and unaligned texts")
{
	static const char *const texts[] = { "1000 10 a\n", "", "12345678" };
	struct writer out;
	struct stored_map map;
	size_t at = 0, count = 0;
	writer_open(&out, -1, 0);
	for (int i = 0; i < 3; i++)
		add(&out, 7 + i, texts[i]);
	EXPECT_INT(out.len, 16 + 16 + 16 + 16 + 8);
	for (; stored_map_next(body_of(&out), false, &at, &map); count++) {
		EXPECT_INT(map.pid, 7 + (int)count);
		EXPECT_INT(map.text.len, strlen(texts[count]));
		EXPECT(memcmp(map.text.data, texts[count], map.text.len) == 0);
	}
	EXPECT_INT(count, 3);
	EXPECT_INT(at, out.len);
	writer_fini(&out);
}

TEST("a body that ends within a map has the maps before it")
{
	struct writer out;
	writer_open(&out, -1, 0);
	add(&out, 1, "abc");
	size_t whole = out.len;
	add(&out, 2, "defg");
	for (size_t len = 0; len < out.len; len++) {
		struct span body = body_of(&out);
		struct stored_map map;
		size_t at = 0, count = 0;
		body.len = len;
		while (stored_map_next(body, false, &at, &map))
			count++;
		EXPECT_INT(count, (len >= 16 + 3) + (len >= whole + 16 + 4));
	}
	writer_fini(&out);
}

TEST("a length beyond the body, also of the other byte order, is the end")
{
	const uint64_t head[2] = { 1, UINT64_MAX - 3 };
	struct stored_map map;
	size_t at = 0;
	EXPECT(!stored_map_next((struct span){ (const uint8_t *)head, sizeof head }, false, &at, &map));
	EXPECT(!stored_map_next((struct span){ (const uint8_t *)head, sizeof head }, true, &at, &map));
}
