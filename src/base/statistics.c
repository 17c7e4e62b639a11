#include "base/statistics.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { ROUNDS = 2000, EXACT_RANKS = 50 };

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double *copy_values(const double *values, size_t count)
{
	double *copy = memory_alloc((count + 1) * sizeof *copy);
	memcpy(copy, values, count * sizeof *copy);
	return copy;
}

double statistics_mean(const double *values, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return count ? sum / (double)count : 0;
}

double statistics_stddev(const double *values, size_t count)
{
	if (count < 2)
		return 0;
	double mean = statistics_mean(values, count), squares = 0;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return sqrt(squares / (double)(count - 1));
}

double statistic_mean(double *values, size_t count)
{
	return statistics_mean(values, count);
}

double statistic_median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double statistics_median(const double *values, size_t count)
{
	if (!count)
		return 0;
	double *copy CLEANUP_FREE = copy_values(values, count);
	return statistic_median(copy, count);
}

double statistics_mad(const double *values, size_t count)
{
	if (!count)
		return 0;
	double median = statistics_median(values, count);
	double *distances CLEANUP_FREE = copy_values(values, count);
	for (size_t i = 0; i < count; i++)
		distances[i] = fabs(values[i] - median);
	return statistic_median(distances, count);
}

/* splitmix64: G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, 2014. */
uint64_t random_next(struct random_numbers *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t random_below(struct random_numbers *random, uint64_t bound)
{
	/* the numbers from the last multiple of bound on would make small results more frequent */
	const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
	uint64_t number;
	do
		number = random_next(random);
	while (number >= limit);
	return number % bound;
}

double statistics_normal_cdf(double z)
{
	return 0.5 * erfc(-z / M_SQRT2);
}

double statistics_normal_quantile(double p)
{
	double low = -40, high = 40;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;
		if (statistics_normal_cdf(middle) < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), from its first term on, by the method of Lentz. */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;
	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int m = 1; m < 300; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		const double terms[] = { even, odd };
		double factor = 1;
		for (int i = 0; i < 2; i++) {
			d = 1 + terms[i] * d;
			c = 1 + terms[i] / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			factor = c * d;
			result *= factor;
		}
		if (fabs(factor - 1) < 1e-14)
			break;
	}
	return result;
}

/* The regularized incomplete beta function; x in [0, 1]. */
static double incomplete_beta(double x, double a, double b)
{
	if (x <= 0 || x >= 1)
		return x > 0;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double statistics_student_cdf(double t, double freedom)
{
	double tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5);
	return t > 0 ? 1 - tail : tail;
}

