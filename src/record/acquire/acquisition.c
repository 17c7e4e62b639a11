#include "record/acquire/acquisition.h"

#include <errno.h>
#include <poll.h>

#include "record/acquire/existing.h"
#include "record/acquire/ring_order.h"
#include "record/acquire/signals.h"
#include "record/acquire/workload.h"

enum { LOOK_MS = 100 }; /* a ring wakes its reader when it is half full, which is too late for a view */

struct acquisition {
	struct events *events;
	const char *const *command;
	unsigned map_timeout_ms;
	struct sampling sampling;
	struct target target;
	struct signals signals;
	struct workload workload;
	struct counters counters;
	struct evlist evlist;
	struct ring_order order;
	struct bpf_programs programs;
	struct writer made;            /* records that are not of the rings */
	struct acquisition_counts counts;
	VEC(struct pollfd) waits;      /* the signals, then the rings; fd -1: its tasks have ended */
	size_t rings_open;
	bool started, ended;
};

static int open_target(struct acquisition *a, const struct acquisition_options *options, struct str *notes, struct error *err)
{
	const char *warning;
	if (signals_open(&a->signals, false, err) < 0 || target_open(&a->target, &options->target, &warning, err) < 0)
		return -1;
	if (warning && notes)
		str_printf(notes, "%s\n", warning);
	if (a->target.from_tids && !a->sampling.inherit_given)
		a->sampling.no_inherit = true;
	if (!a->command)
		return 0;
	if (workload_start(&a->workload, a->command, false, &a->signals, err) < 0)
		return -1;
	target_set_command(&a->target, a->workload.pid);
	return 0;
}

static int open_events(struct acquisition *a, size_t pages, struct str *notes, struct error *err)
{
	configure_defaults(a->events, &a->sampling, &a->target);
	if (configure_events(a->events, &a->sampling, &a->target, notes, err) < 0 ||
		counters_open(&a->counters, a->events, &a->target, notes, err) < 0 ||
		counters_map(&a->counters, a->events, pages ? pages : ring_default_pages(), err) < 0 ||
		counters_filter(&a->counters, a->events, err) < 0)
		return -1;
	a->counts.missing_threads = a->counters.missing_threads;
	vec_push(&a->waits, ((struct pollfd){ .fd = a->signals.fd, .events = POLLIN }));
	for (size_t i = 0; i < a->counters.rings.count; i++) {
		const struct ring *ring = &a->counters.rings.items[i];
		if (ring->backward)
			return error_set(err, ERROR_USAGE, "overwritten rings give no ordered records");
		vec_push(&a->waits, ((struct pollfd){ .fd = ring->fd, .events = POLLIN }));
	}
	a->rings_open = a->counters.rings.count;
	counters_evlist(&a->counters, a->events, NULL, &a->evlist);
	return 0;
}

int acquisition_open(struct acquisition **acquisition, const struct acquisition_options *options, struct str *notes, struct error *err)
{
	struct acquisition *a = memory_zero(1, sizeof *a);
	a->events = options->events;
	a->command = options->command;
	a->map_timeout_ms = options->map_timeout_ms;
	a->sampling = options->sampling;
	a->sampling.time_given = true;
	a->sampling.no_time = false;
	a->signals.fd = -1;
	a->workload = (struct workload){ .go = -1, .failed = -1 };
	writer_open(&a->made, -1, 0);
	if (open_target(a, options, notes, err) < 0 || open_events(a, options->pages, notes, err) < 0) {
		acquisition_close(a);
		return -1;
	}
	*acquisition = a;
	return 0;
}

void acquisition_close(struct acquisition *a)
{
	if (!a)
		return;
	workload_stop(&a->workload);
	if (a->signals.fd >= 0)
		workload_wait(&a->workload, &a->signals);
	counters_close(&a->counters);
	ring_order_fini(&a->order);
	evlist_fini(&a->evlist);
	bpf_programs_fini(&a->programs);
	target_close(&a->target);
	signals_close(&a->signals);
	writer_fini(&a->made);
	vec_fini(&a->waits);
	free(a);
}

static int hand_over(struct acquisition *a, const uint8_t *bytes, uint32_t size, const struct acquisition_take *take, struct error *err)
{
	const struct ring_item item = { .bytes = bytes, .size = size };
	const struct record record = ring_item_record(&item);
	a->counts.records++;
	return take->record(take->context, &record, err);
}

