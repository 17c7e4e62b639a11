#include "analysis/compare/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { ROUNDS = 500, SEED = 1, SLICES_MIN = 4 };
static const double LIMIT = 0.05, MARGIN = SIGNIFICANCE_MARGIN / 100; /* as a share */

/* One recording of one event, cut into time slices. */
struct slices {
	size_t count;               /* that have samples */
	double *totals;             /* by slice: the periods of all rows */
	double *parts;              /* by item and slice: the periods of the row */
	double *counts;             /* by item: samples */
	double total, total_count;
	double *weights;            /* by round and slice: how often the resample has it */
	double *resampled;          /* by round: the total */
};

static uint64_t time_of(const struct diff *diff, const struct diff_part *part)
{
	return *entry_key(part->entry, diff->options.blocks);
}

/* Returns the number of each part's slice: equal parts of the time from the first to the last sample, without those that are empty. */
static uint32_t *number_slices(const struct diff *diff, const struct diff_side *side, size_t *count)
{
	uint64_t first = UINT64_MAX, last = 0;
	uint32_t numbers[SIGNIFICANCE_SLICES] = { 0 };
	uint32_t *slice_of = memory_zero(side->part_count + 1, sizeof *slice_of);
	for (size_t i = 0; i < side->part_count; i++) {
		uint64_t time = time_of(diff, &side->parts[i]);
		first = time < first ? time : first;
		last = time > last ? time : last;
	}
	uint64_t width = first <= last ? (last - first) / SIGNIFICANCE_SLICES + 1 : 1;
	for (size_t i = 0; i < side->part_count; i++) {
		slice_of[i] = (uint32_t)((time_of(diff, &side->parts[i]) - first) / width);
		numbers[slice_of[i]] = 1;
	}
	*count = 0;
	for (size_t i = 0; i < SIGNIFICANCE_SLICES; i++)
		numbers[i] = numbers[i] ? (uint32_t)(*count)++ : 0;
	for (size_t i = 0; i < side->part_count; i++)
		slice_of[i] = numbers[slice_of[i]];
	return slice_of;
}

static void slices_open(struct slices *slices, const struct diff *diff, const struct diff_side *side)
{
	*slices = (struct slices){ 0 };
	uint32_t *slice_of = number_slices(diff, side, &slices->count);
	bool relative = side->profile->options.relative;
	size_t count = slices->count;
	slices->totals = memory_zero(count + 1, sizeof *slices->totals);
	slices->parts = memory_zero((size_t)side->count * count + 1, sizeof *slices->parts);
	slices->counts = memory_zero((size_t)side->count + 1, sizeof *slices->counts);
	for (size_t i = 0; i < side->part_count; i++) {
		const struct diff_part *part = &side->parts[i];
		double period = (double)part->entry->self.period;
		if (relative && part->entry->filtered)
			continue;
		slices->totals[slice_of[i]] += period;
		slices->parts[part->item * count + slice_of[i]] += period;
		slices->counts[part->item] += part->entry->self.count;
		slices->total += period;
		slices->total_count += part->entry->self.count;
	}
	free(slice_of);
}

static void slices_resample(struct slices *slices, struct random_numbers *random)
{
	size_t count = slices->count;
	slices->weights = memory_zero(ROUNDS * count + 1, sizeof *slices->weights);
	slices->resampled = memory_zero(ROUNDS, sizeof *slices->resampled);
	for (size_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < count; i++) {
			size_t drawn = random_below(random, count);
			slices->weights[round * count + drawn]++;
			slices->resampled[round] += slices->totals[drawn];
		}
}

static void slices_close(struct slices *slices)
{
	free(slices->totals);
	free(slices->parts);
	free(slices->counts);
	free(slices->weights);
	free(slices->resampled);
}

static const double *parts_of(const struct slices *slices, const struct diff_side *side, const struct diff_item *item)
{
	return item ? slices->parts + (size_t)(item - side->items) * slices->count : NULL;
}

static double resampled_share(const struct slices *slices, const double *parts, size_t round)
{
	double sum = 0;
	for (size_t i = 0; parts && i < slices->count; i++)
		sum += parts[i] * slices->weights[round * slices->count + i];
	return slices->resampled[round] > 0 ? 100 * sum / slices->resampled[round] : 0;
}

/* A share with the variance of its estimate from the slices. */
struct estimate {
	double share, variance;
};

static struct estimate estimate(const struct slices *slices, const double *parts)
{
	struct estimate result = { 0 };
	double count = (double)slices->count, mean = slices->total / count, squares = 0;
	for (size_t i = 0; parts && i < slices->count; i++)
		result.share += parts[i] / slices->total;
	for (size_t i = 0; i < slices->count; i++) {
		double distance = (parts ? parts[i] : 0) - result.share * slices->totals[i];
		squares += distance * distance;
	}
	result.variance = squares / (count * (count - 1) * mean * mean);
	return result;
}

/* By how much a change of a share exceeds the differences that two runs of one build have. */
static double beyond_margin(double before, double after)
{
	double distance = fabs(after - before) - MARGIN;
	return distance > 0 ? distance : 0;
}

