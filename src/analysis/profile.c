#include "analysis/profile.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/collapse.h"
#include "analysis/collector.h"
#include "analysis/event_group.h"
#include "analysis/fold.h"
#include "analysis/hierarchy.h"
#include "analysis/profile_threads.h"
#include "analysis/replay.h"
#include "data/feature.h"

/* Where the columns' keys stand: the sample's behind the event in a group's row, the place's behind those in an entry's. */
static void lay_out(struct profile *profile)
{
	struct columns *columns = profile->options.columns;
	unsigned at = GROUP_KEYS;
	for (size_t i = 0; i < columns->all.count; i++)
		if (columns->all.items[i].type->sample_key) {
			columns->all.items[i].at = at;
			at += columns->all.items[i].type->words;
		}
	profile->group_key_words = at;
	profile->group_fact_words = columns->has_parent ? FACT_WORDS_PARENT : FACT_WORDS_NONE;
	for (size_t i = 0; i < columns->all.count; i++) {
		struct column *column = &columns->all.items[i];
		if (column->type->place_key) {
			column->at = at;
			at += column->type->words;
		}
		if ((column->type->width == WIDTH_TRACE || column->type->class == COLUMN_FIELD) &&
		    profile->group_fact_words < FACT_WORDS_RAW)
			profile->group_fact_words = FACT_WORDS_RAW;
		enum measure measure = column->type->measure;
		if (column->type->class == COLUMN_MEASURE && measure >= MEASURE_WEIGHT1 && measure <= MEASURE_WEIGHT3)
			profile->needs_sums = true;
	}
	if (profile->options.iteration == ITERATE_BRANCHES || profile->options.iteration == ITERATE_MEMORY)
		profile->group_fact_words = FACT_WORDS_ALL;
}

static void load_sockets(struct profile *profile)
{
	struct feature_cpu_topology topology;
	if (feature_cpu_topology(&profile->session->source->header, &profile->arena, &topology) < 0 || !topology.cpus)
		return;
	int32_t *sockets = arena_alloc(&profile->arena, topology.cpu_count * sizeof *sockets);
	for (uint32_t i = 0; i < topology.cpu_count; i++)
		sockets[i] = (int32_t)topology.cpus[i].socket;
	profile->sockets = sockets;
	profile->socket_count = topology.cpu_count;
}

int profile_open(struct profile *profile, const struct profile_options *options, struct session *session, struct symbols *symbols,
	struct error *err)
{
	*profile = (struct profile){ .options = *options, .session = session, .symbols = symbols };
	profile->by_address = options->columns->by_address || options->chain.key != CHAIN_FUNCTION || options->verbose > 0 ||
			      (options->hierarchy && options->use_chains);
	profile->by_map = options->columns->by_map;
	profile->source_texts = source_texts_new();
	profile->switched_on = options->switch_on == UINT32_MAX;
	lay_out(profile);
	replay_decide(profile);
	load_sockets(profile);
	profile->collector_count = session_workers(session);
	profile->collectors = memory_zero(profile->collector_count, sizeof(struct collector *));
	for (unsigned i = 0; i < profile->collector_count; i++)
		profile->collectors[i] = collector_new(profile);
	return 0;
}

void profile_close(struct profile *profile)
{
	for (unsigned i = 0; i < profile->collector_count; i++)
		collector_free(profile->collectors[i]);
	free(profile->collectors);
	stacks_fini(&profile->stacks);
	tuples_fini(&profile->groups);
	cells_fini(&profile->cells);
	for (size_t i = 0; i < profile->hist_count; i++)
		free(profile->hists[i].entries);
	free(profile->hists);
	free(profile->log);
	free(profile->class_of_place);
	sample_reads_fini(&profile->reads);
	source_texts_free(profile->source_texts);
	arena_fini(&profile->arena);
	*profile = (struct profile){ 0 };
}

/* --switch-on, --switch-off: only samples between these events count. Returns whether this one does. */
static bool switched(struct profile *profile, uint32_t event)
{
	const struct profile_options *options = &profile->options;
	if (options->switch_on != UINT32_MAX && !profile->switched_on) {
		profile->switched_on = event == options->switch_on;
		return profile->switched_on && options->show_switch_events;
	}
	if (!profile->switched_on || event != options->switch_off)
		return true;
	profile->switched_on = false;
	return options->show_switch_events;
}

static bool has_switches(const struct profile *profile)
{
	return profile->options.switch_on != UINT32_MAX || profile->options.switch_off != UINT32_MAX;
}

/* Only where addresses turn out to be wild does it matter in which order they came: until then a batch's log is dropped. */
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

static void take_part(void *context, const struct sample_part *part)
{
	const struct part_context *whole = context;
	struct sample sample = *whole->r->sample;
	struct resolved r = *whole->r;
	sample.id = part->id;
	sample.period = part->period;
	r.sample = &sample;
	r.event = part->event;
	r.evsel = &session_evlist(r.session)->events.items[part->event];
	collector_sample(whole->profile->collectors[worker_index(r.worker)], &r);
}

