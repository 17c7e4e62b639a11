/* Why a task waits: by the state in which it leaves the CPU, and by the functions of the kernel that are on its stack then. Shared by the
 * analyses of `sched`, by `offcpu` and by `record --off-cpu`. */
#pragma once
#include <stddef.h>

/* The letter of sched_switch gives the first ones, the kernel's functions the others. */
enum wait_reason {
	WAIT_UNKNOWN,
	WAIT_PREEMPTED,    /* R */
	WAIT_SLEEP,        /* S */
	WAIT_DISK,         /* D: uninterruptible, whatever the cause */
	WAIT_STOPPED,      /* T */
	WAIT_TRACED,       /* t */
	WAIT_DEAD,         /* X, Z */
	WAIT_PARKED,       /* P */
	WAIT_IDLE,         /* I: an idle kernel thread */
	WAIT_IO,
	WAIT_LOCK,         /* of the kernel */
	WAIT_FUTEX,
	WAIT_FAULT,        /* a page */
	WAIT_TIMER,
	WAIT_POLL,         /* poll, select, epoll */
	WAIT_PIPE,
	WAIT_SOCKET,
	WAIT_CHILD,
	WAIT_REASONS
};

enum wait_reason wait_reason_of(char letter);
/* As `sched` calls it: "lock", "io", "fault" …; "" for WAIT_UNKNOWN. */
const char *wait_reason_name(enum wait_reason reason);
/* As `offcpu` calls it: "lock", "I/O", "page fault" …; "unknown" for WAIT_UNKNOWN. */
const char *wait_reason_title(enum wait_reason reason);
/* The reason that functions of the kernel give; names: of its frames, in any order; NULL: unknown. WAIT_UNKNOWN: they give none. */
enum wait_reason wait_reason_of_functions(const char *const *names, size_t count);
