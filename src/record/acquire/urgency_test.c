#include "record/acquire/urgency.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

TEST("a reader comes late if a ring is clearly more than half full")
{
	EXPECT(!urgency_is_late(512 << 10, 1 << 20));
	EXPECT(!urgency_is_late(9 << 16, 1 << 20));
	EXPECT(urgency_is_late((9 << 16) + 8, 1 << 20));
	EXPECT(urgency_is_late(1 << 20, 1 << 20));
}

TEST("a real-time priority ends if the thread needs more than half of a CPU")
{
	struct urgency u = { .window_ns = 1000000000, .window_cpu_ns = 5000 };
	EXPECT(!urgency_exceeds(&u, 1099999999, 90005000)); /* the window is not over */
	EXPECT(urgency_exceeds(&u, 1100000000, 50005001));
	EXPECT_INT(u.window_ns, 1100000000);
	EXPECT_INT(u.window_cpu_ns, 50005001);
	EXPECT(!urgency_exceeds(&u, 1200000000, 100005001)); /* exactly half */
}

TEST("a reader without the right to a real-time priority looks when a ring is a quarter full, by what came since the last time")
{
	EXPECT_INT(urgency_look_ms(1 << 20, 2 << 20, 8000000), 4);
	EXPECT_INT(urgency_look_ms(1 << 20, 1 << 20, 1000000), 1);
	EXPECT_INT(urgency_look_ms(8, 1 << 20, 1000000), 50);
	EXPECT_INT(urgency_look_ms(0, 1 << 20, 1000000), 50);
}

/* The tests may run with another niceness (nice). */
static bool is_usual(void)
{
	return getpriority(PRIO_PROCESS, 0) == 0;
}

/* The priorities of the thread of the test, which ends with it. */
static void *run_late(void *context)
{
	bool permitted = *(bool *)context;
	struct urgency u;
	urgency_open(&u, permitted, false);
	EXPECT_INT(sched_getscheduler(0), SCHED_OTHER);
	urgency_see(&u, 1 << 19, 1 << 20);
	EXPECT_INT(sched_getscheduler(0), SCHED_OTHER);
	EXPECT_INT(u.look_ms, -1);
	urgency_see(&u, 15 << 16, 1 << 20);
	EXPECT_INT(sched_getscheduler(0) == (SCHED_FIFO | SCHED_RESET_ON_FORK), u.realtime);
	EXPECT_INT(u.may_raise, permitted && is_usual());
	EXPECT_INT(u.realtime, u.may_raise && !u.refused);
	EXPECT_INT(u.look_ms >= 1, !u.realtime);
	bool realtime = u.realtime;
	urgency_pause(&u);
	EXPECT_INT(sched_getscheduler(0), SCHED_OTHER);
	EXPECT_INT(u.paused, realtime);
	urgency_resume(&u);
	EXPECT_INT(u.realtime, realtime);
	EXPECT(!u.paused);
	urgency_pause(&u);
	u.paused = false;
	u.rest_ns = UINT64_MAX; /* it needs too much */
	urgency_see(&u, 15 << 16, 1 << 20);
	EXPECT_INT(sched_getscheduler(0), SCHED_OTHER);
	EXPECT(u.look_ms >= 1);
	u.rest_ns = 0;
	urgency_see(&u, 15 << 16, 1 << 20);
	urgency_close(&u);
	EXPECT_INT(sched_getscheduler(0), SCHED_OTHER);
	return NULL;
}

TEST("a reader that comes late gets a real-time priority until it rests; without the right it looks early")
{
	for (int permitted = 0; permitted < 2; permitted++) {
		bool given = permitted;
		pthread_t thread;
		EXPECT_INT(pthread_create(&thread, NULL, run_late, &given), 0);
		pthread_join(thread, NULL);
	}
}

