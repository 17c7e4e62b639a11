#include "record/count/counting.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "event/event_names.h"
#include "os/counter.h"
#include "os/permission.h"
#include "record/acquire/configure.h"

uint64_t counting_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

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

static bool is_tool(const struct event *event)
{
	return event->attr.type == EVENT_TYPE_TOOL;
}

static void configure(const struct counting *c, uint32_t index)
{
	struct event *event = &c->events->list.items[index];
	struct attr *attr = &event->attr;
	bool leader = event->leader == index, on_exec = c->target.command && !c->options.delay_ms;
	attr->read_format = READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING;
	attr->sample_period = event->terms.set & EVENT_TERM_PERIOD ? event->terms.period : 0;
	set_attr_flag(attr, ATTR_INHERIT, !c->options.no_inherit);
	set_attr_flag(attr, ATTR_DISABLED, leader);
	set_attr_flag(attr, ATTR_ENABLE_ON_EXEC, leader && on_exec);
	if (c->options.all_user || c->options.all_kernel) {
		set_attr_flag(attr, ATTR_EXCLUDE_KERNEL, c->options.all_user);
		set_attr_flag(attr, ATTR_EXCLUDE_USER, c->options.all_kernel);
	}
}

/* User code alone, if the kernel may not be measured. */
static bool fall_back_to_user(struct counting *c, struct event *event, int sys)
{
	struct permission permission;
	if ((sys != EACCES && sys != EPERM) || attr_flag(&event->attr, ATTR_EXCLUDE_KERNEL) || attr_flag(&event->attr, ATTR_EXCLUDE_USER) ||
	    event->attr.type == ATTR_TRACEPOINT)
		return false;
	permission_read(&permission);
	if (permission.paranoid <= 1)
		return false;
	set_attr_flag(&event->attr, ATTR_EXCLUDE_KERNEL, true);
	set_attr_flag(&event->attr, ATTR_EXCLUDE_HV, true);
	CLEANUP_STR struct str name = { 0 };
	str_printf(&name, "%s%su", event->name, strchr(event->name, ':') ? "" : ":");
	event->name = arena_string(&c->events->arena, name.text, name.len);
	return true;
}

static int group_fd(const struct counting *c, const struct event *event, uint32_t index, int32_t cpu, uint32_t thread)
{
	if (event->leader == index)
		return -1;
	for (size_t i = 0; i < c->slots.count && c->slots.items[i].event <= event->leader; i++)
		if (c->slots.items[i].event == event->leader && c->slots.items[i].cpu == cpu && c->slots.items[i].thread == thread)
			return c->slots.items[i].fd;
	return -1;
}

static void close_from(struct counting *c, size_t first)
{
	while (c->slots.count > first) {
		int fd = c->slots.items[--c->slots.count].fd;
		if (fd >= 0)
			counter_close(fd);
	}
}

static const int32_t any_cpu = -1;

static void slot_cpus(const struct counting *c, const struct event *event, const int32_t **cpus, size_t *count)
{
	*cpus = &any_cpu;
	*count = 1;
	if (c->target.system_wide || (event->cpus && event->cpus->list.count && !c->target.per_thread)) {
		const struct cpus *list = event->cpus && event->cpus->list.count && !c->target.cpus_given ? event->cpus : &c->target.cpus;
		*cpus = list->list.items;
		*count = list->list.count;
	}
}

/* 0 or -errno. */
static int open_event(struct counting *c, uint32_t index)
{
	const struct event *event = &c->events->list.items[index];
	size_t first = c->slots.count, cpu_count, open = 0;
	const int32_t *cpus;
	slot_cpus(c, event, &cpus, &cpu_count);
	for (size_t i = 0; i < cpu_count; i++) {
		for (uint32_t k = 0; k < c->target.threads.count; k++) {
			int group = group_fd(c, event, index, cpus[i], k);
			pid_t tid = c->target.threads.items[k].tid;
			int fd = is_tool(event) || (event->leader != index && group < 0) ? -ENOENT :
				counter_open(&event->attr, event->cgroup ? event->cgroup_fd : tid, cpus[i], group,
					event->cgroup ? COUNTER_PID_CGROUP : 0);
			bool gone = (fd == -ESRCH && c->target.threads.count > 1) || is_tool(event);
			vec_push(&c->slots, ((struct counting_slot){ fd >= 0 ? fd : -1, index, cpus[i], k }));
			open += fd >= 0 || is_tool(event);
			if (fd >= 0 || gone)
				continue;
			close_from(c, first);
			return fd;
		}
	}
	return open ? 0 : -ESRCH;
}

/* What the kernel or the machine does not have, as against what it forbids. */
static bool is_missing(int sys)
{
	return sys == EINVAL || sys == ENOSYS || sys == ENOENT || sys == EOPNOTSUPP || sys == ENXIO || sys == ENODEV || sys == EBADF;
}

