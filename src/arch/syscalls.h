/* Names and numbers of system calls, by calling convention. Data only. Sources: the syscall tables of Linux 6.12
 * (arch/.../syscalls/syscall*.tbl, scripts/syscall.tbl), and 6.17's calls above 462. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum syscalls {
	SYSCALLS_NONE,
	SYSCALLS_X86_64,
	SYSCALLS_I386,
	SYSCALLS_GENERIC,     /* arm64, riscv64, loongarch64 */
	SYSCALLS_S390X,
	SYSCALLS_POWERPC64,
	SYSCALLS_COUNT
};

enum { SYSCALL_NUMBERS = 512, SYSCALL_NAME_SIZE = 40 };

/* The table of a machine name as in uname -m. */
enum syscalls syscalls_of_machine(const char *machine);
/* The table of 32-bit programs on a machine with this table; SYSCALLS_NONE: unknown. */
enum syscalls syscalls_compat(enum syscalls table);
/* Copies the name of a number; false: it has none. */
bool syscall_name(enum syscalls table, int number, char name[static SYSCALL_NAME_SIZE]);
/* The number of a name; -1: the table does not have it. */
int syscall_number(enum syscalls table, const char *name);
