/* Waiting for rings, signals, timers and commands, and moving what the rings hold to the output. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "os/counter.h"
#include "record/acquire/record_out.h"
#include "record/recorder_internal.h"

/* What epoll tells of, above all ring indices. */
enum {
	TOKEN_SIGNAL = -1, TOKEN_TIMER = -2, TOKEN_CONTROL = -3, TOKEN_SWITCH = -4, TOKEN_STREAMS = -5, TOKEN_SWITCH_EVENT = -6,
	TOKEN_CPUS = -7,
};
enum { EVENTS_AT_ONCE = 64, RINGS_AT_ONCE = 31 };
enum { LOOK_MS = 50 }; /* unwinding reads files of processes that may soon be gone: it does not wait until a ring is half full */

static int watch(struct recorder *r, int fd, int64_t token, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = (uint64_t)token };
	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		return error_system(err, "cannot wait for a descriptor");
	return 0;
}

int loop_open(struct recorder *r, struct error *err)
{
	const struct record_switch *switching = &r->options->switching;
	if (signals_open(&r->signals, switching->on_signal, err) < 0)
		return -1;
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->timer < 0 || r->epoll < 0)
		return error_system(err, "cannot set up waiting");
	if (watch(r, r->signals.fd, TOKEN_SIGNAL, err) < 0 || watch(r, r->timer, TOKEN_TIMER, err) < 0)
		return -1;
	if (switching->seconds) {
		const struct timespec period = { .tv_sec = (time_t)switching->seconds };
		const struct itimerspec every = { period, period };
		r->switch_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		if (r->switch_timer < 0 || timerfd_settime(r->switch_timer, 0, &every, NULL) != 0)
			return error_system(err, "cannot set up waiting");
		if (watch(r, r->switch_timer, TOKEN_SWITCH, err) < 0)
			return -1;
	}
	if (r->options->control >= 0 && watch(r, r->options->control, TOKEN_CONTROL, err) < 0)
		return -1;
	return 0;
}

void loop_close(struct recorder *r)
{
	int *const fds[] = { &r->timer, &r->switch_timer, &r->epoll };
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	affinity_close(&r->affinity);
	switch_event_close(&r->switch_event);
	signals_close(&r->signals);
}

static void switch_events(struct recorder *r, bool on)
{
	if (on)
		counters_enable(&r->counters, r->events, UINT32_MAX);
	else
		counters_disable(&r->counters, r->events, UINT32_MAX);
	recorder_say(r, on ? "Events enabled" : "Events disabled");
}

static void arm(struct recorder *r, uint64_t ms)
{
	uint64_t ns = ms ? ms * 1000000u : 1;
	struct itimerspec when = { .it_value = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) } };
	timerfd_settime(r->timer, 0, &when, NULL);
}

static int watch_rings(struct recorder *r, struct error *err)
{
	const struct record_options *options = r->options;
	if (options->groups && r->unwinding) {
		if (ring_files_open(&r->ring_files, r->counters.rings.count, r->output.inside, options->compression, unwinding_pool(r->unwinding),
			err) < 0)
			return -1;
	} else if (options->groups) {
		if (streams_start(&r->streams, &r->counters, options->groups, r->output.inside, options->compression, options->size_limit, r->builds,
			err) < 0)
			return -1;
		return watch(r, streams_fd(r->streams), TOKEN_STREAMS, err);
	}
	for (size_t i = 0; i < r->counters.rings.count; i++)
		if (!r->counters.rings.items[i].backward && watch(r, r->counters.rings.items[i].fd, (int64_t)i, err) < 0)
			return -1;
	for (size_t i = 0; i < r->counters.rings.count; i++)
		r->rings_open += !r->counters.rings.items[i].backward;
	r->rings_watched = r->rings_open;
	return 0;
}

int loop_start(struct recorder *r, struct error *err)
{
	const struct record_options *options = r->options;
	if (watch_rings(r, err) < 0)
		return -1;
	if (options->switching.events && switch_event_open(&r->switch_event, options->switching.events, err) < 0)
		return -1;
	for (size_t i = 0; i < r->switch_event.counters.rings.count; i++)
		if (watch(r, r->switch_event.counters.rings.items[i].fd, TOKEN_SWITCH_EVENT, err) < 0)
			return -1;
	if (r->cpu_changes.fd >= 0 && watch(r, r->cpu_changes.fd, TOKEN_CPUS, err) < 0)
		return -1;
	affinity_open(&r->affinity, options->affinity == AFFINITY_NODE);
	if (options->windows || r->sampling.delay_ms)
		recorder_say(r, "Events disabled");
	if (options->windows)
		arm(r, options->windows[0].from_ms);
	else if (r->sampling.delay_ms > 0)
		arm(r, (uint64_t)r->sampling.delay_ms);
	else if (!r->sampling.delay_ms && !configure_enable_on_exec(&r->sampling, &r->target))
		counters_enable(&r->counters, r->events, UINT32_MAX);
	return 0;
}

