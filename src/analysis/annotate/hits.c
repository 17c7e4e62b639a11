#include "analysis/annotate/hits.h"

#include <stdlib.h>

#include "analysis/count/address_hits.h"
#include "analysis/count/sample_reads.h"
#include "base/memory.h"
#include "data/evlist.h"

enum { TALLY_NONE = 0 };

/* The samples of one event at one location of a worker. */
struct hit_tally {
	uint32_t module, event;
	uint64_t offset;
	struct hit_count count;
	uint32_t next;             /* tally of another event at the same location; TALLY_NONE */
};

struct hit_worker {
	VEC(struct hit_tally) tallies;     /* item 0 is not used */
	VEC(uint32_t) by_location;         /* by location id: its first tally; TALLY_NONE */
	VEC(struct hit_count) events;
	struct blocks blocks;
};

struct hit_sink {
	struct hit_options options;
	struct hit_worker *workers;
	unsigned worker_count;
	struct sample_reads reads;
	VEC(struct address_hits) addresses;   /* by event: what is not in the tallies yet */
};

struct hit_sink *hit_sink_new(const struct hit_options *options, unsigned workers)
{
	struct hit_sink *sink = memory_zero(1, sizeof *sink);
	sink->options = *options;
	sink->worker_count = workers;
	sink->workers = memory_zero(workers, sizeof *sink->workers);
	for (unsigned i = 0; i < workers; i++)
		vec_add(&sink->workers[i].tallies);
	return sink;
}

static void hit_worker_fini(struct hit_worker *worker)
{
	vec_fini(&worker->tallies);
	vec_fini(&worker->by_location);
	vec_fini(&worker->events);
	blocks_fini(&worker->blocks);
}

void hit_sink_free(struct hit_sink *sink)
{
	if (!sink)
		return;
	for (unsigned i = 0; i < sink->worker_count; i++)
		hit_worker_fini(&sink->workers[i]);
	free(sink->workers);
	for (size_t i = 0; i < sink->addresses.count; i++)
		address_hits_fini(&sink->addresses.items[i]);
	vec_fini(&sink->addresses);
	sample_reads_fini(&sink->reads);
	free(sink);
}

/* perf compares the names that it shows, and the paths. */
static bool hit_module_passes(const struct hit_sink *sink, const struct resolved *r, const struct location *location)
{
	const struct name_list *dsos = sink->options.filter.dsos;
	if (!dsos)
		return true;
	if (location->module == MODULE_ID_NONE)
		return false;
	const struct module *module = modules_get(&r->session->model.modules, location->module);
	return name_list_has(dsos, module->short_name) || name_list_has(dsos, module->long_name);
}

static uint32_t *first_tally(struct hit_worker *worker, uint32_t location)
{
	if (__builtin_expect(location >= worker->by_location.count, 0)) {
		size_t old = worker->by_location.count;
		vec_reserve(&worker->by_location, (size_t)location + 1);
		worker->by_location.count = worker->by_location.capacity;
		memset(worker->by_location.items + old, 0, (worker->by_location.count - old) * sizeof(uint32_t));
	}
	return &worker->by_location.items[location];
}

static void count_location(struct hit_worker *worker, const struct location *location, uint32_t event, uint64_t period)
{
	uint32_t *link = first_tally(worker, location->id), id = *link;
	while (id != TALLY_NONE && worker->tallies.items[id].event != event)
		id = worker->tallies.items[id].next;
	if (id == TALLY_NONE) {
		id = (uint32_t)worker->tallies.count;
		vec_push(&worker->tallies, ((struct hit_tally){ location->module, event, location->offset, .next = *link }));
		*link = id;
	}
	struct hit_count *count = &worker->tallies.items[id].count;
	count->samples++;
	count->period += period;
}

static void count_branches(struct hit_worker *worker, const struct resolved *r)
{
	const struct sample *sample = r->sample;
	for (uint64_t i = 0; i < sample->branch_count; i++) {
		const struct branch_entry branch = sample_branch(sample, i);
		const struct location *from = resolved_locate_any(r, branch.from), *to = resolved_locate_any(r, branch.to);
		if (from->module != MODULE_ID_NONE)
			count_location(worker, from, r->event, 1);
		if (to->module != MODULE_ID_NONE)
			count_location(worker, to, r->event, 1);
	}
}

