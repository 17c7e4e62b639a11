#include "bpf/shared_counts.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/test_mounts.h"

enum { PAGES = 500, PAGE_FAULTS = 2, PAGE = 4096 };

static void touch_pages(void)
{
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)pages)[i * PAGE] = 1;
	munmap(pages, PAGES * PAGE);
}

static void touch_in_child(void)
{
	pid_t child = fork();
	if (child == 0) {
		touch_pages();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static const struct attr faults = { .type = ATTR_SOFTWARE, .config = PAGE_FAULTS, .read_format = READ_TOTAL_TIME_ENABLED };

/* Counts the page faults of this thread. Returns 0, OWN_MOUNTS_SKIP or 1. */
static int begin(struct shared_counts *counts, bool follow)
{
	struct error err = { 0 };
	const struct shared_counts_event events[] = { { &faults, NULL, -1 } };
	const uint32_t self = (uint32_t)getpid();
	const struct shared_counts_options options = { .registry = COUNTER_REGISTRY_PATH, .events = events, .event_count = 1, .threads = &self,
		.thread_count = 1, .follow = follow };
	if (shared_counts_open(counts, &options, &err) == 0 && shared_counts_start(counts, &err) == 0)
		return 0;
	fprintf(stderr, "%s\n", err.text);
	shared_counts_close(counts);
	return err.kind == ERROR_PERMISSION || err.kind == ERROR_UNSUPPORTED || err.sys == ENOSYS ? OWN_MOUNTS_SKIP : 1;
}

static uint64_t value(struct shared_counts *counts)
{
	shared_counts_read(counts);
	return shared_counts_get(counts, 0, 0, -1).value;
}

static bool within(uint64_t count, uint64_t least)
{
	if (count < least || count > least + PAGES / 2)
		fprintf(stderr, "%llu, not about %llu\n", (unsigned long long)count, (unsigned long long)least);
	return count >= least && count <= least + PAGES / 2;
}

static int count(void)
{
	struct shared_counts with, without;
	int status = begin(&with, true);
	if (status)
		return status;
	if (begin(&without, false))
		return 1;
	touch_pages(); /* before the start */
	shared_counts_switch(&with, UINT32_MAX, true);
	shared_counts_switch(&without, UINT32_MAX, true);
	touch_pages();
	touch_in_child();
	bool good = within(value(&with), 2 * PAGES) && within(value(&without), PAGES);
	shared_counts_switch(&with, 0, false);
	touch_pages(); /* after the stop */
	good &= within(value(&with), 2 * PAGES) && within(value(&without), 2 * PAGES);
	struct shared_sum sum = shared_counts_get(&with, 0, 0, -1);
	good &= sum.enabled > 0 && sum.running == sum.enabled && !shared_counts_lost(&with, SHARED_LOST_THREAD);
	shared_counts_close(&with);
	shared_counts_close(&without);
	return !good;
}

TEST("two that share a counter count what their threads do between start and stop, with or without the children")
{
	test_in_own_mounts(count);
}

static int fail(void)
{
	enum { MANY = SHARED_READINGS + 2 };
	struct error err = { 0 };
	struct attr attrs[MANY];
	struct shared_counts_event events[MANY];
	struct shared_counts counts;
	for (size_t i = 0; i < MANY; i++) {
		attrs[i] = (struct attr){ .type = ATTR_SOFTWARE, .config = i ? PAGE_FAULTS : 999, .config1 = i };
		events[i] = (struct shared_counts_event){ &attrs[i], NULL, -1 };
	}
	const struct shared_counts_options options = { .registry = COUNTER_REGISTRY_PATH, .events = events, .event_count = MANY };
	if (shared_counts_open(&counts, &options, &err) < 0)
		return err.kind == ERROR_PERMISSION || err.kind == ERROR_UNSUPPORTED || err.sys == ENOSYS ? OWN_MOUNTS_SKIP : 1;
	const int *states = counts.states.items;
	bool good = (states[0] == -ENOENT || states[0] == -EINVAL) && states[1] == 0 && states[SHARED_READINGS] == 0 && states[MANY - 1] == -E2BIG;
	shared_counts_close(&counts);
	return !good;
}

TEST("an event that the kernel lacks is a state, and so is a different event for which there is no room")
{
	test_in_own_mounts(fail);
}
