#include "analysis/count/sample_reads.h"

void sample_reads_fini(struct sample_reads *reads)
{
	idmap_fini(&reads->places);
	vec_fini(&reads->values);
}

/* Returns the difference to the previous value of the id. */
static uint64_t value_difference(struct sample_reads *reads, uint64_t id, uint64_t value)
{
	bool added;
	uint32_t place = idmap_add(&reads->places, id, (uint32_t)reads->values.count, &added);
	if (added)
		vec_push(&reads->values, 0);
	uint64_t gain = value - reads->values.items[place];
	reads->values.items[place] = value;
	return gain;
}

void sample_reads_each(struct sample_reads *reads, const struct evlist *evlist, uint32_t event, const struct sample *sample,
	void (*visit)(void *context, const struct sample_part *part), void *context)
{
	const struct attr *attr = &evlist->events.items[event].attr;
	struct read_values values;
	size_t used;
	if (!(attr->sample_type & SAMPLE_READ)) {
		struct sample_part part = { .event = event, .id = sample->id, .period = sample->period };
		visit(context, &part);
		return;
	}
	if (sample_read_decode(&values, attr->read_format, sample->read, sample->read_len, &used) < 0)
		return;
	for (uint64_t i = 0; i < values.count; i++) {
		struct read_value value = sample_read_at(&values, i);
		struct sample_part part = { .event = idmap_get(&evlist->by_id, value.id), .id = value.id };
		if (part.event == IDMAP_NONE)
			continue;
		part.period = value_difference(reads, value.id, value.value);
		if (part.period)
			visit(context, &part);
	}
}
