/* Workloads for records of branches: calls, an indirect call, returns and jumps of known functions; instructions that trap. */
#include <stdlib.h>

#include "workload/programs.h"

enum { BRSTACK_ROUNDS = 999999, TRAPLOOP_ROUNDS = 1000, BRANCH_EVERY = 3 };

static unsigned long brstack_round;

static long rounds(int argc, const char **argv, long otherwise)
{
	return argc > 0 ? strtol(argv[0], NULL, 10) : otherwise;
}

static void brstack_bar(void)
{
}

static void brstack_foo(void)
{
	brstack_bar();
}

static void brstack_bench(void)
{
	void (*volatile indirect)(void) = brstack_foo;
	if (brstack_round % BRANCH_EVERY == 0)
		indirect();
	brstack_foo();
	brstack_bar();
	if (brstack_round % BRANCH_EVERY == 0)
		indirect();
}

int brstack(int argc, const char **argv)
{
	long most = rounds(argc, argv, BRSTACK_ROUNDS);
	brstack_round = 0;
	for (;;) {
		if ((long)brstack_round++ > most)
			break;
		brstack_bench();
	}
	return 0;
}

/* Linux emulates the reading of this register for user space, after a trap (Documentation/arch/arm64/cpu-feature-registers.rst). */
static void trap_bench(void)
{
#ifdef __aarch64__
	unsigned long value;
	__asm__ volatile("mrs %0, ID_AA64ISAR0_EL1" : "=r"(value));
#endif
}

int traploop(int argc, const char **argv)
{
	long most = rounds(argc, argv, TRAPLOOP_ROUNDS);
	for (long i = 0; i < most; i++)
		trap_bench();
	return 0;
}
