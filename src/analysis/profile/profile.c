#include "analysis/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/compat/replay.h"
#include "analysis/datatype/datatype.h"
#include "analysis/entry/texts.h"
#include "analysis/profile/addresses.h"
#include "analysis/profile/collapse.h"
#include "analysis/profile/collector.h"
#include "analysis/profile/event_group.h"
#include "analysis/profile/fold.h"
#include "analysis/profile/hierarchy.h"
#include "analysis/profile/hist.h"
#include "analysis/profile/merge.h"
#include "analysis/profile/room.h"
#include "analysis/profile/threads.h"
#include "data/feature.h"

/* Lays out the rows of words: in a sample key the columns' keys follow the event, in an entry's row the keys of the place follow those. */
static void lay_out(struct profile *profile)
{
	struct columns *columns = profile->options.columns;
	unsigned at = SAMPLE_KEY_COLUMNS;
	for (size_t i = 0; i < columns->all.count; i++)
		if (columns->all.items[i].type->sample_key) {
			columns->all.items[i].at = at;
			at += columns->all.items[i].type->words;
		}
	profile->sample_key_words = at;
	profile->sample_fact_words = FACT_WORDS_NONE;
	for (size_t i = 0; i < columns->all.count; i++) {
		struct column *column = &columns->all.items[i];
		if (column->type->place_key) {
			column->at = at;
			at += column->type->words;
		}
		/* also of a column that is only shown: -F parent asks for no match, but reads the fact */
		uint32_t needed = column->type->id == ID_TRACE || column->type->class == COLUMN_FIELD ? FACT_WORDS_RAW
			: column->type->id == ID_PARENT ? FACT_WORDS_PARENT : FACT_WORDS_NONE;
		if (profile->sample_fact_words < needed)
			profile->sample_fact_words = needed;
		enum measure measure = column->type->measure;
		if (column->type->class == COLUMN_MEASURE && measure >= MEASURE_WEIGHT1 && measure <= MEASURE_WEIGHT3)
			profile->needs_sums = true;
	}
	if (profile->options.iteration == ITERATE_BRANCHES || profile->options.iteration == ITERATE_MEMORY)
		profile->sample_fact_words = FACT_WORDS_ALL;
}

static void load_sockets(struct profile *profile)
{
	struct feature_cpu_topology topology;
	if (feature_cpu_topology(&profile->session->source->header, profile->arena, &topology) < 0 || !topology.cpus)
		return;
	int32_t *sockets = arena_alloc(profile->arena, topology.cpu_count * sizeof *sockets);
	for (uint32_t i = 0; i < topology.cpu_count; i++)
		sockets[i] = (int32_t)topology.cpus[i].socket;
	profile->sockets = sockets;
	profile->socket_count = topology.cpu_count;
}

static void open_types(struct profile *profile)
{
	const struct data_types_options options = { .symbols = profile->symbols, .modules = &profile->session->model.modules,
		.header = &profile->session->source->header };
	profile->types = profile->options.columns->has_type ? data_types_new(&options) : NULL;
}

void profile_open(struct profile *profile, const struct profile_options *options, struct session *session, struct symbols *symbols)
{
	*profile = (struct profile){ .options = *options, .session = session, .symbols = symbols };
	profile->arena = memory_zero(1, sizeof *profile->arena);
	profile->chain_room = memory_zero(1, sizeof *profile->chain_room);
	profile->collected.stacks = memory_zero(1, sizeof *profile->collected.stacks);
	profile->by_address = options->columns->by_address || options->chain.key != CHAIN_FUNCTION || options->verbose > 0 ||
			      (options->hierarchy && options->use_chains);
	profile->by_map = options->columns->by_map;
	profile->source_texts = source_texts_new();
	open_types(profile);
	profile->switches = options->switches;
	lay_out(profile);
	replay_decide(profile);
	load_sockets(profile);
	profile->collector_count = session_workers(session);
	profile->collectors = memory_zero(profile->collector_count, sizeof(struct collector *));
	for (unsigned i = 0; i < profile->collector_count; i++)
		profile->collectors[i] = collector_new(profile);
}

void profile_close(struct profile *profile)
{
	for (unsigned i = 0; i < profile->collector_count; i++)
		collector_free(profile->collectors[i]);
	free(profile->collectors);
	addresses_free(profile->addresses);
	if (profile->collected.stacks && !profile->shares_stacks) {
		stacks_fini(profile->collected.stacks);
		free(profile->collected.stacks);
	}
	tuples_fini(&profile->collected.sample_keys);
	tallies_fini(&profile->collected.tallies);
	for (size_t i = 0; i < profile->folded.hist_count; i++)
		free(profile->folded.hists[i].entries);
	free(profile->folded.hists);
	free(profile->collected.log);
	free(profile->folded.class_of_place);
	sample_reads_fini(&profile->reads);
	source_texts_free(profile->source_texts);
	data_types_free(profile->types);
	if (profile->arena)
		arena_fini(profile->arena);
	free(profile->arena);
	free(profile->chain_room);
	*profile = (struct profile){ 0 };
}

