/* How soon a reader of rings runs. The kernel wakes it when a ring is half full; a reader that then waits for a CPU finds the ring fuller,
 * and soon full. A reader that came late gets a real-time priority, unless it needs too much of a CPU for that, or is not permitted;
 * then it looks at the rings before they are half full. One for each thread that reads rings; knows no ring. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct urgency {
	bool nicer, realtime;   /* what was changed, and ends with urgency_close */
	bool may_raise;         /* the priority is the usual one, so that the user has not chosen it */
	bool refused;           /* the system does not permit a real-time priority */
	uint64_t window_ns, window_cpu_ns; /* the begin of the time in which CPU time is measured, and the thread's CPU time then */
	uint64_t rest_ns;       /* until then the usual priority: the thread needed too much of a CPU */
	uint64_t drained_ns;    /* when the rings were read last; 0: never */
	uint64_t early_ns;      /* until then the thread looks at the rings early */
	int look_ms;            /* when to look at the rings again; -1: when the kernel wakes the thread */
};

/* Of the calling thread. nicer: raises its priority among usual ones at once, if permitted. */
void urgency_open(struct urgency *urgency, bool may_raise, bool nicer);
/* Restores the priority. */
void urgency_close(struct urgency *urgency);
/* Ends a real-time priority, before work that no ring waits for. */
void urgency_rest(struct urgency *urgency);
/* The thread is about to read the rings; the fullest has so many bytes of its size. */
void urgency_see(struct urgency *urgency, size_t pending, size_t size);

/* Whether a reader that finds so much in a ring of this size comes late. */
bool urgency_is_late(size_t pending, size_t size);
/* Whether a thread with a real-time priority has needed too much of a CPU since the window's begin. Begins a window if this one is over. */
bool urgency_exceeds(struct urgency *urgency, uint64_t now_ns, uint64_t cpu_ns);
/* When a ring that had so many bytes after the time will be a quarter full. */
int urgency_look_ms(size_t pending, size_t size, uint64_t elapsed_ns);
