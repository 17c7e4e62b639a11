/* Works in the handler of a signal, which has a stack of its own. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t work;

static void handler(int signal)
{
	(void)signal;
	for (clock_t end = clock() + CLOCKS_PER_SEC / 2; clock() < end;)
		for (unsigned i = 0; i < 100000; i++)
			work += i;
}

int main(void)
{
	const stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	return raise(SIGUSR1);
}