static int pack(struct recorder *r, const struct span *pieces, size_t count, struct error *err)
{
	r->packed.len = 0;
	for (size_t i = 0; i < count; i++)
		if (pieces[i].len && compressor_add(&r->compressor, pieces[i], &r->packed, err) < 0)
			return -1;
	const struct span all = { (const uint8_t *)r->packed.buffer, r->packed.len };
	return data_writer_add_spans(&r->writer, &all, 1, err);
}

static int put(struct recorder *r, const struct span *pieces, size_t count, struct error *err)
{
	if (r->options->compression)
		return pack(r, pieces, count, err);
	return data_writer_add_spans(&r->writer, pieces, count, err);
}

/* Writes what some rings hold, then gives them the room back. Returns whether there was anything. */
static int drain_rings(struct recorder *r, size_t first, size_t end, uint64_t worth, struct error *err)
{
	struct span pieces[2 * RINGS_AT_ONCE];
	size_t bytes[RINGS_AT_ONCE] = { 0 }, used = 0, total = 0;
	for (size_t i = first; i < end; i++) {
		const struct ring *ring = &r->counters.rings.items[i];
		size_t pending = ring->backward ? 0 : ring_pending(ring, &pieces[used]);
		if (!pending || pending < worth)
			continue;
		build_reader_see_ring(r->builds, ring, &r->seen[i]);
		used += 2;
		bytes[i - first] = pending;
		total += pending;
	}
	if (!total)
		return 0;
	if (put(r, pieces, used, err) < 0)
		return -1;
	for (size_t i = first; i < end; i++)
		if (bytes[i - first])
			ring_consume(&r->counters.rings.items[i], bytes[i - first]);
	return 1;
}

/* The mark that a round over all rings is whole: what came before it cannot be older than what comes after the next. */
static int end_round(struct recorder *r, struct error *err)
{
	const uint64_t mark = RECORD_FINISHED_ROUND | (uint64_t)8 << 48;
	data_writer_add(&r->writer, &mark, sizeof mark);
	return r->output.pipe ? data_writer_flush(&r->writer, err) : 0;
}

/* Writes what a step made. Returns whether there was anything. */
static int put_unwound(struct recorder *r, struct error *err)
{
	if (r->ring_files)
		return ring_files_write(r->ring_files, err);
	const struct span records = { (const uint8_t *)r->unwound.buffer, r->unwound.len };
	if (!records.len)
		return 0;
	if (r->options->compression && pack(r, &records, 1, err) < 0)
		return -1;
	if (!r->options->compression)
		data_writer_add(&r->writer, records.data, records.len);
	r->unwound.len = 0;
	return 1;
}

/* What was listed. Returns whether there was anything to do. */
static int step_unwinding(struct recorder *r, struct error *err)
{
	struct writer *out = r->ring_files ? ring_files_writers(r->ring_files) : &r->unwound;
	bool any = false, wrote = false;
	while (unwinding_step(r->unwinding, out)) {
		int status = put_unwound(r, err);
		if (status < 0)
			return -1;
		any = true;
		wrote |= status;
	}
	if (!wrote || r->ring_files || unwinding_waits(r->unwinding))
		return any;
	return end_round(r, err) < 0 ? -1 : 1;
}

static int drain_unwinding(struct recorder *r, bool final, struct error *err)
{
	return unwinding_begin(r->unwinding, final, err) < 0 ? -1 : step_unwinding(r, err);
}

/* The readers take what is left, and go. */
static int end_streams(struct recorder *r, struct error *err)
{
	int status = streams_stop(r->streams, err);
	r->streamed = streams_totals(r->streams);
	return status;
}

