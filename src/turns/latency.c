#include "turns/latency.h"

uint32_t latency_class(uint64_t ns)
{
	if (ns < LATENCY_SUB)
		return (uint32_t)ns;
	unsigned power = 63 - (unsigned)__builtin_clzll(ns); /* at least 3 */
	return (power - 2) * LATENCY_SUB + (uint32_t)(ns >> (power - 3) & (LATENCY_SUB - 1));
}

uint64_t latency_class_start(uint32_t number)
{
	if (number < LATENCY_SUB)
		return number;
	unsigned power = number / LATENCY_SUB + 2;
	return (uint64_t)(LATENCY_SUB + number % LATENCY_SUB) << (power - 3);
}

void latency_add(struct latency *latency, uint64_t ns)
{
	latency->classes[latency_class(ns)]++;
	if (!latency->count || ns < latency->min_ns)
		latency->min_ns = ns;
	if (ns > latency->max_ns)
		latency->max_ns = ns;
	latency->count++;
	latency->sum_ns += ns;
}

void latency_merge(struct latency *into, const struct latency *from)
{
	for (uint32_t i = 0; i < LATENCY_CLASSES; i++)
		into->classes[i] += from->classes[i];
	if (from->count && (!into->count || from->min_ns < into->min_ns))
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	into->count += from->count;
	into->sum_ns += from->sum_ns;
}

uint64_t latency_quantile(const struct latency *latency, double share)
{
	uint64_t rank = (uint64_t)(share * (double)latency->count), passed = 0;
	if (rank >= latency->count)
		rank = latency->count ? latency->count - 1 : 0;
	for (uint32_t i = 0; i < LATENCY_CLASSES; i++) {
		passed += latency->classes[i];
		if (passed > rank) {
			uint64_t start = latency_class_start(i), end = i + 1 < LATENCY_CLASSES ? latency_class_start(i + 1) : UINT64_MAX;
			uint64_t middle = start + (end - start) / 2;
			return middle < latency->min_ns ? latency->min_ns : middle > latency->max_ns ? latency->max_ns : middle;
		}
	}
	return 0;
}
