#include "record/acquire/build_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "data/perf_maps.h"
#include "image/image.h"
#include "os/process.h"
#include "record/acquire/record_out.h"
#include "unit.h"

/* The mapping of this program's own code. */
struct own {
	struct process_map map;
	char path[4096];
	uint8_t id[ELF_BUILD_ID_MAX], id_len;
	struct mapped_identity identity;
};

static int visit(void *context, const struct process_map *map)
{
	struct own *own = context;
	uint64_t here = (uint64_t)(uintptr_t)&visit;
	if (here < map->start || here >= map->end)
		return 0;
	own->map = *map;
	snprintf(own->path, sizeof own->path, "%s", map->path);
	return -1;
}

static void own_open(struct own *own)
{
	bool late;
	*own = (struct own){ 0 };
	EXPECT(process_maps(getpid(), 0, &late, visit, own, NULL) < 0);
	own->identity = (struct mapped_identity){ .maj = own->map.maj, .min = own->map.min, .ino = own->map.ino };
	own->id_len = image_build_id_of_path(own->path, own->id);
}

static void put_mapping(struct writer *out, const struct own *own, uint16_t misc, int32_t pid)
{
	size_t at = record_open(out, RECORD_MMAP2, misc);
	out_u32(out, (uint32_t)pid);
	out_u32(out, (uint32_t)pid);
	out_u64(out, own->map.start);
	out_u64(out, own->map.end - own->map.start);
	out_u64(out, own->map.pgoff);
	out_u32(out, own->identity.maj);
	out_u32(out, own->identity.min);
	out_u64(out, own->identity.ino);
	out_u64(out, own->identity.generation);
	out_u32(out, PROT_READ | PROT_EXEC);
	out_u32(out, MAP_PRIVATE);
	out_string(out, own->path);
	record_close(out, at, 0);
}

/* The length of the build-id, read within a minute; < 0: unknown. */
static int known(struct build_reader *reader, const struct own *own, uint8_t id[static ELF_BUILD_ID_MAX])
{
	int len = -1;
	for (unsigned i = 0; len < 0 && i < 12000; i++) {
		len = build_reader_get(reader, own->path, &own->identity, id);
		if (len < 0)
			usleep(5000);
	}
	return len;
}

static struct span written(const struct writer *out)
{
	return (struct span){ (const uint8_t *)out->buffer, out->len };
}

TEST("the build-id of a file that a process maps is known, and only that of the file with the record's numbers")
{
	struct own own;
	uint8_t id[ELF_BUILD_ID_MAX];
	struct writer records;
	struct build_reader *reader = build_reader_new(false);
	own_open(&own);
	writer_open(&records, -1, 0);
	put_mapping(&records, &own, RECORD_MISC_USER, getpid());
	build_reader_see_all(reader, written(&records));
	EXPECT_INT(known(reader, &own, id), own.id_len);
	EXPECT(memcmp(id, own.id, own.id_len) == 0);

	struct own other = own; /* the path leads to another file than was mapped, and the process does not map that */
	other.identity.ino ^= 1;
	other.map.start = other.map.end = 0;
	records.len = 0;
	put_mapping(&records, &other, RECORD_MISC_USER, getpid());
	build_reader_see_all(reader, written(&records));
	build_reader_stop(reader);
	EXPECT_INT(build_reader_get(reader, other.path, &other.identity, id), -1);
	EXPECT_INT(build_reader_get(reader, own.path, &own.identity, id), own.id_len);
	build_reader_free(reader);
	writer_fini(&records);
}

