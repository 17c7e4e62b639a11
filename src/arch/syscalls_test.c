#include "arch/syscalls.h"

#include "unit.h"

TEST("names and numbers agree, below, behind and between holes")
{
	static const struct {
		enum syscalls table;
		int number;
		const char *name;
	} rows[] = {
		{ SYSCALLS_X86_64, 0, "read" }, { SYSCALLS_X86_64, 257, "openat" }, { SYSCALLS_X86_64, 334, "rseq" },
		{ SYSCALLS_X86_64, 424, "pidfd_send_signal" }, { SYSCALLS_X86_64, 462, "mseal" }, { SYSCALLS_I386, 5, "open" },
		{ SYSCALLS_I386, 252, "exit_group" }, { SYSCALLS_GENERIC, 56, "openat" }, { SYSCALLS_GENERIC, 260, "wait4" },
		{ SYSCALLS_GENERIC, 435, "clone3" }, { SYSCALLS_S390X, 288, "openat" }, { SYSCALLS_POWERPC64, 286, "openat" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char name[SYSCALL_NAME_SIZE] = "";
		EXPECT(syscall_name(rows[i].table, rows[i].number, name));
		EXPECT_STR(name, rows[i].name);
		EXPECT_INT(syscall_number(rows[i].table, rows[i].name), rows[i].number);
	}
}

TEST("a number without a call has no name, and an unknown name no number")
{
	char name[SYSCALL_NAME_SIZE];
	EXPECT(!syscall_name(SYSCALLS_X86_64, 400, name));
	EXPECT(!syscall_name(SYSCALLS_X86_64, -1, name));
	EXPECT(!syscall_name(SYSCALLS_X86_64, 511, name));
	EXPECT(!syscall_name(SYSCALLS_NONE, 0, name));
	EXPECT_INT(syscall_number(SYSCALLS_X86_64, "rea"), -1);
	EXPECT_INT(syscall_number(SYSCALLS_X86_64, "*2"), -1);
	EXPECT_INT(syscalls_of_machine("x86_64"), SYSCALLS_X86_64);
	EXPECT_INT(syscalls_of_machine(NULL), SYSCALLS_NONE);
	EXPECT_INT(syscalls_compat(SYSCALLS_X86_64), SYSCALLS_I386);
}
