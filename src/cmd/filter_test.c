#include "cmd/filter.h"

#include <stdlib.h>

#include "unit.h"

TEST("lists of names and numbers are opened where they are given, and addresses among symbols are numbers")
{
	struct sample_filter filter = { 0 };
	struct error err = { 0 };
	EXPECT_INT(filter_open_lists(&filter, &(struct filter_options){ 0 }, &err), 0);
	EXPECT(!filter.comms && !filter.dsos && !filter.symbols && !filter.pids && !filter.tids);
	struct filter_options options = { .comms = "a,b", .symbols = "main,0x10", .pids = "7", .tids = "8" };
	EXPECT_INT(filter_open_lists(&filter, &options, &err), 0);
	EXPECT(name_list_has(filter.comms, "b") && !name_list_has(filter.comms, "c") && !filter.dsos);
	EXPECT(name_list_has(filter.symbols, "main") && !name_list_has(filter.symbols, "0x10") && number_list_has(filter.symbols, 16));
	EXPECT(number_list_has(filter.pids, 7) && !number_list_has(filter.pids, 8) && number_list_has(filter.tids, 8));
	sample_filter_fini(&filter);
}

TEST("an invalid list of numbers is refused")
{
	struct sample_filter filter = { 0 };
	struct error err = { 0 };
	EXPECT(filter_open_lists(&filter, &(struct filter_options){ .tids = "x" }, &err) < 0);
	EXPECT(err.kind == ERROR_USAGE);
	sample_filter_fini(&filter);
}

static int open_cpus(struct sample_filter *filter, const char *cpus, uint32_t available, int32_t *refused)
{
	struct error err = { 0 };
	return filter_open_cpus(filter, &(struct filter_options){ .cpus = cpus }, available, refused, &err);
}

TEST("CPUs below the number of available ones pass, and the first other one is refused")
{
	struct sample_filter filter = { 0 };
	int32_t refused = -1;
	EXPECT_INT(open_cpus(&filter, "0,2-3", 4, &refused), 0);
	EXPECT(cpu_filter_has(&filter.cpus, 0) && !cpu_filter_has(&filter.cpus, 1) && cpu_filter_has(&filter.cpus, 3));
	EXPECT(!cpu_filter_has(&filter.cpus, 4));
	EXPECT_INT(refused, -1);
	sample_filter_fini(&filter);
	filter = (struct sample_filter){ 0 };
	EXPECT_INT(open_cpus(&filter, "3-6", 4, &refused), 1);
	EXPECT_INT(refused, 4);
	sample_filter_fini(&filter);
	filter = (struct sample_filter){ 0 };
	EXPECT_INT(open_cpus(&filter, "a", 4, &refused), -1);
	sample_filter_fini(&filter);
}

TEST("CPUs are known if the first event of each type records them")
{
	struct evlist evlist = { 0 };
	struct attr with = { .type = ATTR_SOFTWARE, .sample_type = SAMPLE_CPU }, without = { .type = ATTR_SOFTWARE };
	EXPECT(filter_cpus_known(&evlist));
	evlist_add(&evlist, &with, NULL, 0, NULL);
	evlist_add(&evlist, &without, NULL, 0, NULL);
	EXPECT(filter_cpus_known(&evlist));
	without.type = ATTR_BREAKPOINT + 1;
	evlist_add(&evlist, &without, NULL, 0, NULL);
	EXPECT(filter_cpus_known(&evlist));
	without.type = ATTR_BREAKPOINT;
	evlist_add(&evlist, &without, NULL, 0, NULL);
	EXPECT(!filter_cpus_known(&evlist));
	evlist_fini(&evlist);
}