static void take_record(void *context, const struct resolved *r, size_t slice)
{
	struct profile *profile = context;
	if (r->record->type != RECORD_SAMPLE)
		return;
	if (has_switches(profile) && !switched(profile, r->event))
		return;
	if (r->sample->present & SAMPLE_READ)
		sample_reads_each(&profile->reads, session_evlist(r->session), r->event, r->sample, take_part, &(struct part_context){ profile, r });
	else
		collector_sample(profile->collectors[worker_index(r->worker)], r);
}

bool profile_needs_order(const struct profile *profile)
{
	const struct evlist *evlist = session_evlist(profile->session);
	bool chains = false, no_chains = false;
	if (has_switches(profile))
		return true;
	for (size_t i = 0; i < evlist->events.count; i++) {
		uint64_t type = evlist->events.items[i].attr.sample_type;
		if (type & SAMPLE_READ)
			return true;
		chains |= (type & SAMPLE_CALLCHAIN) != 0;
		no_chains |= !(type & SAMPLE_CALLCHAIN);
	}
	return chains && no_chains && profile->options.iteration == ITERATE_CALLERS;
}

struct sink profile_sink(struct profile *profile)
{
	return (struct sink){ .context = profile, .record = take_record, .batch_end = end_batch, .serial = profile_needs_order(profile) };
}

/* One worker's facts give way to an earlier sample's. */
static uint32_t merge_group(struct profile *profile, const uint64_t *row)
{
	uint32_t known = profile->groups.count;
	uint32_t id = tuples_add(&profile->groups, row);
	uint64_t *mine = tuples_row(&profile->groups, id);
	if (profile->groups.count == known && group_facts(profile, row)->clock < group_facts(profile, mine)->clock)
		memcpy(mine, row, profile->groups.row_words * sizeof *row);
	return id;
}

static void merge_cells(struct profile *profile, struct collector *c, const uint32_t *groups, const uint32_t *nodes,
	const uint32_t *places)
{
	uint32_t *ids = memory_zero(c->cells.count + 1, sizeof *ids);
	for (uint32_t i = 0; i < c->cells.count; i++) {
		struct cell cell = c->cells.items[i];
		cell.group = groups[cell.group];
		cell.node = nodes[cell.node];
		cell.place = places[cell.place];
		struct cell *sum = cells_add(&profile->cells, &cell, c->cells.sums ? &c->cells.sums[i] : NULL);
		ids[i] = (uint32_t)(sum - profile->cells.items);
		if (cell.first < sum->first) {
			sum->first = cell.first;
			sum->thread = cell.thread;
			sum->tid = cell.tid;
			sum->level = cell.level;
			sum->cpu = cell.cpu;
		}
	}
	for (size_t i = 0; i < c->log.count; i++)
		c->log.items[i].cell = ids[c->log.items[i].cell];
	free(ids);
}

static void merge_branches(struct branch_counts *sum, const struct branch_counts *counts)
{
	for (unsigned i = 0; i < 16; i++) {
		sum->types[i] += counts->types[i];
		sum->new_types[i] += counts->new_types[i];
	}
	sum->forward += counts->forward;
	sum->backward += counts->backward;
	sum->cross_4k += counts->cross_4k;
	sum->cross_2m += counts->cross_2m;
}

static void merge_collector(struct profile *profile, struct collector *c)
{
	uint32_t *places = memory_zero(c->stacks.places.count + 1, sizeof *places);
	uint32_t *nodes = memory_zero(c->stacks.count + 1, sizeof *nodes);
	uint32_t *groups = memory_zero(c->groups.count + 1, sizeof *groups);
	for (uint32_t i = 0; i < c->stacks.places.count; i++)
		places[i] = stacks_place(&profile->stacks, stacks_place_at(&c->stacks, i));
	for (uint32_t i = 1; i < c->stacks.count; i++)
		nodes[i] = stacks_push(&profile->stacks, nodes[c->stacks.nodes[i].parent], places[c->stacks.nodes[i].place]);
	for (uint32_t i = 0; i < c->groups.count; i++)
		groups[i] = merge_group(profile, tuples_row(&c->groups, i));
	merge_cells(profile, c, groups, nodes, places);
	free(places);
	free(nodes);
	free(groups);
}

/* The first worker's tables become the profile's; what the others found is added and dropped. */
static void merge(struct profile *profile)
{
	struct collector *first = profile->collectors[0];
	profile->stacks = first->stacks;
	profile->groups = first->groups;
	profile->cells = first->cells;
	first->stacks = (struct stacks){ 0 };
	first->groups = (struct tuples){ 0 };
	first->cells = (struct cells){ 0 };
	for (unsigned i = 0; i < profile->collector_count; i++) {
		struct collector *c = profile->collectors[i];
		merge_branches(&profile->branches, &c->branches);
		collector_drop_caches(c);
		if (!i)
			continue;
		merge_collector(profile, c);
		stacks_fini(&c->stacks);
		tuples_fini(&c->groups);
		cells_fini(&c->cells);
	}
}

