/* Sums of waits for locks in perf's layouts: report, contention (columns or -x), info. */
#pragma once
#include "analysis/lock/lock_sink.h"
#include "base/writer.h"

enum { LOCK_LOSS_CAUSES = 4 }; /* task, stack, time, data */

struct lock_view {
	const struct lock_order *order;
	const struct lock_order *owner_stacks; /* a second part: sums by the call chain of owners; NULL: none */
	const struct lock_choice *choice;
	enum lock_group group;
	const char *separator;     /* -x; NULL: columns */
	bool owners, quiet;
	bool threads;              /* report -t: names are threads */
	int verbose;
	int entries;               /* at most so many rows, at least 1 */
	const uint32_t *broken;    /* LOCK_BROKEN_COUNT events that contradict a state */
	const uint64_t *lost;      /* of BPF: LOCK_LOSS_CAUSES numbers; NULL: the sums are of a recording */
	uint64_t filtered;         /* waits that a filter hides */
};

void lock_report_print(const struct lock_view *view, struct writer *out);
void lock_contention_print(const struct lock_view *view, struct writer *out);
/* The threads by id, and the locks by name. */
void lock_info_print(const struct lock_sink *sink, bool threads, bool locks, struct writer *out);
