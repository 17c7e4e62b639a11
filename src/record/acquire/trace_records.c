#include "record/acquire/trace_records.h"

#include <string.h>

#include "event/intel_pt.h"
#include "os/tsc.h"
#include "record/acquire/record_out.h"

/* The values of an intel_pt trace, in the order of the record. */
static void pt_values(const struct trace *trace, const struct events *events, const struct ring_clock *clock, struct writer *out)
{
	const struct pmu *pmu = trace->pmu;
	const char *filter = trace_event(trace, events)->filter, *event_trace = pmu_cap(pmu, "event_trace");
	size_t length = filter ? strlen(filter) : 0;
	uint32_t n, d;
	tsc_crystal_ratio(&n, &d);
	const uint64_t values[] = {
		pmu->type, clock->shift, clock->mult, clock->zero, clock->has_zero, intel_pt_bit(pmu, "tsc"),
		intel_pt_bit(pmu, "noretcomp"), trace->switches, trace->snapshot, trace->per_cpu, intel_pt_bit(pmu, "mtc"),
		intel_pt_bits(pmu, "mtc_period"), n, d, intel_pt_bit(pmu, "cyc"), pmu_number(&events->pmus, pmu, "max_nonturbo_ratio"),
		length,
	};
	writer_add(out, values, sizeof values);
	if (length)
		out_string(out, filter);
	out_u64(out, event_trace && strcmp(event_trace, "0") != 0);
}

static void bts_values(const struct trace *trace, const struct ring_clock *clock, struct writer *out)
{
	const uint64_t values[] = { trace->pmu->type, clock->shift, clock->mult, clock->zero, clock->has_zero, trace->snapshot };
	writer_add(out, values, sizeof values);
}

void trace_info_record(const struct trace *trace, const struct events *events, const struct counters *counters, struct writer *out)
{
	struct ring_clock clock = { 0 };
	if (trace->kind == TRACE_NONE)
		return;
	if (counters->rings.count && !ring_clock(&counters->rings.items[0], &clock))
		clock = (struct ring_clock){ 0 };
	clock.has_zero &= clock.mult != 0;
	size_t at = record_open(out, RECORD_AUXTRACE_INFO, 0);
	out_u32(out, trace->kind);
	out_u32(out, 0);
	if (trace->kind == TRACE_INTEL_PT)
		pt_values(trace, events, &clock, out);
	else
		bts_values(trace, &clock, out);
	record_close(out, at, 0);
}

/* The place of the ring among those of all CPUs, or of all threads. */
static uint32_t index_of(const struct counters *counters, const struct target *target, size_t ring, int32_t *tid)
{
	const struct ring *wanted = &counters->rings.items[ring];
	uint32_t index = 0;
	*tid = target->threads.count ? target->threads.items[0].tid : -1;
	if (wanted->cpu >= 0) {
		while (index < counters->cpus.list.count && counters->cpus.list.items[index] != wanted->cpu)
			index++;
		return index;
	}
	for (size_t i = 0; i < counters->list.count; i++)
		if (counters->list.items[i].fd == wanted->fd)
			*tid = counters->list.items[i].tid;
	while (index < target->threads.count && target->threads.items[index].tid != *tid)
		index++;
	return index;
}

void trace_piece_record(const struct counters *counters, const struct target *target, size_t ring,
	const struct aux_piece *piece, struct writer *out)
{
	int32_t tid;
	uint32_t index = index_of(counters, target, ring, &tid);
	size_t at = record_open(out, RECORD_AUXTRACE, 0);
	out_u64(out, (piece->size + 7) & ~(uint64_t)7);
	out_u64(out, piece->offset);
	out_u64(out, tsc_now());
	out_u32(out, index);
	out_u32(out, (uint32_t)tid);
	out_u32(out, (uint32_t)counters->rings.items[ring].cpu);
	out_u32(out, 0);
	record_close(out, at, 0);
}
