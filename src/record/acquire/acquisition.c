#include "record/acquire/acquisition.h"

#include "record/acquire/existing.h"
#include "record/acquire/records.h"
#include "record/acquire/ring_order.h"
#include "record/acquire/urgency.h"

enum { WAIT_MS = 100 }; /* a ring wakes its reader when it is half full, which is too late for a view */

struct acquisition {
	struct measurement measurement;
	unsigned map_timeout_ms;
	const char *user_cache;
	struct evlist evlist;
	struct ring_order order;
	struct writer made;            /* records that are not from the rings */
	struct acquisition_counts counts;
	struct urgency urgency;        /* while it waits for rings and reads them */
	bool started, ended;
};

static int open_rings(struct acquisition *a, size_t pages, struct error *err)
{
	struct measurement *m = &a->measurement;
	if (measurement_map(m, pages, true, err) < 0)
		return -1;
	if (m->rings_watched < m->counters.rings.count)
		return error_set(err, ERROR_USAGE, "overwritten rings give no ordered records");
	a->counts.missing_threads = m->counters.missing_threads;
	acquisition_evlist(a, &a->evlist);
	return 0;
}

int acquisition_open(struct acquisition **acquisition, const struct acquisition_options *options, struct error *err)
{
	struct acquisition *a = memory_zero(1, sizeof *a);
	struct measurement_options measured = options->measurement;
	a->map_timeout_ms = options->map_timeout_ms;
	a->user_cache = options->user_cache;
	measured.sampling.time_given = true;
	measured.sampling.no_time = false;
	writer_open(&a->made, -1, 0);
	if (measurement_open(&a->measurement, &measured, err) < 0 || open_rings(a, options->pages, err) < 0) {
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
	if (a->started)
		urgency_close(&a->urgency);
	measurement_close(&a->measurement);
	ring_order_fini(&a->order);
	evlist_fini(&a->evlist);
	writer_fini(&a->made);
	free(a);
}

static int pass_record(struct acquisition *a, struct record record, const struct acquisition_callback *callback, struct error *err)
{
	a->counts.records++;
	return callback->record(callback->context, &record, err);
}

static int pass_made_records(struct acquisition *a, const struct acquisition_callback *callback, struct error *err)
{
	struct span records = { (const uint8_t *)a->made.buffer, a->made.len };
	struct record record;
	int status = 0;
	while (status == 0 && records_next(&records, &record))
		status = pass_record(a, record, callback, err);
	a->made.len = 0;
	return status;
}

static int end_round(struct acquisition *a, const struct acquisition_callback *callback, struct error *err)
{
	synthesize_mark(&(struct synthesis){ .out = &a->made }, RECORD_FINISHED_ROUND);
	a->counts.rounds++;
	return pass_made_records(a, callback, err);
}

/* A round, unless it has no records. */
static int pass_round(struct acquisition *a, bool final, const struct acquisition_callback *callback, struct error *err)
{
	struct ring_order *order = &a->order;
	struct counters *counters = &a->measurement.counters;
	int status = 0;
	if (ring_order_fill(order, counters->rings.items, counters->rings.count, &a->evlist, final, err) < 0)
		return -1;
	if (!order->items.count)
		return 0;
	for (size_t i = 0; i < order->items.count && status == 0; i++)
		status = pass_record(a, record_of(order->items.items[i].bytes, order->items.items[i].size), callback, err);
	for (size_t i = 0; i < counters->rings.count; i++)
		if (order->places.items[i].found)
			ring_consume(&counters->rings.items[i], order->places.items[i].found);
	return status == 0 ? end_round(a, callback, err) : status;
}

/* The command runs once the records about what existed before are complete. */
static int start(struct acquisition *a, const struct acquisition_callback *callback, struct error *err)
{
	struct synthesis synthesis = { .map_timeout_ms = a->map_timeout_ms, .cache = a->user_cache };
	a->started = true;
	existing_write(&synthesis, &a->measurement, true, &a->made);
	a->counts.slow_maps = synthesis.truncated;
	int status = pass_made_records(a, callback, err);
	urgency_open(&a->urgency, true, false);
	return status == 0 ? measurement_start(&a->measurement, err) : status;
}

static int pass_last_records(struct acquisition *a, const struct acquisition_callback *callback, struct error *err)
{
	struct measurement *m = &a->measurement;
	counters_switch(&m->counters, m->events, UINT32_MAX, false);
	int status = pass_round(a, true, callback, err);
	a->counts.lost_samples = existing_write_lost(m, &a->made);
	return status == 0 ? pass_made_records(a, callback, err) : status;
}

static int wait_for_records(struct acquisition *a, int timeout_ms, uint32_t *ready, const struct acquisition_callback *callback,
	struct error *err)
{
	urgency_resume(&a->urgency);
	int status = measurement_wait(&a->measurement, urgency_wait_ms(&a->urgency, timeout_ms), ready, err);
	if (status >= 0) {
		urgency_see_rings(&a->urgency, a->measurement.counters.rings.items, a->measurement.counters.rings.count);
		a->ended = measurement_over(&a->measurement);
		status = a->ended ? pass_last_records(a, callback, err) : pass_round(a, false, callback, err);
	}
	urgency_pause(&a->urgency);
	return status;
}

int acquisition_wait(struct acquisition *a, int timeout_ms, uint32_t *ready, const struct acquisition_callback *callback,
	struct error *err)
{
	*ready = 0;
	if (a->ended)
		return 0;
	int status = a->started ? wait_for_records(a, timeout_ms, ready, callback, err) : start(a, callback, err);
	a->ended |= status != 0;
	return status < 0 ? -1 : !a->ended;
}

int acquisition_step(struct acquisition *a, const struct acquisition_callback *callback, struct error *err)
{
	uint32_t ready;
	return acquisition_wait(a, WAIT_MS, &ready, callback, err);
}

int acquisition_watch(struct acquisition *a, int fd, unsigned bit, struct error *err)
{
	return measurement_watch(&a->measurement, fd, bit, err);
}

void acquisition_unwatch(struct acquisition *a, int fd)
{
	measurement_unwatch(&a->measurement, fd);
}

void acquisition_enable(struct acquisition *a)
{
	counters_switch(&a->measurement.counters, a->measurement.events, UINT32_MAX, true);
}

void acquisition_wait_command(struct acquisition *a)
{
	if (!a->measurement.signals.ended_by)
		workload_wait(&a->measurement.workload, &a->measurement.signals);
}

const struct measurement *acquisition_measurement(const struct acquisition *a)
{
	return &a->measurement;
}

int acquisition_run(struct acquisition *a, const struct acquisition_callback *callback, struct error *err)
{
	int status;
	while ((status = acquisition_step(a, callback, err)) > 0)
		;
	return status;
}

void acquisition_evlist(const struct acquisition *a, struct evlist *evlist)
{
	counters_evlist(&a->measurement.counters, a->measurement.events, NULL, evlist);
}

bool acquisition_ended(const struct acquisition *a)
{
	return a->ended;
}

const struct acquisition_counts *acquisition_counts(const struct acquisition *a)
{
	return &a->counts;
}

uint64_t acquisition_lost(const struct acquisition *a)
{
	const struct counters *counters = &a->measurement.counters;
	uint64_t lost = 0;
	for (size_t i = 0; i < counters->list.count; i++)
		lost += counter_lost(&counters->list.items[i], &a->measurement.events->list.items[counters->list.items[i].event].attr);
	return lost;
}

int acquisition_signal(const struct acquisition *a)
{
	return a->measurement.signals.ended_by;
}
