#include "base/library.h"

#include <stddef.h>

#include "unit.h"

TEST("a library's functions are stored in the order of its table")
{
	static const char *const names[] = { "sin", "cos", NULL };
	struct {
		double (*sin)(double);
		double (*cos)(double);
	} maths;
	struct library library = { .soname = "libm.so.6", .package = "libc6", .purpose = "angles", .symbols = names };
	EXPECT_INT(library_load(&library, &maths, NULL), 0);
	EXPECT(maths.sin(0) == 0 && maths.cos(0) == 1);
}

TEST("for an absent library or symbol the hint names the package")
{
	static const char *const names[] = { "no_such_function", NULL };
	void *function;
	struct error err = { 0 };
	struct library absent = { .soname = "libabsent.so.9", .package = "libabsent9", .purpose = "dreams", .symbols = names };
	EXPECT_INT(library_load(&absent, &function, &err), -1);
	EXPECT_STR(err.text, "dreams: not possible without libabsent.so.9");
	EXPECT(strstr(err.hint, "libabsent9"));
	struct library lacking = { .soname = "libm.so.6", .package = "libc6", .purpose = "dreams", .symbols = names };
	EXPECT_INT(library_load(&lacking, &function, &err), -1);
	EXPECT_STR(err.text, "dreams: not possible without libm.so.6, which lacks no_such_function");
}