/* The order of additions matters only if addresses are wild: before the first one, the log of a batch is dropped. */
static void end_batch(void *context, struct session *session, size_t slices)
{
	struct profile *profile = context;
	for (unsigned i = 0; i < profile->collector_count; i++)
		profile->wild |= profile->collectors[i]->wild;
	for (unsigned i = 0; !profile->wild && !profile->logs_all && i < profile->collector_count; i++)
		vec_clear(&profile->collectors[i]->log);
}

/* A sample that carries several counters' values. */
struct part_context {
	struct profile *profile;
	const struct resolved *r;
};

static void add_part(void *context, const struct sample_part *part)
{
	const struct part_context *whole = context;
	struct sample sample = *whole->r->sample;
	struct resolved r = *whole->r;
	sample.period = part->period;
	r.sample = &sample;
	r.event = part->event;
	r.evsel = &session_evlist(r.session)->events.items[part->event];
	collector_sample(whole->profile->collectors[worker_index(r.worker)], &r);
}

static void add_record(void *context, const struct resolved *r, size_t slice)
{
	struct profile *profile = context;
	if (r->record->type != RECORD_SAMPLE)
		return;
	if (event_switch_given(&profile->switches) && !event_switch_passes(&profile->switches, r->event))
		return;
	if (r->sample->present & SAMPLE_READ && !attr_is_dummy(&r->evsel->attr))
		sample_reads_each(&profile->reads, session_evlist(r->session), r->event, r->sample, add_part, &(struct part_context){ profile, r });
	else
		collector_sample(profile->collectors[worker_index(r->worker)], r);
}

bool profile_needs_order(struct profile *profile)
{
	const struct evlist *evlist = session_evlist(profile->session);
	for (; profile->has.events < evlist->events.count; profile->has.events++) {
		const struct attr *attr = &evlist->events.items[profile->has.events].attr;
		if (attr_is_dummy(attr))
			continue;
		profile->has.reads |= (attr->sample_type & SAMPLE_READ) != 0;
		profile->has.chains |= (attr->sample_type & SAMPLE_CALLCHAIN) != 0;
		profile->has.no_chains |= !(attr->sample_type & SAMPLE_CALLCHAIN);
	}
	bool callers = profile->options.iteration == ITERATE_CALLERS;
	return event_switch_given(&profile->switches) || profile->has.reads || (profile->has.chains && profile->has.no_chains && callers);
}

struct sink profile_sink(struct profile *profile)
{
	struct sink plain;
	if (addresses_sink(profile, &plain))
		return plain;
	return (struct sink){ .context = profile, .record = add_record, .batch_end = end_batch, .ahead = profile_ahead,
		.serial = profile_needs_order(profile) };
}

static void make_hists(struct profile *profile)
{
	const struct evlist *evlist = session_evlist(profile->session);
	profile->folded.hist_count = evlist->events.count;
	profile->folded.hists = memory_zero(profile->folded.hist_count + 1, sizeof *profile->folded.hists);
	for (uint32_t i = 0; i < profile->folded.hist_count; i++)
		profile->folded.hists[i] = (struct hist){ .event = i, .leader = i };
	/* A stream without features at its start does not determine when all its events are known: then perf forces no group. */
	if (profile->session->source->header.pipe && !profile->session->counters.by_type[RECORD_HEADER_FEATURE])
		profile->options.force_group = false;
	profile->folded.has_groups = event_groups_exist(evlist);
	if (profile->options.event_group)
		event_groups_link(profile, &profile->folded);
}

void profile_fold(struct profile *profile)
{
	make_hists(profile);
	room_for_chains(profile);
	fold_tallies(profile, &profile->folded);
	if (collapse_needed(profile))
		collapse_hists(profile, &profile->folded);
	for (size_t i = 0; i < profile->folded.hist_count; i++)
		hist_order(profile, &profile->folded.hists[i]);
	if (profile->options.event_group)
		event_groups_match(profile, &profile->folded);
	for (size_t i = 0; i < profile->folded.hist_count; i++)
		hist_sort(profile, &profile->folded.hists[i]);
}

void profile_finish(struct profile *profile)
{
	addresses_add(profile);
	profile_merge(profile, &profile->collected);
	joined_sum(profile, &profile->joined);
	profile_fold(profile);
	profile->session->counters.left_out_chains += profile->chain_room->refused;
}

void profile_preview(struct profile *profile, struct profile *preview)
{
	addresses_add(profile);
	*preview = *profile;
	preview->collected = (struct collected){ .stacks = memory_zero(1, sizeof *preview->collected.stacks) };
	preview->folded = (struct folded){ 0 };
	preview->joined = (struct joined_functions){ 0 };
	preview->reads = (struct sample_reads){ 0 };
	preview->chain_room = memory_zero(1, sizeof *preview->chain_room);
	preview->logs = preview->logs_all = preview->wild = false;
	preview->source_texts = source_texts_new();
	open_types(preview);
	preview->arena = memory_zero(1, sizeof *preview->arena);
	profile_merge_copy(preview, &preview->collected);
	preview->collectors = NULL;
	preview->addresses = NULL;
	preview->collector_count = 0;
	profile_fold(preview);
}
