/* Stacks of which a part is deeper than what is copied (8192 bytes), and a part is not: outer, which calls middle at one place, has
 * the same frame in both. */
#include <alloca.h>
#include <stdlib.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))

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
	room[0] = (char)x;
	unsigned long y = work(x);
	return y + (unsigned long)room[0];
}

KEEP unsigned long outer(unsigned long x, size_t size)
{
	volatile char room[5000];
	room[x % 5000] = 1;
	unsigned long y = middle(x, size);
	return y + (unsigned long)room[x % 5000];
}

KEEP unsigned long first(unsigned long x, size_t size)
{
	unsigned long y = outer(x, size);
	sink = y;
	return y + 1;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * (argc > 1 ? atol(argv[1]) : 100);
	for (unsigned long i = 0; clock() < end; i++)
		sink += first(i, i % 3 ? 100 : 5000);
	return 0;
}
