#include "analysis/annotate/hits.h"

#include <stdlib.h>

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
};

struct hit_sink {
	struct hit_options options;
	struct hit_worker *workers;
	unsigned worker_count;
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
}

void hit_sink_free(struct hit_sink *sink)
{
	if (!sink)
		return;
	for (unsigned i = 0; i < sink->worker_count; i++)
		hit_worker_fini(&sink->workers[i]);
	free(sink->workers);
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
			count_location(worker, from, r->event, sample->period);
		if (to->module != MODULE_ID_NONE)
			count_location(worker, to, r->event, sample->period);
	}
}

void hit_sink_add(struct hit_sink *sink, const struct resolved *r)
{
	struct hit_worker *worker = &sink->workers[worker_index(r->worker)];
	const struct location *location = resolved_ip(r);
	if (!cpu_filter_has(&sink->options.filter.cpus, r->sample->cpu) || !hit_module_passes(sink, r, location))
		return;
	while (worker->events.count <= r->event)
		vec_push(&worker->events, (struct hit_count){ 0 });
	worker->events.items[r->event].samples++;
	worker->events.items[r->event].period += r->sample->period;
	if (sink->options.branches && r->sample->branch_count)
		count_branches(worker, r);
	else if (location->module != MODULE_ID_NONE)
		count_location(worker, location, r->event, r->sample->period);
}

static void hit_sink_record(void *context, const struct resolved *r, size_t slice)
{
	hit_sink_add(context, r);
}

struct sink hit_sink_of(struct hit_sink *sink)
{
	return (struct sink){ .context = sink, .record = hit_sink_record };
}

/* A hit with its symbol, before grouping. */
struct placed_hit {
	uint32_t module, symbol;
	struct hit hit;
};

struct placed_hits {
	struct placed_hit *items;
	size_t count, capacity;
};

static int order_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int placed_compare(const void *left, const void *right)
{
	const struct placed_hit *a = left, *b = right;
	int order = order_numbers(a->module, b->module);
	order = order ? order : order_numbers(a->symbol, b->symbol);
	order = order ? order : order_numbers(a->hit.offset, b->hit.offset);
	return order ? order : order_numbers(a->hit.event, b->hit.event);
}

/* Joins hits that are equal but for their counts. */
static void placed_join(struct placed_hits *placed)
{
	qsort(placed->items, placed->count, sizeof *placed->items, placed_compare);
	size_t count = 0;
	for (size_t i = 0; i < placed->count; i++) {
		if (count && placed_compare(&placed->items[count - 1], &placed->items[i]) == 0) {
			placed->items[count - 1].hit.count.samples += placed->items[i].hit.count.samples;
			placed->items[count - 1].hit.count.period += placed->items[i].hit.count.period;
		} else {
			placed->items[count++] = placed->items[i];
		}
	}
	placed->count = count;
}

static void take_worker(struct hit_worker *worker, struct placed_hits *placed, struct hits *hits)
{
	for (size_t i = 1; i < worker->tallies.count; i++) {
		const struct hit_tally *tally = &worker->tallies.items[i];
		vec_push(placed, ((struct placed_hit){ tally->module, 0, { tally->offset, tally->event, tally->count } }));
	}
	for (size_t i = 0; i < worker->events.count && i < hits->event_count; i++) {
		hits->events[i].samples += worker->events.items[i].samples;
		hits->events[i].period += worker->events.items[i].period;
	}
	hit_worker_fini(worker);
	vec_add(&worker->tallies);
}

/* The hits are in order of module, symbol and offset. */
static void group_by_symbol(const struct placed_hits *placed, struct hits *hits)
{
	struct hit_symbol *symbol = NULL;
	for (size_t i = 0; i < placed->count; i++) {
		const struct placed_hit *hit = &placed->items[i];
		if (!hit->symbol) {
			hits->unresolved += hit->hit.count.samples;
			continue;
		}
		if (!symbol || symbol->module != hit->module || symbol->symbol != hit->symbol) {
			idmap_set(&hits->by_symbol, (uint64_t)hit->module << 32 | hit->symbol, (uint32_t)hits->symbols.count);
			symbol = vec_add(&hits->symbols);
			*symbol = (struct hit_symbol){ hit->module, hit->symbol, hits->hits.count, 0, hits->totals.count };
			for (size_t event = 0; event < hits->event_count; event++)
				vec_push(&hits->totals, (struct hit_count){ 0 });
		}
		if (hit->hit.event >= hits->event_count)
			continue;
		struct hit_count *total = &hits->totals.items[symbol->totals + hit->hit.event];
		total->samples += hit->hit.count.samples;
		total->period += hit->hit.count.period;
		vec_push(&hits->hits, hit->hit);
		symbol->hit_count++;
	}
}

void hit_sink_finish(struct hit_sink *sink, struct session *session, struct symbols *symbols, struct hits *hits)
{
	struct placed_hits placed = { 0 };
	*hits = (struct hits){ .event_count = session_evlist(session)->events.count };
	hits->events = memory_zero(hits->event_count, sizeof *hits->events);
	for (unsigned i = 0; i < sink->worker_count; i++)
		take_worker(&sink->workers[i], &placed, hits);
	placed_join(&placed);
	for (size_t i = 0; i < placed.count; i++) {
		struct placed_hit *hit = &placed.items[i];
		bool again = i && hit[-1].module == hit->module && hit[-1].hit.offset == hit->hit.offset;
		hit->symbol = again ? hit[-1].symbol : symbols_lookup(symbols, modules_get(&session->model.modules, hit->module), hit->hit.offset);
	}
	qsort(placed.items, placed.count, sizeof *placed.items, placed_compare);
	group_by_symbol(&placed, hits);
	vec_fini(&placed);
}

void hits_fini(struct hits *hits)
{
	vec_fini(&hits->hits);
	vec_fini(&hits->symbols);
	vec_fini(&hits->totals);
	free(hits->events);
	idmap_fini(&hits->by_symbol);
	*hits = (struct hits){ 0 };
}

const struct hit_symbol *hits_find(const struct hits *hits, uint32_t module, uint32_t symbol)
{
	uint32_t index = idmap_get(&hits->by_symbol, (uint64_t)module << 32 | symbol);
	return index == IDMAP_NONE ? NULL : &hits->symbols.items[index];
}
