#include "record/acquire/map_copies.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "data/perf_maps.h"
#include "image/perf_map_file.h"

enum { FIRST_WAIT_MS = 20, LAST_WAIT_MS = 5000 };

void map_copies_add(struct map_copies *copies, int32_t pid)
{
	for (size_t i = 0; i < copies->list.count; i++)
		if (copies->list.items[i].pid == pid)
			return;
	if (copies->list.count < MAP_COPIES_MAX)
		vec_push(&copies->list, ((struct map_copy){ .pid = pid, .fd = -1, .wait_ms = FIRST_WAIT_MS }));
}

static void open_copy(struct map_copy *copy)
{
	if (copy->fd < 0 && !copy->ended)
		copy->fd = perf_map_file_open(copy->pid, &copy->ended);
}

int map_copies_open(struct map_copies *copies)
{
	uint64_t now = now_ns() / 1000000, next = UINT64_MAX;
	for (size_t i = 0; i < copies->list.count; i++) {
		struct map_copy *copy = &copies->list.items[i];
		if (copy->due_ms <= now) {
			open_copy(copy);
			copy->due_ms = now + copy->wait_ms;
			copy->wait_ms = copy->wait_ms * 2 < LAST_WAIT_MS ? copy->wait_ms * 2 : LAST_WAIT_MS;
		}
		if (copy->fd < 0 && !copy->ended && copy->due_ms < next)
			next = copy->due_ms;
	}
	return next == UINT64_MAX ? -1 : (int)(next - now);
}

/* The complete lines of the text. */
static size_t whole_lines(const char *text, size_t len)
{
	while (len && text[len - 1] != '\n')
		len--;
	return len;
}

static void read_copy(struct map_copies *copies, const struct map_copy *copy)
{
	size_t left = copies->body.len < MAP_COPIES_BYTES ? MAP_COPIES_BYTES - copies->body.len : 0, len = 0;
	size_t limit = left < MAP_COPY_BYTES ? left : MAP_COPY_BYTES;
	char *text = limit ? malloc(limit) : NULL;
	for (ssize_t n; text && len < limit && (n = pread(copy->fd, text + len, limit - len, (off_t)len)) > 0;)
		len += (size_t)n;
	len = len == limit ? whole_lines(text, len) : len;
	if (len)
		stored_map_add(&copies->body, &(struct stored_map){ copy->pid, { (const uint8_t *)text, len } });
	free(text);
}

void map_copies_read(struct map_copies *copies)
{
	if (copies->read)
		copies->body.len = 0;
	else
		writer_open(&copies->body, -1, 0);
	copies->read = true;
	for (size_t i = 0; i < copies->list.count; i++) {
		struct map_copy *copy = &copies->list.items[i];
		open_copy(copy);
		if (copy->fd >= 0)
			read_copy(copies, copy);
	}
}

void map_copies_fini(struct map_copies *copies)
{
	for (size_t i = 0; i < copies->list.count; i++)
		if (copies->list.items[i].fd >= 0)
			close(copies->list.items[i].fd);
	vec_fini(&copies->list);
	if (copies->read)
		writer_fini(&copies->body);
	copies->read = false;
}
