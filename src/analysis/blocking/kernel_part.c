#include "analysis/blocking/kernel_part.h"

#include <stdbool.h>
#include <string.h>

struct prefix {
	const char *text;
	enum kernel_work part;
};

/* Beginnings of names of functions, of Linux 5.10 to 6.18. The first row that is on the stack decides. An interrupt that takes the CPU
 * away is no wait; a system call that ends with a switch is one: it has woken another thread. */
static const struct prefix prefixes[] = {
	{ "irqentry_exit", KERNEL_ELSE }, { "asm_sysvec_", KERNEL_ELSE }, { "asm_common_interrupt", KERNEL_ELSE },
	{ "preempt_schedule_irq", KERNEL_ELSE }, { "el0_interrupt", KERNEL_ELSE }, { "el1_interrupt", KERNEL_ELSE },
	{ "exc_page_fault", KERNEL_ELSE }, { "asm_exc_", KERNEL_ELSE }, { "do_page_fault", KERNEL_ELSE },
	{ "__wake_up", KERNEL_WAKE }, { "wake_up_", KERNEL_WAKE }, { "try_to_wake_up", KERNEL_WAKE }, { "default_wake_function", KERNEL_WAKE },
	{ "futex_wake", KERNEL_WAKE }, { "ttwu_", KERNEL_WAKE }, { "complete", KERNEL_WAKE }, { "ep_poll_callback", KERNEL_WAKE },
	{ "schedule", KERNEL_WAIT }, { "__schedule", KERNEL_WAIT }, { "finish_task_switch", KERNEL_WAIT }, { "prepare_to_wait", KERNEL_WAIT },
	{ "finish_wait", KERNEL_WAIT }, { "futex_wait", KERNEL_WAIT }, { "do_nanosleep", KERNEL_WAIT }, { "hrtimer_start", KERNEL_WAIT },
	{ "do_sched_yield", KERNEL_WAIT }, { "wait_woken", KERNEL_WAIT }, { "__switch_to", KERNEL_WAIT }, { "ret_from_fork", KERNEL_ELSE },
};

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char *call_of(const char *function)
{
	static const char *const entries[] = { "__x64_sys_", "__se_sys_", "__ia32_sys_", "__arm64_sys_", "__s390x_sys_", "ksys_", "__sys_" };
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
		if (begins(function, entries[i]))
			return function + strlen(entries[i]);
	}
	return NULL;
}

static bool is_entry(const char *function)
{
	return begins(function, "entry_SYSCALL") || begins(function, "do_syscall") || begins(function, "syscall_") ||
		begins(function, "x64_sys_call") || begins(function, "el0_svc") || begins(function, "invoke_syscall");
}

/* A wake-up disables interrupts: a timer's sample is where they are enabled again. The functions between are left by tail calls. */
static bool is_end_of_wake_up(const char *const *functions, size_t count)
{
	static const char *const wakers[] = { "sock_def_", "anon_pipe_", "pipe_", "eventfd_", "unix_", "ep_", "io_", "tcp_", "sk_", "futex_",
		"timerfd_" };
	if (count < 2 || !functions[0] || !functions[1] || !begins(functions[0], "_raw_spin_unlock_irq"))
		return false;
	for (size_t i = 0; i < sizeof wakers / sizeof *wakers; i++)
		if (begins(functions[1], wakers[i]))
			return true;
	return false;
}

enum kernel_work kernel_part_of(const char *const *functions, size_t count, const char **call)
{
	bool entry = false;
	*call = NULL;
	for (size_t i = count; i-- > 0 && !*call;) {
		entry |= functions[i] && is_entry(functions[i]);
		*call = functions[i] ? call_of(functions[i]) : NULL;
	}
	if (is_end_of_wake_up(functions, count))
		return KERNEL_WAKE;
	for (size_t row = 0; row < sizeof prefixes / sizeof *prefixes; row++) {
		for (size_t i = 0; i < count; i++)
			if (functions[i] && begins(functions[i], prefixes[row].text))
				return prefixes[row].part;
	}
	return *call ? KERNEL_CALL : entry ? KERNEL_ENTRY : KERNEL_ELSE;
}

const char *system_call_of_stub(const char *function)
{
	static const char *const calls[] = { "read", "write", "recv", "recvfrom", "recvmsg", "send", "sendto", "sendmsg", "poll", "ppoll",
		"select", "epoll_wait", "epoll_pwait", "sched_yield", "nanosleep", "clock_nanosleep", "futex", "accept", "accept4",
		"eventfd_read", "eventfd_write" };
	static const char *const others[] = { "syscall", "pthread_enable_asynccancel", "pthread_disable_asynccancel", "syscall_cancel",
		"syscall_cancel_arch", "internal_syscall_cancel", "lll_lock_wait", "lll_lock_wake", "futex_abstimed_wait_common",
		"futex_wait_simple" };
	static const char *const before[] = { "__GI___libc_", "__GI___", "__GI_", "__libc_", "___", "__", "_" };
	for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
		if (begins(function, before[i])) {
			function += strlen(before[i]);
			break;
		}
	}
	size_t len = strcspn(function, "@.");
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strlen(calls[i]) == len && strncmp(function, calls[i], len) == 0)
			return calls[i];
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strlen(others[i]) == len && strncmp(function, others[i], len) == 0)
			return "";
	return NULL;
}
