/* How a looping workload ends: after a number of seconds, or by SIGINT. */
#pragma once
#include <signal.h>

extern volatile sig_atomic_t until_over; /* set by either signal */

/* Reads the seconds from argv[0] (default 1; fractions are allowed). Without a positive number only SIGINT ends the loop, as in perf. */
void until_start(int argc, const char **argv);
