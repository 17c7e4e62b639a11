/* Spends its time in functions that the compiler puts into others, and says in which, and between which lines: what a profile of it
 * must show. One line each: NAME FIRST LAST NANOSECONDS. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INLINED static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))

static volatile uint64_t sink;

struct part {
	const char *name;
	int first, last;
	uint64_t ns;
};

static struct part parts[3];

static uint64_t now_ns(void)
{
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t); /* not by the vdso, whose symbols perf may lack */
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

INLINED uint64_t divide(uint64_t x, unsigned rounds)
{
	parts[0].first = __LINE__; for (unsigned i = 0; i < rounds; i++) {
		x = 0x7fffffffffffffffu / (x | 1);
		x += i;
	} parts[0].last = __LINE__;
	return x;
}

INLINED uint64_t multiply(uint64_t x, unsigned rounds)
{
	parts[1].first = __LINE__; for (unsigned i = 0; i < rounds; i++) {
		x = x * 0x9e3779b97f4a7c15u + i;
		x ^= x >> 31;
	} parts[1].last = __LINE__;
	return x;
}

INLINED uint64_t both(uint64_t x, unsigned rounds)
{
	uint64_t start = now_ns();
	x = divide(x, rounds);
	parts[0].ns += now_ns() - start;
	start = now_ns();
	x = multiply(x, rounds);
	parts[1].ns += now_ns() - start;
	return x;
}

APART uint64_t alone(uint64_t x, unsigned rounds)
{
	parts[2].first = __LINE__; for (unsigned i = 0; i < rounds; i++) {
		x += x << 7;
		x ^= sink;
	} parts[2].last = __LINE__;
	return x;
}

APART void turn(unsigned rounds)
{
	uint64_t start;
	sink += both(sink, rounds);
	start = now_ns();
	sink += alone(sink, rounds * 2);
	parts[2].ns += now_ns() - start;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "divide", "multiply", "alone" };
	uint64_t end = now_ns() + strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
	while (now_ns() < end)
		turn(200000);
	for (int i = 0; i < 3; i++)
		printf("%s %d %d %llu\n", names[i], parts[i].first, parts[i].last, (unsigned long long)parts[i].ns);
	return 0;
}
