#include "analysis/sched/wait_reason.h"

#include <string.h>

enum wait_reason wait_reason_of(char letter)
{
	switch (letter) {
	case 'R': return WAIT_PREEMPTED;
	case 'S': return WAIT_SLEEP;
	case 'D': return WAIT_DISK;
	case 'T': return WAIT_STOPPED;
	case 't': return WAIT_TRACED;
	case 'X': case 'x': case 'Z': return WAIT_DEAD;
	case 'P': return WAIT_PARKED;
	case 'I': return WAIT_IDLE;
	default: return WAIT_UNKNOWN;
	}
}

static const struct {
	const char *name, *title; /* title NULL: the name */
} reasons[WAIT_REASONS] = {
	[WAIT_UNKNOWN] = { "", "unknown" }, [WAIT_PREEMPTED] = { "preempted" }, [WAIT_SLEEP] = { "sleep" },
	[WAIT_DISK] = { "uninterruptible" }, [WAIT_STOPPED] = { "stopped" }, [WAIT_TRACED] = { "traced" }, [WAIT_DEAD] = { "dead" },
	[WAIT_PARKED] = { "parked" }, [WAIT_IDLE] = { "idle" }, [WAIT_IO] = { "io", "I/O" }, [WAIT_LOCK] = { "lock" },
	[WAIT_FUTEX] = { "futex" }, [WAIT_FAULT] = { "fault", "page fault" }, [WAIT_TIMER] = { "timer" }, [WAIT_POLL] = { "poll" },
	[WAIT_PIPE] = { "pipe" }, [WAIT_SOCKET] = { "socket", "network" }, [WAIT_CHILD] = { "child" },
};

const char *wait_reason_name(enum wait_reason reason)
{
	return reason < WAIT_REASONS ? reasons[reason].name : "";
}

const char *wait_reason_title(enum wait_reason reason)
{
	if (reason >= WAIT_REASONS)
		reason = WAIT_UNKNOWN;
	return reasons[reason].title ? reasons[reason].title : reasons[reason].name;
}

/* Beginnings of names, of Linux 4.19 to 6.18; suffixes of the compiler (".isra.0") follow. A row above is the reason if both are in the
 * chain: a page fault that waits for a disk. */
static const struct {
	const char *prefix;
	enum wait_reason reason;
} rows[] = {
	{ "handle_mm_fault", WAIT_FAULT }, { "do_user_addr_fault", WAIT_FAULT }, { "exc_page_fault", WAIT_FAULT },
	{ "do_page_fault", WAIT_FAULT }, { "handle_userfault", WAIT_FAULT },
	{ "futex_", WAIT_FUTEX }, { "__futex_", WAIT_FUTEX }, { "do_futex", WAIT_FUTEX },
	{ "__mutex_lock", WAIT_LOCK }, { "mutex_lock", WAIT_LOCK }, { "rwsem_down_", WAIT_LOCK }, { "down_", WAIT_LOCK },
	{ "__down", WAIT_LOCK }, { "percpu_rwsem_wait", WAIT_LOCK }, { "rt_mutex_", WAIT_LOCK }, { "__rt_mutex", WAIT_LOCK },
	{ "fcntl_setlk", WAIT_LOCK }, { "locks_lock_inode_wait", WAIT_LOCK },
	{ "io_schedule", WAIT_IO }, { "blk_", WAIT_IO }, { "submit_bio_wait", WAIT_IO }, { "folio_wait_", WAIT_IO },
	{ "wait_on_page_", WAIT_IO }, { "jbd2_", WAIT_IO }, { "__wait_on_buffer", WAIT_IO }, { "wait_on_buffer", WAIT_IO },
	{ "io_cqring_wait", WAIT_IO }, { "read_events", WAIT_IO },
	{ "ep_poll", WAIT_POLL }, { "do_epoll_wait", WAIT_POLL }, { "do_poll", WAIT_POLL }, { "do_sys_poll", WAIT_POLL },
	{ "do_select", WAIT_POLL }, { "poll_schedule_timeout", WAIT_POLL },
	{ "do_nanosleep", WAIT_TIMER }, { "hrtimer_nanosleep", WAIT_TIMER }, { "common_nsleep", WAIT_TIMER }, { "msleep", WAIT_TIMER },
	{ "usleep_range", WAIT_TIMER }, { "schedule_timeout_", WAIT_TIMER }, { "do_sigtimedwait", WAIT_TIMER }, { "timerfd_read", WAIT_TIMER },
	{ "pipe_", WAIT_PIPE }, { "anon_pipe_", WAIT_PIPE }, { "fifo_", WAIT_PIPE },
	{ "do_wait", WAIT_CHILD }, { "kernel_wait4", WAIT_CHILD }, { "kernel_clone", WAIT_CHILD },
	{ "sk_wait_data", WAIT_SOCKET }, { "unix_", WAIT_SOCKET }, { "__skb_wait_for_more_packets", WAIT_SOCKET },
	{ "__skb_recv", WAIT_SOCKET }, { "tcp_", WAIT_SOCKET }, { "sock_", WAIT_SOCKET }, { "inet_", WAIT_SOCKET },
};

enum wait_reason wait_reason_of_functions(const char *const *names, size_t count)
{
	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
		for (size_t i = 0; i < count; i++)
			if (names[i] && strncmp(names[i], rows[row].prefix, strlen(rows[row].prefix)) == 0)
				return rows[row].reason;
	return WAIT_UNKNOWN;
}
