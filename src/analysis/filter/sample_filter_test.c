#include "analysis/filter/sample_filter.h"

#include "unit.h"

TEST("a CPU filter holds the numbers that were added, up to the last one of its range, and nothing beyond")
{
	struct sample_filter filter = { 0 };
	EXPECT(cpu_filter_has(&filter.cpus, 0));
	EXPECT(cpu_filter_has(&filter.cpus, UINT32_MAX));
	cpu_filter_init(&filter.cpus, 65);
	EXPECT(!cpu_filter_has(&filter.cpus, 0));
	cpu_filter_add(&filter.cpus, 63);
	cpu_filter_add(&filter.cpus, 64);
	EXPECT(cpu_filter_has(&filter.cpus, 63));
	EXPECT(cpu_filter_has(&filter.cpus, 64));
	EXPECT(!cpu_filter_has(&filter.cpus, 62));
	EXPECT(!cpu_filter_has(&filter.cpus, 65));
	EXPECT(!cpu_filter_has(&filter.cpus, 128));
	EXPECT(!cpu_filter_has(&filter.cpus, UINT32_MAX));
	sample_filter_fini(&filter);
}
