#include "cmd/bench/switch_counters.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "unit.h"

enum { PAGES = 64, PAGE = 4096 };

static void *touch(__attribute__((unused)) void *unused)
{
	volatile char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		pages[i * PAGE] = 1;
	munmap((void *)pages, PAGES * PAGE);
	return NULL;
}

TEST("counters have the events of this thread and of those that are made meanwhile, and what cannot be counted is unknown")
{
	enum { SOFTWARE = 1, TASK_CLOCK = 1, PAGE_FAULTS = 2, UNKNOWN = 999 };
	static const struct switch_event events[SWITCH_COUNTERS] = {
		{ SOFTWARE, PAGE_FAULTS }, { SOFTWARE, TASK_CLOCK }, { SOFTWARE, UNKNOWN }, { SOFTWARE, PAGE_FAULTS } };
	struct switch_counters counters = { .events = events };
	pthread_t thread;
	touch(NULL);
	switch_counters_begin(&counters);
	if (counters.fds[0] < 0)
		return; /* this user may not count events of the kernel */
	touch(NULL);
	EXPECT_INT(pthread_create(&thread, NULL, touch, NULL), 0);
	pthread_join(thread, NULL);
	switch_counters_end(&counters);
	EXPECT(counters.counts[0].known);
	EXPECT(counters.counts[0].value >= 2 * PAGES && counters.counts[0].value < 3 * PAGES);
	EXPECT(counters.counts[1].known && counters.counts[1].value > 0);
	EXPECT(!counters.counts[2].known);
}
