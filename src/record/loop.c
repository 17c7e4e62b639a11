/* Waiting for rings, signals, timers and commands, and moving the content of the rings to the output. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "os/counter.h"
#include "os/permission.h"
#include "record/commands.h"
#include "record/recorder_internal.h"

/* Bits of measurement_wait. */
enum {
	READY_TIMER, READY_CONTROL, READY_SWITCH_TIMER, READY_SWITCH_EVENT, READY_RING_READERS, READY_OFF_CPU, READY_PROGRAMS, READY_TRIGGER
};
enum { RINGS_AT_ONCE = 31, MUCH_BYTES = 256 * 1024 };
enum { LOOK_MS = 50 }; /* unwinding reads files of processes that may soon end: it does not wait until a ring is half full */

int loop_open(struct recorder *r, struct error *err)
{
	const struct record_switch *switching = &r->options->switching;
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->timer < 0)
		return error_system(err, "cannot set up waiting");
	if (measurement_watch(&r->measurement, r->timer, READY_TIMER, err) < 0)
		return -1;
	if (switching->seconds) {
		const struct timespec period = { .tv_sec = (time_t)switching->seconds };
		const struct itimerspec every = { period, period };
		r->switch_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		if (r->switch_timer < 0 || timerfd_settime(r->switch_timer, 0, &every, NULL) != 0)
			return error_system(err, "cannot set up waiting");
		if (measurement_watch(&r->measurement, r->switch_timer, READY_SWITCH_TIMER, err) < 0)
			return -1;
	}
	if (r->off_cpu.open && measurement_watch(&r->measurement, offcpu_fd(&r->off_cpu.programs), READY_OFF_CPU, err) < 0)
		return -1;
	return r->options->control >= 0 ? measurement_watch(&r->measurement, r->options->control, READY_CONTROL, err) : 0;
}

void loop_close(struct recorder *r)
{
	if (r->timer >= 0)
		close(r->timer);
	if (r->switch_timer >= 0)
		close(r->switch_timer);
	affinity_close(&r->affinity);
	watched_event_close(&r->switch_event);
	watched_event_close(&r->programs);
	events_fini(&r->program_events);
	trigger_close(&r->trigger);
}

void loop_enable(struct recorder *r, uint32_t event, bool on)
{
	const struct events *events = r->measurement.events;
	if (event == UINT32_MAX || events->list.items[event].traces)
		r->traces.stopped = !on;
	counters_switch(&r->measurement.counters, r->measurement.events, event, on);
}

void loop_enable_all(struct recorder *r, bool on)
{
	loop_enable(r, UINT32_MAX, on);
	recorder_say(r, on ? "Events enabled" : "Events disabled");
}

static void start_timer(struct recorder *r, uint64_t ms)
{
	uint64_t ns = ms ? ms * 1000000u : 1;
	struct itimerspec when = { .it_value = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) } };
	timerfd_settime(r->timer, 0, &when, NULL);
}

static int start_ring_files(struct recorder *r, struct error *err)
{
	const struct record_options *o = r->options;
	struct counters *counters = &r->measurement.counters;
	if (!o->groups)
		return 0;
	if (r->unwinding)
		return ring_files_open(&r->ring_files, counters->rings.count, r->output.inside, o->compression, unwinding_pool(r->unwinding), err);
	const struct ring_readers_options readers = { .groups = o->groups, .level = o->compression, .limit = o->size_limit, .builds = r->builds,
		.may_raise = !o->realtime, .at_once = !recorder_is_frequent(r) };
	if (ring_readers_start(&r->ring_readers, counters, &readers, r->output.inside, err) < 0)
		return -1;
	return measurement_watch(&r->measurement, ring_readers_fd(r->ring_readers), READY_RING_READERS, err);
}

/* Only those who may read programs need to know of them. */
static void watch_programs(struct recorder *r)
{
	struct permission permission;
	permission_read(&permission);
	if (permission.root && !r->measurement.sampling.no_bpf_event)
		watched_event_open_programs(&r->programs, &r->program_events, &r->measurement, READY_PROGRAMS, NULL);
}

