#include "arch/syscalls.h"

#include <string.h>

/* Names by number, separated by commas; "*12" means 12 numbers without a call. */
static const char *const tables[SYSCALLS_COUNT] = {
#include "arch/syscall_tables.inc"
};

enum syscalls syscalls_of_machine(const char *machine)
{
	static const struct {
		const char *machine;
		enum syscalls table;
	} rows[] = {
		{ "x86_64", SYSCALLS_X86_64 }, { "i386", SYSCALLS_I386 }, { "i486", SYSCALLS_I386 }, { "i586", SYSCALLS_I386 },
		{ "i686", SYSCALLS_I386 }, { "aarch64", SYSCALLS_GENERIC }, { "riscv64", SYSCALLS_GENERIC },
		{ "loongarch64", SYSCALLS_GENERIC }, { "s390x", SYSCALLS_S390X }, { "ppc64", SYSCALLS_POWERPC64 },
		{ "ppc64le", SYSCALLS_POWERPC64 },
	};
	for (size_t i = 0; machine && i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].machine, machine) == 0)
			return rows[i].table;
	return SYSCALLS_NONE;
}

enum syscalls syscalls_compat(enum syscalls table)
{
	return table == SYSCALLS_X86_64 ? SYSCALLS_I386 : SYSCALLS_NONE;
}

/* Steps to the next name: its length, its number in *number. */
static bool next_call(const char **at, const char **name, size_t *length, int *number)
{
	while (*at) {
		*name = *at;
		*length = strcspn(*at, ",");
		*at = (*at)[*length] ? *at + *length + 1 : NULL;
		if (**name == '*') {
			int places = 0;
			for (size_t i = 1; i < *length; i++)
				places = places * 10 + ((*name)[i] - '0');
			*number += places;
			continue;
		}
		++*number;
		if (*length)
			return true;
	}
	return false;
}

bool syscall_name(enum syscalls table, int wanted, char name[static SYSCALL_NAME_SIZE])
{
	const char *at = tables[table], *each;
	size_t length;
	int number = -1;
	while (number < wanted && next_call(&at, &each, &length, &number)) {
		if (number != wanted || length >= SYSCALL_NAME_SIZE)
			continue;
		memcpy(name, each, length);
		name[length] = '\0';
		return true;
	}
	return false;
}

int syscall_number(enum syscalls table, const char *name)
{
	const char *at = tables[table], *each;
	size_t length, wanted = strlen(name);
	int number = -1;
	while (next_call(&at, &each, &length, &number))
		if (length == wanted && memcmp(each, name, length) == 0)
			return number;
	return -1;
}
