/* Prints the arguments of a static probe point, and whether the point is enabled. */
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <sys/sdt.h>

__extension__ unsigned short perfuse_probe_step_semaphore __attribute__((section(".probes")));

struct item {
	int x;
};

__attribute__((noinline)) static void work(int i, long total, const struct item *item)
{
	if (perfuse_probe_step_semaphore)
		puts("enabled");
	STAP_PROBE3(perfuse_probe, step, i, total, item->x);
	printf("step %d %ld %d\n", i, total, item->x);
}

int main(void)
{
	for (int i = 0; i < 4; i++) {
		struct item item = { i * 7 };
		work(i, i * -1000L, &item);
	}
	return 0;
}
