/* Identifies the machine: names, processor, memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machine_names {
	char host[128], release[128], arch[128];
};

void machine_names(struct machine_names *names);
/* "AMD EPYC", and "AuthenticAMD,26,2,1" (other architectures: an id of the core); false if unknown. */
bool machine_processor(char *description, size_t size);
bool machine_processor_id(char *id, size_t size);
uint64_t machine_memory_kb(void); /* 0: unknown */
uint64_t machine_page_size(void);

/* Clocks by the names of clock_gettime(2) and perf's short ones: "CLOCK_MONOTONIC", "monotonic", "mono"; false for others. */
bool clock_by_name(const char *name, int32_t *clockid);
uint64_t clock_now_ns(int32_t clockid);
uint64_t clock_resolution_ns(int32_t clockid); /* 0: no such clock */
