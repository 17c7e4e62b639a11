/* What is measured: ways of waiting, models of who waits, and the numbers of a run. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "turns/latency.h"

enum turn_way {
	TURN_YIELD,      /* sched_yield(2) */
	TURN_SLEEP,      /* clock_nanosleep(2) */
	TURN_FUTEX,      /* futex(2) */
	TURN_PIPE,       /* two pipes */
	TURN_EVENTFD,    /* two eventfds; messages of 8 bytes */
	TURN_SOCKETPAIR, /* a stream socket of the Unix domain */
	TURN_SOCKET,     /* TCP over the loopback device */
	TURN_WAYS
};

enum turn_model {
	TURN_THREADS,    /* a blocking thread for each end */
	TURN_EPOLL,      /* one thread, epoll_wait(2) */
	TURN_URING,      /* one thread, io_uring_enter(2) */
	TURN_COROUTINES, /* one thread, no system calls */
	TURN_MODELS
};

enum { TURNS_PAIRS_MAX = 4096, TURNS_BYTES_MAX = 4096 };

struct turns_plan {
	enum turn_way way;
	enum turn_model model;
	uint32_t pairs;      /* TURN_YIELD, TURN_SLEEP: threads */
	uint64_t rounds;     /* of each pair or thread */
	uint32_t bytes;      /* of a message */
	uint64_t sleep_ns;   /* TURN_SLEEP */
	uint64_t work_ns;    /* CPU time of each turn, besides the exchange */
	uint64_t set_bytes;  /* memory that each end touches at each turn */
	uint32_t stride;     /* distance of the touched bytes */
};

struct turns_result {
	uint64_t turns;      /* of all ends */
	uint64_t wall_ns, user_ns, system_ns;
	uint64_t voluntary, involuntary; /* context switches */
	uint64_t minor_faults, major_faults;
	struct latency latency; /* of rounds: from a message to its answer; of sleeps: how late they end; of yields: their time */
};

const char *turn_way_name(enum turn_way way);
const char *turn_model_name(enum turn_model model);
/* < 0: there is no such name. */
int turn_way_named(const char *name);
int turn_model_named(const char *name);
/* Whether the way has two ends, which exchange messages. */
bool turn_way_has_pairs(enum turn_way way);

/* Fails with ERROR_USAGE if the model cannot wait in this way, or a number of the plan is beyond its limit. */
int turns_check(const struct turns_plan *plan, struct error *err);
