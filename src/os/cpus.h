/* Lists of CPU numbers in the format of the kernel and of users: "0-3,7". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

enum { CPUS_MAX = 65536 }; /* exclusive limit of numbers in a list */

struct cpus {
	VEC(int32_t) list; /* ascending, without duplicates; only -1: any CPU */
};

void cpus_fini(struct cpus *cpus);
/* Adds the CPUs of text; an empty text adds none. */
int cpus_parse(struct cpus *cpus, const char *text, struct error *err);
int cpus_online(struct cpus *cpus, struct error *err);
bool cpus_has(const struct cpus *cpus, int32_t cpu);
size_t cpus_index(const struct cpus *cpus, int32_t cpu); /* list.count if it is absent */
void cpus_add(struct cpus *cpus, int32_t cpu); /* inserts in order; duplicates are ignored */
void cpus_text(const struct cpus *cpus, struct str *out); /* "0-3,7" */
bool cpus_contiguous(const struct cpus *cpus);
/* Numbers from sysconf(3) and /sys: online CPUs, and one more than the largest present or possible one. */
unsigned cpus_online_count(void);
unsigned cpus_present_count(void);
unsigned cpus_possible_count(void);