static int start_trigger(struct recorder *r, struct error *err)
{
	const struct record_options *o = r->options;
	int pid = o->target.pids ? atoi(o->target.pids) : 0;
	if (!o->trigger)
		return 0;
	if (trigger_open(&r->trigger, o->trigger, &r->measurement.target, o->command ? o->command[0] : NULL, pid, err) < 0)
		return -1;
	for (int kind = 0; kind < TRIGGER_PROBES; kind++) {
		const struct counters *counters = &r->trigger.probes[kind].counters;
		for (size_t i = 0; i < counters->rings.count; i++)
			if (measurement_watch(&r->measurement, counters->rings.items[i].fd, READY_TRIGGER, err) < 0)
				return -1;
	}
	return 0;
}

/* A ring whose tasks have ended is always ready. */
static void unwatch_ended(struct recorder *r)
{
	for (int kind = 0; kind < TRIGGER_PROBES; kind++) {
		const struct counters *counters = &r->trigger.probes[kind].counters;
		for (size_t i = 0; i < counters->rings.count; i++) {
			struct pollfd ring = { .fd = counters->rings.items[i].fd };
			if (poll(&ring, 1, 0) > 0 && ring.revents & POLLHUP)
				measurement_unwatch(&r->measurement, ring.fd);
		}
	}
}

static void take_trigger(struct recorder *r)
{
	bool fired = trigger_fired(&r->trigger);
	if (!fired) {
		unwatch_ended(r);
		fired = trigger_fired(&r->trigger); /* poll has taken the wake-up of a record that came meanwhile */
	}
	if (!fired)
		return;
	loop_request_snapshot(r);
	r->rings_now = true;
	r->recording->triggered++;
	if (r->trigger.limit_ns)
		recorder_say(r, "[ perf record: %s took %.3f ms: snapshot %llu ]", r->options->trigger->symbol, (double)r->trigger.took_ns / 1e6,
			(unsigned long long)r->recording->triggered);
	else
		recorder_say(r, "[ perf record: %s: snapshot %llu ]", r->options->trigger->symbol, (unsigned long long)r->recording->triggered);
}

int loop_start(struct recorder *r, struct error *err)
{
	const struct record_options *options = r->options;
	int delay_ms = r->measurement.sampling.delay_ms;
	if (start_ring_files(r, err) < 0)
		return -1;
	if (options->switching.events &&
	    watched_event_open(&r->switch_event, options->switching.events, &r->measurement, READY_SWITCH_EVENT, err) < 0)
		return -1;
	watch_programs(r);
	if (start_trigger(r, err) < 0)
		return -1;
	affinity_open(&r->affinity, options->affinity == AFFINITY_NODE);
	if (delay_ms)
		recorder_say(r, "Events disabled");
	if (options->windows)
		start_timer(r, options->windows[0].from_ms);
	else if (delay_ms > 0)
		start_timer(r, (uint64_t)delay_ms);
	return 0;
}

static int write_compressed(struct recorder *r, const struct span *pieces, size_t count, struct error *err)
{
	r->packed.len = 0;
	for (size_t i = 0; i < count; i++)
		if (pieces[i].len && compressor_add(&r->compressor, pieces[i], &r->packed, err) < 0)
			return -1;
	const struct span all = { (const uint8_t *)r->packed.buffer, r->packed.len };
	return data_writer_add_spans(&r->writer, &all, 1, err);
}

static int write_spans(struct recorder *r, const struct span *pieces, size_t count, struct error *err)
{
	if (r->options->compression)
		return write_compressed(r, pieces, count, err);
	return data_writer_add_spans(&r->writer, pieces, count, err);
}

/* Writes the records of some rings, then returns their room to the kernel: of rings with much at once, so that none waits for others.
 * first: the first of them, then the first that was not written. worth: fewer bytes are not written. Returns whether there were any. */
