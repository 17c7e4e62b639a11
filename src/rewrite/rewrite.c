#include "rewrite/rewrite.h"

#include <stdlib.h>

#include "base/budget.h"
#include "rewrite/build_id_table.h"
#include "rewrite/compact.h"
#include "rewrite/state.h"
#include "session/recorded_build_ids.h"

enum {
	RUN_RECORDS = 1 << 16,       /* waiting records that are sorted together */
	RELEASE_EVERY = 1 << 14,     /* delivered records between releases of the source's bytes */
	WAITING_EVERY = 4096,        /* records between checks of the waiting bytes */
	MEMORY_EVERY = 1 << 13,      /* records that are processed between checks of the memory */
	OWN_SHARE = 4,               /* the model and the steps may always have this part of the limit, as waiting records may take all of it */
};

static const struct step *const all_steps[STEPS] = { &step_guest, &step_jit, &step_sched, &step_trace, &step_convert,
	&step_build_ids };

int rewrite_open(struct rewrite **rewrite, struct source *source, const struct rewrite_options *options, struct error *err)
{
	struct rewrite *r = *rewrite = memory_zero(1, sizeof *r);
	r->source = source;
	r->options = options;
	new_recording_init(&r->out);
	model_init(&r->model);
	r->model.keep_exited = true;
	r->model.budget = options->budget;
	if (source->header.swapped)
		return error_set(err, ERROR_UNSUPPORTED, "recordings of the other byte order are not supported yet");
	if (options->convert_stacks && convert_step_check(source, err) < 0)
		return -1;
	if (options->guest && guest_data_open(&r->guest, options->guest, source, options->force, options->budget, err) < 0)
		return -1;
	if (new_recording_open(&r->out, options->output, source, options->command, err) < 0)
		return -1;
	r->out.indexed = options->indexed;
	r->ordered = options->guest || options->jit || options->convert_stacks || options->trace || options->sched_stat ||
		options->ids == IDS_HIT || options->ids == IDS_MMAP2_HIT;
	for (size_t i = 0; i < STEPS; i++) {
		if (!all_steps[i]->wanted(options))
			continue;
		r->states[r->step_count] = all_steps[i]->open(r);
		r->steps[r->step_count++] = all_steps[i];
	}
	return 0;
}

void rewrite_close(struct rewrite *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->step_count; i++)
		r->steps[i]->close(r->states[i]);
	new_recording_close(&r->out);
	guest_data_close(&r->guest);
	order_fini(&r->order);
	vec_fini(&r->hits.has);
	model_fini(&r->model);
	free(r);
}

static const struct evsel *evsel_of(const struct rewrite *r, const struct record *record)
{
	const struct evlist *evlist = &r->source->header.evlist;
	uint32_t event = evlist_event_of(evlist, record);
	return event < evlist->events.count ? &evlist->events.items[event] : NULL;
}

void item_decode_sample(struct item *item)
{
	item->decoded = item->evsel && sample_decode(&item->sample, &item->evsel->layout, &item->record, NULL) == 0;
}

static void count_sample(struct rewrite *r, const struct record *record)
{
	const struct evsel *evsel = evsel_of(r, record);
	if (!evsel)
		r->counters.unknown_ids++;
	else if (sample_is_whole(&evsel->layout, record))
		r->counters.samples++;
	else
		r->counters.bad_samples++;
}

static void item_decode(const struct rewrite *r, struct item *item)
{
	static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
	item->evsel = evsel_of(r, &item->record);
	if (item->record.type == RECORD_SAMPLE)
		item_decode_sample(item);
	else
		sample_decode_trailer(&item->sample, item->evsel ? &item->evsel->layout : &none, &item->record);
}

static int steps_before(struct rewrite *r, struct item *item, struct error *err)
{
	int fate = FATE_WRITE;
	for (size_t i = 0; i < r->step_count && fate == FATE_WRITE; i++)
		if (r->steps[i]->before)
			fate = r->steps[i]->before(r->states[i], r, item, err);
	return fate;
}

static int steps_after(struct rewrite *r, struct item *item, struct error *err)
{
	int fate = FATE_WRITE;
	for (size_t i = 0; i < r->step_count && fate == FATE_WRITE; i++)
		if (r->steps[i]->after)
			fate = r->steps[i]->after(r->states[i], r, item, err);
	return fate;
}

/* Without the rest of the recording, the output would lack records. */
static bool needs_all(const struct rewrite_options *options)
{
	return options->ids == IDS_MMAP2_HIT || options->sched_stat || options->convert_stacks || options->trace || options->guest;
}

/* Once memory reaches its limit, records are written unchanged. */
static int check_memory(struct rewrite *r, struct error *err)
{
	struct budget *budget = r->options->budget;
	if (!budget || r->clock % MEMORY_EVERY)
		return 0;
	size_t limit = budget_limit(budget), used = memory_in_use();
	r->full = used > limit && used > r->order.taken + limit / OWN_SHARE;
	if (!r->full || !needs_all(r->options))
		return 0;
	return error_set(err, ERROR_UNSUPPORTED, "memory reached its limit of %zu MiB after %llu records. 'perfuse --memory SIZE inject' sets "
		"another limit.", limit >> 20, (unsigned long long)r->clock);
}

