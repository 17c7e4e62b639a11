#include "record/sample_filters.h"

#include <string.h>

#include "os/counter.h"
#include "record/acquire/record_out.h"

enum { MONOTONIC = 1 };

static int attach(struct event_filter *filter, const struct measurement *m, uint32_t index, struct error *err)
{
	const struct event *event = &m->events->list.items[index];
	for (size_t i = m->counters.first.items[index]; i < m->counters.first.items[index + 1]; i++) {
		const struct counter *counter = &m->counters.list.items[i];
		if (counter->fd < 0)
			continue;
		int status = filter->own.program >= 0 ? counter_set_bpf(counter->fd, filter->own.program)
						      : shared_filter_attach(&filter->shared, counter->fd);
		if (status < 0)
			return error_set(err, ERROR_UNSUPPORTED, "failed to set filter \"%s\" on event %s with %d (%s)", event->condition,
				event->name, -status, strerror(-status));
	}
	return 0;
}

static int open_one(struct event_filter *filter, const struct measurement *m, uint32_t index, struct error *err)
{
	const struct event *event = &m->events->list.items[index];
	bool monotonic = m->sampling.use_clockid && m->sampling.clockid == MONOTONIC;
	struct sample_condition condition;
	int status = sample_condition_parse(&condition, event->condition, err);
	if (status == 0)
		status = sample_condition_check(&condition, &event->attr, event->name, err);
	if (status == 0) {
		status = sample_filter_open(&filter->own, &condition, monotonic, err);
		if (status < 0 && err->kind == ERROR_PERMISSION)
			status = shared_filter_open(&filter->shared, &condition, monotonic, err);
	}
	sample_condition_fini(&condition);
	return status < 0 ? status : attach(filter, m, index, err);
}

int sample_filters_open(struct sample_filters *filters, struct measurement *m, struct error *err)
{
	bool any = false;
	for (size_t i = 0; i < m->events->list.count; i++)
		any |= m->events->list.items[i].condition != NULL;
	for (uint32_t i = 0; i < m->events->list.count && any; i++) {
		vec_push(&filters->list, ((struct event_filter){ { -1, -1 }, { -1, -1, -1, 0, { 0 } } }));
		if (m->events->list.items[i].condition && open_one(&filters->list.items[i], m, i, err) < 0)
			return -1;
	}
	return 0;
}

void sample_filters_close(struct sample_filters *filters)
{
	for (size_t i = 0; i < filters->list.count; i++) {
		sample_filter_close(&filters->list.items[i].own);
		shared_filter_close(&filters->list.items[i].shared);
	}
	vec_fini(&filters->list);
}

uint64_t sample_filters_write(const struct sample_filters *filters, const struct measurement *m, struct writer *out)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < filters->list.count; i++) {
		const struct attr *attr = &m->events->list.items[i].attr;
		const struct counter *counter = &m->counters.list.items[m->counters.first.items[i]];
		const struct sample values = { .id = counter->id, .stream_id = counter->id, .cpu = counter->cpu >= 0 ? (uint32_t)counter->cpu : 0 };
		uint64_t dropped = sample_filter_dropped(&filters->list.items[i].own) + shared_filter_dropped(&filters->list.items[i].shared);
		sum += dropped;
		if (!dropped || !attr_flag(attr, ATTR_SAMPLE_ID_ALL))
			continue;
		size_t at = record_open(out, RECORD_LOST_SAMPLES, RECORD_MISC_LOST_SAMPLES_BPF);
		out_u64(out, dropped);
		record_close_with(out, at, attr, &values);
	}
	return sum;
}
