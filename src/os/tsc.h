/* The time stamp counter of x86 processors; elsewhere it does not exist. */
#pragma once
#include <stdint.h>

/* 0 where there is no counter. */
uint64_t tsc_now(void);
/* The frequency of the counter is that of the core crystal clock multiplied by n / d (CPUID leaf 0x15; Intel SDM vol. 2A); 0 and 0: unknown. */
void tsc_crystal_ratio(uint32_t *n, uint32_t *d);
