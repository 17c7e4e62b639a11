/* The memory limit of this process. */
#pragma once
#include <stdint.h>

/* In bytes: the machine's memory, or the limit of control groups, RLIMIT_AS or RLIMIT_DATA. */
uint64_t memory_allowed(void);
