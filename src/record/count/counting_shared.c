#include "record/count/counting_shared.h"

#include <errno.h>

#include "event/event_names.h"

void counting_share_all(struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		events->list.items[i].bpf_counter = events->list.items[i].attr.type != EVENT_TYPE_TOOL;
}

static bool any_shared(const struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].bpf_counter)
			return true;
	return false;
}

static bool group_shares(const struct events *events, uint32_t leader)
{
	const struct event *list = events->list.items;
	for (uint32_t i = leader; i < events->list.count; i++)
		if (list[i].leader == leader && list[i].bpf_counter)
			return true;
	return false;
}

void counting_split_groups(struct events *events, struct str *warnings)
{
	struct event *list = events->list.items;
	bool split = false;
	for (uint32_t leader = 0; leader < events->list.count; leader++) {
		if (list[leader].leader != leader || list[leader].members < 2 || !group_shares(events, leader))
			continue;
		for (uint32_t i = leader; i < events->list.count; i++) {
			if (list[i].leader != leader)
				continue;
			list[i].leader = i;
			list[i].members = 0;
		}
		split = true;
	}
	if (split && warnings)
		str_printf(warnings, "BPF programs count the events of a group one by one\n");
}

static int check_filters(const struct events *events, struct error *err)
{
	for (size_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].bpf_counter && events->list.items[i].filter)
			return error_set(err, ERROR_UNSUPPORTED, "%s: an event with a filter has no counters that sessions can share",
				events->list.items[i].name);
	return 0;
}

static int take_states(struct counting *c, const struct shared_counts *shared, struct error *err)
{
	struct measurement *m = &c->measurement;
	for (uint32_t i = 0; i < m->events->list.count; i++) {
		int status = counting_is_shared(c, i) ? shared->states.items[c->shared_index.items[i]] : 0;
		if (status == -E2BIG)
			return error_set(err, ERROR_LIMIT, "shared counters: at most %d different events", SHARED_READINGS);
		if (status < 0 && !counter_is_missing(-status))
			return counter_explain(err, &m->events->list.items[i], &m->target, -status);
		if (status < 0)
			m->counters.states.items[i] = COUNTER_UNSUPPORTED;
	}
	return 0;
}

int counting_open_shared(struct counting *c, const struct counting_options *options, struct error *err)
{
	struct measurement *m = &c->measurement;
	VEC(struct shared_counts_event) events = { 0 };
	VEC(uint32_t) threads = { 0 };
	if (!any_shared(m->events))
		return 0;
	if (check_filters(m->events, err) < 0)
		return -1;
	for (size_t i = 0; i < m->events->list.count; i++) {
		const struct event *event = &m->events->list.items[i];
		vec_push(&c->shared_index, event->bpf_counter ? (uint32_t)events.count : UINT32_MAX);
		if (event->bpf_counter)
			vec_push(&events, ((struct shared_counts_event){ &event->attr, event->cpus, event->cgroup ? event->cgroup_fd : -1 }));
	}
	for (size_t i = 0; i < m->target.threads.count && !m->target.system_wide; i++)
		vec_push(&threads, (uint32_t)m->target.threads.items[i].tid);
	int status = 0;
	for (size_t i = 0; i < options->program_count + !options->program_count && status == 0; i++) {
		const struct shared_counts_options shared = {
			.registry = options->program_count ? NULL : options->registry ? options->registry : COUNTER_REGISTRY_PATH,
			.events = events.items, .event_count = events.count, .threads = threads.items, .thread_count = threads.count,
			.follow = !m->sampling.no_inherit, .from_exec = configure_enable_on_exec(&m->sampling, &m->target),
			.program = options->program_count ? options->programs[i] : 0,
		};
		struct shared_counts *counts = vec_add(&c->shared);
		status = shared_counts_open(counts, &shared, err);
		if (status == 0)
			status = take_states(c, counts, err);
	}
	vec_fini(&events);
	vec_fini(&threads);
	return status < 0 ? -1 : 0;
}

int counting_start_shared(struct counting *c, struct error *err)
{
	for (size_t i = 0; i < c->shared.count; i++)
		if (shared_counts_start(&c->shared.items[i], err) < 0)
			return -1;
	return 0;
}

void counting_switch_shared(struct counting *c, uint32_t event, bool on)
{
	if (event != UINT32_MAX && !counting_is_shared(c, event))
		return;
	for (size_t i = 0; i < c->shared.count; i++)
		shared_counts_switch(&c->shared.items[i], event == UINT32_MAX ? event : c->shared_index.items[event], on);
}

bool counting_is_shared(const struct counting *c, uint32_t event)
{
	return event < c->shared_index.count && c->shared_index.items[event] != UINT32_MAX;
}

struct count counting_shared_count(const struct counting *c, size_t counter)
{
	const struct counter *of = &c->measurement.counters.list.items[counter];
	size_t slot = c->measurement.target.system_wide ? 0 : counting_thread(c, counter);
	struct count count = { 0 };
	for (size_t i = 0; i < c->shared.count; i++) {
		struct shared_sum sum = shared_counts_get(&c->shared.items[i], c->shared_index.items[of->event], slot, of->cpu);
		count.value += sum.value;
		count.enabled += sum.enabled;
		count.running += sum.running;
	}
	return count;
}

uint64_t counting_lost(const struct counting *c)
{
	uint64_t lost = c->has_task_counts ? task_counts_lost(&c->by_task) : 0;
	for (size_t i = 0; i < c->shared.count; i++)
		lost += shared_counts_lost(&c->shared.items[i], SHARED_LOST_THREAD);
	return lost;
}

uint64_t counting_missed(const struct counting *c, uint64_t *ns)
{
	*ns = 0;
	uint64_t missed = c->has_task_counts ? task_counts_missed(&c->by_task, ns) : 0;
	for (size_t i = 0; i < c->shared.count; i++) {
		missed += shared_counts_lost(&c->shared.items[i], SHARED_LOST_SWITCH);
		*ns += shared_counts_lost(&c->shared.items[i], SHARED_UNSURE_NS);
	}
	return missed;
}

void counting_close_shared(struct counting *c)
{
	for (size_t i = 0; i < c->shared.count; i++)
		shared_counts_close(&c->shared.items[i]);
	vec_fini(&c->shared);
	vec_fini(&c->shared_index);
}