/* perf orders frames of equal weight by where in memory their modules' descriptions are: about in the order in which it learned
 * of the modules, those of the build-id table first. */
static void rank_modules(struct profile *profile)
{
	const struct header *header = &profile->session->source->header;
	const struct modules *modules = &profile->session->model.modules;
	struct strtab names = { 0 };
	for (size_t i = 0; i < header->build_ids.count; i++)
		strtab_add(&names, header->build_ids.items[i].filename, strlen(header->build_ids.items[i].filename));
	profile->module_ranks = arena_alloc(&profile->arena, (modules->list.count + 1) * sizeof *profile->module_ranks);
	for (size_t i = 0; i < modules->list.count; i++) {
		const char *name = modules->list.items[i]->long_name;
		uint32_t row = strtab_find(&names, name, strlen(name));
		profile->module_ranks[i] = row != UINT32_MAX ? row : names.count + (uint32_t)i;
	}
	strtab_fini(&names);
}

static void make_hists(struct profile *profile)
{
	const struct evlist *evlist = session_evlist(profile->session);
	profile->hist_count = evlist->events.count;
	profile->hists = memory_zero(profile->hist_count + 1, sizeof *profile->hists);
	for (uint32_t i = 0; i < profile->hist_count; i++)
		profile->hists[i] = (struct hist){ .event = i, .leader = i };
	/* A stream without features at its head never tells that its events are all known: then nothing is forced. */
	if (profile->session->source->header.pipe && !profile->session->counters.by_type[RECORD_HEADER_FEATURE])
		profile->options.force_group = false;
	profile->has_groups = event_groups_exist(evlist);
	if (profile->options.event_group)
		event_groups_link(profile);
}

int profile_finish(struct profile *profile, struct error *err)
{
	merge(profile);
	replay_gather(profile);
	profile_name_threads(profile);
	rank_modules(profile);
	make_hists(profile);
	if (fold_cells(profile, err) < 0)
		return -1;
	if (collapse_needed(profile))
		collapse_hists(profile);
	for (size_t i = 0; i < profile->hist_count; i++)
		hist_order(profile, &profile->hists[i]);
	if (profile->options.event_group)
		event_groups_match(profile);
	for (size_t i = 0; i < profile->hist_count; i++)
		hist_sort(profile, &profile->hists[i]);
	return 0;
}

int32_t profile_socket(const struct profile *profile, uint32_t cpu)
{
	return profile->sockets && cpu < profile->socket_count ? profile->sockets[cpu] : -1;
}

const struct module *profile_module(const struct profile *profile, uint32_t module)
{
	return module == MODULE_ID_NONE ? NULL : modules_get(&profile->session->model.modules, module);
}

const char *profile_module_path(const struct profile *profile, const struct module *module)
{
	enum { ORIGIN_VMLINUX = 'v' };
	if (module->kind != MODULE_KERNEL)
		return module->long_name;
	struct symtab_info info = symbols_info(profile->symbols, module->whole ? module->whole : module);
	return info.origin == ORIGIN_VMLINUX ? info.path + info.root_len : module->long_name;
}

const char *profile_module_name(const struct profile *profile, uint32_t module)
{
	const struct module *known = modules_get(&profile->session->model.modules, module);
	return profile->options.verbose > 0 ? profile_module_path(profile, known) : known->short_name;
}

const struct symbol *profile_symbol(const struct profile *profile, uint32_t module, uint32_t symbol)
{
	return symbol ? symbols_get(profile->symbols, profile_module(profile, module), symbol) : NULL;
}

const char *profile_symbol_name(const struct profile *profile, uint32_t module, uint32_t symbol)
{
	return symbols_name(profile->symbols, profile_module(profile, module), symbol);
}

const char *profile_comm(const struct profile *profile, uint64_t key, char *buffer, size_t size)
{
	if (key >> 32 == 0)
		return strtab_text(&profile->session->model.strings, (uint32_t)key);
	bool thread = key >> 32 == COMM_KEY_THREAD >> 32;
	snprintf(buffer, size, ":%d", thread ? profile->session->model.threads.items[(uint32_t)key]->tid : (int32_t)key);
	return buffer;
}

const char *profile_thread_comm(const struct profile *profile, uint32_t thread, int32_t tid, char *buffer, size_t size)
{
	uint32_t comm = thread == THREAD_NONE ? COMM_NONE : model_comm(&profile->session->model, thread, UINT64_MAX);
	return profile_comm(profile, comm == COMM_NONE ? COMM_KEY_TID | (uint32_t)tid : comm, buffer, size);
}
