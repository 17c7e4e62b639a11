#include "data/perf_maps.h"

/* Of a map: process, zero, length; then the text and zeros up to a multiple of 8. */
enum { HEAD_BYTES = 16 };

void stored_map_add(struct writer *body, const struct stored_map *map)
{
	const uint64_t length = map->text.len;
	const int32_t head[2] = { map->pid, 0 };
	writer_add(body, head, sizeof head);
	writer_add(body, &length, sizeof length);
	writer_add(body, map->text.data, map->text.len);
	writer_pad(body, '\0', -map->text.len & 7);
}

bool stored_map_next(struct span body, bool swapped, size_t *at, struct stored_map *map)
{
	if (*at >= body.len || body.len - *at < HEAD_BYTES)
		return false;
	struct cursor c = cursor_of(body.data + *at, body.len - *at, swapped);
	map->pid = (int32_t)take_u32(&c);
	take_u32(&c);
	uint64_t length = take_u64(&c);
	if (length > cursor_left(&c))
		return false;
	map->text = (struct span){ body.data + *at + HEAD_BYTES, (size_t)length };
	uint64_t padded = (length + 7) & ~(uint64_t)7;
	*at = padded > cursor_left(&c) ? body.len : *at + HEAD_BYTES + (size_t)padded;
	return true;
}
