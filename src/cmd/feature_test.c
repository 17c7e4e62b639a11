#include "cmd/feature.h"

#include <string.h>

#include "unit.h"

TEST("a feature is found by its whole name or macro, in any case")
{
	const struct feature *zstd = feature_find("zstd", 4);
	EXPECT(zstd && zstd->built_in);
	EXPECT(feature_find("ZStd,lzma", 4) == zstd);
	EXPECT(feature_find("have_zstd_support", 17) == zstd);
	EXPECT(feature_find("zst", 3) == NULL);
	EXPECT(feature_find("zstd,", 5) == NULL);
	EXPECT(feature_find("zstd", 3) == NULL);
	EXPECT(feature_find("", 0) == NULL);
}

TEST("every feature has a name and a macro, and the table ends")
{
	size_t count = 0;
	for (const struct feature *feature = features; feature->name; feature++, count++)
		EXPECT(feature->macro && feature_find(feature->name, strlen(feature->name)) == feature);
	EXPECT(count > 20);
}

TEST("a feature's line has perf's columns")
{
	struct writer out;
	writer_open(&out, -1, 0);
	feature_write(&(struct feature){ "aio", "HAVE_AIO", true }, &out);
	feature_write(&(struct feature){ "numa_num_possible_cpus", "HAVE_N", false }, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "                   aio: [ on  ]  # HAVE_AIO\nnuma_num_possible_cpus: [ OFF ]  # HAVE_N\n");
	writer_fini(&out);
}
