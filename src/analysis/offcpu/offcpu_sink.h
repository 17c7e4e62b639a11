/* The sink of `offcpu` and of `lock contention --user`: samples of the event offcpu-time → rows by thread name, reason and call chain, or
 * by futex; and frames for a flame graph. Knows no layout. */
#pragma once
#include "abi/off_cpu.h"
#include "analysis/flame/flame_tree.h"
#include "analysis/sched/wait_reason.h"
#include "analysis/table/table.h"
#include "session/session.h"
#include "symbol/symbol.h"

enum offcpu_group { OFFCPU_BY_STACK, OFFCPU_BY_THREAD, OFFCPU_BY_REASON, OFFCPU_BY_FUTEX };

struct offcpu_row {
	uint64_t total_ns, max_ns, count;
	enum wait_reason reason;
	uint32_t state;              /* 1: S, 2: D, 3: both; 0: not recorded */
	int32_t tid, pid, holder;    /* holder 0: unknown */
	uint64_t futex;
	const char *comm, *waker, *holder_comm; /* waker, holder_comm: "" if unknown */
	const char *symbol;          /* of the futex; "" if none covers it */
	const char *stack;           /* functions, outermost first, separated by ';' */
	const char *where;           /* the innermost functions of the program's own code: "nap < main" */
};

struct offcpu_options {
	struct symbols *symbols;
	enum offcpu_group group;
	unsigned max_stack;
	bool on_cpu;                 /* the flame graph has samples of other events, too, by their period */
	bool wakers;                 /* the flame graph has the waker's frames above */
};

struct offcpu_rows {
	struct offcpu_options options;
	VEC(struct offcpu_row) list; /* largest total first, after offcpu_finish */
	struct strtab keys, texts;
	struct flame_builder flame;
	uint64_t total_ns, count, samples;
	struct table table;
};

void offcpu_init(struct offcpu_rows *rows, const struct offcpu_options *options);
void offcpu_fini(struct offcpu_rows *rows);
struct sink offcpu_sink(struct offcpu_rows *rows);
/* Orders the rows and fills rows->table. */
void offcpu_finish(struct offcpu_rows *rows);