static int drain_rings(struct recorder *r, size_t *first, size_t end, uint64_t worth, struct error *err)
{
	struct ring *rings = r->measurement.counters.rings.items;
	struct span pieces[2 * RINGS_AT_ONCE];
	size_t bytes[RINGS_AT_ONCE] = { 0 }, used = 0, total = 0, begin = *first;
	for (; *first < end && total < MUCH_BYTES; ++*first) {
		const struct ring *ring = &rings[*first];
		size_t pending = ring->backward ? 0 : ring_pending(ring, &pieces[used]);
		if (!pending || pending < worth)
			continue;
		used += 2;
		bytes[*first - begin] = pending;
		total += pending;
	}
	if (!total)
		return 0;
	if (write_spans(r, pieces, used, err) < 0)
		return -1;
	/* after they were copied in order, their headers are in the cache: before, each would be waited for */
	for (size_t i = begin; i < *first; i++) {
		if (!bytes[i - begin])
			continue;
		build_reader_see_ring(r->builds, &rings[i], &r->seen[i], rings[i].tail + bytes[i - begin]);
		ring_consume(&rings[i], bytes[i - begin]);
	}
	return 1;
}

/* The mark that a round over all rings is complete: no record after the next mark is older than one before this mark. Unwound
 * records are few and would fill the buffer late: they are written at each round, so that the file has them if the recorder is killed. */
static int end_round(struct recorder *r, struct error *err)
{
	const uint64_t mark = RECORD_FINISHED_ROUND | (uint64_t)8 << 48;
	data_writer_add(&r->writer, &mark, sizeof mark);
	return r->output.pipe || r->unwinding ? data_writer_flush(&r->writer, err) : 0;
}

/* Writes the records of a step. Returns whether there were any. */
static int write_unwound(struct recorder *r, struct error *err)
{
	if (r->ring_files)
		return ring_files_write(r->ring_files, err);
	const struct span records = { (const uint8_t *)r->unwound.buffer, r->unwound.len };
	if (!records.len)
		return 0;
	if (r->options->compression && write_compressed(r, &records, 1, err) < 0)
		return -1;
	if (!r->options->compression)
		data_writer_add(&r->writer, records.data, records.len);
	r->unwound.len = 0;
	return 1;
}

/* Unwinds and writes all records of a list. Returns whether there were any. */
static int step_unwinding(struct recorder *r, struct error *err)
{
	struct writer *out = r->ring_files ? ring_files_writers(r->ring_files) : &r->unwound;
	bool any = false, wrote = false;
	while (unwinding_step(r->unwinding, out)) {
		int status = write_unwound(r, err);
		if (status < 0)
			return -1;
		any = true;
		wrote |= status;
		urgency_check(&r->urgency);
	}
	if (!wrote || r->ring_files || unwinding_waits(r->unwinding))
		return any;
	return end_round(r, err) < 0 ? -1 : 1;
}

static int drain_unwinding(struct recorder *r, bool final, struct error *err)
{
	return unwinding_begin(r->unwinding, final, err) < 0 ? -1 : step_unwinding(r, err);
}

/* The ring readers copy the remaining records and end. */
static int stop_ring_readers(struct recorder *r, struct error *err)
{
	int status = ring_readers_stop(r->ring_readers, err);
	r->read_totals = ring_readers_totals(r->ring_readers);
	return status;
}

/* Copies the rings, one group after the other. Returns whether it copied anything. */
static int copy_rings(struct recorder *r, bool last, struct error *err)
{
	const struct counters *counters = &r->measurement.counters;
	uint64_t worth = last ? 0 : r->options->flush_bytes;
	int any = 0;
	size_t at_once = r->options->affinity == AFFINITY_ANY ? RINGS_AT_ONCE : 1;
	for (size_t first = 0; first < counters->rings.count;) {
		size_t end = first + at_once < counters->rings.count ? first + at_once : counters->rings.count;
		if (r->options->affinity != AFFINITY_ANY)
			affinity_follow(&r->affinity, counters->rings.items[first].cpu);
		int status = drain_rings(r, &first, end, worth, err);
		if (status < 0)
			return status;
		any |= status;
	}
	return any;
}

