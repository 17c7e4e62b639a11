#include "analysis/sched/wait_reason.h"

#include "unit.h"

static const char *reason(const char *first, const char *second)
{
	const char *const chain[] = { "schedule", first, second, "do_syscall_64" };
	return wait_reason_title(wait_reason_of_functions(chain, 4));
}

TEST("the functions of the kernel give the reason of a wait")
{
	EXPECT_STR(reason("do_nanosleep", "hrtimer_nanosleep"), "timer");
	EXPECT_STR(reason("futex_do_wait", "do_futex"), "futex");
	EXPECT_STR(reason("rwsem_down_write_slowpath", "shmem_file_write_iter"), "lock");
	EXPECT_STR(reason("anon_pipe_read", "vfs_read"), "pipe");
	EXPECT_STR(reason("schedule_hrtimeout_range", "ep_poll"), "poll");
	EXPECT_STR(reason("unix_stream_data_wait", "unix_stream_read_generic"), "network");
	EXPECT_STR(reason("do_wait", "kernel_wait4"), "child");
	EXPECT_STR(reason("one", NULL), "unknown");
}

TEST("a cause precedes what it waits with: a page fault, a lock and a futex precede the disk and the timer")
{
	EXPECT_STR(reason("io_schedule", "handle_mm_fault"), "page fault");
	EXPECT_STR(reason("io_schedule", "filemap_read"), "I/O");
	EXPECT_STR(reason("schedule_timeout_interruptible", "__mutex_lock"), "lock");
	EXPECT_STR(reason("hrtimer_nanosleep", "futex_wait"), "futex");
}

TEST("each state has its reason, and each reason two names")
{
	static const char letters[] = "RSDTtXZPI?";
	static const char *const names[] = { "preempted", "sleep", "uninterruptible", "stopped", "traced", "dead", "dead", "parked", "idle", "" };
	for (size_t i = 0; letters[i]; i++)
		EXPECT_STR(wait_reason_name(wait_reason_of(letters[i])), names[i]);
	EXPECT_STR(wait_reason_name(WAIT_IO), "io");
	EXPECT_STR(wait_reason_title(WAIT_IO), "I/O");
	EXPECT_STR(wait_reason_title(WAIT_FUTEX), "futex");
	EXPECT_STR(wait_reason_title(WAIT_REASONS), "unknown");
}

TEST("suffixes of the compiler do not matter, and unknown names give no reason")
{
	static const char *const suffixed[] = { NULL, "__mutex_lock.constprop.0" }, *const other[] = { "schedule", "main" };
	EXPECT_INT(wait_reason_of_functions(suffixed, 2), WAIT_LOCK);
	EXPECT_INT(wait_reason_of_functions(suffixed, 1), WAIT_UNKNOWN);
	EXPECT_INT(wait_reason_of_functions(other, 2), WAIT_UNKNOWN);
}
