/* Durations counted in classes whose width is an eighth of a power of two, so that a quantile is known to 1/16 of itself. */
#pragma once
#include <stdint.h>

enum { LATENCY_SUB = 8, LATENCY_CLASSES = 64 * LATENCY_SUB };

struct latency {
	uint64_t classes[LATENCY_CLASSES];
	uint64_t count, sum_ns, min_ns, max_ns; /* min_ns: 0 if count is 0 */
};

void latency_add(struct latency *latency, uint64_t ns);
void latency_merge(struct latency *into, const struct latency *from);
/* The duration that the share (0 to 1) of all do not exceed, in ns: the middle of its class, within the smallest and largest. 0: there is
 * none. */
uint64_t latency_quantile(const struct latency *latency, double share);
/* The class of a duration, and the shortest duration of a class. */
uint32_t latency_class(uint64_t ns);
uint64_t latency_class_start(uint32_t number);
