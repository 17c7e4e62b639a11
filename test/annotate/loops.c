/* A program with hot loops, for annotate: separate data, calls, a jump table, 64-bit numbers. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long long sums[1024];

static inline unsigned long long mix(unsigned long long x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	return x;
}

__attribute__((noinline)) unsigned long long hot(unsigned long long n)
{
	unsigned long long s = 0;
	for (unsigned long long i = 0; i < n; i++) {
		s += mix(i);
		sums[s & 1023] += s;
		if (s & 1)
			s ^= sums[i & 1023];
	}
	return s;
}

__attribute__((noinline)) int choose(unsigned n)
{
	switch (n % 7) {
	case 0: return (int)n * 3;
	case 1: return (int)n - 5;
	case 2: return rand();
	case 3: return (int)(n / 9);
	case 4: return (int)(n << 3);
	default: return 0;
	}
}

int main(int argc, char **argv)
{
	unsigned long long total = 0;
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	for (int i = 0; i < rounds; i++) {
		total += hot(500000);
		for (unsigned k = 0; k < 100000; k++)
			total += (unsigned long long)choose(k);
	}
	printf("%llu\n", total);
	return 0;
}
