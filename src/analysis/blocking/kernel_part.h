/* What the kernel does for a thread, by the functions on the stack: it waits, wakes another thread, or does something else. Pure. */
#pragma once
#include <stddef.h>

enum kernel_work {
	KERNEL_WAIT,        /* gives the CPU away because it cannot go on, or gets it back */
	KERNEL_WAKE,        /* makes another thread runnable */
	KERNEL_CALL,        /* another part of a system call */
	KERNEL_ENTRY,       /* on the way into a system call or back */
	KERNEL_ELSE,        /* interrupts, page faults, preemption */
};

/* functions: names of the kernel's frames, innermost first; NULL: unknown. *call: the name of the system call ("read"), NULL: unknown. */
enum kernel_work kernel_part_of(const char *const *functions, size_t count, const char **call);
/* Of a function of the C library that does nothing but a system call, so that its time is that of the way into the kernel: the call's name,
 * "" if it makes several ones. NULL: it does more. */
const char *system_call_of_stub(const char *function);
