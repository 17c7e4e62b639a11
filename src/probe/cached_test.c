#include "probe/cached.h"

#include <string.h>

#include "unit.h"

#define STORED "#simple a b\np:probe_x/simple /x:0x10 a=%di\np:probe_x/simple /x:0x20 a=%si\n%sdt_x:step=step\np:sdt_x/step /x:0x30\n"

TEST("definitions are read with their lines, and written as they were")
{
	struct cached_probes probes = { 0 };
	CLEANUP_STR struct str text = { 0 };
	cached_probes_read(&probes, "p:no/definition /x:0x1\n" STORED);
	EXPECT_INT(probes.list.count, 2);
	EXPECT_STR(probes.list.items[0].definition, "simple a b");
	EXPECT(!probes.list.items[0].is_static && probes.list.items[1].is_static);
	EXPECT_INT(probes.list.items[0].lines.count, 2);
	EXPECT_STR(probes.list.items[1].lines.items[0], "p:sdt_x/step /x:0x30");
	cached_probes_text(&probes, &text);
	EXPECT_STR(str_text(&text), STORED);
	cached_probes_fini(&probes);
}

TEST("a definition that exists is replaced, and one that is removed leaves the others")
{
	struct cached_probes probes = { 0 };
	CLEANUP_STR struct str text = { 0 };
	cached_probes_read(&probes, STORED);
	cached_probes_add_line(&probes, cached_probes_set(&probes, "simple a b", false), "p:probe_x/simple /x:0x40");
	cached_probes_add_line(&probes, cached_probes_set(&probes, "simple", false), "p:probe_x/simple /x:0x50");
	EXPECT_INT(probes.list.count, 3);
	cached_probes_remove(&probes, 1);
	cached_probes_text(&probes, &text);
	EXPECT_STR(str_text(&text), "#simple a b\np:probe_x/simple /x:0x40\n#simple\np:probe_x/simple /x:0x50\n");
	cached_probes_fini(&probes);
}

TEST("a definition is listed by its event's name if it has a group, otherwise by its text")
{
	static const char *const cases[][2] = { { "g:e=f a", "g:e" }, { "e=f a", "e=f a" }, { "f a=b:u8", "f a=b:u8" }, { "f:3 x", "f:3 x" } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CLEANUP_STR struct str name = { 0 };
		cached_probe_name(&(struct cached_probe){ .definition = cases[i][0] }, &name);
		EXPECT_STR(str_text(&name), cases[i][1]);
	}
}
