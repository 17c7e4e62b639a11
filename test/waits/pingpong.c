/* pingpong ROUNDS: two threads pass one byte to and fro through pipes: two switches a round, and hardly any work. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int to[2], from[2], rounds;

static void *answer(void *unused)
{
	char byte;
	while (read(to[0], &byte, 1) == 1)
		if (write(from[1], &byte, 1) != 1)
			break;
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char byte = 'x';
	rounds = argc > 1 ? atoi(argv[1]) : 100000;
	if (pipe(to) < 0 || pipe(from) < 0 || pthread_create(&thread, NULL, answer, NULL) != 0)
		return 1;
	for (int i = 0; i < rounds; i++)
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			return 1;
	close(to[1]);
	pthread_join(thread, NULL);
	printf("%d rounds\n", rounds);
	return 0;
}
