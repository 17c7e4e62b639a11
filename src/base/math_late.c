/* The functions of <math.h> that perfuse and its static libraries call. libm.so is loaded when one of them is first called: at each start
 * it would cost short commands, which do not calculate, time and memory. What rounds is here, as it is called most.
 * Include <math.h> to call them (docs/decisions/015-libm-is-loaded-late.md). */
#include <features.h>
#if defined __GLIBC__
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/library.h"

#define MATH_ONE(row) row(acos) row(acosh) row(asin) row(asinh) row(atan) row(atanh) row(cos) row(cosh) row(erfc) row(exp) row(lgamma) \
	row(log) row(log10) row(log1p) row(log2) row(sin) row(sinh) row(sqrt) row(tan) row(tanh)
#define MATH_TWO(row) row(atan2) row(fmod) row(pow)

#define NAME(name) #name,
static const char *const names[] = { MATH_ONE(NAME) MATH_TWO(NAME) "sincos", NULL };

#define POINTER_ONE(name) double (*name)(double);
#define POINTER_TWO(name) double (*name)(double, double);
/* Filled once, as the dynamic linker fills its table of addresses: tools/check-hygiene permits this global. */
static struct {
	pthread_once_t once;
	bool loaded;
	struct {
		MATH_ONE(POINTER_ONE)
		MATH_TWO(POINTER_TWO)
		void (*sincos)(double, double *, double *);
	} functions;
} late_libm = { .once = PTHREAD_ONCE_INIT };

static void load(void)
{
	static const struct library libm = { "libm.so.6", "libc6", "mathematics", names };
	late_libm.loaded = library_load(&libm, &late_libm.functions, NULL) >= 0;
}

static bool ready(void)
{
	pthread_once(&late_libm.once, load);
	return late_libm.loaded;
}

#define DEFINE_ONE(name) double name(double x) { return ready() ? late_libm.functions.name(x) : NAN; }
#define DEFINE_TWO(name) double name(double x, double y) { return ready() ? late_libm.functions.name(x, y) : NAN; }
MATH_ONE(DEFINE_ONE)
MATH_TWO(DEFINE_TWO)

void sincos(double x, double *sine, double *cosine)
{
	*sine = *cosine = NAN;
	if (ready())
		late_libm.functions.sincos(x, sine, cosine);
}

double trunc(double x)
{
	/* from 2^52 every number is whole; not a number: unchanged */
	return fabs(x) < 0x1p52 ? copysign((double)(int64_t)x, x) : x;
}

double floor(double x)
{
	double whole = trunc(x);
	return whole > x ? whole - 1 : whole;
}

double ceil(double x)
{
	double whole = trunc(x);
	return whole < x ? copysign(whole + 1, x) : whole;
}

double round(double x)
{
	double whole = trunc(x);
	return fabs(x - whole) >= 0.5 ? whole + copysign(1, x) : whole;
}

long long llround(double x)
{
	return (long long)round(x);
}

double fmax(double x, double y)
{
	return isnan(x) || x < y ? y : x;
}

double fmin(double x, double y)
{
	return isnan(x) || x > y ? y : x;
}
#endif
