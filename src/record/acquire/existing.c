#include "record/acquire/existing.h"

#include "record/acquire/programs.h"
#include "record/acquire/record_out.h"
#include "record/acquire/trace_records.h"

static bool records_kernel(const struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		if (!events->list.items[i].follower && !attr_flag(&events->list.items[i].attr, ATTR_EXCLUDE_KERNEL))
			return true;
	return false;
}

void existing_write(struct synthesis *s, struct measurement *m, bool names, struct writer *out)
{
	const struct events *events = m->events;
	const struct counters *counters = &m->counters;
	s->out = out;
	s->trailer = synthesis_trailer(&events->list.items[0].attr);
	s->data_maps = events->list.items[configure_tracking(events)].attr.flags >> ATTR_MMAP_DATA & 1;
	s->namespaces = m->sampling.namespaces;
	s->build_ids = m->sampling.build_id_mmap;
	s->no_cgroups |= !m->sampling.cgroups;
	synthesize_id_index(s, counters);
	synthesize_clock(s, counters);
	trace_info_record(&m->trace, events, counters, out);
	if (records_kernel(events))
		synthesize_kernel(s);
	synthesize_event_updates(s, events, counters, names);
	synthesize_thread_map(s, &m->target);
	synthesize_cpu_map(s, counters);
	if (!m->sampling.no_bpf_event) {
		bpf_programs_fini(&m->programs);
		bpf_programs_read(&m->programs);
		bpf_images_read(&m->programs);
		synthesize_programs(s, &m->programs);
	}
	synthesize_cgroups(s);
	synthesize_processes(s, &m->target);
	if (m->workload.pid && m->target.attached)
		synthesize_command(s, m->workload.pid);
	synthesize_mark(s, RECORD_FINISHED_INIT);
}

uint64_t existing_write_lost(const struct measurement *m, struct writer *out)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < m->counters.list.count; i++) {
		const struct counter *counter = &m->counters.list.items[i];
		const struct attr *attr = &m->events->list.items[counter->event].attr;
		uint64_t lost = counter_lost(counter, attr);
		sum += lost;
		if (!lost || !attr_flag(attr, ATTR_SAMPLE_ID_ALL))
			continue;
		const struct sample values = { .id = counter->id, .stream_id = counter->id, .cpu = counter->cpu >= 0 ? (uint32_t)counter->cpu : 0 };
		size_t at = record_open(out, RECORD_LOST_SAMPLES, 0);
		out_u64(out, lost);
		record_close_with(out, at, attr, &values);
	}
	return sum;
}
