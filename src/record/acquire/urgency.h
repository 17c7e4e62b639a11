/* How soon a reader of rings runs. The kernel wakes it when a ring is half full; a reader that then waits for a CPU finds the ring fuller,
 * and soon full. A reader that came late gets a real-time priority, unless it needs too much of a CPU for that, or is not permitted;
 * then it looks at the rings before they are half full. One for each thread that reads rings. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/ring.h"

struct urgency {
	bool nicer, realtime;   /* what was changed, and ends with urgency_close */
	bool paused;            /* a real-time priority, which urgency_resume gives back */
	bool may_raise;         /* the priority is the usual one, so that the user has not chosen it */
	bool refused;           /* the system does not permit a real-time priority */
	uint64_t window_ns, window_cpu_ns; /* the begin of the time in which CPU time is measured, and the thread's CPU time then; later
	                                    * by what it takes in pauses */
	uint64_t paused_cpu_ns; /* the thread's CPU time when the pause began */
	uint64_t rest_ns;       /* until then the usual priority: the thread needed too much of a CPU */
	uint64_t drained_ns;    /* when the rings were read last; 0: never */
	uint64_t early_ns;      /* until then the thread looks at the rings early */
	int look_ms;            /* when to look at the rings again; -1: when the kernel wakes the thread */
};

/* Of the calling thread. at_once: raises its priority before it comes late for the first time, if permitted. */
void urgency_open(struct urgency *urgency, bool may_raise, bool at_once);
/* Restores the priority. */
void urgency_close(struct urgency *urgency);
/* The usual priority for work that no ring waits for, between two times at which the thread waits for rings and reads them. */
void urgency_pause(struct urgency *urgency);
void urgency_resume(struct urgency *urgency);
/* The thread is about to read the rings; the fullest has so many bytes of its size. */
void urgency_see(struct urgency *urgency, size_t pending, size_t size);
void urgency_see_rings(struct urgency *urgency, const struct ring *rings, size_t count);
/* Of the rings that were passed, the fullest: how many bytes of its size. Zeroed before the first. */
struct fullest_ring {
	size_t pending, size;
};
void fullest_ring_see(struct fullest_ring *fullest, const struct ring *ring);
/* Ends a real-time priority that has taken too much of a CPU, also while rings are read. */
void urgency_check(struct urgency *urgency);
/* How long the thread may wait that would wait so long (-1: without limit). */
int urgency_wait_ms(const struct urgency *urgency, int timeout_ms);

/* Whether a reader that finds so much in a ring of this size comes late. */
bool urgency_is_late(size_t pending, size_t size);
/* Whether a thread with a real-time priority has needed too much of a CPU since the window's begin. Begins a window if this one is over. */
bool urgency_exceeds(struct urgency *urgency, uint64_t now_ns, uint64_t cpu_ns);
/* When a ring that had so many bytes after the time will be a quarter full. */
int urgency_look_ms(size_t pending, size_t size, uint64_t elapsed_ns);
