/* The line about a clock that changed during a measurement. Two calls: clock_remark_begin before it, clock_remark_end after it. */
#pragma once
#include "cmd/command.h"
#include "os/cpu_clock.h"

struct clock_remark {
	struct cpu_clock clock;
	bool begun;
};

/* Begins where the machine has a frequency driver. */
void clock_remark_begin(struct clock_remark *remark);
/* Prints a line on stderr if the clock changed; say false: only ends. */
void clock_remark_end(struct cli *cli, struct clock_remark *remark, bool say);