static inline struct hit_count *event_count(struct hit_worker *worker, uint32_t event)
{
	while (worker->events.count <= event)
		vec_push(&worker->events, (struct hit_count){ 0 });
	return &worker->events.items[event];
}

static void add_sample(struct hit_sink *sink, const struct resolved *r, uint32_t event, uint64_t period)
{
	struct hit_worker *worker = &sink->workers[worker_index(r->worker)];
	const struct location *location = resolved_ip(r);
	if (!cpu_filter_has(&sink->options.filter.cpus, r->sample->cpu) || !hit_module_passes(sink, r, location))
		return;
	struct hit_count *count = event_count(worker, event);
	if (r->sample->branch_count)
		blocks_add_sample(&worker->blocks, r, true);
	bool branches = sink->options.branches && r->sample->branch_count;
	count->samples += branches ? r->sample->branch_count : 1;
	count->period += branches ? r->sample->branch_count : period;
	if (branches)
		count_branches(worker, r);
	else if (location->module != MODULE_ID_NONE)
		count_location(worker, location, event, period);
}

/* A sample that carries several counters' values. */
struct part_context {
	struct hit_sink *sink;
	const struct resolved *r;
};

static void add_part(void *context, const struct sample_part *part)
{
	const struct part_context *whole = context;
	add_sample(whole->sink, whole->r, part->event, part->period);
}

/* The filters that the sink of `annotate`, which has no such options, does not need. */
static bool passes(const struct sample_filter *filter, const struct resolved *r)
{
	char buffer[16];
	return (r->sample->time == UINT64_MAX || !time_filter_drops(&filter->time, r->sample->time)) &&
		(!filter->pids || number_list_has(filter->pids, r->pid)) && (!filter->tids || number_list_has(filter->tids, r->tid)) &&
		(!filter->comms || name_list_has(filter->comms, resolved_comm(r, buffer, sizeof buffer)));
}

void hit_sink_add(struct hit_sink *sink, const struct resolved *r)
{
	if (!passes(&sink->options.filter, r))
		return;
	if (r->sample->present & SAMPLE_READ)
		sample_reads_each(&sink->reads, session_evlist(r->session), r->event, r->sample, add_part, &(struct part_context){ sink, r });
	else
		add_sample(sink, r, r->event, r->sample->period);
}

static void hit_sink_record(void *context, const struct resolved *r, size_t slice)
{
	hit_sink_add(context, r);
}

bool hit_sink_needs_order(const struct session *session)
{
	const struct evlist *evlist = session_evlist(session);
	bool reads = session->source->header.pipe;
	for (size_t i = 0; i < evlist->events.count; i++)
		reads |= (evlist->events.items[i].attr.sample_type & SAMPLE_READ) != 0;
	return reads;
}

static void hit_sink_address(void *context, const struct resolved *r, size_t slice)
{
	struct hit_sink *sink = context;
	const struct sample *sample = r->sample;
	if (!cpu_filter_has(&sink->options.filter.cpus, sample->cpu))
		return;
	struct hit_count *count = event_count(&sink->workers[0], r->event);
	count->samples++;
	count->period += sample->period;
	while (sink->addresses.count <= r->event)
		(void)vec_add(&sink->addresses);
	unsigned cpumode = record_cpumode(r->record);
	const struct map_node *root = cpumode == RECORD_MISC_KERNEL ? r->kernel_root : cpumode == RECORD_MISC_USER ? r->user_root : NULL;
	if (root || cpumode == RECORD_MISC_KERNEL)
		address_hits_add(&sink->addresses.items[r->event], root, cpumode, sample->ip, sample->period, NULL);
}

/* Whether address and weight of each sample are all that counts. */
static bool addresses_suffice(const struct hit_sink *sink, const struct session *session)
{
	const struct evlist *evlist = session_evlist(session);
	bool suffice = !sink->options.filter.dsos && !session->source->header.pipe && !session->trace;
	for (size_t i = 0; i < evlist->events.count; i++)
		suffice = suffice && evlist->events.items[i].layout.brief == BRIEF_PLACE;
	return suffice;
}

struct sink hit_sink_of(struct hit_sink *sink, const struct session *session)
{
	if (!sink->options.whole && addresses_suffice(sink, session))
		return (struct sink){ .context = sink, .record = hit_sink_address, .plain = true, .spaces = true };
	return (struct sink){ .context = sink, .record = hit_sink_record, .serial = hit_sink_needs_order(session) };
}

