/* What blocking costs: the CPU time of a recording's samples as user work, the cost of waiting and waking, the system calls that wait or
 * wake, the rest of the kernel; by thread and by place. What samples cannot show, the work that is slower after a switch, is bounded by the
 * number of switches. The result is a range of the CPU time that a program would save if it never blocked. Knows no layout. */
#pragma once
#include "analysis/ipc/ipc_counters.h"
#include "analysis/table/table.h"
#include "session/session.h"
#include "symbol/symbol.h"

struct blocking_options {
	struct symbols *symbols;
	uint64_t window_ns;          /* after a switch, at most so much of the user work is lost */
	bool switches_known;
	uint64_t switches;
	const struct ipc_tracks *tracks; /* of a trace, by thread, when the session has ended; otherwise empty */
	unsigned width;              /* the most instructions that the machine retires in a cycle */
	struct ipc_roles counters;   /* sampled events that show the instructions per cycle */
	int32_t parent;              /* only threads of processes that descend from this one; 0: all threads */
};

struct blocking;

struct blocking *blocking_new(const struct blocking_options *options);
void blocking_free(struct blocking *blocking); /* accepts NULL */
struct sink blocking_sink(struct blocking *blocking);

enum blocking_table { BLOCKING_PARTS, BLOCKING_THREADS, BLOCKING_SITES, BLOCKING_EVENTS, BLOCKING_TABLES };

struct blocking_result {
	uint64_t samples, cpu_ns; /* without samples, the times are those of a trace */
	double saved_low, saved_high; /* shares of the CPU time */
	double calls_low;             /* the least that a program saves that does not need the system calls either */
	struct table tables[BLOCKING_TABLES];
	struct table_fact facts[5];
};

/* After the session. The tables are valid until blocking_free. */
const struct blocking_result *blocking_finish(struct blocking *blocking);
