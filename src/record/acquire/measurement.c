#include "record/acquire/measurement.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

/* What epoll returns for a descriptor: the index of a ring, below 2^32, or one of these. */
enum { TOKEN_SIGNALS = 1, TOKEN_CPUS = 2, TOKEN_CALLER = 3 }; /* TOKEN_CALLER + bit */
enum { TOKEN_SHIFT = 32, DESCRIPTORS_AT_ONCE = 64 };

static int watch(struct measurement *m, int fd, uint64_t token, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = token };
	return epoll_ctl(m->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : error_system(err, "cannot wait for a descriptor");
}

int measurement_watch(struct measurement *m, int fd, unsigned bit, struct error *err)
{
	return watch(m, fd, (uint64_t)(TOKEN_CALLER + bit) << TOKEN_SHIFT, err);
}

void measurement_unwatch(struct measurement *m, int fd)
{
	epoll_ctl(m->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static int open_wait(struct measurement *m, bool user_signal, struct error *err)
{
	if (signals_open(&m->signals, user_signal, err) < 0)
		return -1;
	m->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (m->epoll < 0)
		return error_system(err, "cannot set up waiting");
	return watch(m, m->signals.fd, (uint64_t)TOKEN_SIGNALS << TOKEN_SHIFT, err);
}

static int open_target(struct measurement *m, const struct measurement_options *options, struct error *err)
{
	const char *warning;
	if (target_open(&m->target, &options->target, &warning, err) < 0)
		return -1;
	if (warning && options->warnings)
		str_printf(options->warnings, "Warning:\n%s\n", warning);
	if (m->target.from_tids && !m->sampling.inherit_given && !m->counts)
		m->sampling.no_inherit = true;
	if (m->counts && !m->target.system_wide) { /* one counter for a thread, wherever it runs */
		vec_clear(&m->target.cpus.list);
		cpus_add(&m->target.cpus, -1);
	}
	if (!options->command)
		return 0;
	for (size_t i = 0; i < m->events->list.count; i++)
		if (m->events->list.items[i].traces) /* dumps of just-in-time compilers get the times of the trace */
			setenv("JITDUMP_USE_ARCH_TIMESTAMP", "1", 1);
	if (workload_start(&m->workload, options->command, options->command_to_stderr, &m->signals, err) < 0)
		return -1;
	target_set_command(&m->target, m->workload.pid);
	return 0;
}

/* Whether code on a CPU that comes online is wanted: not if the user gave a list, nor for events of a PMU that counts on some CPUs. */
static bool wants_all_cpus(const struct measurement *m)
{
	for (size_t i = 0; i < m->events->list.count; i++) {
		const struct event *event = &m->events->list.items[i];
		if (!event->follower && !(event->cpus && event->cpus->list.count))
			return !m->target.cpus_given && !m->target.per_thread;
	}
	return false;
}

static void set_wanted_cpus(struct measurement *m, struct str *warnings)
{
	const struct cpus *offline = &m->counters.offline;
	CLEANUP_STR struct str numbers = { 0 };
	m->cpu_changes.recorded = m->target.system_wide ? &m->counters.cpus : NULL;
	m->cpu_changes.known = wants_all_cpus(m) ? &m->target.online : NULL;
	if (!offline->list.count || !warnings)
		return;
	cpus_text(offline, &numbers);
	str_printf(warnings, "CPU%s %s went offline before recording began: not recorded\n", offline->list.count > 1 ? "s" : "",
		str_text(&numbers));
}

static void configure_count(struct measurement *m, struct event *event, uint32_t index)
{
	struct attr *attr = &event->attr;
	const struct sampling *s = &m->sampling;
	bool leads = event->leader == index;
	bool grouped = m->events->list.items[event->leader].members > 1;
	attr->read_format = READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING | (grouped ? READ_ID | READ_GROUP : 0);
	attr->sample_period = event->terms.set & EVENT_TERM_PERIOD ? event->terms.period : 0;
	set_attr_flag(attr, ATTR_INHERIT, !s->no_inherit);
	set_attr_flag(attr, ATTR_DISABLED, leads);
	set_attr_flag(attr, ATTR_ENABLE_ON_EXEC, leads && configure_enable_on_exec(s, &m->target));
	if (s->all_user || s->all_kernel) {
		set_attr_flag(attr, ATTR_EXCLUDE_KERNEL, s->all_user);
		set_attr_flag(attr, ATTR_EXCLUDE_USER, s->all_kernel);
	}
}

static int open_counts(struct measurement *m, const struct measurement_options *options, struct error *err)
{
	for (uint32_t i = 0; i < m->events->list.count; i++)
		configure_count(m, &m->events->list.items[i], i);
	m->refused = counters_open_partly(&m->counters, m->events, &m->target, !options->apart, options->notes, err) < 0;
	if (m->refused || (options->with_ids && counters_read_ids(&m->counters, err) < 0))
		return -1;
	return counters_filter(&m->counters, m->events, err);
}

static int open_events(struct measurement *m, const struct measurement_options *options, struct error *err)
{
	if (m->counts)
		return open_counts(m, options, err);
	cpu_changes_open(&m->cpu_changes); /* first: changes while events are opened are not missed */
	if (trace_configure(&m->trace, m->events, options->trace, &m->sampling, &m->target, options->warnings, err) < 0)
		return -1;
	configure_defaults(m->events, &m->sampling, &m->target);
	if (configure_events(m->events, &m->sampling, &m->target, options->warnings, err) < 0)
		return -1;
	m->refused = counters_open(&m->counters, m->events, &m->target, options->notes, err) < 0;
	if (m->refused)
		return -1;
	set_wanted_cpus(m, options->warnings);
	if (m->cpu_changes.fd >= 0 && watch(m, m->cpu_changes.fd, (uint64_t)TOKEN_CPUS << TOKEN_SHIFT, err) < 0)
		return -1;
	return counters_filter(&m->counters, m->events, err);
}

int measurement_open(struct measurement *m, const struct measurement_options *options, struct error *err)
{
	*m = (struct measurement){
		.events = options->events, .counts = options->counts, .sampling = options->sampling, .signals.fd = -1, .cpu_changes.fd = -1, .epoll = -1,
		.workload = { .go = -1, .failed = -1 },
	};
	if (open_wait(m, options->user_signal, err) < 0 || open_target(m, options, err) < 0)
		return -1;
	return open_events(m, options, err);
}

/* Whether the counter of a ring is of the target, and not one that is on all CPUs for every target. */
static bool is_of_target(const struct measurement *m, const struct ring *ring)
{
	for (size_t i = 0; i < m->counters.list.count; i++)
		if (m->counters.list.items[i].fd == ring->fd)
			return !m->events->list.items[m->counters.list.items[i].event].everywhere;
	return true;
}

int measurement_map(struct measurement *m, size_t pages, bool watched, struct error *err)
{
	const struct ring_sizes sizes = {
		.pages = pages ? pages : m->trace.ring_pages ? m->trace.ring_pages : ring_default_pages(),
		.area_bytes = m->trace.pages * (size_t)sysconf(_SC_PAGESIZE), .overwrite_areas = m->trace.snapshot || m->trace.samples,
	};
	if (counters_map(&m->counters, m->events, &sizes, err) < 0)
		return -1;
	for (size_t i = 0; i < m->counters.rings.count && watched; i++) {
		const struct ring *ring = &m->counters.rings.items[i];
		if (ring->backward)
			continue;
		if (watch(m, ring->fd, i, err) < 0)
			return -1;
		if (is_of_target(m, ring)) /* others never end */
			m->rings_open = ++m->rings_watched;
	}
	return 0;
}

int measurement_start(struct measurement *m, struct error *err)
{
	if (!m->sampling.delay_ms && !configure_enable_on_exec(&m->sampling, &m->target))
		counters_switch(&m->counters, m->events, UINT32_MAX, true);
	return m->workload.pid ? workload_run(&m->workload, err) : 0;
}

static void read_signals(struct measurement *m)
{
	signals_read(&m->signals);
	m->ended |= m->signals.ended_by || (m->signals.child && workload_ended(&m->workload));
	m->signals.child = false;
}

static void read_ring_state(struct measurement *m, size_t index, uint32_t state)
{
	if (!(state & (EPOLLERR | EPOLLHUP)))
		return;
	/* the last task of the ring has ended: it wakes no reader from now on */
	measurement_unwatch(m, m->counters.rings.items[index].fd);
	m->rings_open--;
}

int measurement_wait(struct measurement *m, int timeout_ms, uint32_t *ready, struct error *err)
{
	struct epoll_event events[DESCRIPTORS_AT_ONCE];
	int n = epoll_wait(m->epoll, events, DESCRIPTORS_AT_ONCE, timeout_ms);
	*ready = 0;
	if (n < 0)
		return errno == EINTR ? 0 : error_system(err, "cannot wait for events");
	for (int i = 0; i < n; i++) {
		unsigned token = (unsigned)(events[i].data.u64 >> TOKEN_SHIFT);
		if (token >= TOKEN_CALLER)
			*ready |= 1u << (token - TOKEN_CALLER);
		else if (token == TOKEN_CPUS)
			cpu_changes_read(&m->cpu_changes);
		else if (token == TOKEN_SIGNALS)
			read_signals(m);
		else
			read_ring_state(m, (size_t)events[i].data.u64, events[i].events);
	}
	/* a counter without a ring does not report the end of its task */
	if (n == 0 && m->target.attached && !m->counters.rings.count)
		m->ended |= !target_lives(&m->target);
	return n;
}

bool measurement_over(const struct measurement *m)
{
	return m->ended || (m->rings_watched && !m->rings_open);
}

void measurement_stop(struct measurement *m)
{
	signals_let_quit(&m->signals);
	workload_stop(&m->workload);
}

void measurement_end_command(struct measurement *m)
{
	workload_stop(&m->workload);
	workload_wait(&m->workload, &m->signals);
}

void measurement_report_cpus(struct measurement *m, struct str *warnings)
{
	struct cpus online = { 0 };
	if (cpus_online(&online, NULL) == 0)
		cpu_changes_end(&m->cpu_changes, &online);
	cpu_changes_text(&m->cpu_changes, warnings);
	cpus_fini(&online);
}

void measurement_close(struct measurement *m)
{
	measurement_end_command(m);
	counters_close(&m->counters);
	cpu_changes_close(&m->cpu_changes);
	if (m->epoll >= 0)
		close(m->epoll);
	m->epoll = -1;
	signals_close(&m->signals);
	target_close(&m->target);
	bpf_programs_fini(&m->programs);
}
