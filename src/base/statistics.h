/* Statistics of a few repeated measurements: middle, spread, intervals of confidence, tests whether two sets of values differ. Random
 * choices come from a seed: equal inputs give equal results. Values must be finite. Does not know what was measured. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A function of `count` >= 1 values; it may reorder them. */
typedef double statistic_function(double *values, size_t count);

double statistics_mean(const double *values, size_t count);   /* 0 without values */
double statistics_stddev(const double *values, size_t count); /* of a sample: divides by count - 1; 0 for fewer than two values */
double statistics_median(const double *values, size_t count); /* 0 without values */
double statistics_mad(const double *values, size_t count);    /* median of the distances from the median, not scaled */

/* Mean and median as statistic_function. */
double statistic_mean(double *values, size_t count);
double statistic_median(double *values, size_t count);

struct random_numbers {
	uint64_t state; /* the seed, at first */
};
uint64_t random_next(struct random_numbers *random);
uint64_t random_below(struct random_numbers *random, uint64_t bound); /* 0 … bound - 1, bound >= 1, evenly */

struct interval {
	double low, high;
};

struct bootstrap {
	unsigned rounds;   /* resamples; 0: 2000 */
	double confidence; /* 0: 0.95 */
	uint64_t seed;
};

/* The interval of confidence of a statistic by bootstrap: percentiles of resamples, moved outwards as Student's t requires for few values
 * (T. Hesterberg, What Teachers Should Know About the Bootstrap, 2015). Fewer than two values: from the value to itself. */
struct interval statistics_interval(const double *values, size_t count, statistic_function *statistic, const struct bootstrap *how);

/* The same for the relative change statistic(after) / statistic(before) - 1; both sets have at least one value. A resample whose
 * denominator is 0 counts as no change if its numerator is 0, too, and else as an infinite change. */
struct interval statistics_change_interval(const double *before, size_t before_count, const double *after, size_t after_count,
	statistic_function *statistic, const struct bootstrap *how);

/* The probability that two sets of one distribution differ at least so much, two-sided: in ranks (Mann-Whitney; exact without ties up to
 * 50 values a side, else by the normal approximation with correction for ties) … */
double statistics_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);
/* … or in means (permutation; all divisions of the values are tried if there are at most `rounds`, else `rounds` random ones). Without
 * values on one side: 1. */
double statistics_permutation(const double *a, size_t a_count, const double *b, size_t b_count, unsigned rounds, uint64_t seed);

/* Holm's correction of probabilities of several tests that are read together: with the adjusted values, the chance of one or more false
 * alarms at a limit is at most that limit. In place, order unchanged. */
void statistics_holm(double *probabilities, size_t count);

/* The interval of `rounds` resampled results, which it sorts, of a statistic of `count` values; as above. count < 2: all results. */
struct interval statistics_resampled_interval(double *results, size_t rounds, size_t count, double confidence);

double statistics_normal_cdf(double z);
double statistics_normal_quantile(double p);                 /* 0 < p < 1 */
double statistics_student_cdf(double t, double freedom);     /* freedom > 0 */
double statistics_student_quantile(double p, double freedom); /* 0 < p < 1 */