TEST("each record of a ring is seen once, also one that wraps around its end")
{
	enum { RING_BYTES = 4096 };
	static uint8_t control[RING_BYTES] __attribute__((aligned(4096)));
	uint8_t *data = memory_zero(1, RING_BYTES), id[ELF_BUILD_ID_MAX];
	struct perf_control { uint8_t before[1024]; uint64_t head, tail; } *page = (void *)control;
	struct own own;
	struct writer records;
	struct build_reader *reader = build_reader_new(false);
	own_open(&own);
	writer_open(&records, -1, 0);
	put_mapping(&records, &own, RECORD_MISC_USER, getpid());
	uint64_t tail = RING_BYTES * 3 - 64, seen = 0;
	for (size_t i = 0; i < records.len; i++)
		data[(tail + i) % RING_BYTES] = (uint8_t)records.buffer[i];
	page->head = tail + records.len;
	struct ring ring = { .base = control, .data = data, .size = RING_BYTES, .tail = tail, .fd = -1 };
	build_reader_see_ring(reader, &ring, &seen, tail);
	EXPECT_INT(seen, tail);
	build_reader_see_ring(reader, &ring, &seen, UINT64_MAX);
	EXPECT_INT(seen, tail + records.len);
	EXPECT_INT(known(reader, &own, id), own.id_len);
	memset(data, 0xff, RING_BYTES); /* nothing is read twice */
	build_reader_see_ring(reader, &ring, &seen, UINT64_MAX);
	EXPECT_INT(seen, tail + records.len);
	build_reader_free(reader);
	writer_fini(&records);
	free(data);
}

TEST("mappings of data, of the kernel, and cut ones are ignored, and all functions accept NULL")
{
	struct own own;
	uint8_t id[ELF_BUILD_ID_MAX];
	struct writer records;
	struct build_reader *reader = build_reader_new(false);
	own_open(&own);
	writer_open(&records, -1, 0);
	put_mapping(&records, &own, RECORD_MISC_USER | RECORD_MISC_MMAP_DATA, getpid());
	put_mapping(&records, &own, RECORD_MISC_KERNEL, getpid());
	put_mapping(&records, &own, RECORD_MISC_USER | RECORD_MISC_MMAP_BUILD_ID, getpid());
	build_reader_see_all(reader, written(&records));
	records.len = 0;
	put_mapping(&records, &own, RECORD_MISC_USER, getpid());
	for (uint32_t len = 0; len < 80; len++) {
		const struct record cut = { .type = RECORD_MMAP2, .misc = RECORD_MISC_USER, .body = (uint8_t *)records.buffer + 8, .body_len = len };
		if (len < 64 + strlen(own.path) + 1)
			build_reader_see(reader, &cut);
	}
	build_reader_stop(reader);
	EXPECT_INT(build_reader_get(reader, own.path, &own.identity, id), -1);
	build_reader_see_all(NULL, written(&records));
	EXPECT_INT(build_reader_get(NULL, own.path, &own.identity, id), -1);
	build_reader_free(reader);
	build_reader_free(NULL);
	writer_fini(&records);
}

/* The text of the only map. */
static void expect_map(struct build_reader *reader, const char *text)
{
	struct stored_map map = { 0 };
	size_t at = 0;
	struct span body = build_reader_maps(reader);
	EXPECT(stored_map_next(body, false, &at, &map) && map.pid == getpid());
	EXPECT(map.text.len == strlen(text) && memcmp(map.text.data, text, strlen(text)) == 0);
	EXPECT(!stored_map_next(body, false, &at, &map));
}

TEST("the perf maps are those of each call, and of the stop; a reader of maps alone opens no other file")
{
	struct own own;
	struct writer records;
	uint8_t id[ELF_BUILD_ID_MAX];
	char path[64];
	struct build_reader *reader = build_reader_new(true);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	FILE *map = fopen(path, "w");
	EXPECT(map && fputs("1000 10 a\n", map) >= 0 && fflush(map) == 0);
	own_open(&own);
	writer_open(&records, -1, 0);
	put_mapping(&records, &own, RECORD_MISC_USER, getpid());
	build_reader_see_all(reader, written(&records));
	build_reader_add_maker(reader, getpid());
	for (int i = 0; i < 5000 && !build_reader_maps(reader).len; i++) /* the thread has not come to the request */
		usleep(1000);
	expect_map(reader, "1000 10 a\n");
	EXPECT(fputs("2000 10 b\n", map) >= 0 && fflush(map) == 0);
	expect_map(reader, "1000 10 a\n2000 10 b\n");
	EXPECT(fputs("3000 10 c\n", map) >= 0 && fclose(map) == 0);
	build_reader_stop(reader);
	expect_map(reader, "1000 10 a\n2000 10 b\n3000 10 c\n");
	EXPECT_INT(build_reader_get(reader, own.path, &own.identity, id), -1);
	unlink(path);
	build_reader_free(reader);
	writer_fini(&records);
}
