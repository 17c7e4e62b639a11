#include "analysis/place/source_line.h"
#include "export/exporter_state.h"
#include "session/trace.h"

enum { CHAIN_MAX = 127 };
#define DATA_SRC_NONE UINT64_C(0x1e05080021) /* each part of perf_mem_data_src: not available */

static struct place place_of(const struct exporter *exporter, const struct location *location)
{
	struct place place = { .module = location->module, .offset = location->offset, .address = location->address };
	if (location->module == MODULE_ID_NONE)
		return place;
	uint64_t *note = location_note(location);
	if (!*note) /* the symbol's id + 1 */
		*note = 1 + (uint64_t)symbols_lookup(exporter->symbols, modules_get(&exporter->session->model.modules, location->module),
			location->offset);
	place.symbol = (uint32_t)(*note - 1);
	return place;
}

bool has_addr_place(const struct attr *attr)
{
	enum { PAGE_FAULTS = 2, PAGE_FAULTS_MIN = 5, PAGE_FAULTS_MAJ = 6 };
	if (!(attr->sample_type & SAMPLE_ADDR))
		return false;
	if (attr->type == ATTR_SOFTWARE)
		return attr->config == PAGE_FAULTS || attr->config == PAGE_FAULTS_MIN || attr->config == PAGE_FAULTS_MAJ;
	return attr_is_branch_trace(attr);
}

static void note_chain(const struct exporter *exporter, const struct resolved *r, struct slice *slice, struct row *row)
{
	if (!exporter->database->schema.callchains || !(r->sample->present & SAMPLE_CALLCHAIN))
		return;
	struct chain chain = resolved_chain(r, CHAIN_OUTERMOST_FIRST, CHAIN_MAX);
	/* as in perf, only unwound frames have inlined functions; a recorder that unwinds leaves return addresses */
	bool inlines = sample_inlines(INLINE_UNWOUND, r) != INLINE_NONE, returns = !sample_unwinds(r);
	row->chain = slice->chains.count;
	for (size_t i = 0; i < chain.count; i++) {
		struct place place = place_of(exporter, chain.frames[i]);
		if (inlines && chain.frames[i]->cpumode == RECORD_MISC_USER)
			place.inlines = 1 + (returns && i + 1 < chain.count ? FRAME_RETURN : FRAME_EXACT);
		vec_push(&slice->chains, place);
	}
	row->chain_count = (uint32_t)chain.count;
}

static void note_reads(const struct sample *sample, struct slice *slice, struct row *row)
{
	row->reads = slice->reads.count;
	row->reads_len = sample->read_len;
	for (size_t i = 0; i < sample->read_len; i++)
		vec_push(&slice->reads, sample->read[i]);
}

static void note_switch(const struct resolved *r, struct slice *slice)
{
	const struct record *record = r->record;
	struct row *row = vec_add(&slice->rows);
	row->kind = ROW_SWITCH;
	row->pid = r->pid;
	row->tid = r->tid;
	row->clock = r->clock;
	row->misc = record->misc;
	row->time = r->sample->time;
	row->cpu = r->sample->cpu;
	row->other_pid = row->other_tid = -1;
	if (record->type == RECORD_SWITCH_CPU_WIDE && record->body_len >= 8) {
		memcpy(&row->other_pid, record->body, 4);
		memcpy(&row->other_tid, record->body + 4, 4);
	}
}

/* At which the calls of the thread end. */
static void note_exit(const struct resolved *r, struct slice *slice)
{
	enum { TID_AT = 8 };
	if (r->record->body_len < TID_AT + sizeof(int32_t))
		return;
	struct row *row = vec_add(&slice->rows);
	row->kind = ROW_EXIT;
	memcpy(&row->tid, r->record->body + TID_AT, sizeof row->tid);
}

static void note_sample(const struct exporter *exporter, const struct resolved *r, struct slice *slice)
{
	const struct sample *sample = r->sample;
	const struct attr *attr = &r->evsel->attr;
	const struct trace_note *note = trace_note_of(r);
	struct row row = { .kind = ROW_SAMPLE, .thread = r->thread, .event = r->event, .pid = r->pid, .tid = r->tid, .clock = r->clock,
		.cpu = sample->cpu, .ip_address = sample->ip, .addr_address = sample->addr, .time = sample->time, .period = sample->period,
		.weight = sample->weight, .transaction = sample->transaction,
		.data_src = sample->present & SAMPLE_DATA_SRC || note ? sample->data_src : DATA_SRC_NONE };
	row.ip = place_of(exporter, resolved_ip(r));
	/* each event with a value in the sample has a row, perhaps of another kind */
	row.has_addr = has_addr_place(attr) || (sample->present & SAMPLE_ADDR && sample->present & SAMPLE_READ);
	if (row.has_addr)
		row.addr = place_of(exporter, resolved_locate_any(r, sample->addr));
	if (note) {
		row.flags = note->flags;
		row.instructions = note->instructions;
		row.cycles = note->cycles;
		row.size = note->instruction_size;
	}
	if (event_is_synthesized(attr) && sample->raw)
		memcpy(row.raw, sample->raw, sample->raw_size < sizeof row.raw ? sample->raw_size : sizeof row.raw);
	if (sample->present & SAMPLE_READ)
		note_reads(sample, slice, &row);
	note_chain(exporter, r, slice, &row);
	vec_push(&slice->rows, row);
}

void worker_rows_add(void *context, const struct resolved *r, size_t index)
{
	struct exporter *exporter = context;
	struct slice *slice = &exporter->slices.items[index];
	if (r->record->type == RECORD_SAMPLE) {
		if (r->evsel && (r->evsel->attr.type != ATTR_TRACEPOINT || r->sample->present & SAMPLE_READ))
			note_sample(exporter, r, slice);
	} else if (r->record->type == RECORD_SWITCH || r->record->type == RECORD_SWITCH_CPU_WIDE) {
		note_switch(r, slice);
	} else if (r->record->type == RECORD_EXIT && exporter->calls) {
		note_exit(r, slice);
	}
}

void worker_rows_begin(void *context, struct session *session, size_t slices)
{
	struct exporter *exporter = context;
	(void)session;
	while (exporter->slices.count < slices)
		vec_add(&exporter->slices);
}
