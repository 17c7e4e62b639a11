/* Stacks of which a part is deeper than what is copied (8192 bytes), and a part is not: outer and the ten links below it are one call for
 * both. */
#include <alloca.h>
#include <stdlib.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))
/* In each page: the kernel's copy of a stack ends at a page that was never written. */
#define TOUCH(room, size, x)                                                                                           \
	for (size_t at = 0; at < (size); at += 1000)                                                                   \
		(room)[at] = (char)(x)
#define AFTER_CALL(x) __asm__ volatile("" : "+r"(x)) /* no tail call: something is left to do */

static volatile unsigned long sink;

KEEP unsigned long work(unsigned long x)
{
	for (int i = 0; i < 3000; i++)
		x = x * 77 + 5;
	return x;
}

KEEP unsigned long middle(unsigned long x, size_t size)
{
	volatile char *room = alloca(size);
	TOUCH(room, size, x);
	unsigned long y = work(x);
	return y + (unsigned long)room[0];
}

KEEP unsigned long link_0(unsigned long x)
{
	for (unsigned long i = 0; i < 300; i++)
		sink += middle(x + i, i % 3 ? 100 : 5000);
	return x + 1;
}

#define LINK(name, callee)                                                                                             \
	KEEP unsigned long name(unsigned long x)                                                                       \
	{                                                                                                              \
		unsigned long y = callee(x);                                                                           \
		AFTER_CALL(y);                                                                                         \
		return y + 1;                                                                                          \
	}
LINK(link_1, link_0)
LINK(link_2, link_1)
LINK(link_3, link_2)
LINK(link_4, link_3)
LINK(link_5, link_4)
LINK(link_6, link_5)
LINK(link_7, link_6)
LINK(link_8, link_7)
LINK(link_9, link_8)
LINK(link_10, link_9)

KEEP unsigned long outer(unsigned long x)
{
	volatile char room[5000];
	TOUCH(room, sizeof room, x);
	room[x % 5000] = 1;
	unsigned long y = link_10(x);
	return y + (unsigned long)room[x % 5000];
}

KEEP unsigned long first(unsigned long x)
{
	unsigned long y = outer(x);
	sink = y;
	return y + 1;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * (argc > 1 ? atol(argv[1]) : 100);
	for (unsigned long i = 0; clock() < end; i++)
		sink += first(i);
	return 0;
}
