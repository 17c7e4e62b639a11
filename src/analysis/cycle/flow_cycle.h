/* Dominant cycles of a flow graph: closed paths of branches that contain a call or system call. From each frequent call, the widest path
 * back to it: the one whose rarest step is most frequent. */
#pragma once
#include "analysis/cycle/flow_graph.h"

struct flow_cycle {
	uint32_t *edges;             /* from the call that is entered most often on */
	size_t count;
	uint64_t width;              /* how often its rarest step was seen */
	uint64_t weight;             /* cycles of all branches in its functions; without cycles: their count */
	size_t calls;                /* calls and system calls on it */
};

struct flow_cycles {
	VEC(struct flow_cycle) list; /* largest weight first: list.items[0] is the dominant cycle */
	uint64_t least;              /* branches with fewer counts were left out */
};

enum { FLOW_CYCLES_MAX = 20 };

/* least: the smallest count of a branch on a cycle. */
void flow_cycles_find(struct flow_cycles *cycles, const struct flow_graph *graph, uint64_t least);
void flow_cycles_fini(struct flow_cycles *cycles);

/* A stretch of a cycle. All have the same number of cycles. */
struct flow_window {
	double from_cycle, to_cycle, instructions;
	size_t first, end;           /* the steps that begin in it */
};

enum { FLOW_WINDOWS_MAX = 64 };
/* Cuts one pass of the cycle, by the mean cycles of its branches, into `count` windows. Returns the cycles of the pass, 0 if they are
 * unknown. */
double flow_cycle_windows(const struct flow_graph *graph, const struct flow_cycle *cycle, struct flow_window *windows, size_t count);
