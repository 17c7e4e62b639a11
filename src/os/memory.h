/* The memory limit of this process. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* In bytes: the machine's memory, or the limit of control groups, RLIMIT_DATA, or what is left of RLIMIT_AS. */
uint64_t memory_allowed(void);
/* Whether RLIMIT_AS limits the addresses that this process may map. */
bool memory_addresses_limited(void);