static int drain(struct recorder *r, bool last, struct error *err)
{
	uint64_t worth = last ? 0 : r->options->flush_bytes;
	int any = 0;
	if (r->streams)
		return last ? end_streams(r, err) : 0;
	if (r->unwinding)
		return drain_unwinding(r, last, err);
	size_t at_once = r->options->affinity == AFFINITY_ANY ? RINGS_AT_ONCE : 1;
	for (size_t first = 0; first < r->counters.rings.count; first += at_once) {
		size_t end = first + at_once < r->counters.rings.count ? first + at_once : r->counters.rings.count;
		if (r->options->affinity != AFFINITY_ANY)
			affinity_follow(&r->affinity, r->counters.rings.items[first].cpu);
		int status = drain_rings(r, first, end, worth, err);
		if (status < 0)
			return status;
		any |= status;
	}
	return any && end_round(r, err) < 0 ? -1 : any;
}

static void take_signals(struct recorder *r)
{
	struct signals *signals = &r->signals;
	signals_take(signals);
	if (signals->child)
		r->done |= workload_ended(&r->workload);
	r->switch_now |= signals->user;
	r->done |= signals->ended_by != 0;
	signals->child = signals->user = false;
}

static void take_timer(struct recorder *r)
{
	const struct record_options *options = r->options;
	uint64_t expired;
	if (read(r->timer, &expired, sizeof expired) != (ssize_t)sizeof expired)
		return;
	if (!options->windows) {
		switch_events(r, true);
		return;
	}
	const struct record_window *window = &options->windows[r->window];
	r->window_open = !r->window_open;
	switch_events(r, r->window_open);
	if (r->window_open)
		arm(r, window->to_ms - window->from_ms);
	else if (++r->window < options->window_count)
		arm(r, options->windows[r->window].from_ms - window->to_ms);
}

/* The events that a command "enable NAME" means; all without a name. */
static void control_switch(struct recorder *r, bool on, const char *name)
{
	if (!*name) {
		switch_events(r, on);
		return;
	}
	for (uint32_t i = 0; i < r->events->list.count; i++) {
		if (strcmp(r->events->list.items[i].name, name) != 0)
			continue;
		if (on)
			counters_enable(&r->counters, r->events, i);
		else
			counters_disable(&r->counters, r->events, i);
		recorder_say(r, "Event %s %s", name, on ? "enabled" : "disabled");
	}
}

static void control_list(struct recorder *r)
{
	for (size_t i = 0; i < r->events->list.count; i++)
		recorder_say(r, "%s", r->events->list.items[i].name);
}

static void control_command(struct recorder *r, const char *line)
{
	bool known = true;
	if (strncmp(line, "enable", 6) == 0 && (line[6] == '\0' || line[6] == ' '))
		control_switch(r, true, line + 6 + (line[6] == ' '));
	else if (strncmp(line, "disable", 7) == 0 && (line[7] == '\0' || line[7] == ' '))
		control_switch(r, false, line + 7 + (line[7] == ' '));
	else if (strcmp(line, "stop") == 0)
		r->done = true;
	else if (strncmp(line, "evlist", 6) == 0)
		control_list(r);
	else
		known = strcmp(line, "ping") == 0 || strcmp(line, "snapshot") == 0;
	struct pollfd answered = { .fd = r->options->acknowledge, .events = POLLOUT };
	/* who sends commands and reads no answers must not stop the recording */
	if (known && poll(&answered, 1, 0) == 1 && answered.revents & POLLOUT) {
		static const char answer[] = "ack\n";
		ssize_t told = write(answered.fd, answer, sizeof answer - 1);
		(void)told;
	}
}

static void take_commands(struct recorder *r)
{
	char bytes[256];
	ssize_t n = read(r->options->control, bytes, sizeof bytes);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->options->control, NULL);
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] != '\n' && bytes[i] != '\0') {
			if (r->command_len < sizeof r->command - 1)
				r->command[r->command_len++] = bytes[i];
			continue;
		}
		r->command[r->command_len] = '\0';
		if (r->command_len)
			control_command(r, r->command);
		r->command_len = 0;
	}
}

static void take_switch(struct recorder *r)
{
	uint64_t expired;
	if (read(r->switch_timer, &expired, sizeof expired) == (ssize_t)sizeof expired)
		r->switch_now = true;
}

static void take_streams(struct recorder *r)
{
	uint64_t told;
	if (read(streams_fd(r->streams), &told, sizeof told) == (ssize_t)sizeof told)
		r->streams_ended = streams_ended(r->streams);
}

static void take_ring(struct recorder *r, size_t index, uint32_t what)
{
	if (!(what & (EPOLLERR | EPOLLHUP)) || index >= r->counters.rings.count)
		return;
	/* the last task of this ring has gone: nothing wakes us for it any more */
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->counters.rings.items[index].fd, NULL);
	if (r->rings_open)
		r->rings_open--;
}

