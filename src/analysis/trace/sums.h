/* Sums of system calls by thread and call, made from single calls or added as the kernel made them. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct call_sum {
	int32_t tid;
	uint32_t number;             /* of the caller's table of calls */
	uint64_t calls, errors, total_ns, min_ns, max_ns;
	long double squares;         /* of times in ns */
	uint64_t unseen, unfinished; /* returns without an entry, entries without a return */
};

struct error_sum {
	int32_t tid;
	uint32_t number;
	int error;                   /* > 0 */
	uint64_t count;
};

struct call_sums {
	VEC(struct call_sum) list;
	VEC(struct error_sum) errors;
	struct idmap by_key, by_error;
};

void call_sums_fini(struct call_sums *sums);
/* Found or added. Valid until the next call. */
struct call_sum *call_sums_get(struct call_sums *sums, int32_t tid, uint32_t number);
void call_sums_add(struct call_sums *sums, int32_t tid, uint32_t number, uint64_t ns, int64_t result);
void call_sums_add_error(struct call_sums *sums, int32_t tid, uint32_t number, int error, uint64_t count);
/* Adds a sum of another list. */
void call_sums_merge(struct call_sums *sums, int32_t tid, const struct call_sum *from);
/* The standard error of the mean as a part of the mean. */
double call_sum_deviation(const struct call_sum *sum);