/* As a user whom RLIMIT_RTPRIO permits the priority: the thread alone gives up root's rights. */
static void *run_unprivileged(void *context)
{
	enum { NOBODY = 65534 };
	struct urgency u;
	urgency_open(&u, true, false);
	urgency_see(&u, 15 << 16, 1 << 20);
	*(bool *)context = u.realtime && syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) == 0;
	urgency_pause(&u);
	EXPECT_INT(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
	urgency_open(&u, true, false);
	EXPECT_INT(u.may_raise, is_usual());
	urgency_close(&u);
	return NULL;
}

TEST("a real-time priority ends also for a user without the rights of root")
{
	bool tried = false;
	pthread_t thread;
	EXPECT_INT(pthread_create(&thread, NULL, run_unprivileged, &tried), 0);
	pthread_join(thread, NULL);
	if (!tried)
		unit_skip("needs root and a real-time priority");
}

static void *run_at_once(void *context)
{
	struct urgency u;
	urgency_open(&u, true, true);
	EXPECT_INT(u.realtime, u.may_raise && !u.refused);
	EXPECT_INT(sched_getscheduler(0) == (SCHED_FIFO | SCHED_RESET_ON_FORK), u.realtime);
	urgency_see(&u, 0, 1 << 20);
	EXPECT_INT(u.realtime, u.may_raise && !u.refused);
	if (u.realtime) { /* as if it had needed a whole CPU since long */
		u.window_ns -= 1000000000;
		u.window_cpu_ns -= 1000000000;
		urgency_check(&u);
		EXPECT(!u.realtime);
		EXPECT(u.rest_ns > u.window_ns);
		EXPECT_INT(sched_getscheduler(0), SCHED_OTHER);
	}
	bool usual = u.may_raise;
	urgency_close(&u);
	EXPECT_INT(is_usual(), usual);
	return context;
}

TEST("a reader may have a real-time priority before it comes late for the first time")
{
	pthread_t thread;
	EXPECT_INT(pthread_create(&thread, NULL, run_at_once, NULL), 0);
	pthread_join(thread, NULL);
}

static void use_cpu(uint64_t ns)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((uint64_t)(now.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec - (uint64_t)begin.tv_nsec < ns);
}

static void *run_paused(void *context)
{
	enum { WORK_NS = 20000000 };
	struct urgency u;
	urgency_open(&u, true, true);
	uint64_t before = u.window_cpu_ns;
	urgency_pause(&u);
	use_cpu(WORK_NS);
	urgency_resume(&u);
	EXPECT_INT(u.window_cpu_ns - before >= WORK_NS, u.realtime);
	urgency_close(&u);
	return context;
}

TEST("what a thread does in a pause does not count for its real-time priority")
{
	pthread_t thread;
	EXPECT_INT(pthread_create(&thread, NULL, run_paused, NULL), 0);
	pthread_join(thread, NULL);
}

TEST("a reader that looks early waits no longer than that")
{
	struct urgency u = { .look_ms = -1 };
	EXPECT_INT(urgency_wait_ms(&u, -1), -1);
	EXPECT_INT(urgency_wait_ms(&u, 50), 50);
	u.look_ms = 4;
	EXPECT_INT(urgency_wait_ms(&u, -1), 4);
	EXPECT_INT(urgency_wait_ms(&u, 50), 4);
	EXPECT_INT(urgency_wait_ms(&u, 3), 3);
}

/* A niceness that the user has chosen. */
static void *run_nice(void *context)
{
	struct urgency u;
	EXPECT_INT(setpriority(PRIO_PROCESS, (id_t)gettid(), 5), 0);
	urgency_open(&u, true, true);
	urgency_see(&u, 15 << 16, 1 << 20);
	EXPECT_INT(sched_getscheduler(0), SCHED_OTHER);
	EXPECT_INT(getpriority(PRIO_PROCESS, (id_t)gettid()), 5);
	urgency_close(&u);
	EXPECT_INT(getpriority(PRIO_PROCESS, (id_t)gettid()), 5);
	return context;
}

TEST("a priority that the user has chosen stays")
{
	pthread_t thread;
	EXPECT_INT(pthread_create(&thread, NULL, run_nice, NULL), 0);
	pthread_join(thread, NULL);
}
