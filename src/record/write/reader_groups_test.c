#include "record/write/ring_readers.h"

#include "unit.h"

TEST("by default, there is one reader for each CPU")
{
	struct reader_groups groups = { 0 };
	struct cpus online = { 0 };
	EXPECT(cpus_online(&online, NULL) == 0);
	EXPECT_INT(reader_groups_parse(&groups, NULL, NULL), 0);
	EXPECT_INT(groups.list.count, online.list.count);
	for (size_t i = 0; i < groups.list.count; i++)
		EXPECT(cpus_has(&groups.list.items[i].rings, online.list.items[i]) && cpus_has(&groups.list.items[i].affinity, online.list.items[i]));
	reader_groups_fini(&groups);
	cpus_fini(&online);
}

TEST("masks give the CPUs whose rings a reader reads, and those on which it runs")
{
	struct reader_groups groups = { 0 };
	EXPECT_INT(reader_groups_parse(&groups, "0-3/0:4,6/1", NULL), 0);
	EXPECT_INT(groups.list.count, 2);
	EXPECT(cpus_has(&groups.list.items[0].rings, 3) && !cpus_has(&groups.list.items[0].affinity, 3));
	EXPECT(cpus_has(&groups.list.items[1].rings, 6) && !cpus_has(&groups.list.items[1].rings, 5));
	EXPECT(cpus_has(&groups.list.items[1].affinity, 1));
	reader_groups_fini(&groups);
}

TEST("invalid words and masks are refused")
{
	static const char *const wrong[] = { "bad", "0-3", "/1", "0/", "0/1:", "x/y", "0/1:2" };
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct reader_groups groups = { 0 };
		struct error err;
		bool refused = reader_groups_parse(&groups, wrong[i], &err) < 0;
		EXPECT(refused == (strcmp(wrong[i], "0/1:") != 0)); /* a colon at the end is ignored */
		reader_groups_fini(&groups);
	}
}