/* The tallies of all workers while they are grouped. */
struct grouping {
	struct hits *hits;
	struct symbols *symbols;
	const struct modules *modules;
	const char *name;
	VEC(struct hit_tally) tallies; /* of symbols that are wanted */
	VEC(uint32_t) owners;      /* by tally: index in hits->symbols */
	VEC(bool) wanted;          /* by index in hits->symbols */
	struct idmap unresolved;   /* by hash of module, event and offset */
};

static uint32_t symbol_index(struct grouping *g, const struct hit_tally *tally)
{
	const struct module *module = modules_get(g->modules, tally->module);
	uint32_t symbol = symbols_lookup(g->symbols, module, tally->offset);
	if (!symbol)
		return UINT32_MAX;
	bool added;
	struct hits *hits = g->hits;
	uint32_t fresh = (uint32_t)hits->symbols.count;
	uint32_t index = idmap_add(&hits->by_symbol, (uint64_t)tally->module << 32 | symbol, fresh, &added);
	if (added) {
		vec_push(&hits->symbols, ((struct hit_symbol){ tally->module, symbol, 0, 0, hits->totals.count }));
		for (size_t event = 0; event < hits->event_count; event++)
			vec_push(&hits->totals, (struct hit_count){ 0 });
		vec_push(&g->wanted, !g->name || strcmp(symbols_name(g->symbols, module, symbol), g->name) == 0);
	}
	return index;
}

static void count_unresolved(struct grouping *g, const struct hit_tally *tally)
{
	struct hits *hits = g->hits;
	bool added;
	while (hits->unresolved_in.count <= tally->module)
		vec_push(&hits->unresolved_in, 0);
	hits->unresolved_in.items[tally->module] += tally->count.samples;
	hits->unresolved += tally->count.samples;
	idmap_add(&g->unresolved, hash_pair((uint64_t)tally->module << 32 | tally->event, tally->offset), 0, &added);
	hits->unresolved_places[tally->event] += added;
}

static void add_worker(struct grouping *g, const struct hit_worker *worker)
{
	struct hits *hits = g->hits;
	for (size_t i = 0; i < worker->events.count && i < hits->event_count; i++) {
		hits->events[i].samples += worker->events.items[i].samples;
		hits->events[i].period += worker->events.items[i].period;
	}
	for (size_t i = 1; i < worker->tallies.count; i++) {
		const struct hit_tally *tally = &worker->tallies.items[i];
		if (tally->event >= hits->event_count)
			continue;
		uint32_t index = symbol_index(g, tally);
		if (index == UINT32_MAX)
			count_unresolved(g, tally);
		if (index == UINT32_MAX || !g->wanted.items[index])
			continue;
		struct hit_symbol *symbol = &hits->symbols.items[index];
		struct hit_count *total = &hits->totals.items[symbol->totals + tally->event];
		total->samples += tally->count.samples;
		total->period += tally->count.period;
		symbol->hit_count++;
		vec_push(&g->tallies, *tally);
		vec_push(&g->owners, index);
	}
}

