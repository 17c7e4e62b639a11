#include "os/tsc.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

uint64_t tsc_now(void)
{
	return __builtin_ia32_rdtsc();
}

void tsc_crystal_ratio(uint32_t *n, uint32_t *d)
{
	enum { LEAF_TSC = 0x15 };
	unsigned a = 0, b = 0, crystal = 0, unused = 0;
	if (!__get_cpuid(LEAF_TSC, &a, &b, &crystal, &unused))
		a = b = 0;
	*n = b;
	*d = a;
}
#else
uint64_t tsc_now(void)
{
	return 0;
}

void tsc_crystal_ratio(uint32_t *n, uint32_t *d)
{
	*n = *d = 0;
}
#endif
