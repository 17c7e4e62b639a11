/* A program whose functions have one possible chain of callers each, and which spends its time in the C library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define KEEP __attribute__((noinline, noclone))
#define AFTER(x) __asm__ volatile("" : "+r"(x))
static char text[4096], out[8192];
static volatile unsigned long sink;
static int compare(const void *a, const void *b);

KEEP unsigned long compared(unsigned a, unsigned b)
{
	unsigned long x = a;
	for (int i = 0; i < 20; i++)
		x = x * 7 + b;
	sink = x;
	return a < b;
}

static KEEP int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	sink += compared(x, y);
	return x < y ? -1 : x > y;
}

KEEP unsigned long sorts(unsigned n)
{
	unsigned v[300];
	for (unsigned i = 0; i < 300; i++)
		v[i] = (i * 2654435761u) ^ n;
	qsort(v, 300, sizeof *v, compare);
	unsigned long y = v[3];
	AFTER(y);
	return y;
}

KEEP unsigned long prints(unsigned n)
{
	unsigned long y = snprintf(out, sizeof out, "%d %s %5.3f %x", n, "hello", n * 1.5, n);
	AFTER(y);
	return y;
}

KEEP unsigned long searches(unsigned n)
{
	unsigned long y = strlen(text + n % 9) + (strstr(text, "needle") != 0) + (unsigned long)memchr(text, 'z', sizeof text);
	AFTER(y);
	return y;
}

KEEP unsigned long copies(unsigned n)
{
	memcpy(out + n % 7, text, 4000);
	memset(out, 3, 2000);
	unsigned long y = out[n % 100];
	AFTER(y);
	return y;
}

KEEP unsigned long parses(unsigned n)
{
	char b[32];
	sprintf(b, "%u.%u", n, n);
	unsigned long y = strtod(b, 0) + strtoul(b, 0, 10);
	AFTER(y);
	return y;
}

KEEP unsigned long allocates(unsigned n)
{
	void *p = malloc(n % 3000 + 1), *q = malloc(10);
	unsigned long y = (unsigned long)p;
	free(p);
	free(q);
	AFTER(y);
	return y;
}
int main(int argc, char **argv)
{
	memset(text, 'a', sizeof text - 1);
	long ms = argc > 1 ? atol(argv[1]) : 300;
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * ms;
	for (unsigned i = 0; clock() < end; i++) {
		for (unsigned k = 0; k < 20; k++) { sink += prints(i); sink += searches(i); sink += copies(i); sink += parses(i); sink += allocates(i); }
		sink += sorts(i);
	}
	return 0;
}
