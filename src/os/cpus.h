/* Lists of CPU numbers as the kernel and users write them: "0-3,7". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

enum { CPUS_MAX = 65536 }; /* one more than the largest number a list may hold */

struct cpus {
	VEC(int32_t) list; /* ascending, each once; -1 alone: any */
};

void cpus_fini(struct cpus *cpus);
/* Adds what text says; an empty text adds none. */
int cpus_parse(struct cpus *cpus, const char *text, struct error *err);
int cpus_online(struct cpus *cpus, struct error *err);
bool cpus_has(const struct cpus *cpus, int32_t cpu);
void cpus_add(struct cpus *cpus, int32_t cpu); /* keeps the order; a second time is no error */
void cpus_text(const struct cpus *cpus, struct str *out); /* "0-3,7" */
bool cpus_contiguous(const struct cpus *cpus);
/* Numbers as sysconf and /sys tell: CPUs that are on, and one more than the largest that is present. */
unsigned cpus_online_count(void);
unsigned cpus_present_count(void);