static int drain(struct recorder *r, bool last, struct error *err)
{
	if (r->ring_readers)
		return last ? stop_ring_readers(r, err) : 0;
	urgency_see_rings(&r->urgency, r->measurement.counters.rings.items, r->measurement.counters.rings.count);
	int any = r->unwinding ? drain_unwinding(r, last, err) : copy_rings(r, last, err);
	if (any < 0)
		return any;
	int traced = trace_writing_drain(&r->traces, &r->measurement, &r->writer, err);
	if (traced < 0)
		return -1;
	bool mark = r->unwinding ? traced : any | traced; /* unwinding marks its rounds itself */
	return mark && end_round(r, err) < 0 ? -1 : any | traced;
}

/* The end of the delay, or an end of a window. */
static void switch_at_timer(struct recorder *r)
{
	const struct record_options *options = r->options;
	if (!options->windows) {
		loop_enable_all(r, true);
		return;
	}
	const struct record_window *window = &options->windows[r->window];
	r->window_open = !r->window_open;
	loop_enable_all(r, r->window_open);
	if (r->window_open)
		start_timer(r, window->to_ms - window->from_ms);
	else if (++r->window < options->window_count)
		start_timer(r, options->windows[r->window].from_ms - window->to_ms);
}

/* Waits until something is ready; meanwhile looks for new mappings in the rings. */
static int wait_for_ready(struct recorder *r, uint32_t *ready, struct error *err)
{
	const struct counters *counters = &r->measurement.counters;
	bool looks = r->builds && !r->ring_readers && !r->unwinding;
	/* A ring wakes its reader when it is half full, which may be more bytes than the file may have. */
	bool measured = r->options->size_limit || r->options->switching.bytes;
	int usual = r->unwinding || measured ? LOOK_MS : looks ? BUILD_READER_LOOK_MS : -1, timeout = urgency_wait_ms(&r->urgency, usual), n;
	measured |= timeout != usual;
	while ((n = measurement_wait(&r->measurement, timeout, ready, err)) == 0 && looks) {
		for (size_t i = 0; i < counters->rings.count; i++)
			build_reader_see_ring(r->builds, &counters->rings.items[i], &r->seen[i], UINT64_MAX);
		if (measured)
			break;
	}
	return n;
}

static bool read_count(int fd)
{
	uint64_t count;
	return read(fd, &count, sizeof count) == (ssize_t)sizeof count;
}

static int wait_once(struct recorder *r, struct error *err)
{
	uint32_t ready;
	int n = wait_for_ready(r, &ready, err);
	if (n < 0)
		return -1;
	r->recording->wakeups += n != 0;
	if (ready & 1 << READY_PROGRAMS && watched_event_happened(&r->programs))
		bpf_programs_read(&r->measurement.programs); /* while they exist */
	off_cpu_take(&r->off_cpu, &r->measurement, &r->evlist, &r->made);
	recorder_flush_made(r);
	if (ready & 1 << READY_TIMER && read_count(r->timer))
		switch_at_timer(r);
	if (ready & 1 << READY_CONTROL)
		commands_read(r);
	if (ready & 1 << READY_RING_READERS && read_count(ring_readers_fd(r->ring_readers)))
		r->ring_readers_ended = ring_readers_ended(r->ring_readers);
	if (ready & 1 << READY_SWITCH_TIMER)
		r->switch_now |= read_count(r->switch_timer);
	if (ready & 1 << READY_SWITCH_EVENT)
		r->switch_now |= watched_event_happened(&r->switch_event);
	if (ready & 1 << READY_TRIGGER)
		take_trigger(r);
	r->switch_now |= r->measurement.signals.user && r->options->switching.on_signal;
	if (r->measurement.signals.user)
		loop_request_snapshot(r);
	r->measurement.signals.user = false;
	return 0;
}

static bool switch_due(const struct recorder *r)
{
	uint64_t bytes = r->options->switching.bytes;
	return r->switch_now || (bytes && data_writer_size(&r->writer) >= bytes);
}

