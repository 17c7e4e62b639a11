#include "bpf/offcpu.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit.h"

struct slept {
	uint64_t ns, count, max;
	uint64_t user_stack;
	int32_t kernel_stack;
	uint32_t state;
	char comm[16];
};

static void add_sum(void *context, const struct offcpu_key *key, const struct offcpu_sum *sum)
{
	struct slept *slept = context;
	if (key->tid != (uint32_t)getpid())
		return;
	slept->ns += sum->total;
	slept->count += sum->count;
	slept->max = sum->max > slept->max ? sum->max : slept->max;
	slept->user_stack = key->user_stack;
	slept->kernel_stack = key->kernel_stack;
	slept->state = key->state;
	memcpy(slept->comm, sum->comm, sizeof slept->comm);
}

/* Skips the test where programs cannot run. */
static bool start(struct offcpu *offcpu, const struct offcpu_options *options)
{
	struct error err = { 0 };
	if (offcpu_open(offcpu, options, &err) == 0 && offcpu_start(offcpu, &err) == 0)
		return true;
	if (err.kind == ERROR_PERMISSION)
		unit_skip("this user may not load BPF programs; root may");
	else if (err.kind == ERROR_UNSUPPORTED || err.sys == ENOSYS)
		unit_skip("the kernel or its emulator has no BPF with types; native builds run it");
	else
		unit_fail(__FILE__, __LINE__, "%s", err.text);
	return false;
}

/* callers: bytes of the stack beyond this function. */
static __attribute__((noinline)) void sleep_and_count(const uint8_t *callers)
{
	enum { SLEEPS = 5, SLEEP_MS = 20 };
	const uint32_t self = (uint32_t)getpid();
	const struct offcpu_options options = { .tasks = &self, .task_count = 1, .processes = true };
	struct offcpu offcpu;
	struct slept slept = { 0 };
	uint64_t frames[OFFCPU_FRAMES];
	__attribute__((unused)) volatile uint64_t mark = 0x1234567890abcdef; /* by architecture */
	if (!start(&offcpu, &options)) {
		offcpu_close(&offcpu);
		return;
	}
	uint64_t before = now_ns();
	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&(struct timespec){ .tv_nsec = SLEEP_MS * 1000000 }, NULL);
	uint64_t elapsed = now_ns() - before;
	offcpu_stop(&offcpu);
	offcpu_each(&offcpu, add_sum, &slept);
	EXPECT_INT(slept.count, SLEEPS);
	/* on a busy machine a part of a sleep passes before the thread leaves its CPU */
	EXPECT(slept.ns >= SLEEPS * SLEEP_MS * 500000ull && slept.ns <= elapsed);
	EXPECT(slept.max >= SLEEP_MS * 500000ull && slept.max <= slept.ns);
	EXPECT_INT(slept.state, 1);
	EXPECT(strncmp(slept.comm, "bpf_test", 8) == 0);
	EXPECT(offcpu_kernel_stack(&offcpu, slept.kernel_stack, frames) > 3);
	const struct offcpu_stack *stack = offcpu_user_stack(&offcpu, slept.user_stack);
	EXPECT(stack && stack->size == OFFCPU_STACK_MAX);
#if defined(__x86_64__)
	uint64_t sp = stack ? offcpu_register(stack, 7) : 0;
	EXPECT(stack && sp <= (uintptr_t)&mark && (uintptr_t)&mark - sp + sizeof mark <= stack->size);
	EXPECT(stack && memcmp(stack->bytes + ((uintptr_t)&mark - sp), (const void *)&mark, sizeof mark) == 0);
	EXPECT(stack && memcmp(stack->bytes + ((uintptr_t)callers - sp), callers, sp + stack->size - (uintptr_t)callers) == 0);
#endif
	EXPECT_INT(offcpu_lost(&offcpu, OFFCPU_LOST_SUM), 0);
	offcpu_close(&offcpu);
}

TEST("the sleeps of a thread are counted with their time, their state, their kernel stack and a full copy of the user stack")
{
	volatile uint8_t callers[2 * OFFCPU_STACK_MAX]; /* more than is copied; in memory */
	for (size_t i = 0; i < sizeof callers; i++)
		callers[i] = (uint8_t)(i >> 8);
	sleep_and_count((const uint8_t *)callers);
	EXPECT_INT(callers[sizeof callers - 1], (sizeof callers - 1) >> 8);
}

TEST("waits of at least the threshold are sent one by one, when they end, and are not in the sums")
{
	enum { LONG_MS = 200, LEAST_MS = 50 }; /* on a busy machine a part of a sleep passes before the thread leaves its CPU */
	const uint32_t self = (uint32_t)getpid();
	const struct offcpu_options options = { .tasks = &self, .task_count = 1, .processes = true, .alone_ns = LEAST_MS * 1000000ull };
	struct offcpu offcpu;
	struct slept slept = { 0 };
	if (start(&offcpu, &options)) {
		uint64_t before = now_ns();
		nanosleep(&(struct timespec){ .tv_nsec = LONG_MS * 1000000 }, NULL);
		for (int i = 0; i < 3; i++)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		uint64_t after = now_ns();
		offcpu_stop(&offcpu);
		offcpu_each(&offcpu, add_sum, &slept);
		EXPECT(offcpu.waits.count >= 1); /* others are waits for a busy CPU */
		for (size_t i = 0; i < offcpu.waits.count; i++) {
			const struct offcpu_wait *wait = &offcpu.waits.items[i];
			EXPECT(wait->key.tid == self && wait->sum.count == 1 && wait->sum.total == wait->sum.max);
			EXPECT(wait->sum.total >= LEAST_MS * 1000000ull && wait->sum.total <= after - before);
			EXPECT(wait->sum.ended >= before + wait->sum.total && wait->sum.ended <= after);
			EXPECT(offcpu_user_stack(&offcpu, wait->key.user_stack) != NULL);
			EXPECT(strncmp(wait->sum.comm, "bpf_test", 8) == 0);
		}
		EXPECT_INT(slept.count + offcpu.waits.count, 4);
		EXPECT(slept.max < LEAST_MS * 1000000ull);
		EXPECT_INT(offcpu_lost(&offcpu, OFFCPU_LOST_WAIT), 0);
	}
	offcpu_close(&offcpu);
}