static int refuse_counter(const struct counting *c, const struct event *event, int sys, struct error *err)
{
	errno = sys;
	error_system(err, "the event %s cannot be counted", event->name);
	if (err)
		err->sys = sys;
	if (sys == EACCES || sys == EPERM)
		error_hint(err, "see kernel.perf_event_paranoid%s", c->target.system_wide ? "; -a needs privilege" : "");
	return -1;
}

/* A slot for each place where the event would have counted. */
static void add_absent(struct counting *c, uint32_t index)
{
	const int32_t *cpus;
	size_t count;
	slot_cpus(c, &c->events->list.items[index], &cpus, &count);
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < c->target.threads.count; k++)
			vec_push(&c->slots, ((struct counting_slot){ -1, index, cpus[i], k }));
}

static void break_group(struct counting *c, uint32_t leader)
{
	struct event *list = c->events->list.items;
	for (uint32_t i = leader; i < c->events->list.count; i++) {
		if (list[i].leader != leader)
			continue;
		list[i].leader = i;
		configure(c, i);
	}
}

static int open_with_fallbacks(struct counting *c, uint32_t index, struct error *err)
{
	struct event *event = &c->events->list.items[index];
	for (;;) {
		int status = open_event(c, index);
		if (status == 0)
			return 0;
		if (fall_back_to_user(c, event, -status))
			continue;
		if (status == -EINVAL && (attr_flag(&event->attr, ATTR_EXCLUDE_GUEST) || attr_flag(&event->attr, ATTR_EXCLUDE_HOST))) {
			set_attr_flag(&event->attr, ATTR_EXCLUDE_GUEST, false);
			set_attr_flag(&event->attr, ATTR_EXCLUDE_HOST, false);
			continue;
		}
		struct event *leader = &c->events->list.items[event->leader];
		if (is_missing(-status) && leader != event && leader->weak && c->states.items[event->leader] == COUNTING_OPEN) {
			break_group(c, event->leader);
			continue;
		}
		if (!is_missing(-status))
			return refuse_counter(c, event, -status, err);
		c->states.items[index] = COUNTING_UNSUPPORTED;
		c->errors.items[index] = -status;
		add_absent(c, index);
		return 0;
	}
}

static int set_filters(struct counting *c, struct error *err)
{
	for (size_t i = 0; i < c->slots.count; i++) {
		const struct event *event = &c->events->list.items[c->slots.items[i].event];
		int status = event->filter && c->slots.items[i].fd >= 0 ? counter_set_filter(c->slots.items[i].fd, event->filter) : 0;
		if (status < 0)
			return error_set(err, ERROR_USAGE, "failed to set filter \"%s\" on event %s with %d (%s)", event->filter, event->name,
				-status, strerror(-status));
	}
	return 0;
}

static int open_events(struct counting *c, struct error *err)
{
	for (uint32_t i = 0; i < c->events->list.count; i++) {
		vec_push(&c->states, COUNTING_OPEN);
		vec_push(&c->errors, 0);
		configure(c, i);
	}
	for (uint32_t i = 0; i < c->events->list.count; i++)
		if (open_with_fallbacks(c, i, err) < 0)
			return -1;
	/* a group is counted whole or not at all */
	for (uint32_t i = 0; i < c->events->list.count; i++) {
		uint32_t leader = c->events->list.items[i].leader;
		if (c->states.items[i] != COUNTING_UNSUPPORTED || leader == i)
			continue;
		for (uint32_t k = leader; k < c->events->list.count; k++)
			if (c->events->list.items[k].leader == leader && c->states.items[k] == COUNTING_OPEN)
				c->states.items[k] = COUNTING_LAME;
	}
	return set_filters(c, err);
}

/* Threads that end meanwhile are left out. */
static void add_all_threads(struct target *target)
{
	struct process_ids pids = { 0 };
	vec_clear(&target->threads);
	if (process_list(&pids, NULL) == 0)
		for (size_t i = 0; i < pids.list.count; i++) {
			struct process_ids tids = { 0 };
			if (process_threads(pids.list.items[i], &tids, NULL) == 0)
				for (size_t k = 0; k < tids.list.count; k++) {
					struct process_status status;
					if (!process_status(pids.list.items[i], tids.list.items[k], &status))
						continue;
					struct target_thread *thread = vec_add(&target->threads);
					thread->tid = tids.list.items[k];
					memcpy(thread->comm, status.comm, sizeof thread->comm);
				}
			vec_fini(&tids.list);
		}
	vec_fini(&pids.list);
}