static bool limit_reached(struct recorder *r)
{
	uint64_t bytes = data_writer_size(&r->writer) + (r->ring_readers ? ring_readers_totals(r->ring_readers).bytes : 0) +
		(r->ring_files ? ring_files_totals(r->ring_files).bytes : 0);
	if (!r->options->size_limit || bytes < r->options->size_limit)
		return false;
	if (!r->recording->limit_reached)
		r->recording->limit_reached = bytes;
	return true;
}

static bool is_over(const struct recorder *r)
{
	return r->done || r->ring_readers_ended || measurement_over(&r->measurement);
}

void loop_request_snapshot(struct recorder *r)
{
	if (!r->measurement.trace.snapshot || r->snapshot_now)
		return;
	trace_writing_stop(&r->measurement);
	r->snapshot_now = true;
}

static int snapshot_trace(struct recorder *r, struct error *err)
{
	r->snapshot_now = false;
	return trace_writing_snapshot(&r->traces, &r->measurement, &r->writer, r->traces.stopped, err);
}

int loop_run(struct recorder *r, struct error *err)
{
	bool stopped = false;
	for (;;) {
		bool last = is_over(r);
		if (last && !stopped) {
			loop_enable(r, UINT32_MAX, false);
			stopped = true;
		}
		int any = drain(r, last, err);
		if (any < 0)
			return any;
		if (limit_reached(r)) {
			r->done = true;
			if (stopped)
				return 0;
			continue;
		}
		if (last && any)
			continue;
		if (last && r->trigger.open && !r->rings_now)
			take_trigger(r); /* it fired shortly before the end */
		if (!last && r->snapshot_now && snapshot_trace(r, err) < 0)
			return -1;
		if (r->rings_now && loop_snapshot(r, err) < 0)
			return -1;
		r->rings_now = false;
		/* a request for a file that arrived together with the end makes its file, too */
		bool switches = last ? r->switch_now : switch_due(r);
		if (switches && recorder_switch(r, err) < 0)
			return -1;
		if (last && !switches)
			return 0;
		if (last)
			continue;
		/* Not until the rings are empty: the recorder's own work may be among what it records. */
		if (wait_once(r, err) < 0)
			return -1;
	}
}

static void pause_backward(struct recorder *r, bool pause)
{
	const struct counters *counters = &r->measurement.counters;
	for (size_t i = 0; i < counters->list.count; i++) {
		const struct counter *counter = &counters->list.items[i];
		if (counter->fd >= 0 && counter->ring != UINT32_MAX && counters->rings.items[counter->ring].backward)
			counter_pause_output(counter->fd, pause);
	}
}

static bool has_backward(const struct recorder *r)
{
	for (size_t i = 0; i < r->measurement.counters.rings.count; i++)
		if (r->measurement.counters.rings.items[i].backward)
			return true;
	return false;
}

/* Stacks are unwound while output is paused, except those that need call frame information which is not read yet. */
static int snapshot_unwinding(struct recorder *r, struct error *err)
{
	if (!has_backward(r))
		return 0;
	pause_backward(r, true);
	int status = drain_unwinding(r, true, err); /* the side-band up to now */
	if (status >= 0 && unwinding_snapshot(r->unwinding, err) < 0)
		status = -1;
	if (status >= 0)
		status = step_unwinding(r, err);
	if (!is_over(r))
		pause_backward(r, false);
	if (status >= 0 && unwinding_waits(r->unwinding))
		status = drain_unwinding(r, true, err);
	return status < 0 ? -1 : 0;
}

int loop_snapshot(struct recorder *r, struct error *err)
{
	int any = 0;
	if (r->unwinding)
		return snapshot_unwinding(r, err);
	pause_backward(r, true);
	for (size_t i = 0; i < r->measurement.counters.rings.count; i++) {
		struct ring *ring = &r->measurement.counters.rings.items[i];
		struct span pieces[2];
		if (!ring->backward || !ring_snapshot(ring, pieces))
			continue;
		if (write_spans(r, pieces, 2, err) < 0)
			return -1;
		any = 1;
	}
	if (any && end_round(r, err) < 0)
		return -1;
	if (!is_over(r))
		pause_backward(r, false);
	return 0;
}
