#include "unit.h"

#include <dirent.h>
#include <malloc.h>
#include <stdarg.h>

static struct unit_test *first, **last = &first;
static bool failed;
static const char *skipped;

void unit_register(struct unit_test *test)
{
	*last = test;
	last = &test->next;
}

void unit_fail(const char *file, int line, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	printf("# %s:%d: ", file, line);
	vprintf(format, args);
	printf("\n");
	va_end(args);
	failed = true;
}

void unit_skip(const char *why)
{
	skipped = why;
}

/* Whether the arguments choose a test: one selects by substring, those after ! leave tests out. */
static bool is_chosen(const char *name, char **words)
{
	for (; *words; words++)
		if ((**words == '!') == !!strstr(name, *words + (**words == '!')))
			return false;
	return true;
}

/* Open descriptors of this process; 0: unknown. */
static int count_descriptors(void)
{
	int count = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* One line a test: "ok NAME", "not ok NAME" or "skip NAME: WHY"; tools/check adds them up. */
int main(__attribute__((unused)) int argc, char **argv)
{
	enum { FREED_BYTE = 0xa5 }; /* memory that is not set holds its complement: a read of either is seldom a plausible value */
	int failures = 0;
	mallopt(M_PERTURB, FREED_BYTE);
	for (struct unit_test *test = first; test; test = test->next) {
		if (!is_chosen(test->name, argv + 1))
			continue;
		failed = false;
		skipped = NULL;
		int before = count_descriptors();
		test->run();
		int left = count_descriptors() - before;
		if (left > 0 && before && !skipped)
			unit_fail(__FILE__, __LINE__, "%d descriptors are left open", left);
		if (failed)
			printf("not ok %s\n", test->name);
		else if (skipped)
			printf("skip %s: %s\n", test->name, skipped);
		else
			printf("ok %s\n", test->name);
		fflush(stdout);
		failures += failed;
	}
	return failures != 0;
}
