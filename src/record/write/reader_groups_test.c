#include "record/write/ring_readers.h"

#include "os/test_planted.h"

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

#define CPU "/sys/devices/system/cpu"
#define NODE "/sys/devices/system/node"

static void answer_groups(struct str *out)
{
	static const char *const words[] = { "cpu", "core", "package", "numa" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct reader_groups groups = { 0 };
		str_printf(out, "%s %d:", words[i], reader_groups_parse(&groups, words[i], NULL));
		for (size_t k = 0; k < groups.list.count; k++) {
			str_putc(out, ' ');
			cpus_text(&groups.list.items[k].rings, out);
			str_putc(out, '/');
			cpus_text(&groups.list.items[k].affinity, out);
		}
		str_putc(out, '\n');
		reader_groups_fini(&groups);
	}
}

TEST("words give a reader for each core, package and node with CPUs, or for each CPU where the machine does not know them")
{
	static const struct planted files[] = {
		{ NODE, NULL }, { NODE "/node0/cpulist", "0-1,6\n" }, { NODE "/node1/cpulist", "\n" }, { NODE "/node2/cpulist", "2-5\n" },
		{ CPU, NULL }, { CPU "/present", "0-2\n" }, { CPU "/online", "0,2\n" },
		{ CPU "/cpu0/topology/core_cpus_list", "0,2\n" }, { CPU "/cpu1/topology/core_cpus_list", "1\n" },
		{ CPU "/cpu2/topology/core_cpus_list", "0,2\n" },
	};
	expect_answer(files, sizeof files / sizeof *files, false, answer_groups, "cpu 0: 0/0 2/2\ncore 0: 0,2/0,2 1/1\npackage 0: 0/0 2/2\n"
		"numa 0: 0-1,6/0-1,6 2-5/2-5\n");
}
