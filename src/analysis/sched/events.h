/* Samples of the scheduler's tracepoints, and the records that concern them, as events: each updates the states of tasks first, and is then
 * passed to an analysis. The analyses of `sched` are on top of this; none reads a tracepoint. Serial: events are in order of delivery. */
#pragma once
#include "analysis/sched/states.h"
#include "base/str.h"
#include "session/session.h"
#include "tracepoint/tracepoint.h"

enum sched_kind {
	SCHED_ELSE,        /* a sample of another event: it shows which task runs */
	SCHED_SWITCH,
	SCHED_RUNTIME,
	SCHED_WAKING,
	SCHED_WAKEUP,       /* ignored where the recording has SCHED_WAKING, as perf does */
	SCHED_WAKEUP_NEW,
	SCHED_MIGRATE,
	SCHED_IOWAIT,
	SCHED_KINDS_OF_SAMPLES,
	SCHED_FORK = SCHED_KINDS_OF_SAMPLES,
	SCHED_COMM,
	SCHED_LOST,
	SCHED_KINDS
};

enum sched_comm { SCHED_PREVIOUS_COMM, SCHED_NEXT_COMM, SCHED_SUBJECT_COMM };

struct sched_event {
	enum sched_kind kind;
	uint64_t time;
	int32_t cpu;               /* CPU_NONE: unknown */
	int32_t pid, tid;          /* of the sample; of SCHED_FORK: of the parent */
	int32_t subject;           /* the task that is woken, migrated, named, forked, or that has run; of SCHED_SWITCH: the previous one */
	uint32_t task;             /* its index; of SCHED_SWITCH: before the switch; STATES_NO_TASK: unknown */
	uint32_t next;             /* SCHED_SWITCH: index of the next task */
	uint64_t amount;           /* SCHED_RUNTIME, SCHED_IOWAIT: ns; SCHED_LOST: number of events */
	int32_t from_cpu, to_cpu;  /* SCHED_MIGRATE */
	struct task_switch change; /* SCHED_SWITCH */
	const struct resolved *r;
};

struct sched_analysis {
	void *context;
	uint32_t kinds;            /* of samples that are wanted, a bit each; 0: all. Without all of them gaps and waits are not found */
	/* Called after the turns that the event ends and begins. */
	void (*event)(void *context, const struct sched_event *event);
	void (*turn_begins)(void *context, uint32_t task, const struct turn *turn);
	void (*turn_ends)(void *context, uint32_t task, const struct turn *turn);
};

struct sched_layout;
struct sched_name;

struct sched_reader {
	struct states states;
	struct sched_analysis analysis;
	struct session *session;       /* from the first record on */
	struct tracepoints *tracepoints;
	bool tracepoints_tried, live;
	bool places;                   /* set before sched_reader_sink: r has locations, which call chains need */
	VEC(struct sched_layout) layouts; /* by event */
	VEC(struct sched_name) names;  /* by task */
	struct strtab texts;
	const struct sched_event *event; /* the current one: for the callbacks of turns */
	bool has_waking;
	uint8_t before;                /* 1: names are those before the current event */
	bool foreign_tids;             /* samples have thread ids of another namespace than tracepoints */
	uint64_t kinds[SCHED_KINDS];   /* number of wanted events of each kind */
	uint64_t lost;                 /* events that LOST records report */
	uint64_t refused;              /* events with a CPU or thread id that is out of range */
};

/* live: formats are those of the running kernel. */
void sched_reader_init(struct sched_reader *reader, const struct sched_analysis *analysis, bool live);
void sched_reader_fini(struct sched_reader *reader);
struct sink sched_reader_sink(struct sched_reader *reader);
/* Whether the recording has an event of this kind. */
bool sched_reader_has(const struct session *session, struct sched_reader *reader, enum sched_kind kind);

/* The name of a task as of the current event: its comm, or what the tracepoint calls it; ":TID" if neither is known. Valid to the end. */
const char *sched_task_name(struct sched_reader *reader, uint32_t task);
/* The comm alone, as perf has it: ":TID" if no record has named it. */
const char *sched_task_comm(struct sched_reader *reader, uint32_t task);
/* Its process and the parent's, or -1. */
int32_t sched_task_pid(struct sched_reader *reader, uint32_t task);
int32_t sched_task_parent(struct sched_reader *reader, uint32_t task);
/* A name in the tracepoint itself, borrowed for the event; "" if it has none. */
const char *sched_event_comm(struct sched_reader *reader, const struct sched_event *event, enum sched_comm which);
