#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "turns/models.h"

/* Where threads wait until all exist. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum { GATE_CLOSED, GATE_OPEN, GATE_ABANDONED } state;
};

struct worker {
	const struct turns_plan *plan;
	struct channel *channel; /* NULL in the ways without pairs */
	unsigned end;
	struct gate *gate;
	struct work work;
	struct latency latency;
	bool failed;
	pthread_t thread;
};

/* The first end of a pair: a round is a message and its answer. */
static void ask(struct worker *worker)
{
	char message[TURNS_BYTES_MAX];
	uint32_t bytes = worker->plan->bytes;
	for (uint64_t i = 0; i < worker->plan->rounds && !worker->failed; i++) {
		work_do(&worker->work);
		uint64_t began = now_ns();
		worker->failed = !channel_send(worker->channel, 0, bytes) || !channel_receive(worker->channel, 0, message, bytes);
		latency_add(&worker->latency, now_ns() - began);
	}
}

static void answer(struct worker *worker)
{
	char message[TURNS_BYTES_MAX];
	uint32_t bytes = worker->plan->bytes;
	for (uint64_t i = 0; i < worker->plan->rounds && !worker->failed; i++) {
		worker->failed = !channel_receive(worker->channel, 1, message, bytes);
		work_do(&worker->work);
		worker->failed |= !channel_send(worker->channel, 1, bytes);
	}
}

static void yield(struct worker *worker)
{
	for (uint64_t i = 0; i < worker->plan->rounds; i++) {
		work_do(&worker->work);
		uint64_t began = now_ns();
		sched_yield();
		latency_add(&worker->latency, now_ns() - began);
	}
}

static void doze(struct worker *worker)
{
	uint64_t ns = worker->plan->sleep_ns;
	const struct timespec time = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
	for (uint64_t i = 0; i < worker->plan->rounds; i++) {
		work_do(&worker->work);
		uint64_t began = now_ns();
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
		uint64_t took = now_ns() - began;
		latency_add(&worker->latency, took > ns ? took - ns : 0);
	}
}

static bool gate_wait(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	while (gate->state == GATE_CLOSED)
		pthread_cond_wait(&gate->changed, &gate->lock);
	bool open = gate->state == GATE_OPEN;
	pthread_mutex_unlock(&gate->lock);
	return open;
}

static void gate_set(struct gate *gate, int state)
{
	pthread_mutex_lock(&gate->lock);
	gate->state = state;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;
	if (!gate_wait(worker->gate))
		return NULL;
	if (worker->plan->way == TURN_YIELD)
		yield(worker);
	else if (worker->plan->way == TURN_SLEEP)
		doze(worker);
	else if (worker->end == 0)
		ask(worker);
	else
		answer(worker);
	return NULL;
}

/* Starts all threads. Returns how many exist: fewer if the system has no more. */
static uint32_t start(struct worker *workers, uint32_t count, struct error *err)
{
	enum { STACK_BYTES = 64 << 10 };
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	int code = 0;
	uint32_t started = 0;
	while (started < count && (code = pthread_create(&workers[started].thread, &attributes, run_worker, &workers[started])) == 0)
		started++;
	pthread_attr_destroy(&attributes);
	errno = code;
	if (started < count)
		error_system(err, "cannot start %u threads", count);
	return started;
}

static int run_workers(struct turns_run *run, struct worker *workers, uint32_t count, struct error *err)
{
	struct gate gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
	for (uint32_t i = 0; i < count; i++)
		workers[i].gate = &gate;
	uint32_t started = start(workers, count, err);
	run->began_ns = now_ns();
	gate_set(&gate, started == count ? GATE_OPEN : GATE_ABANDONED);
	bool failed = false;
	for (uint32_t i = 0; i < started; i++) {
		pthread_join(workers[i].thread, NULL);
		failed |= workers[i].failed;
		latency_merge(&run->result->latency, &workers[i].latency);
	}
	if (started < count)
		return -1;
	run->result->turns = run->plan->rounds * count;
	return failed ? error_set(err, ERROR_SYSTEM, "%s: a message was not delivered", turn_way_name(run->plan->way)) : 0;
}

int turns_threads(struct turns_run *run, struct error *err)
{
	const struct turns_plan *plan = run->plan;
	bool pairs = turn_way_has_pairs(plan->way);
	uint32_t count = plan->pairs * (pairs ? 2 : 1), opened = 0;
	struct worker *workers = memory_zero(count, sizeof *workers);
	struct channel *channels = memory_zero(plan->pairs, sizeof *channels);
	int status = 0;
	for (uint32_t i = 0; pairs && status == 0 && i < plan->pairs; i++) {
		status = channel_open(&channels[i], plan->way, false, err);
		opened += status == 0;
	}
	for (uint32_t i = 0; status == 0 && i < count; i++) {
		workers[i] = (struct worker){ .plan = plan, .channel = pairs ? &channels[i / 2] : NULL, .end = i % 2 };
		work_init(&workers[i].work, plan, run->rate);
	}
	if (status == 0)
		status = run_workers(run, workers, count, err);
	for (uint32_t i = 0; i < count; i++)
		work_fini(&workers[i].work);
	for (uint32_t i = 0; i < opened; i++)
		channel_close(&channels[i]);
	free(channels);
	free(workers);
	return status;
}
