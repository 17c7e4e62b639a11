#include "bpf/lock_contention.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

enum { PAGE = 4096, HOLD_MS = 40 };

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* A page that userfaultfd fills after HOLD_MS. */
struct slow_page {
	char *page;
	int faults, file;
};

static void *fill(void *context)
{
	static char zeros[PAGE];
	const struct slow_page *slow = context;
	struct uffd_msg message;
	if (read(slow->faults, &message, sizeof message) != sizeof message)
		return NULL;
	sleep_ms(HOLD_MS);
	ioctl(slow->faults, UFFDIO_COPY, &(struct uffdio_copy){ .dst = (uintptr_t)slow->page, .src = (uintptr_t)zeros, .len = PAGE });
	return NULL;
}

static void *write_slowly(void *context)
{
	const struct slow_page *slow = context;
	return pwrite(slow->file, slow->page, PAGE, 0) == PAGE ? NULL : context;
}

static bool slow_open(struct slow_page *slow)
{
	*slow = (struct slow_page){ .file = memfd_create("contended", MFD_CLOEXEC), .faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC) };
	slow->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (uintptr_t)slow->page, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	return slow->faults >= 0 && ioctl(slow->faults, UFFDIO_API, &(struct uffdio_api){ .api = UFFD_API }) == 0 &&
		ioctl(slow->faults, UFFDIO_REGISTER, &range) == 0;
}

static void slow_close(const struct slow_page *slow)
{
	munmap(slow->page, PAGE);
	close(slow->faults);
	close(slow->file);
}

/* How often this thread has slept. */
static long sleeps(void)
{
	struct rusage usage = { 0 };
	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* A write from that page has the lock of the file meanwhile, for which this thread waits once. Returns the ns that it took, 0 where this
 * thread did not sleep: it came before the other write, and another process had the CPU. */
static uint64_t contend(struct slow_page *slow)
{
	struct timespec before, after;
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, fill, slow);
	pthread_create(&threads[1], NULL, write_slowly, slow);
	sleep_ms(HOLD_MS / 4);
	const long slept_before = sleeps();
	clock_gettime(CLOCK_MONOTONIC, &before);
	EXPECT_INT(pwrite(slow->file, "x", 1, 0), 1);
	clock_gettime(CLOCK_MONOTONIC, &after);
	const bool slept = sleeps() > slept_before;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	const int64_t ns = (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
	return slept ? (uint64_t)ns : 0;
}

struct total {
	uint64_t count, ns, sums, with_stack, of_type, of_semaphores, semaphores_ns;
};

static void add_sum(void *context, const struct lock_key *key, const struct lock_sum *sum, const uint64_t *stack)
{
	struct total *total = context;
	total->sums++;
	total->count += sum->count;
	total->ns += sum->total;
	total->with_stack += stack[0] != 0;
	/* by address, the mark of the lock of this process' mappings is added to its type: mapping the stacks of threads may wait for it */
	total->of_type += (sum->flags & ~(uint32_t)(LOCK_IS_MMAP | LOCK_IS_SIGHAND)) == LOCK_FLAG_WRITE ? sum->count : 0;
	total->of_semaphores += sum->flags == LOCK_FLAG_WRITE ? sum->count : 0;
	total->semaphores_ns += sum->flags == LOCK_FLAG_WRITE ? sum->total : 0;
	EXPECT(sum->min <= sum->max && sum->max <= sum->total);
	(void)key;
}

/* Measures `contend` in this process; false: this user or kernel cannot. */
static bool measured(struct lock_contention_options options, struct total *total, uint64_t *span)
{
	const uint32_t self = (uint32_t)getpid();
	struct lock_contention contention;
	struct slow_page slow;
	struct error err = { 0 };
	if (!slow_open(&slow)) {
		slow_close(&slow);
		unit_skip("the kernel has no userfaultfd for this user; root on Debian has");
		return false;
	}
	*total = (struct total){ 0 };
	options.max_stack = 8;
	options.entries = 1024;
	options.tasks = &self;
	options.task_count = 1;
	options.processes = true;
	bool done = lock_contention_open(&contention, &options, &err) == 0 && lock_contention_start(&contention, &err) == 0;
	if (done) {
		*span = 0;
		/* on a busy machine this thread may come too late */
		for (int i = 0; i < 20 && *span < HOLD_MS * 500000; i++) {
			madvise(slow.page, PAGE, MADV_DONTNEED);
			*span = contend(&slow);
		}
		lock_contention_stop(&contention);
		lock_contention_each(&contention, add_sum, total);
	} else if (err.kind == ERROR_PERMISSION) {
		unit_skip("this user may not load BPF programs; root may");
	} else if (err.kind == ERROR_UNSUPPORTED || err.sys == ENOSYS) {
		unit_skip("the kernel or its emulator has no BPF with types; native builds run it");
	} else {
		unit_fail(__FILE__, __LINE__, "%s", err.text);
	}
	lock_contention_close(&contention);
	slow_close(&slow);
	return done;
}

TEST("the wait for a lock of known duration is counted once, and has its time")
{
	struct total total;
	uint64_t span;
	if (measured((struct lock_contention_options){ .mode = LOCK_BY_ADDRESS }, &total, &span)) {
		/* mapping the stacks of threads may add short waits */
		EXPECT(total.of_semaphores >= 1 && total.of_semaphores < 10);
		EXPECT(total.semaphores_ns < span + span / 4 && total.semaphores_ns > span - span / 4);
		EXPECT_INT(total.with_stack, 0);
	}
}

TEST("each caller has a call chain")
{
	struct total total;
	uint64_t span;
	if (measured((struct lock_contention_options){ .mode = LOCK_BY_CALLER, .stacks = true }, &total, &span))
		EXPECT(total.sums > 0 && total.with_stack == total.sums);
}

TEST("filters by type and by address leave out all other waits")
{
	struct total total;
	uint64_t span;
	const uint32_t type = LOCK_FLAG_WRITE;
	const uint64_t address = 0x1000;
	if (measured((struct lock_contention_options){ .mode = LOCK_BY_TASK, .types = &type, .type_count = 1 }, &total, &span))
		EXPECT(total.count >= 1);
	if (measured((struct lock_contention_options){ .mode = LOCK_BY_ADDRESS, .types = &type, .type_count = 1 }, &total, &span))
		EXPECT(total.of_semaphores >= 1 && total.of_type == total.count);
	if (measured((struct lock_contention_options){ .mode = LOCK_BY_ADDRESS, .addresses = &address, .address_count = 1 }, &total, &span))
		EXPECT_INT(total.count, 0);
	if (measured((struct lock_contention_options){ .mode = LOCK_BY_ADDRESS, .no_match = true }, &total, &span))
		EXPECT_INT(total.count, 0);
}
