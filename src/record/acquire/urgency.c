#include "record/acquire/urgency.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"

enum {
	NICER = -10,
	REALTIME_PRIORITY = 1,          /* below each other real-time task */
	WINDOW_NS = 100 * 1000 * 1000,
	SHARE_PERCENT = 50,             /* of one CPU in a window */
	REST_NS = 1000 * 1000 * 1000,   /* after such a window */
	EARLY_NS = 1000 * 1000 * 1000,  /* after the thread came late */
	LOOK_LEAST_MS = 1,
	LOOK_MOST_MS = 50,
};

bool urgency_is_late(size_t pending, size_t size)
{
	return pending > size / 16 * 9;
}

bool urgency_exceeds(struct urgency *urgency, uint64_t now_ns, uint64_t cpu_ns)
{
	uint64_t elapsed = now_ns - urgency->window_ns, used = cpu_ns - urgency->window_cpu_ns;
	if (elapsed < WINDOW_NS)
		return false;
	urgency->window_ns = now_ns;
	urgency->window_cpu_ns = cpu_ns;
	return used > elapsed / 100 * SHARE_PERCENT;
}

int urgency_look_ms(size_t pending, size_t size, uint64_t elapsed_ns)
{
	uint64_t ms = pending ? (uint64_t)((double)elapsed_ns * (double)(size / 4) / (double)pending / 1e6) : LOOK_MOST_MS;
	return ms < LOOK_LEAST_MS ? LOOK_LEAST_MS : ms > LOOK_MOST_MS ? LOOK_MOST_MS : (int)ms;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec used;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void set_realtime(struct urgency *urgency)
{
	const struct sched_param parameter = { .sched_priority = REALTIME_PRIORITY };
	urgency->realtime = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) == 0;
	urgency->refused = !urgency->realtime;
}

static void set_usual(struct urgency *urgency)
{
	const struct sched_param usual = { 0 };
	/* without CAP_SYS_NICE, a thread that RLIMIT_RTPRIO gave the priority cannot give up the flag */
	if (urgency->realtime && sched_setscheduler(0, SCHED_OTHER, &usual) < 0)
		sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &usual);
	urgency->realtime = false;
}

static void raise_priority(struct urgency *urgency, uint64_t now)
{
	if (!urgency->may_raise || urgency->refused || now < urgency->rest_ns)
		return;
	set_realtime(urgency);
	urgency->window_ns = now;
	urgency->window_cpu_ns = thread_cpu_ns();
}

void urgency_open(struct urgency *urgency, bool may_raise, bool at_once)
{
	*urgency = (struct urgency){ .look_ms = -1 };
	urgency->may_raise = may_raise && (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER &&
		getpriority(PRIO_PROCESS, 0) == 0;
	if (!urgency->may_raise || !at_once)
		return;
	urgency->nicer = setpriority(PRIO_PROCESS, 0, NICER) == 0;
	raise_priority(urgency, now_ns());
}

void urgency_pause(struct urgency *urgency)
{
	if (!urgency->realtime)
		return;
	set_usual(urgency);
	urgency->paused = true;
	urgency->paused_cpu_ns = thread_cpu_ns();
}

void urgency_resume(struct urgency *urgency)
{
	if (!urgency->paused)
		return;
	urgency->paused = false;
	urgency->window_cpu_ns += thread_cpu_ns() - urgency->paused_cpu_ns;
	set_realtime(urgency);
}

void urgency_close(struct urgency *urgency)
{
	set_usual(urgency);
	if (urgency->nicer)
		setpriority(PRIO_PROCESS, 0, 0);
	*urgency = (struct urgency){ .look_ms = -1 };
}

static void check(struct urgency *urgency, uint64_t now)
{
	if (!urgency->realtime || now - urgency->window_ns < WINDOW_NS || !urgency_exceeds(urgency, now, thread_cpu_ns()))
		return;
	set_usual(urgency);
	urgency->rest_ns = now + REST_NS;
}

void urgency_check(struct urgency *urgency)
{
	check(urgency, now_ns());
}

void urgency_see(struct urgency *urgency, size_t pending, size_t size)
{
	uint64_t now = now_ns(), elapsed = now - urgency->drained_ns;
	bool late = urgency_is_late(pending, size);
	check(urgency, now);
	if (late && !urgency->realtime)
		raise_priority(urgency, now);
	if (late)
		urgency->early_ns = now + EARLY_NS;
	bool early = !urgency->realtime && now < urgency->early_ns && urgency->drained_ns;
	urgency->look_ms = early ? urgency_look_ms(pending, size, elapsed) : -1;
	urgency->drained_ns = now;
}

void fullest_ring_see(struct fullest_ring *fullest, const struct ring *ring)
{
	struct span pieces[2];
	size_t pending = ring->backward ? 0 : ring_pending(ring, pieces);
	if (pending <= fullest->pending && fullest->size)
		return;
	fullest->pending = pending;
	fullest->size = ring->size;
}

void urgency_see_rings(struct urgency *urgency, const struct ring *rings, size_t count)
{
	struct fullest_ring fullest = { 0 };
	for (size_t i = 0; i < count; i++)
		fullest_ring_see(&fullest, &rings[i]);
	if (count)
		urgency_see(urgency, fullest.pending, fullest.size);
}

int urgency_wait_ms(const struct urgency *urgency, int timeout_ms)
{
	int look = urgency->look_ms;
	return look >= 0 && (timeout_ms < 0 || look < timeout_ms) ? look : timeout_ms;
}
