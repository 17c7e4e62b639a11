#include "workload/until.h"

#include <math.h>
#include <stdlib.h>
#include <sys/time.h>

volatile sig_atomic_t until_over;

static void on_signal(int number)
{
	(void)number;
	until_over = 1;
}

void until_start(int argc, const char **argv)
{
	const double most = 1e9, micro = 1e6;
	double seconds = argc > 0 ? strtod(argv[0], NULL) : 1;
	struct itimerval timer = { 0 };
	until_over = 0;
	signal(SIGINT, on_signal);
	signal(SIGALRM, on_signal);
	if (!(seconds > 0))
		return;
	seconds = fmin(seconds, most);
	timer.it_value.tv_sec = (time_t)seconds;
	timer.it_value.tv_usec = (suseconds_t)((seconds - floor(seconds)) * micro);
	if (!timer.it_value.tv_sec && !timer.it_value.tv_usec)
		timer.it_value.tv_usec = 1; /* 0 disarms the timer */
	setitimer(ITIMER_REAL, &timer, NULL);
}
