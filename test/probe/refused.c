/* Asks for memory that the limit does not allow, several times, after others have had time to attach. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((noinline)) static void *ask(size_t size)
{
	void *volatile memory = malloc(size);
	return memory;
}

int main(int argc, char **argv)
{
	struct rlimit limit = { 64 << 20, 64 << 20 };
	int count = argc > 1 ? atoi(argv[1]) : 1;
	setrlimit(RLIMIT_AS, &limit);
	sleep(3);
	for (int i = 0; i < count; i++) {
		free(ask(100));
		if (!ask((size_t)1 << 30))
			puts("refused");
	}
	return 0;
}
