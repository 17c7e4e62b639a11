#include "analysis/trace/sums.h"

#include <math.h>

enum { ERROR_BITS = 12, NUMBER_BITS = 16 };

void call_sums_fini(struct call_sums *sums)
{
	vec_fini(&sums->list);
	vec_fini(&sums->errors);
	idmap_fini(&sums->by_key);
	idmap_fini(&sums->by_error);
}

static uint64_t key_of(int32_t tid, uint32_t number)
{
	return (uint64_t)(uint32_t)tid << NUMBER_BITS | (number & ((1u << NUMBER_BITS) - 1));
}

struct call_sum *call_sums_get(struct call_sums *sums, int32_t tid, uint32_t number)
{
	bool added;
	uint32_t index = idmap_add(&sums->by_key, key_of(tid, number), (uint32_t)sums->list.count, &added);
	if (added)
		vec_push(&sums->list, ((struct call_sum){ .tid = tid, .number = number, .min_ns = UINT64_MAX }));
	return &sums->list.items[index];
}

void call_sums_add_error(struct call_sums *sums, int32_t tid, uint32_t number, int error, uint64_t count)
{
	bool added;
	uint64_t key = key_of(tid, number) << ERROR_BITS | ((uint32_t)error & ((1u << ERROR_BITS) - 1));
	uint32_t index = idmap_add(&sums->by_error, key, (uint32_t)sums->errors.count, &added);
	if (added)
		vec_push(&sums->errors, ((struct error_sum){ .tid = tid, .number = number, .error = error }));
	sums->errors.items[index].count += count;
}

void call_sums_add(struct call_sums *sums, int32_t tid, uint32_t number, uint64_t ns, int64_t result)
{
	struct call_sum *sum = call_sums_get(sums, tid, number);
	sum->calls++;
	sum->total_ns += ns;
	sum->squares += (long double)ns * (long double)ns;
	if (ns < sum->min_ns)
		sum->min_ns = ns;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
	if (result < 0) {
		sum->errors++;
		call_sums_add_error(sums, tid, number, (int)(0 - (uint64_t)result), 1);
	}
}

void call_sums_merge(struct call_sums *sums, int32_t tid, const struct call_sum *from)
{
	struct call_sum *sum = call_sums_get(sums, tid, from->number);
	if (from->min_ns < sum->min_ns)
		sum->min_ns = from->min_ns;
	if (from->max_ns > sum->max_ns)
		sum->max_ns = from->max_ns;
	sum->calls += from->calls;
	sum->errors += from->errors;
	sum->total_ns += from->total_ns;
	sum->squares += from->squares;
	sum->unseen += from->unseen;
	sum->unfinished += from->unfinished;
}

double call_sum_deviation(const struct call_sum *sum)
{
	long double n = (long double)sum->calls, total = (long double)sum->total_ns;
	if (sum->calls < 2 || total <= 0)
		return 0;
	long double spread = (sum->squares - total * total / n) / (n - 1);
	return spread > 0 ? sqrt((double)(spread / n)) / (double)(total / n) : 0;
}
