#include "render/sched/times.h"

#include <stdlib.h>

#include "unit.h"

TEST("times are aligned, and digits that are not shown are cut, not rounded")
{
	struct writer out;
	writer_open(&out, -1, 0);
	times_add_seconds(&out, 12345678999, 12);
	times_add_seconds(&out, 0, 0);
	writer_putc(&out, '|');
	times_add_milliseconds(&out, 1999999, 6);
	times_add_unknown(&out, 6);
	times_add_milliseconds(&out, 12345678000999, 2);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "   12.3456780.000000|     1.999          ? 12345678.000 ");
	writer_fini(&out);
}
