/* hammer ROUNDS HOLD_MS: one thread holds the lock of a file's inode for HOLD_MS in each round, while another thread waits for it. The
 * lock is held by a write(2) whose buffer is a page that userfaultfd fills HOLD_MS later. Prints "owner TID", "waiter TID", and
 * "waited NS": the sum of the waits as the waiter measured them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int rounds, hold_ms, file, faults;
static char *pages;
static sem_t begun;
static long owner, waiter;

static void sleep_ms(int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };
	nanosleep(&time, NULL);
}

static long long now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void *fill(void *unused)
{
	static char zeros[PAGE] __attribute__((aligned(PAGE)));
	for (int i = 0; i < rounds; i++) {
		struct uffd_msg message;
		if (read(faults, &message, sizeof message) != sizeof message)
			exit(3);
		sem_post(&begun);
		sleep_ms(hold_ms);
		struct uffdio_copy copy = { .dst = message.arg.pagefault.address & ~(PAGE - 1ul), .src = (unsigned long)zeros, .len = PAGE };
		ioctl(faults, UFFDIO_COPY, &copy);
	}
	return unused;
}

static void *hold(void *unused)
{
	prctl(PR_SET_NAME, "holder");
	owner = syscall(SYS_gettid);
	for (int i = 0; i < rounds; i++) {
		if (pwrite(file, pages + i * PAGE, PAGE, 0) != PAGE)
			exit(4);
		sleep_ms(5);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	long long waited = 0;
	if (argc != 3)
		return 2;
	rounds = atoi(argv[1]);
	hold_ms = atoi(argv[2]);
	file = memfd_create("hammer", 0);
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	pages = mmap(NULL, (size_t)rounds * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (unsigned long)pages, (unsigned long)rounds * PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	if (file < 0 || faults < 0 || ioctl(faults, UFFDIO_API, &api) < 0 || ioctl(faults, UFFDIO_REGISTER, &range) < 0) {
		perror("hammer: userfaultfd");
		return 77;
	}
	sem_init(&begun, 0, 0);
	prctl(PR_SET_NAME, "waiter");
	waiter = syscall(SYS_gettid);
	pthread_create(&threads[0], NULL, fill, NULL);
	pthread_create(&threads[1], NULL, hold, NULL);
	for (int i = 0; i < rounds; i++) {
		sem_wait(&begun);
		sleep_ms(2);
		long long before = now_ns();
		if (pwrite(file, "x", 1, 0) != 1)
			return 4;
		waited += now_ns() - before;
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("owner %ld\nwaiter %ld\nwaited %lld\n", owner, waiter, waited);
	return 0;
}
