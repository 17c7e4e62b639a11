#include "record/acquire/urgency.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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
	EXPECT_INT(u.realtime, permitted && !u.refused);
	EXPECT_INT(u.look_ms >= 1, !u.realtime);
	u.rest_ns = UINT64_MAX; /* it needs too much */
	urgency_rest(&u);
	EXPECT_INT(sched_getscheduler(0), SCHED_OTHER);
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
	urgency_rest(&u);
	EXPECT_INT(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
	urgency_open(&u, true, false);
	EXPECT(u.may_raise);
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