/* Hands over what was made here. */
static int give_made(struct acquisition *a, const struct acquisition_take *take, struct error *err)
{
	const uint8_t *bytes = (const uint8_t *)a->made.buffer;
	int status = 0;
	for (size_t at = 0; at < a->made.len && status == 0;) {
		uint16_t size;
		memcpy(&size, bytes + at + 6, sizeof size);
		status = hand_over(a, bytes + at, size, take, err);
		at += size;
	}
	a->made.len = 0;
	return status;
}

static int end_round(struct acquisition *a, const struct acquisition_take *take, struct error *err)
{
	synthesize_mark(&(struct synthesis){ .out = &a->made }, RECORD_FINISHED_ROUND);
	a->counts.rounds++;
	return give_made(a, take, err);
}

/* A round; none where the rings hold nothing that is due. */
static int give_round(struct acquisition *a, bool final, const struct acquisition_take *take, struct error *err)
{
	struct ring_order *order = &a->order;
	int status = 0;
	if (ring_order_fill(order, a->counters.rings.items, a->counters.rings.count, &a->evlist, final, err) < 0)
		return -1;
	if (!order->items.count)
		return 0;
	for (size_t i = 0; i < order->items.count && status == 0; i++)
		status = hand_over(a, order->items.items[i].bytes, order->items.items[i].size, take, err);
	for (size_t i = 0; i < a->counters.rings.count; i++)
		if (order->places.items[i].found)
			ring_consume(&a->counters.rings.items[i], order->places.items[i].found);
	return status == 0 ? end_round(a, take, err) : status;
}

/* The command runs only once all that was there before it is known. */
static int start(struct acquisition *a, const struct acquisition_take *take, struct error *err)
{
	struct synthesis synthesis = { .map_timeout_ms = a->map_timeout_ms };
	const struct existing existing = {
		.events = a->events, .counters = &a->counters, .target = &a->target, .sampling = &a->sampling,
		.programs = a->sampling.no_bpf_event ? NULL : &a->programs, .names = true, .command = a->workload.pid,
	};
	a->started = true;
	existing_write(&synthesis, &existing, &a->made);
	a->counts.slow_maps = synthesis.truncated;
	int status = give_made(a, take, err);
	if (status != 0)
		return status;
	if (!configure_enable_on_exec(&a->sampling, &a->target))
		counters_enable(&a->counters, a->events, UINT32_MAX);
	return a->workload.pid ? workload_run(&a->workload, err) : 0;
}

/* Returns whether the measurement is over. */
static bool wait_for_records(struct acquisition *a)
{
	if (poll(a->waits.items, a->waits.count, LOOK_MS) > 0) {
		for (size_t i = 1; i < a->waits.count; i++) {
			if (!(a->waits.items[i].revents & (POLLHUP | POLLERR)))
				continue;
			a->waits.items[i].fd = -1; /* the last task of this ring has ended */
			a->rings_open--;
		}
	}
	signals_take(&a->signals);
	bool ended = a->signals.child && workload_ended(&a->workload);
	a->signals.child = false;
	return ended || a->signals.ended_by || !a->rings_open;
}

static int finish(struct acquisition *a, const struct acquisition_take *take, struct error *err)
{
	counters_disable(&a->counters, a->events, UINT32_MAX);
	int status = give_round(a, true, take, err);
	a->counts.lost_samples = existing_write_lost(a->events, &a->counters, &a->made);
	return status == 0 ? give_made(a, take, err) : status;
}

int acquisition_step(struct acquisition *a, const struct acquisition_take *take, struct error *err)
{
	int status;
	if (a->ended)
		return 0;
	if (!a->started) {
		status = start(a, take, err);
	} else if (wait_for_records(a)) {
		a->ended = true;
		status = finish(a, take, err);
	} else {
		status = give_round(a, false, take, err);
	}
	a->ended |= status != 0;
	return status < 0 ? -1 : !a->ended;
}

int acquisition_run(struct acquisition *a, const struct acquisition_take *take, struct error *err)
{
	int status;
	while ((status = acquisition_step(a, take, err)) > 0)
		;
	return status;
}

void acquisition_evlist(const struct acquisition *a, struct evlist *evlist)
{
	counters_evlist(&a->counters, a->events, NULL, evlist);
}

bool acquisition_ended(const struct acquisition *a)
{
	return a->ended;
}

const struct acquisition_counts *acquisition_counts(const struct acquisition *a)
{
	return &a->counts;
}

int acquisition_signal(const struct acquisition *a)
{
	return a->signals.ended_by;
}
