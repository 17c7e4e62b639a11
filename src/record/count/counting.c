#include "record/count/counting.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "event/event_names.h"
#include "record/count/counting_shared.h"
#include "record/count/counting_tasks.h"
#include "os/counter.h"

static uint64_t time_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static void read_usage(uint64_t *user, uint64_t *system)
{
	struct rusage usage;
	getrusage(RUSAGE_CHILDREN, &usage);
	*user = time_ns(usage.ru_utime);
	*system = time_ns(usage.ru_stime);
}

/* Events with the modifier R are sampled, if the caller wants that. Their rings end a wait, so that they are emptied in time. */
static int open_latencies(struct counting *c, const struct counting_options *options, struct error *err)
{
	struct measurement *m = &c->measurement;
	if (!options->latencies || !latencies_wanted(m->events))
		return 0;
	if (latencies_open(&c->latencies, m->events, options->target.cpus, options->warnings, err) < 0)
		return -1;
	for (uint32_t i = 0; i < m->events->list.count; i++)
		if (m->events->list.items[i].retire_latency && !latencies_sampled(&c->latencies, i))
			m->counters.states.items[i] = COUNTER_UNSUPPORTED;
	for (size_t i = 0; i < c->latencies.counters.rings.count; i++)
		if (measurement_watch(m, c->latencies.counters.rings.items[i].fd, COUNTING_BITS, err) < 0)
			return -1;
	return 0;
}

int counting_open(struct counting *c, const struct counting_options *options, struct error *err)
{
	*c = (struct counting){ .latency_choice = options->latency_choice };
	read_usage(&c->user_before_ns, &c->system_before_ns);
	struct measurement_options measured = {
		.sampling = {
			.no_inherit = options->no_inherit, .all_user = options->all_user, .all_kernel = options->all_kernel,
			.delay_ms = options->delay_ms,
		},
		.counts = true, .with_ids = options->with_ids, .apart = options->apart, .target = options->target, .events = options->events,
		.command = options->command, .command_to_stderr = options->command_to_stderr, .warnings = options->warnings,
		.notes = options->notes,
	};
	if (options->shared)
		counting_share_all(options->events);
	counting_split_groups(options->events, options->warnings);
	counting_open_tasks(c, options, &measured.target);
	int status = measurement_open(&c->measurement, &measured, err);
	free((void *)measured.target.listed);
	if (status < 0)
		return -1;
	counting_leave_out_command(c);
	if (open_latencies(c, options, err) < 0)
		return -1;
	return counting_open_shared(c, options, err);
}

void counting_switch(struct counting *c, bool on)
{
	counting_switch_event(c, UINT32_MAX, on);
}

void counting_switch_event(struct counting *c, uint32_t event, bool on)
{
	if (event == UINT32_MAX)
		counting_switch_tasks(c, on);
	counters_switch(&c->measurement.counters, c->measurement.events, event, on);
	counting_switch_shared(c, event, on);
	latencies_switch(&c->latencies, event, on);
}

int counting_start(struct counting *c, struct error *err)
{
	int delay_ms = c->measurement.sampling.delay_ms;
	c->start_ns = now_ns();
	if (counting_start_shared(c, err) < 0)
		return -1;
	if (!delay_ms) {
		counting_switch_tasks(c, true);
		counting_switch_shared(c, UINT32_MAX, true);
		latencies_switch(&c->latencies, UINT32_MAX, true);
	}
	if (measurement_start(&c->measurement, err) < 0)
		return -1;
	if (delay_ms <= 0)
		return 0;
	if (!counting_ended(c))
		counting_wait(c, delay_ms);
	c->start_ns = now_ns();
	counting_switch(c, true);
	return 0;
}

uint32_t counting_wait(struct counting *c, int timeout_ms)
{
	enum { LOOK_MS = 500 };
	struct measurement *m = &c->measurement;
	uint64_t until = now_ns() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms) * 1000000;
	uint32_t ready = 0;
	while (!counting_ended(c) && !ready) {
		uint64_t now = now_ns();
		int left = timeout_ms < 0 ? -1 : until > now ? (int)((until - now + 999999) / 1000000) : 0;
		if (left == 0)
			break;
		/* a counter without a ring does not report the end of its thread */
		bool looks = m->target.attached && !m->workload.pid;
		if (measurement_wait(m, looks && (left < 0 || left > LOOK_MS) ? LOOK_MS : left, &ready, NULL) < 0)
			break;
		if (ready >> COUNTING_BITS)
			latencies_take(&c->latencies);
		ready &= ~(1u << COUNTING_BITS);
	}
	return ready;
}

static uint64_t tool_value(const struct counting *c, const struct event *event)
{
	uint64_t user, system;
	if (event->attr.config == 1)
		return (c->end_ns ? c->end_ns : now_ns()) - c->start_ns;
	read_usage(&user, &system);
	return event->attr.config == 2 ? user - c->user_before_ns : system - c->system_before_ns;
}

