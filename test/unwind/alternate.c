/* alternate near|far MS: signal handlers with a stack of their own. near: it lies directly below the stack of the thread that is
 * interrupted, so that a copy of 32 KB has both; far: elsewhere. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))

enum { HANDLER_STACK = 16384, THREAD_STACK = 16384 };

static volatile unsigned long sink;
static char far_stack[HANDLER_STACK];
static char *handler_stack;
static long ms;
/* Of CPU time, and set again when the handler ends: a slow processor also runs what is interrupted. */
static const struct itimerval next_alarm = { { 0, 0 }, { 0, 10000 } };

KEEP void handler_work(void)
{
	for (unsigned long i = 0; i < 3000000; i++)
		sink = sink * 77 + i;
}

KEEP void on_alarm(int number)
{
	handler_work();
	sink = (unsigned long)number;
	setitimer(ITIMER_PROF, &next_alarm, NULL);
}

KEEP void interrupted(unsigned long x)
{
	for (unsigned long i = 0; i < 1000000; i++)
		sink = sink * 75 + x;
}

KEEP void *thread_main(void *unused)
{
	stack_t own = { .ss_sp = handler_stack, .ss_size = HANDLER_STACK };
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * ms;
	sigset_t alarm_alone;
	sigemptyset(&alarm_alone);
	sigaddset(&alarm_alone, SIGPROF);
	sigaltstack(&own, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm_alone, NULL);
	while (clock() < end)
		interrupted(sink);
	return unused;
}

int main(int argc, char **argv)
{
	char *room = mmap(NULL, HANDLER_STACK + THREAD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action;
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t alarm_alone;
	if (argc < 3 || room == MAP_FAILED)
		return 1;
	ms = atol(argv[2]);
	handler_stack = strcmp(argv[1], "near") == 0 ? room : far_stack;
	memset(room, 1, HANDLER_STACK + THREAD_STACK); /* what is copied ends at the first page that is not there */
	memset(&action, 0, sizeof action);
	action.sa_handler = on_alarm;
	action.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(SIGPROF, &action, NULL);
	sigemptyset(&alarm_alone);
	sigaddset(&alarm_alone, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &alarm_alone, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, room + HANDLER_STACK, THREAD_STACK);
	setitimer(ITIMER_PROF, &next_alarm, NULL);
	if (pthread_create(&thread, &attr, thread_main, NULL) != 0)
		return 1;
	return pthread_join(thread, NULL);
}