/* Until there is something to do; while there is not, at what has been mapped. */
static int wait_for_events(struct recorder *r, struct epoll_event *events)
{
	bool looks = r->builds && !r->streams && !r->unwinding;
	/* A ring tells of itself when it is half full, which may be more than the file shall hold. */
	bool measured = r->options->size_limit || r->options->switching.bytes;
	int timeout = r->unwinding || measured ? LOOK_MS : looks ? BUILD_READER_LOOK_MS : -1, n;
	while ((n = epoll_wait(r->epoll, events, EVENTS_AT_ONCE, timeout)) == 0 && looks) {
		for (size_t i = 0; i < r->counters.rings.count; i++)
			build_reader_see_ring(r->builds, &r->counters.rings.items[i], &r->seen[i]);
		if (measured)
			break;
	}
	return n;
}

static int wait_once(struct recorder *r, struct error *err)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = wait_for_events(r, events);
	if (n < 0 && errno != EINTR)
		return error_system(err, "cannot wait for events");
	r->recording->wakeups += n != 0;
	for (int i = 0; i < n; i++) {
		switch ((int64_t)events[i].data.u64) {
		case TOKEN_SIGNAL:
			take_signals(r);
			break;
		case TOKEN_TIMER:
			take_timer(r);
			break;
		case TOKEN_CONTROL:
			take_commands(r);
			break;
		case TOKEN_SWITCH:
			take_switch(r);
			break;
		case TOKEN_SWITCH_EVENT:
			r->switch_now |= switch_event_take(&r->switch_event);
			break;
		case TOKEN_STREAMS:
			take_streams(r);
			break;
		case TOKEN_CPUS:
			cpu_changes_take(&r->cpu_changes);
			break;
		default:
			take_ring(r, (size_t)events[i].data.u64, events[i].events);
		}
	}
	return 0;
}

static bool switch_due(const struct recorder *r)
{
	uint64_t bytes = r->options->switching.bytes;
	return r->switch_now || (bytes && data_writer_size(&r->writer) >= bytes);
}

static bool limit_reached(struct recorder *r)
{
	uint64_t bytes = data_writer_size(&r->writer) + (r->streams ? streams_totals(r->streams).bytes : 0) +
		(r->ring_files ? ring_files_totals(r->ring_files).bytes : 0);
	if (!r->options->size_limit || bytes < r->options->size_limit)
		return false;
	if (!r->recording->limit_reached)
		r->recording->limit_reached = bytes;
	return true;
}

int loop_run(struct recorder *r, struct error *err)
{
	bool stopped = false;
	for (;;) {
		bool last = r->done || r->streams_ended || (r->rings_watched && !r->rings_open);
		if (r->done && !stopped) {
			counters_disable(&r->counters, r->events, UINT32_MAX);
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
		if (last)
			return 0;
		if (switch_due(r) && recorder_switch(r, err) < 0)
			return -1;
		/* Not until nothing is left: what the recorder does itself may be what it records. */
		if (wait_once(r, err) < 0)
			return -1;
	}
}

static void pause_backward(struct recorder *r, bool pause)
{
	for (size_t i = 0; i < r->counters.list.count; i++) {
		const struct counter *counter = &r->counters.list.items[i];
		if (counter->fd >= 0 && counter->ring != UINT32_MAX && r->counters.rings.items[counter->ring].backward)
			counter_pause_output(counter->fd, pause);
	}
}

static bool has_backward(const struct recorder *r)
{
	for (size_t i = 0; i < r->counters.rings.count; i++)
		if (r->counters.rings.items[i].backward)
			return true;
	return false;
}

/* Stacks are unwound while output is paused; only those that lead to unread call frame information after that. */
static int snapshot_unwinding(struct recorder *r, struct error *err)
{
	if (!has_backward(r))
		return 0;
	pause_backward(r, true);
	int status = drain_unwinding(r, true, err); /* what was mapped, up to now */
	if (status >= 0 && unwinding_snapshot(r->unwinding, err) < 0)
		status = -1;
	if (status >= 0)
		status = step_unwinding(r, err);
	if (!r->done)
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
	for (size_t i = 0; i < r->counters.rings.count; i++) {
		struct ring *ring = &r->counters.rings.items[i];
		struct span pieces[2];
		if (!ring->backward || !ring_snapshot(ring, pieces))
			continue;
		if (put(r, pieces, 2, err) < 0)
			return -1;
		any = 1;
	}
	if (any && end_round(r, err) < 0)
		return -1;
	if (!r->done)
		pause_backward(r, false);
	return 0;
}
