/* Two functions with equal frames call the same ones: by_one never deeper than what is copied of the stack (8192 bytes), by_other always.
 * Which of the two it was is known by who works. -DLINKS=N: N more calls are the same for both. */
#include <alloca.h>
#include <stdlib.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))
#define AFTER_CALL(x) __asm__ volatile("" : "+r"(x)) /* no tail call: something is left to do */

static volatile unsigned long sink;

KEEP unsigned long work_one(unsigned long x)
{
	for (int i = 0; i < 3000; i++)
		x = x * 77 + 5;
	return x;
}

KEEP unsigned long work_other(unsigned long x)
{
	for (int i = 0; i < 3000; i++)
		x = x * 75 + 5;
	return x;
}

KEEP unsigned long middle(unsigned long x, size_t size)
{
	volatile char *room = alloca(size);
	room[0] = 1;
	unsigned long y = size > 1000 ? work_other(x) : work_one(x);
	AFTER_CALL(y);
	return y + (unsigned long)room[0];
}

#define LINK(name, callee)                                                                                             \
	KEEP unsigned long name(unsigned long x, size_t size)                                                          \
	{                                                                                                              \
		unsigned long y = callee(x, size);                                                                     \
		AFTER_CALL(y);                                                                                         \
		return y + 1;                                                                                          \
	}
LINK(link_1, middle)
LINK(link_2, link_1)
LINK(link_3, link_2)
LINK(link_4, link_3)

#define NAMED(a, b) a##b
#define LINK_OF(n) NAMED(link_, n)

KEEP unsigned long shared(unsigned long x, size_t size)
{
	volatile char room[5000];
	room[x % 5000] = 1;
	unsigned long y = LINK_OF(LINKS)(x, size);
	AFTER_CALL(y);
	return y + (unsigned long)room[5];
}

LINK(by_one, shared)
LINK(by_other, shared)

int main(int argc, char **argv)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * (argc > 1 ? atol(argv[1]) : 100);
	for (unsigned long i = 0; clock() < end; i++)
		sink += i & 1 ? by_one(i, 100) : by_other(i, 5000);
	return 0;
}
