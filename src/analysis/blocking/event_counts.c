#include "analysis/blocking/event_counts.h"

#include <math.h>

void event_counts_add(struct event_counts *counts, uint32_t name, bool elsewhere, double period)
{
	bool added;
	uint32_t index = idmap_add(&counts->known, name, (uint32_t)counts->list.count, &added);
	if (added)
		vec_push(&counts->list, ((struct event_count){ .name = name }));
	struct event_count *count = &counts->list.items[index];
	count->counts[elsewhere] += period;
	count->squares[elsewhere] += period * period;
}

void event_counts_fini(struct event_counts *counts)
{
	vec_fini(&counts->list);
	idmap_fini(&counts->known);
}

struct event_extra event_extra_of(const struct event_count *count, const struct lost_samples *samples)
{
	static const double CONFIDENCE = 1.96; /* 95 % */
	double after = samples->instructions[0], elsewhere = samples->instructions[1];
	if (after <= 0 || elsewhere <= 0)
		return (struct event_extra){ 0 };
	double ratio = after / elsewhere, relative = count->counts[1] / elsewhere;
	double variance = count->squares[0] + ratio * ratio * count->squares[1] +
		relative * relative * (samples->instruction_squares[0] + ratio * ratio * samples->instruction_squares[1]);
	double extra = count->counts[0] - ratio * count->counts[1], half = CONFIDENCE * sqrt(variance);
	return (struct event_extra){ .known = true, .low = extra - half, .count = extra, .high = extra + half,
		.rates = { count->counts[0] / after, relative } };
}