/* Reads a kernel group: its times, and a value for each of its counters in the order in which they were opened. */
static bool read_group(struct counting *c, size_t index, bool with_ids, struct count *count)
{
	const struct counters *counters = &c->measurement.counters;
	size_t words = with_ids ? 2 : 1, most = 3 + words * c->measurement.events->list.count, at = c->group_values.count;
	vec_reserve(&c->group_values, at + most);
	uint64_t *values = c->group_values.items + at;
	ssize_t n = counter_read(counters->list.items[index].fd, values, most * sizeof *values);
	if (n < (ssize_t)(3 * sizeof *values) || (uint64_t)n / sizeof *values < 3 + words * values[0] || !values[0])
		return false;
	uint64_t members = values[0];
	*count = (struct count){ values[3], values[1], values[2] };
	for (uint64_t i = 1; i < members; i++)
		values[i] = values[3 + words * i];
	c->group_values.count = at + members;
	c->group_next.items[index] = (uint32_t)at + 1;
	return true;
}

/* The next value of the group, which has the times of its first counter. */
static struct count take_member(struct counting *c, const struct counts *counts, uint32_t reader)
{
	uint32_t next = c->group_next.items[reader];
	if (!next || next >= c->group_values.count)
		return (struct count){ 0 };
	c->group_next.items[reader]++;
	const struct count *first = &counts->list.items[reader];
	return (struct count){ c->group_values.items[next], first->enabled, first->running };
}

static struct count read_counter(struct counting *c, struct counts *counts, size_t index)
{
	const struct counter *counter = &c->measurement.counters.list.items[index];
	uint64_t format = c->measurement.events->list.items[counter->event].attr.read_format, values[3];
	struct count count = { 0 };
	if (counter->reader != index)
		return take_member(c, counts, counter->reader);
	if (format & READ_GROUP)
		return read_group(c, index, format & READ_ID, &count) ? count : (struct count){ 0 };
	if (counter_read(counter->fd, values, sizeof values) == (ssize_t)sizeof values)
		count = (struct count){ values[0], values[1], values[2] };
	return count;
}

void counting_read(struct counting *c, struct counts *counts)
{
	const struct counters *counters = &c->measurement.counters;
	const struct event *list = c->measurement.events->list.items;
	vec_clear(&c->group_values);
	vec_clear(&c->group_next);
	vec_reserve(&c->group_next, counters->list.count);
	vec_reserve(&counts->list, counters->list.count);
	for (size_t i = 0; i < c->shared.count; i++)
		shared_counts_read(&c->shared.items[i]);
	latencies_take(&c->latencies);
	if (c->has_task_counts)
		task_counts_read(&c->by_task);
	for (size_t i = 0; i < counters->list.count; i++) {
		const struct counter *counter = &counters->list.items[i];
		struct count count = { 0 };
		c->group_next.items[c->group_next.count++] = 0;
		if (list[counter->event].attr.type == EVENT_TYPE_TOOL) {
			/* the first counter has the whole value */
			bool first = i == counters->first.items[counter->event];
			count.value = count.enabled = count.running = first ? tool_value(c, &list[counter->event]) : 0;
		} else if (list[counter->event].retire_latency) {
			count.enabled = count.running = 1; /* as in perf */
			count.value = i == counters->first.items[counter->event] ? latencies_value(&c->latencies, counter->event, c->latency_choice) : 0;
		} else if (list[counter->event].task_counted) {
			count = counting_task_count(c, i);
		} else if (counting_is_shared(c, counter->event)) {
			count = counting_shared_count(c, i);
		} else if (counter->fd >= 0 && counters->states.items[counter->event] == COUNTER_OPENED) {
			count = read_counter(c, counts, i);
		}
		vec_push(&counts->list, count);
	}
}

uint32_t counting_thread(const struct counting *c, size_t counter)
{
	const struct counters *counters = &c->measurement.counters;
	uint32_t first = counters->first.items[counters->list.items[counter].event];
	return (uint32_t)((counter - first) % c->measurement.target.threads.count);
}

void counting_end(struct counting *c, bool stop)
{
	if (stop)
		measurement_stop(&c->measurement);
	workload_wait(&c->measurement.workload, &c->measurement.signals);
	c->measurement.ended = true;
	c->end_ns = now_ns();
	read_usage(&c->user_ns, &c->system_ns);
	c->user_ns -= c->user_before_ns;
	c->system_ns -= c->system_before_ns;
}

void counting_close(struct counting *c)
{
	measurement_close(&c->measurement);
	counting_close_shared(c);
	counting_close_tasks(c);
	latencies_close(&c->latencies);
	vec_fini(&c->group_values);
	vec_fini(&c->group_next);
}
