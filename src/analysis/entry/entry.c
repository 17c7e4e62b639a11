#include "analysis/entry/entry.h"

void entry_sums_add(struct entry_sums *sums, const struct entry_sums *more)
{
	sums->period += more->period;
	sums->period_sys += more->period_sys;
	sums->period_us += more->period_us;
	sums->period_guest_sys += more->period_guest_sys;
	sums->period_guest_us += more->period_guest_us;
	sums->count += more->count;
	for (unsigned i = 0; i < 3; i++)
		sums->weight[i] += more->weight[i];
}

uint64_t hist_total(const struct profile *profile, const struct hist *hist)
{
	return profile->options.relative ? hist->shown_period : hist->total_period;
}

float hist_percent(const struct profile *profile, const struct hist *hist, const struct entry *entry)
{
	uint64_t total = hist_total(profile, hist);
	uint64_t period = profile->options.iteration == ITERATE_CALLERS ? entry->children_period : entry->self.period;
	return total ? (float)((double)period * 100.0 / (double)total) : 0;
}
