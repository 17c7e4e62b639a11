#include "os/counter.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/file.h"
#include "os/test_child.h"
#include "unit.h"

/* Counts faults of this thread: a page that is touched for the first time is one. */
static struct attr faults_attr(void)
{
	return (struct attr){ .type = ATTR_SOFTWARE, .size = ATTR_SIZE_VER5, .config = 2, .flags = 1u << ATTR_DISABLED | 1u << ATTR_EXCLUDE_KERNEL,
		.read_format = READ_TOTAL_TIME_ENABLED };
}

static void touch(unsigned pages)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *bytes = mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)(uintptr_t)bytes, pages * size, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < pages; i++)
		bytes[i * size] = 1;
	munmap((void *)(uintptr_t)bytes, pages * size);
}

static uint64_t count_of(int fd)
{
	uint64_t values[2] = { 0 };
	EXPECT_INT(counter_read(fd, values, sizeof values), sizeof values);
	return values[0];
}

static bool opens(int *fd, int group)
{
	struct attr attr = faults_attr();
	if (group >= 0)
		attr.flags &= ~(uint64_t)(1u << ATTR_DISABLED);
	*fd = counter_open(&attr, 0, -1, group, 0);
	if (*fd < 0)
		unit_skip("this user may not count software events, or the emulator has none; native builds run it");
	return *fd >= 0;
}

TEST("a counter counts between enable and disable, and from 0 after a reset")
{
	enum { PAGES = 64 };
	int fd;
	uint64_t id = 0;
	if (!opens(&fd, -1))
		return;
	touch(PAGES);
	EXPECT_INT(count_of(fd), 0);
	EXPECT_INT(counter_enable(fd), 0);
	touch(PAGES);
	EXPECT_INT(counter_disable(fd), 0);
	uint64_t counted = count_of(fd);
	EXPECT(counted >= PAGES && counted < 2 * PAGES);
	touch(PAGES);
	EXPECT_INT(count_of(fd), counted);
	EXPECT_INT(counter_reset(fd), 0);
	EXPECT_INT(count_of(fd), 0);
	EXPECT_INT(counter_id(fd, &id), 0);
	EXPECT(id > 0);
	counter_close(fd);
	EXPECT_INT(counter_read(fd, &id, sizeof id), -EBADF);
	EXPECT_INT(counter_enable(fd), -EBADF);
}

TEST("a group is enabled and disabled as one; a member alone does not enable its leader")
{
	enum { PAGES = 64 };
	int leader, member;
	if (!opens(&leader, -1))
		return;
	if (opens(&member, leader)) {
		EXPECT_INT(counter_enable(member), 0);
		touch(PAGES);
		EXPECT(count_of(leader) == 0 && count_of(member) == 0);
		EXPECT_INT(counter_enable_group(leader), 0);
		touch(PAGES);
		EXPECT_INT(counter_disable_group(leader), 0);
		uint64_t first = count_of(leader), second = count_of(member);
		EXPECT(first >= PAGES && second >= PAGES);
		touch(PAGES);
		EXPECT(count_of(leader) == first && count_of(member) == second);
		EXPECT_INT(counter_enable(leader), 0); /* of the group's members this one alone was disabled with it */
		touch(PAGES);
		EXPECT_INT(counter_disable(leader), 0);
		EXPECT(count_of(leader) >= first + PAGES);
		EXPECT_INT(count_of(member), second);
		counter_close(member);
	}
	counter_close(leader);
}

TEST("a filter, a program and an output that do not fit are refused with the kernel's error")
{
	int fd;
	if (!opens(&fd, -1))
		return;
	EXPECT_INT(counter_set_filter(fd, "a == 1"), -EINVAL);
	EXPECT(counter_set_bpf(fd, -1) < 0);
	EXPECT(counter_set_output(fd, fd) == -EINVAL);
	EXPECT(counter_pause_output(fd, true) < 0); /* it has no ring */
	EXPECT_INT(counter_refresh(fd, 1), -EINVAL); /* it does not sample */
	counter_close(fd);
	counter_close(-1);
}

TEST("an event that the kernel does not know is refused, and the limit of the frequency is the kernel's")
{
	struct attr attr = faults_attr();
	int64_t rate = 0;
	attr.type = 0x7fffffff;
	EXPECT(counter_open(&attr, 0, -1, -1, 0) < 0);
	attr = faults_attr();
	EXPECT(counter_open(&attr, -1, -1, -1, 0) < 0); /* no process and no CPU */
	EXPECT(counter_open(&attr, 0, -1, -1, COUNTER_PID_CGROUP) < 0); /* a cgroup needs a CPU */
	if (file_number("/proc/sys/kernel/perf_event_max_sample_rate", &rate))
		EXPECT_INT(counter_max_rate(), rate);
	else
		EXPECT_INT(counter_max_rate(), 0);
}
