#include "base/statistics.h"

#include <math.h>

#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define EXPECT_NEAR(got, want, within) \
	do { \
		double near_got_ = (got), near_want_ = (want); \
		if (!(fabs(near_got_ - near_want_) <= (within))) \
			unit_fail(__FILE__, __LINE__, "%s is %.9g, expected %.9g", #got, near_got_, near_want_); \
	} while (0)

/* An even distribution around 0 whose standard deviation is 1. */
static double even(struct random_numbers *random)
{
	return ((double)random_next(random) / 18446744073709551616.0 - 0.5) * sqrt(12);
}

/* A sum of twelve of them is nearly normal. */
static double normal(struct random_numbers *random)
{
	double sum = 0;
	for (int i = 0; i < 12; i++)
		sum += even(random);
	return sum / sqrt(12);
}

TEST("mean, standard deviation, median and median distance of known values")
{
	double values[] = { 9, 1, 4, 2, 4 };
	EXPECT_NEAR(statistics_mean(values, 5), 4, 1e-12);
	EXPECT_NEAR(statistics_stddev(values, 5), sqrt(38 / 4.0), 1e-12);
	EXPECT_NEAR(statistics_median(values, 5), 4, 0);
	EXPECT_NEAR(statistics_median(values, 4), 3, 0);
	EXPECT_NEAR(statistics_mad(values, 5), 2, 0);
	EXPECT_NEAR(values[0], 9, 0); /* not reordered */
}

TEST("few values have a middle and no spread")
{
	double one = 7;
	EXPECT_NEAR(statistics_mean(NULL, 0) + statistics_median(NULL, 0) + statistics_mad(NULL, 0), 0, 0);
	EXPECT_NEAR(statistics_median(&one, 1), 7, 0);
	EXPECT_NEAR(statistics_stddev(&one, 1), 0, 0);
	struct interval interval = statistics_interval(&one, 1, statistic_mean, &(struct bootstrap){ 0 });
	EXPECT(interval.low == 7 && interval.high == 7);
}

TEST("quantiles are those of the printed tables")
{
	EXPECT_NEAR(statistics_normal_quantile(0.975), 1.959964, 1e-6);
	EXPECT_NEAR(statistics_normal_cdf(-1.959964), 0.025, 1e-7);
	EXPECT_NEAR(statistics_student_quantile(0.975, 1), 12.7062, 1e-3);
	EXPECT_NEAR(statistics_student_quantile(0.975, 2), 4.30265, 1e-4);
	EXPECT_NEAR(statistics_student_quantile(0.975, 3), 3.18245, 1e-4);
	EXPECT_NEAR(statistics_student_quantile(0.975, 9), 2.26216, 1e-4);
	EXPECT_NEAR(statistics_student_quantile(0.9995, 5), 6.86883, 1e-4);
	EXPECT_NEAR(statistics_student_cdf(0, 4), 0.5, 1e-12);
	EXPECT_NEAR(statistics_student_cdf(1, 1), 0.75, 1e-12);
	EXPECT_NEAR(statistics_student_cdf(-2.22814, 10), 0.025, 1e-6);
	EXPECT_NEAR(statistics_student_quantile(0.025, 30), -2.04227, 1e-4);
}

TEST("random numbers below a bound reach all of them, evenly, and repeat with their seed")
{
	struct random_numbers random = { 42 }, same = { 42 };
	unsigned counts[7] = { 0 };
	for (int i = 0; i < 70000; i++) {
		uint64_t number = random_below(&random, 7);
		EXPECT(number == random_below(&same, 7));
		counts[number]++;
	}
	for (int i = 0; i < 7; i++)
		EXPECT_NEAR(counts[i], 10000, 500);
}

TEST("95 % intervals hold the true mean and the true median in about 95 % of all samples, also small ones")
{
	struct random_numbers random = { 1 };
	for (size_t size = 8; size <= 20; size += 12) {
		unsigned mean_held = 0, median_held = 0, change_held = 0;
		for (unsigned trial = 0; trial < 400; trial++) {
			double values[20], others[20];
			for (size_t i = 0; i < size; i++) {
				values[i] = 10 + normal(&random);
				others[i] = 11 + normal(&random);
			}
			struct bootstrap how = { .rounds = 400, .seed = trial };
			struct interval mean = statistics_interval(values, size, statistic_mean, &how);
			struct interval median = statistics_interval(values, size, statistic_median, &how);
			struct interval change = statistics_change_interval(values, size, others, size, statistic_mean, &how);
			mean_held += mean.low <= 10 && mean.high >= 10;
			median_held += median.low <= 10 && median.high >= 10;
			change_held += change.low <= 0.1 && change.high >= 0.1;
		}
		EXPECT_NEAR(mean_held / 4.0, 95, 4);
		EXPECT_NEAR(median_held / 4.0, 96, 4);
		EXPECT_NEAR(change_held / 4.0, 96, 4);
	}
}

TEST("an interval repeats with its seed")
{
	double values[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
	struct interval first = statistics_interval(values, 8, statistic_mean, &(struct bootstrap){ .seed = 5 });
	struct interval again = statistics_interval(values, 8, statistic_mean, &(struct bootstrap){ .seed = 5 });
	EXPECT(first.low == again.low && first.high == again.high && first.low < first.high);
}

TEST("changes from nothing are infinite, from nothing to nothing none")
{
	double none[] = { 0, 0 }, some[] = { 2, 2 };
	struct interval grown = statistics_change_interval(none, 2, some, 2, statistic_mean, &(struct bootstrap){ 0 });
	struct interval equal = statistics_change_interval(none, 2, none, 2, statistic_mean, &(struct bootstrap){ 0 });
	struct interval gone = statistics_change_interval(some, 2, none, 2, statistic_mean, &(struct bootstrap){ 0 });
	EXPECT(isinf(grown.low) && isinf(grown.high));
	EXPECT(equal.low == 0 && equal.high == 0);
	EXPECT(gone.low == -1 && gone.high == -1);
}

TEST("probabilities of ranks are those of the exact distribution")
{
	double low[] = { 1, 2, 3 }, high[] = { 4, 5, 6 }, mixed[] = { 1.5, 2.5, 7 };
	EXPECT_NEAR(statistics_mann_whitney(low, 3, high, 3), 2 / 20.0, 1e-12);
	EXPECT_NEAR(statistics_mann_whitney(high, 3, low, 3), 2 / 20.0, 1e-12);
	/* two of nine pairs have the value of `low` above: orders with at most 3 such pairs are 1 + 1 + 2 + 3 of 20 */
	EXPECT_NEAR(statistics_mann_whitney(low, 3, mixed, 3), 14 / 20.0, 1e-12);
	double five[] = { 1, 2, 3, 4, 5 }, seven[] = { 6, 7, 8, 9, 10, 11, 12 };
	EXPECT_NEAR(statistics_mann_whitney(five, 5, seven, 7), 2 / 792.0, 1e-12);
}

TEST("equal values are no difference in ranks, and ties shrink the variance")
{
	double same[] = { 1, 1, 1 }, a[] = { 1, 1, 1, 1, 2, 2 }, b[] = { 2, 2, 2, 2, 2, 2 };
	EXPECT_NEAR(statistics_mann_whitney(same, 3, same, 3), 1, 0);
	/* U = 6, variance 36 / 12 * (13 - (4^3 - 4 + 8^3 - 8) / 132) = 26.18: z = 11.5 / 5.117 */
	EXPECT_NEAR(statistics_mann_whitney(a, 6, b, 6), 0.0246, 2e-4);
	EXPECT_NEAR(statistics_mann_whitney(a, 6, b, 0), 1, 0);
}

TEST("permutations of few values are counted, not drawn")
{
	double low[] = { 1, 2, 3 }, high[] = { 4, 5, 6 }, near[] = { 2, 3, 4 };
	EXPECT_NEAR(statistics_permutation(low, 3, high, 3, 1000, 1), 2 / 20.0, 1e-12);
	EXPECT_NEAR(statistics_permutation(low, 3, near, 3, 1000, 1), 10 / 20.0, 1e-12);
	EXPECT_NEAR(statistics_permutation(low, 3, low, 3, 1000, 1), 1, 0);
	EXPECT_NEAR(statistics_permutation(low, 0, low, 3, 1000, 1), 1, 0);
}

TEST("sets of one distribution differ significantly in about 5 % of all cases, different ones nearly always")
{
	struct random_numbers random = { 3 };
	unsigned ranks = 0, means = 0, found = 0;
	for (unsigned trial = 0; trial < 1000; trial++) {
		double a[10], b[10], other[10];
		for (int i = 0; i < 10; i++) {
			a[i] = normal(&random);
			b[i] = normal(&random);
			other[i] = 2 + normal(&random);
		}
		ranks += statistics_mann_whitney(a, 10, b, 10) <= 0.05;
		means += statistics_permutation(a, 10, b, 10, 500, trial) <= 0.05;
		found += statistics_permutation(a, 10, other, 10, 500, trial) <= 0.05;
	}
	EXPECT_NEAR(ranks / 10.0, 4.5, 2);
	EXPECT_NEAR(means / 10.0, 5, 2);
	EXPECT(found > 950);
}

TEST("Holm's correction multiplies the smallest by all, and never reverses an order")
{
	double p[] = { 0.04, 0.01, 0.03, 0.5 };
	statistics_holm(p, COUNT(p));
	EXPECT_NEAR(p[1], 0.04, 1e-12);
	EXPECT_NEAR(p[2], 0.09, 1e-12);
	EXPECT_NEAR(p[0], 0.09, 1e-12);
	EXPECT_NEAR(p[3], 0.5, 1e-12);
	statistics_holm(p, 0);
}