/* Welch's test. A row that one recording lacks has no variance there. */
static double test_slices(const struct slices *slices[2], const double *parts[2])
{
	struct estimate a = estimate(slices[0], parts[0]), b = estimate(slices[1], parts[1]);
	double variance = a.variance + b.variance, freedom_a = (double)slices[0]->count - 1, freedom_b = (double)slices[1]->count - 1;
	if (variance <= 0)
		return beyond_margin(a.share, b.share) == 0;
	double freedom = variance * variance / (a.variance * a.variance / freedom_a + b.variance * b.variance / freedom_b);
	return 2 * statistics_student_cdf(-beyond_margin(a.share, b.share) / sqrt(variance), freedom);
}

/* The same for counts of samples, with correction for continuity: few samples are no evidence. */
static double test_counts(const struct slices *slices[2], const double counts[2])
{
	double n = slices[0]->total_count, m = slices[1]->total_count, pooled = (counts[0] + counts[1]) / (n + m);
	double deviation = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
	double distance = beyond_margin(counts[0] / n, counts[1] / m) - 0.5 * (1 / n + 1 / m);
	if (deviation <= 0 || distance <= 0)
		return 1;
	return 2 * statistics_normal_cdf(-distance / deviation);
}

static void judge_row(const struct diff_event *event, const struct diff_row *row, uint32_t file, const struct slices *slices[2],
	struct significance_value *value)
{
	const struct diff_item *items[] = { row->items[0], row->items[file] };
	const double *parts[2];
	double counts[2], changes[ROUNDS];
	for (int i = 0; i < 2; i++) {
		const struct diff_side *side = &event->sides[i ? file : 0];
		parts[i] = parts_of(slices[i], side, items[i]);
		counts[i] = items[i] ? slices[i]->counts[items[i] - side->items] : 0;
	}
	for (size_t round = 0; round < ROUNDS; round++)
		changes[round] = resampled_share(slices[1], parts[1], round) - resampled_share(slices[0], parts[0], round);
	size_t fewer = slices[0]->count < slices[1]->count ? slices[0]->count : slices[1]->count;
	value->interval = statistics_resampled_interval(changes, ROUNDS, fewer, 0.95);
	double by_slices = test_slices(slices, parts), by_counts = test_counts(slices, counts);
	value->probability = by_slices > by_counts ? by_slices : by_counts;
}

/* A comparison that cannot be made has no change. */
static bool can_judge(const struct slices *slices[2])
{
	for (int i = 0; i < 2; i++)
		if (slices[i]->count < SLICES_MIN || slices[i]->total <= 0)
			return false;
	return true;
}

static void judge_file(const struct diff_event *event, uint32_t file, const struct slices *slices[2], struct significance_value **values)
{
	double *probabilities = memory_zero(event->row_count + 1, sizeof *probabilities);
	size_t shown = 0;
	for (size_t i = 0; i < event->row_count; i++) {
		values[i][file] = (struct significance_value){ .interval = { -100, 100 }, .probability = 1 };
		if (!can_judge(slices) || !diff_row_is_shown(&event->rows[i]))
			continue;
		judge_row(event, &event->rows[i], file, slices, &values[i][file]);
		probabilities[shown++] = values[i][file].probability;
	}
	statistics_holm(probabilities, shown);
	shown = 0;
	for (size_t i = 0; i < event->row_count; i++) {
		if (!can_judge(slices) || !diff_row_is_shown(&event->rows[i]))
			continue;
		values[i][file].probability = probabilities[shown++];
		values[i][file].changed = values[i][file].probability <= LIMIT;
	}
	free(probabilities);
}

static void judge_event(struct significance *significance, const struct diff_event *event, struct significance_value **values)
{
	const struct diff *diff = significance->diff;
	struct random_numbers random = { SEED };
	struct slices base, other;
	slices_open(&base, diff, &event->sides[0]);
	slices_resample(&base, &random);
	for (size_t i = 0; i < event->row_count; i++)
		values[i] = arena_alloc(&significance->arena, diff->file_count * sizeof **values);
	for (uint32_t file = 1; file < diff->file_count; file++) {
		slices_open(&other, diff, &event->sides[file]);
		slices_resample(&other, &random);
		judge_file(event, file, (const struct slices *[]){ &base, &other }, values);
		if (significance->least_slices > other.count)
			significance->least_slices = other.count;
		slices_close(&other);
	}
	if (significance->least_slices > base.count)
		significance->least_slices = base.count;
	slices_close(&base);
}

void significance_init(struct significance *significance, const struct diff *diff)
{
	*significance = (struct significance){ .diff = diff, .least_slices = SIZE_MAX };
	significance->values = arena_alloc(&significance->arena, (diff->event_count + 1) * sizeof *significance->values);
	for (size_t i = 0; i < diff->event_count; i++) {
		size_t rows = diff->events[i].row_count;
		significance->values[i] = arena_alloc(&significance->arena, (rows + 1) * sizeof **significance->values);
		judge_event(significance, &diff->events[i], significance->values[i]);
	}
}

void significance_fini(struct significance *significance)
{
	arena_fini(&significance->arena);
	*significance = (struct significance){ 0 };
}

double significance_largest(const struct significance *significance)
{
	const struct diff *diff = significance->diff;
	double largest = 0;
	for (size_t e = 0; e < diff->event_count; e++)
		for (size_t i = 0; i < diff->events[e].row_count; i++)
			for (uint32_t file = 1; file < diff->file_count; file++) {
				double change = fabs(diff_share_change(&diff->events[e], &diff->events[e].rows[i], file));
				if (significance->values[e][i][file].changed && change > largest)
					largest = change;
			}
	return largest;
}
