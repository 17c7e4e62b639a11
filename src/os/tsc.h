/* The time stamp counter of x86 processors; elsewhere it does not exist. */
#pragma once
#include <stdint.h>

/* 0: the processor has no counter. */
uint64_t tsc_now(void);
/* The counter runs at n / d times the frequency of the core crystal clock (CPUID leaf 0x15; Intel SDM vol. 2A); 0 and 0: unknown. */
void tsc_crystal_ratio(uint32_t *n, uint32_t *d);
