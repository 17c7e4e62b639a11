/* A workload of functions that are inlined into their caller. */
#include "workload/programs.h"
#include "workload/until.h"

#define INLINED static inline __attribute__((always_inline)) void

/* As long as the workload runs. */
static unsigned long inlined_rounds;

/*
 * Scripts look for the numbers of these lines:
 *
 *   20 to 29   what is inlined
 *   30 to 39   who calls it
 *
 * A line more above them, or less, is a mistake.
 */


INLINED inlined_leaf(void)
{
	while (!until_over)
		inlined_rounds++;
}

INLINED inlined_middle(void)
{
	inlined_leaf();
}

static void inlined_parent(void)
{
	inlined_middle();
}

int inlineloop(int argc, const char **argv)
{
	until_start(argc, argv);
	inlined_parent();
	return 0;
}
