#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "unit.h"

#if defined __GLIBC__
static bool same(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

TEST("each mathematical function returns what the C library's returns")
{
	static const struct {
		const char *name;
		double (*own)(double);
	} rows[] = {
		{ "acos", acos }, { "acosh", acosh }, { "asin", asin }, { "asinh", asinh }, { "atan", atan }, { "atanh", atanh }, { "cos", cos },
		{ "cosh", cosh }, { "erfc", erfc }, { "exp", exp }, { "lgamma", lgamma }, { "log", log }, { "log10", log10 }, { "log1p", log1p },
		{ "log2", log2 }, { "sin", sin }, { "sinh", sinh }, { "sqrt", sqrt }, { "tan", tan }, { "tanh", tanh }, { "trunc", trunc },
		{ "floor", floor }, { "ceil", ceil }, { "round", round },
	};
	static const double values[] = {
		0.0, -0.0, 0.5, -0.5, 0.49999999999999994, -0.49999999999999994, 1, -1, 1.5, -1.5, 2.5, -2.5, 0.999, -0.999, 1e9 + 0.5, -1e9 - 0.5,
		0x1p52 - 0.5, -0x1p52 + 0.5, 0x1p52, -0x1p52, 0x1p52 + 1, 0x1p53 + 2, 1e300, -1e300, 5e-324, -5e-324, INFINITY, -INFINITY, NAN,
	};
	void *libm = dlopen("libm.so.6", RTLD_NOW);
	EXPECT(libm != NULL);
	for (size_t i = 0; i < sizeof rows / sizeof *rows && libm; i++) {
		double (*theirs)(double);
		*(void **)&theirs = dlsym(libm, rows[i].name);
		EXPECT(theirs != NULL && theirs != rows[i].own);
		for (size_t k = 0; k < sizeof values / sizeof *values && theirs; k++)
			if (!same(rows[i].own(values[k]), theirs(values[k])))
				EXPECT_STR(rows[i].name, "as in the C library"); /* shows the name */
	}
	if (libm)
		dlclose(libm);
}

TEST("mathematical functions of two numbers have their arguments in order")
{
	double sine, cosine;
	EXPECT(pow(2, 10) == 1024);
	EXPECT(fmod(7.5, 2) == 1.5);
	EXPECT(atan2(1, 0) == M_PI_2);
	sincos(0, &sine, &cosine);
	EXPECT(sine == 0 && cosine == 1);
	EXPECT(llround(2.5) == 3 && llround(-2.5) == -3 && llround(0x1p62) == 1LL << 62);
	double (*volatile most)(double, double) = fmax, (*volatile least)(double, double) = fmin;
	EXPECT(most(1, 2) == 2 && most(2, 1) == 2 && most(NAN, 1) == 1 && most(1, NAN) == 1 && isnan(most(NAN, NAN)));
	EXPECT(least(1, 2) == 1 && least(2, 1) == 1 && least(NAN, 1) == 1 && least(1, NAN) == 1 && isnan(least(NAN, NAN)));
}
#endif