static int open_target(struct counting *c, struct error *err)
{
	const char *warning;
	char self[16];
	if (c->options.all_threads) {
		snprintf(self, sizeof self, "%d", (int)getpid());
		c->options.target = (struct target_options){ .tids = self, .command = c->options.target.command };
	}
	int status = target_open(&c->target, &c->options.target, &warning, err);
	c->options.target.tids = c->options.all_threads ? NULL : c->options.target.tids;
	if (status == 0 && c->options.all_threads)
		add_all_threads(&c->target);
	return status;
}

int counting_open(struct counting *c, const struct counting_options *options, struct error *err)
{
	*c = (struct counting){
		.events = options->events, .options = *options, .signals.fd = -1, .workload = { .go = -1, .failed = -1 },
	};
	if (signals_open(&c->signals, false, err) < 0 || open_target(c, err) < 0)
		return -1;
	if (options->command) {
		if (workload_start(&c->workload, options->command, false, &c->signals, err) < 0)
			return -1;
		target_set_command(&c->target, c->workload.pid);
	}
	read_usage(&c->user_before_ns, &c->system_before_ns);
	return open_events(c, err);
}

void counting_switch(struct counting *c, bool on)
{
	for (size_t i = 0; i < c->slots.count; i++) {
		const struct counting_slot *slot = &c->slots.items[i];
		if (slot->fd >= 0 && c->events->list.items[slot->event].leader == slot->event)
			(on ? counter_enable : counter_disable)(slot->fd);
	}
}

int counting_start(struct counting *c, struct error *err)
{
	if (!c->options.delay_ms && !c->target.command)
		counting_switch(c, true);
	c->start_ns = counting_now_ns();
	if (c->workload.pid && workload_run(&c->workload, err) < 0)
		return -1;
	if (c->options.delay_ms > 0 && !c->ended) {
		counting_wait(c, c->options.delay_ms, -1);
		c->start_ns = counting_now_ns();
	}
	if (c->options.delay_ms > 0)
		counting_switch(c, true);
	return 0;
}

bool counting_wait(struct counting *c, int timeout_ms, int fd)
{
	enum { LOOK_MS = 500 };
	uint64_t until = counting_now_ns() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms) * 1000000;
	while (!c->ended) {
		uint64_t now = counting_now_ns();
		int left = timeout_ms < 0 ? -1 : until > now ? (int)((until - now + 999999) / 1000000) : 0;
		struct pollfd any[] = { { .fd = c->signals.fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
		if (timeout_ms >= 0 && left == 0)
			return false;
		/* a counter without a ring does not report the end of its thread */
		bool looks = c->target.attached && !c->workload.pid;
		int n = poll(any, 2, looks && (left < 0 || left > LOOK_MS) ? LOOK_MS : left);
		if (n > 0 && any[0].revents) {
			signals_read(&c->signals);
			c->ended |= c->signals.ended_by || (c->signals.child && workload_ended(&c->workload));
			c->signals.child = false;
		}
		if (n > 0 && any[1].revents)
			return true;
		if (n == 0 && looks)
			c->ended |= !target_lives(&c->target);
	}
	return false;
}

static uint64_t tool_value(const struct counting *c, const struct event *event)
{
	uint64_t user, system;
	if (event->attr.config == 1)
		return (c->end_ns ? c->end_ns : counting_now_ns()) - c->start_ns;
	read_usage(&user, &system);
	return event->attr.config == 2 ? user - c->user_before_ns : system - c->system_before_ns;
}

void counting_read(struct counting *c, struct counts *counts)
{
	for (size_t i = 0; i < c->slots.count; i++) {
		const struct counting_slot *slot = &c->slots.items[i];
		const struct event *event = &c->events->list.items[slot->event];
		struct count *count = vec_add(&counts->list);
		uint64_t values[3];
		*count = (struct count){ 0 };
		if (is_tool(event)) {
			/* one slot has the whole value */
			bool first = i == 0 || c->slots.items[i - 1].event != slot->event;
			count->value = count->enabled = count->running = first ? tool_value(c, event) : 0;
		} else if (slot->fd >= 0 && c->states.items[slot->event] == COUNTING_OPEN &&
			   counter_read(slot->fd, values, sizeof values) == (ssize_t)sizeof values) {
			*count = (struct count){ values[0], values[1], values[2] };
		}
	}
}

void counting_end(struct counting *c, bool stop)
{
	if (stop)
		workload_stop(&c->workload);
	workload_wait(&c->workload, &c->signals);
	c->ended = true;
	c->end_ns = counting_now_ns();
	read_usage(&c->user_ns, &c->system_ns);
	c->user_ns -= c->user_before_ns;
	c->system_ns -= c->system_before_ns;
}

void counting_close(struct counting *c)
{
	workload_stop(&c->workload);
	workload_wait(&c->workload, &c->signals);
	close_from(c, 0);
	vec_fini(&c->slots);
	vec_fini(&c->states);
	vec_fini(&c->errors);
	signals_close(&c->signals);
	target_close(&c->target);
}