static int hit_compare(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* Sorts the hits of a symbol and joins those of several workers. */
static void join_hits(struct hit *hits, struct hit_symbol *symbol)
{
	if (symbol->hit_count)
		qsort(hits, symbol->hit_count, sizeof *hits, hit_compare);
	size_t count = 0;
	for (size_t i = 0; i < symbol->hit_count; i++) {
		if (count && hit_compare(&hits[count - 1], &hits[i]) == 0) {
			hits[count - 1].count.samples += hits[i].count.samples;
			hits[count - 1].count.period += hits[i].count.period;
		} else {
			hits[count++] = hits[i];
		}
	}
	symbol->hit_count = count;
}

/* Puts the tallies of each symbol side by side. */
static void group_by_symbol(struct grouping *g)
{
	struct hits *hits = g->hits;
	size_t first = 0;
	for (size_t i = 0; i < hits->symbols.count; i++) {
		hits->symbols.items[i].first = first;
		first += hits->symbols.items[i].hit_count;
		hits->symbols.items[i].hit_count = 0;
	}
	vec_reserve(&hits->hits, first);
	hits->hits.count = first;
	for (size_t i = 0; i < g->tallies.count; i++) {
		const struct hit_tally *tally = &g->tallies.items[i];
		struct hit_symbol *symbol = &hits->symbols.items[g->owners.items[i]];
		hits->hits.items[symbol->first + symbol->hit_count++] = (struct hit){ tally->offset, tally->event, tally->count };
	}
	for (size_t i = 0; i < hits->symbols.count; i++)
		join_hits(hits->hits.items + hits->symbols.items[i].first, &hits->symbols.items[i]);
}

static void place_addresses(struct hit_sink *sink, const struct session *session, uint32_t event, struct hit_worker *placed)
{
	struct address_hits *addresses = &sink->addresses.items[event];
	struct address_hit *all = address_hits_take(addresses);
	for (uint32_t i = 0; i < addresses->count; i++) {
		struct hit_tally tally = { .event = event, .count = { all[i].samples, all[i].period } };
		if (session_place(session, address_hit_root(&all[i]), address_hit_cpumode(&all[i]), all[i].address, &tally.module, &tally.offset))
			vec_push(&placed->tallies, tally);
	}
	free(all);
}

static void make_hits(struct hit_sink *sink, struct session *session, struct symbols *symbols, struct hits *hits)
{
	struct hit_worker placed = { 0 };
	struct grouping g = { .hits = hits, .symbols = symbols, .modules = &session->model.modules, .name = sink->options.name };
	*hits = (struct hits){ .event_count = session_evlist(session)->events.count };
	hits->events = memory_zero(hits->event_count, sizeof *hits->events);
	hits->unresolved_places = memory_zero(hits->event_count, sizeof *hits->unresolved_places);
	vec_add(&placed.tallies);
	for (uint32_t i = 0; i < sink->addresses.count; i++)
		place_addresses(sink, session, i, &placed);
	add_worker(&g, &placed);
	for (unsigned i = 0; i < sink->worker_count; i++)
		add_worker(&g, &sink->workers[i]);
	group_by_symbol(&g);
	hit_worker_fini(&placed);
	vec_fini(&g.tallies);
	vec_fini(&g.owners);
	vec_fini(&g.wanted);
	idmap_fini(&g.unresolved);
}

void hit_sink_preview(struct hit_sink *sink, struct session *session, struct symbols *symbols, struct hits *hits)
{
	make_hits(sink, session, symbols, hits);
}

void hit_sink_finish(struct hit_sink *sink, struct session *session, struct symbols *symbols, struct hits *hits)
{
	make_hits(sink, session, symbols, hits);
	for (size_t i = 0; i < sink->addresses.count; i++)
		address_hits_fini(&sink->addresses.items[i]);
	for (unsigned i = 0; i < sink->worker_count; i++) {
		blocks_merge(&hits->blocks, &sink->workers[i].blocks);
		hit_worker_fini(&sink->workers[i]);
		vec_add(&sink->workers[i].tallies);
	}
	blocks_sort(&hits->blocks);
}

void hit_sink_drain(struct hit_sink *sink, void (*deliver)(void *context, uint32_t module, const struct hit *hit), void *context,
	struct blocks *blocks)
{
	for (unsigned i = 0; i < sink->worker_count; i++) {
		struct hit_worker *worker = &sink->workers[i];
		for (size_t k = 1; k < worker->tallies.count; k++) {
			const struct hit_tally *tally = &worker->tallies.items[k];
			deliver(context, tally->module, &(struct hit){ tally->offset, tally->event, tally->count });
		}
		blocks_merge(blocks, &worker->blocks);
		hit_worker_fini(worker);
		vec_add(&worker->tallies);
	}
}

void hits_fini(struct hits *hits)
{
	vec_fini(&hits->hits);
	vec_fini(&hits->symbols);
	vec_fini(&hits->totals);
	free(hits->events);
	free(hits->unresolved_places);
	idmap_fini(&hits->by_symbol);
	blocks_fini(&hits->blocks);
	vec_fini(&hits->unresolved_in);
	*hits = (struct hits){ 0 };
}

const struct hit_symbol *hits_find(const struct hits *hits, uint32_t module, uint32_t symbol)
{
	uint32_t index = idmap_get(&hits->by_symbol, (uint64_t)module << 32 | symbol);
	return index == IDMAP_NONE ? NULL : &hits->symbols.items[index];
}