/* A record of the kernel, or one that the recorder synthesized, in its turn. */
static int process(struct rewrite *r, const struct record *record, struct error *err)
{
	struct item item = { .record = *record };
	int fate = FATE_WRITE;
	r->clock++;
	if (record->type == RECORD_SAMPLE)
		count_sample(r, record);
	r->counters.unchanged += r->full;
	if (r->step_count && !r->full) {
		if (check_memory(r, err) < 0)
			return -1;
		item_decode(r, &item);
		recorded_build_ids_take(&r->model, &r->source->header, &r->build_ids_taken);
		fate = steps_before(r, &item, err);
		if (fate == FATE_WRITE) {
			model_apply(&r->model, &item.record, &item.sample, r->clock);
			fate = steps_after(r, &item, err);
		}
	}
	if (fate == FATE_WRITE)
		new_recording_add(&r->out, &item.record, (struct span){ 0 });
	return fate < 0 ? -1 : 0;
}

static int process_tool_record(struct rewrite *r, const struct record *record, struct error *err)
{
	struct span payload = { 0 };
	for (size_t i = 0; i < r->step_count; i++)
		if (r->steps[i]->tool_record && r->steps[i]->tool_record(r->states[i], record) == FATE_DROP)
			return 0;
	switch (record->type) {
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		r->inflated = true;
		return 0; /* the source delivers the records inside it, too */
	case RECORD_HEADER_TRACING_DATA:
		payload = r->source->header.feature_data[FEATURE_TRACING_DATA];
		break;
	case RECORD_AUXTRACE:
		payload.len = (size_t)load_u64(record->body);
		payload.data = source_payload(r->source, record, payload.len);
		if (!payload.data && payload.len)
			return error_set(err, ERROR_FORMAT, "a piece of a hardware trace is truncated");
		break;
	default:
		break;
	}
	new_recording_add(&r->out, record, payload);
	return 0;
}

static void deliver(void *context, const struct entry *entry)
{
	struct rewrite *r = context;
	struct record record = entry_record(entry);
	if (r->failure.kind == ERROR_NONE)
		process(r, &record, &r->failure);
	r->source->used += entry_size(entry);
	if (++r->delivered % RELEASE_EVERY == 0) {
		uint64_t mark = order_mark(&r->order), end = source_mark(r->source);
		source_release(r->source, mark < end ? mark : end);
	}
}

static int read_record(struct rewrite *r, const struct record *record, uint64_t mark, struct error *err)
{
	if (record->type == RECORD_FINISHED_ROUND && r->options->guest)
		order_flush(&r->order, false, deliver, r);
	if (record->type >= RECORD_USER_TYPE_START)
		return process_tool_record(r, record, err);
	uint64_t time = r->ordered ? evlist_time_of(&r->source->header.evlist, record) : UINT64_MAX;
	if (!time || time == UINT64_MAX)
		return process(r, record, err);
	order_add(&r->order, &(struct entry){ .time = time, .offset = record->offset, .body = record->body }, mark);
	if (++r->waiting % RUN_RECORDS == 0 && !r->options->guest)
		order_end_run(&r->order);
	return 0;
}

/* Writes the waiting records if there is no room for more. */
static void bound_waiting(struct rewrite *r)
{
	struct budget *budget = r->options->budget;
	uint64_t mark = source_mark(r->source), copied = r->source->header.pipe || r->inflated ? mark - r->released : 0;
	if (order_fits(&r->order, budget, copied))
		return;
	order_flush(&r->order, true, deliver, r);
	source_release(r->source, mark);
	r->released = mark;
	budget_hurry(budget);
	order_settle(&r->order, budget);
}

int rewrite_run(struct rewrite *r, struct error *err)
{
	struct record record;
	for (uint64_t count = 1;; count++) {
		uint64_t mark = source_mark(r->source);
		if (source_next(r->source, &record, &r->stop) <= 0)
			break;
		bool dropped = r->options->plan && compact_plan_drops(r->options->plan, count - 1);
		if (!dropped && read_record(r, &record, mark, err) < 0)
			return -1;
		if (!r->ordered)
			source_release(r->source, source_mark(r->source));
		else if (count % WAITING_EVERY == 0)
			bound_waiting(r);
	}
	order_flush(&r->order, true, deliver, r);
	order_settle(&r->order, r->options->budget);
	for (size_t i = 0; i < r->step_count; i++)
		if (r->steps[i]->end)
			r->steps[i]->end(r->states[i], r);
	if (r->failure.kind == ERROR_NONE)
		return 0;
	if (err)
		*err = r->failure;
	return -1;
}

static bool lists_build_ids(const struct rewrite *r)
{
	return header_has(&r->source->header, FEATURE_BUILD_ID) || r->options->guest || r->options->ids == IDS_HIT || r->options->ids == IDS_ALL;
}

bool rewrite_fills_cache(const struct rewrite *r)
{
	return lists_build_ids(r) && !r->out.aux.count;
}

int rewrite_finish(struct rewrite *r, const char *cache, struct error *err)
{
	struct writer table;
	if (r->options->plan || (r->options->indexed && !r->step_count)) /* files that are only in call chains are listed, too */
		return new_recording_finish(&r->out, r->source->header.feature_data[FEATURE_BUILD_ID], err);
	writer_open(&table, -1, 64);
	if (lists_build_ids(r))
		build_id_table_make(r, cache, &table);
	struct span body = { table.len ? (const uint8_t *)table.buffer : NULL, table.len };
	int result = new_recording_finish(&r->out, body, err);
	writer_fini(&table);
	return result;
}

const struct rewrite_counters *rewrite_counters(const struct rewrite *r)
{
	return &r->counters;
}

void rewrite_losses(const struct rewrite *r, struct losses *losses)
{
	losses_of_source(losses, r->source, &r->stop);
	losses->bad_records += r->model.bad_records;
	losses->left_out_maps = r->model.left_out;
	losses->unchanged = r->counters.unchanged;
	losses->samples = r->counters.samples;
	losses->bad_samples = r->counters.bad_samples;
	losses->unknown_ids = r->counters.unknown_ids;
}