double statistics_student_quantile(double p, double freedom)
{
	double low = -1, high = 1;
	while (statistics_student_cdf(low, freedom) > p && low > -1e15)
		low *= 2;
	while (statistics_student_cdf(high, freedom) < p && high < 1e15)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;
		if (statistics_student_cdf(middle, freedom) < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static void resample(struct random_numbers *random, double *target, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		target[i] = values[random_below(random, count)];
}

/* The p-quantile of sorted values, interpolated. */
static double percentile(const double *sorted, size_t count, double p)
{
	double at = p * (double)(count - 1);
	size_t below = (size_t)at;
	if (below + 1 >= count || sorted[below] == sorted[below + 1])
		return sorted[below];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct interval statistics_resampled_interval(double *results, size_t rounds, size_t count, double confidence)
{
	qsort(results, rounds, sizeof *results, compare_doubles);
	if (count < 2)
		return (struct interval){ results[0], results[rounds - 1] };
	double tail = (1 - confidence) / 2, freedom = (double)count - 1;
	double t = statistics_student_quantile(tail, freedom) * sqrt((double)count / freedom);
	double wider = statistics_normal_cdf(t);
	return (struct interval){ percentile(results, rounds, wider), percentile(results, rounds, 1 - wider) };
}

static double confidence_of(const struct bootstrap *how)
{
	return how->confidence ? how->confidence : 0.95;
}

struct interval statistics_interval(const double *values, size_t count, statistic_function *statistic, const struct bootstrap *how)
{
	if (count < 2)
		return (struct interval){ count ? values[0] : 0, count ? values[0] : 0 };
	size_t rounds = how->rounds ? how->rounds : ROUNDS;
	struct random_numbers random = { how->seed };
	double *results CLEANUP_FREE = memory_zero(rounds, sizeof *results);
	double *sample CLEANUP_FREE = memory_zero(count, sizeof *sample);
	for (size_t i = 0; i < rounds; i++) {
		resample(&random, sample, values, count);
		results[i] = statistic(sample, count);
	}
	return statistics_resampled_interval(results, rounds, count, confidence_of(how));
}

static double relative_change(double before, double after)
{
	if (before == 0)
		return after == 0 ? 0 : after > 0 ? INFINITY : -INFINITY;
	return after / before - 1;
}

struct interval statistics_change_interval(const double *before, size_t before_count, const double *after, size_t after_count,
	statistic_function *statistic, const struct bootstrap *how)
{
	size_t rounds = how->rounds ? how->rounds : ROUNDS, fewer = before_count < after_count ? before_count : after_count;
	struct random_numbers random = { how->seed };
	double *results CLEANUP_FREE = memory_zero(rounds, sizeof *results);
	double *sample CLEANUP_FREE = memory_zero(before_count > after_count ? before_count : after_count, sizeof *sample);
	for (size_t i = 0; i < rounds; i++) {
		resample(&random, sample, before, before_count);
		double old = statistic(sample, before_count);
		resample(&random, sample, after, after_count);
		results[i] = relative_change(old, statistic(sample, after_count));
	}
	return statistics_resampled_interval(results, rounds, fewer, confidence_of(how));
}

struct ranked {
	double value;
	int of_a;
};

static int compare_ranked(const void *a, const void *b)
{
	return compare_doubles(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

/* Twice the sum of the ranks of a, so that middle ranks of ties are whole; *ties receives the sum of t^3 - t over groups of t ties. */
static double rank_sum(const double *a, size_t a_count, const double *b, size_t b_count, double *ties)
{
	size_t total = a_count + b_count;
	struct ranked *all CLEANUP_FREE = memory_zero(total, sizeof *all);
	for (size_t i = 0; i < total; i++)
		all[i] = (struct ranked){ i < a_count ? a[i] : b[i - a_count], i < a_count };
	qsort(all, total, sizeof *all, compare_ranked);
	double sum = 0;
	*ties = 0;
	for (size_t from = 0, to; from < total; from = to) {
		size_t of_a = 0;
		for (to = from; to < total && all[to].value == all[from].value; to++)
			of_a += (size_t)all[to].of_a;
		double equal = (double)(to - from);
		sum += (double)of_a * (double)(from + 1 + to);
		*ties += equal * equal * equal - equal;
	}
	return sum;
}

/* The part of all orders of a and b values in which at most `most` pairs have the value of a above that of b: the coefficients of the
 * Gaussian binomial, built factor by factor. */
static double exact_tail(size_t a_count, size_t b_count, size_t most)
{
	size_t degree = a_count * b_count;
	double *orders CLEANUP_FREE = memory_zero(degree + 1, sizeof *orders);
	orders[0] = 1;
	for (size_t i = 1; i <= a_count; i++) {
		for (size_t at = degree + 1; at-- > b_count + i;)
			orders[at] -= orders[at - b_count - i];
		for (size_t at = i; at <= degree; at++)
			orders[at] += orders[at - i];
		for (size_t at = 0; at <= degree; at++) /* each factor's sum is 1: no overflow */
			orders[at] *= (double)i / (double)(b_count + i);
	}
	double below = 0;
	for (size_t i = 0; i <= most && i <= degree; i++)
		below += orders[i];
	return below;
}

double statistics_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count)
{
	if (!a_count || !b_count)
		return 1;
	double ties, n = (double)a_count, m = (double)b_count, pairs = n * m;
	double above = (rank_sum(a, a_count, b, b_count, &ties) - n * (n + 1)) / 2;
	double smaller = above < pairs - above ? above : pairs - above;
	if (ties == 0 && a_count <= EXACT_RANKS && b_count <= EXACT_RANKS) {
		double p = 2 * exact_tail(a_count, b_count, (size_t)smaller);
		return p < 1 ? p : 1;
	}
	double variance = pairs / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
	if (variance <= 0) /* all values are equal */
		return 1;
	double z = (pairs / 2 - smaller - 0.5) / sqrt(variance);
	double p = 2 * statistics_normal_cdf(-z);
	return p < 1 ? p : 1;
}

/* The number of ways to choose, or more than `limit`. */
static double divisions(size_t count, size_t total, double limit)
{
	double ways = 1;
	for (size_t i = 1; i <= count && ways <= limit; i++)
		ways *= (double)(total - count + i) / (double)i;
	return ways;
}

/* The next choice of `count` of `total` indexes in ascending order; 0 after the last. */
static int next_choice(size_t *chosen, size_t count, size_t total)
{
	for (size_t i = count; i-- > 0;) {
		if (chosen[i] == total - count + i)
			continue;
		chosen[i]++;
		for (size_t j = i + 1; j < count; j++)
			chosen[j] = chosen[j - 1] + 1;
		return 1;
	}
	return 0;
}

static double every_division(const double *all, size_t total, size_t count, double least)
{
	size_t *chosen CLEANUP_FREE = memory_zero(count, sizeof *chosen);
	for (size_t i = 0; i < count; i++)
		chosen[i] = i;
	double tried = 0, extreme = 0;
	do {
		double sum = 0;
		for (size_t i = 0; i < count; i++)
			sum += all[chosen[i]];
		extreme += fabs(sum) >= least;
		tried++;
	} while (next_choice(chosen, count, total));
	return extreme / tried;
}

static double random_divisions(double *all, size_t total, size_t count, double least, unsigned rounds, uint64_t seed)
{
	struct random_numbers random = { seed };
	double extreme = 1; /* the observed division is one of them */
	for (unsigned round = 0; round < rounds; round++) {
		double sum = 0;
		for (size_t i = 0; i < count; i++) {
			size_t other = i + random_below(&random, total - i);
			double value = all[other];
			all[other] = all[i];
			all[i] = value;
			sum += value;
		}
		extreme += fabs(sum) >= least;
	}
	return extreme / (rounds + 1.0);
}

double statistics_permutation(const double *a, size_t a_count, const double *b, size_t b_count, unsigned rounds, uint64_t seed)
{
	size_t total = a_count + b_count;
	if (!a_count || !b_count)
		return 1;
	double *all CLEANUP_FREE = memory_zero(total, sizeof *all);
	memcpy(all, a, a_count * sizeof *all);
	memcpy(all + a_count, b, b_count * sizeof *all);
	double center = statistics_mean(all, total), size = 0; /* sums around 0 lose the fewest digits */
	for (size_t i = 0; i < total; i++) {
		all[i] -= center;
		size += fabs(all[i]);
	}
	double observed = fabs(statistics_mean(all, a_count) * (double)a_count);
	double least = observed - 1e-9 * size; /* equal sums in another order of additions count as equal */
	if (size == 0)
		return 1;
	if (divisions(a_count, total, rounds) <= rounds)
		return every_division(all, total, a_count, least);
	return random_divisions(all, total, a_count, least, rounds, seed);
}

struct numbered {
	double value;
	size_t number;
};

static int compare_numbered(const void *a, const void *b)
{
	return compare_doubles(&((const struct numbered *)a)->value, &((const struct numbered *)b)->value);
}

void statistics_holm(double *probabilities, size_t count)
{
	struct numbered *sorted CLEANUP_FREE = memory_zero(count + 1, sizeof *sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct numbered){ probabilities[i], i };
	qsort(sorted, count, sizeof *sorted, compare_numbered);
	double largest = 0;
	for (size_t i = 0; i < count; i++) {
		double adjusted = sorted[i].value * (double)(count - i);
		largest = adjusted > largest ? adjusted : largest;
		probabilities[sorted[i].number] = largest < 1 ? largest : 1;
	}
}
