#include "analysis/blocking/kernel_part.h"

#include "unit.h"

#define FUNCTIONS(...) ((const char *const[]){ __VA_ARGS__ })
#define PART(call, ...) kernel_part_of(FUNCTIONS(__VA_ARGS__), sizeof FUNCTIONS(__VA_ARGS__) / sizeof(char *), call)

TEST("the functions on a stack show whether the kernel waits, wakes, or works")
{
	const char *call;
	EXPECT_INT(PART(&call, "finish_task_switch.isra.0", "__schedule", "schedule", "anon_pipe_read", "vfs_read", "ksys_read", "do_syscall_64"),
		KERNEL_WAIT);
	EXPECT_STR(call, "read");
	EXPECT_INT(PART(&call, "_raw_spin_unlock_irqrestore", "__wake_up_sync_key", "anon_pipe_write", "__x64_sys_write"), KERNEL_WAKE);
	EXPECT_STR(call, "write");
	EXPECT_INT(PART(&call, "_raw_spin_unlock_irqrestore", "sock_def_readable", "tcp_rcv_established", "__x64_sys_write"), KERNEL_WAKE);
	EXPECT_INT(PART(&call, "_raw_spin_unlock_irqrestore", "get_random_u32", "__x64_sys_write"), KERNEL_CALL);
	EXPECT_INT(PART(&call, NULL, "tcp_sendmsg", "__x64_sys_sendto", "do_syscall_64"), KERNEL_CALL);
	EXPECT_STR(call, "sendto");
	EXPECT_INT(PART(&call, "do_syscall_64", "entry_SYSCALL_64_after_hwframe"), KERNEL_ENTRY);
	EXPECT(!call);
	EXPECT_INT(PART(&call, "asm_sysvec_apic_timer_interrupt"), KERNEL_ELSE);
}

TEST("a thread that an interrupt preempts does not wait, one that has woken another one gives the CPU away")
{
	const char *call;
	EXPECT_INT(PART(&call, "finish_task_switch.isra.0", "__schedule", "schedule", "irqentry_exit_to_user_mode", "asm_sysvec_apic_timer"),
		KERNEL_ELSE);
	EXPECT_INT(PART(&call, "__schedule", "preempt_schedule_irq", "vfs_read", "__x64_sys_read"), KERNEL_ELSE);
	EXPECT_INT(PART(&call, "finish_task_switch.isra.0", "__schedule", "schedule", "exit_to_user_mode_loop", "do_syscall_64"), KERNEL_WAIT);
}

TEST("functions of the C library that only call the kernel are known by any of their names")
{
	EXPECT_STR(system_call_of_stub("read"), "read");
	EXPECT_STR(system_call_of_stub("__GI___libc_write"), "write");
	EXPECT_STR(system_call_of_stub("epoll_wait@@GLIBC_2.3.2"), "epoll_wait");
	EXPECT_STR(system_call_of_stub("__GI___pthread_disable_asynccancel"), "");
	EXPECT(!system_call_of_stub("reader") && !system_call_of_stub("rea") && !system_call_of_stub("memcpy"));
}
