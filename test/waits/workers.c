/* workers threads|processes NUMBER ROUNDS: workers that map, touch and unmap memory. Threads share one address space, and so its lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 64 << 10, PAGE = 4096 };

static int rounds;

static void *work(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			exit(1);
		for (int at = 0; at < BYTES; at += PAGE)
			memory[at] = 1;
		munmap(memory, BYTES);
	}
	return unused;
}

int main(int argc, char **argv)
{
	int number = argc > 2 ? atoi(argv[2]) : 100;
	rounds = argc > 3 ? atoi(argv[3]) : 100;
	pthread_t *threads = calloc((size_t)number, sizeof *threads);
	if (argc < 2 || !threads)
		return 2;
	for (int i = 0; i < number; i++) {
		if (strcmp(argv[1], "threads") == 0)
			pthread_create(&threads[i], NULL, work, NULL);
		else if (fork() == 0) {
			work(NULL);
			_exit(0);
		}
	}
	for (int i = 0; i < number && strcmp(argv[1], "threads") == 0; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
	return 0;
}
