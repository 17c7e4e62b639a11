#include "data/source_internal.h"
#include "unit.h"

TEST("a row of the build-id table may identify one of the files with its path")
{
	struct __attribute__((packed)) {
		int32_t pid;
		uint8_t id[24];
		char name[8], mark[8];
		uint32_t maj, min;
		uint64_t ino, generation;
	} row = { .pid = -1, .id = { [20] = 20 }, .name = "/bin/x", .mark = BUILD_ID_IDENTITY_MARK,
		.maj = 8, .min = 1, .ino = 77, .generation = 5 };
	struct header header = { 0 };
	header_add_build_id(&header, RECORD_MISC_USER | RECORD_MISC_EXT_RESERVED, (const uint8_t *)&row, sizeof row, false);
	header_add_build_id(&header, RECORD_MISC_USER, (const uint8_t *)&row, sizeof row - 8, false); /* truncated: identified only by path */
	row.mark[0] = 'M';
	header_add_build_id(&header, RECORD_MISC_USER, (const uint8_t *)&row, sizeof row, false);
	EXPECT_INT(header.build_ids.count, 3);
	const struct build_id_entry *entry = header.build_ids.items;
	EXPECT(entry->one_of_many && entry->maj == 8 && entry->min == 1 && entry->ino == 77 && entry->ino_generation == 5);
	EXPECT_STR(entry->filename, "/bin/x");
	EXPECT(!entry[1].one_of_many && !entry[2].one_of_many);
	EXPECT_STR(entry[2].filename, "/bin/x");
	header_fini(&header);
}
