#include "analysis/cycle/flow_cycle.h"

#include <stdlib.h>

#include "base/whole.h"

enum { SEEDS_MAX = 128, STEPS_MAX = 4096 };

/* An edge as it was reached: a better path to it adds another entry. */
struct reached {
	uint64_t width;
	uint32_t steps, edge;
};

/* What follows each edge, as ranges of one list; and the state of one search. */
struct search {
	const struct flow_graph *graph;
	uint32_t *first;             /* of edge i: follows[first[i]] … [first[i + 1]] */
	uint32_t *follows;
	uint64_t *width;             /* of the best path from the seed; 0: not reached */
	uint32_t *steps, *before;
	bool *done;
	VEC(struct reached) heap;    /* widest first */
	uint64_t least;
};

static bool search_begin(struct search *search, const struct flow_graph *graph, uint64_t least)
{
	size_t edges = graph->edges.count;
	*search = (struct search){ .graph = graph, .least = least };
	search->first = memory_zero(edges + 1, sizeof *search->first);
	search->follows = memory_zero(graph->follows.count + 1, sizeof *search->follows);
	search->width = memory_zero(edges + 1, sizeof *search->width);
	search->steps = memory_zero(edges + 1, sizeof *search->steps);
	search->before = memory_zero(edges + 1, sizeof *search->before);
	search->done = memory_zero(edges + 1, sizeof *search->done);
	for (size_t i = 0; i < graph->follows.count; i++)
		search->first[graph->follows.items[i].edge + 1]++;
	for (size_t i = 0; i < edges; i++)
		search->first[i + 1] += search->first[i];
	uint32_t *next = memory_zero(edges + 1, sizeof *next);
	for (size_t i = 0; i < graph->follows.count; i++) {
		uint32_t edge = graph->follows.items[i].edge;
		search->follows[search->first[edge] + next[edge]++] = (uint32_t)i;
	}
	free(next);
	return edges > 0;
}

static void search_end(struct search *search)
{
	free(search->first);
	free(search->follows);
	free(search->width);
	free(search->steps);
	free(search->before);
	free(search->done);
	vec_fini(&search->heap);
}

static bool is_better(const struct reached *a, const struct reached *b)
{
	if (a->width != b->width)
		return a->width > b->width;
	return a->steps != b->steps ? a->steps < b->steps : a->edge < b->edge;
}

static void swap(struct reached *a, struct reached *b)
{
	struct reached other = *a;
	*a = *b;
	*b = other;
}

static void heap_push(struct search *search, struct reached reached)
{
	vec_push(&search->heap, reached);
	struct reached *items = search->heap.items;
	for (size_t i = search->heap.count - 1; i && is_better(&items[i], &items[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&items[i], &items[(i - 1) / 2]);
}

static uint32_t heap_pop(struct search *search)
{
	struct reached *items = search->heap.items;
	uint32_t top = items[0].edge;
	size_t count = --search->heap.count, i = 0;
	items[0] = items[count];
	for (;;) {
		size_t best = i, left = 2 * i + 1;
		if (left < count && is_better(&items[left], &items[best]))
			best = left;
		if (left + 1 < count && is_better(&items[left + 1], &items[best]))
			best = left + 1;
		if (best == i)
			return top;
		swap(&items[i], &items[best]);
		i = best;
	}
}

static void reach(struct search *search, uint32_t from, uint32_t to, uint64_t width, uint32_t steps)
{
	if (search->done[to] || search->graph->edges.items[to].count < search->least || steps > STEPS_MAX)
		return;
	if (search->width[to] > width || (search->width[to] == width && search->steps[to] <= steps))
		return;
	search->width[to] = width;
	search->steps[to] = steps;
	search->before[to] = from;
	heap_push(search, (struct reached){ width, steps, to }); /* worse entries of it are skipped: done */
}

/* The widest path from a seed back to it; returns its number of edges, 0: none. */
static size_t search_from(struct search *search, uint32_t seed)
{
	size_t edges = search->graph->edges.count;
	memset(search->width, 0, edges * sizeof *search->width);
	memset(search->done, 0, edges * sizeof *search->done);
	vec_clear(&search->heap);
	uint32_t at = seed;
	uint64_t width = UINT64_MAX;
	uint32_t steps = 0;
	for (;;) {
		for (uint32_t i = search->first[at]; i < search->first[at + 1]; i++) {
			const struct flow_follow *follow = &search->graph->follows.items[search->follows[i]];
			reach(search, at, follow->next, follow->count < width ? follow->count : width, steps + 1);
		}
		do {
			if (!search->heap.count)
				return 0;
			at = heap_pop(search);
		} while (search->done[at]);
		search->done[at] = true;
		width = search->width[at];
		steps = search->steps[at];
		if (at == seed)
			return steps;
	}
}

static bool is_call(const struct flow_edge *edge)
{
	return edge->kind == FLOW_CALL || edge->kind == FLOW_SYSCALL;
}

struct seed {
	uint32_t edge;
	uint64_t count;
};

static int compare_seeds(const void *a, const void *b)
{
	const struct seed *left = a, *right = b;
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return left->edge < right->edge ? -1 : left->edge > right->edge;
}

typedef VEC(struct seed) seed_list;

/* Calls, the most frequent ones first. */
static void find_seeds(const struct flow_graph *graph, uint64_t least, seed_list *seeds)
{
	for (uint32_t i = 0; i < graph->edges.count; i++)
		if (is_call(&graph->edges.items[i]) && graph->edges.items[i].count >= least)
			vec_push(seeds, ((struct seed){ i, graph->edges.items[i].count }));
	if (seeds->count)
		qsort(seeds->items, seeds->count, sizeof *seeds->items, compare_seeds);
	if (seeds->count > SEEDS_MAX)
		seeds->count = SEEDS_MAX;
}

static int compare_ids(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;
	return *left < *right ? -1 : *left > *right;
}

/* The cycles of all branches that begin in the functions of a cycle. */
static uint64_t weigh(const struct flow_graph *graph, const struct flow_cycle *cycle)
{
	uint32_t *functions CLEANUP_FREE = memory_zero(2 * cycle->count, sizeof *functions);
	double weight = 0;
	for (size_t i = 0; i < cycle->count; i++) {
		functions[2 * i] = graph->edges.items[cycle->edges[i]].from.function;
		functions[2 * i + 1] = graph->edges.items[cycle->edges[i]].to.function;
	}
	qsort(functions, 2 * cycle->count, sizeof *functions, compare_ids);
	for (size_t i = 0; i < graph->edges.count; i++) {
		const struct flow_edge *edge = &graph->edges.items[i];
		if (edge->from.function && bsearch(&edge->from.function, functions, 2 * cycle->count, sizeof *functions, compare_ids))
			weight += graph->cycles > 0 ? edge->cycles : (double)edge->count;
	}
	return whole_near(weight);
}

/* Whether a call lies on a known cycle. */
static bool is_known(const struct flow_cycles *cycles, uint32_t seed)
{
	for (size_t n = 0; n < cycles->list.count; n++) {
		const struct flow_cycle *cycle = &cycles->list.items[n];
		for (size_t i = 0; i < cycle->count; i++)
			if (cycle->edges[i] == seed)
				return true;
	}
	return false;
}

static void add_cycle(struct flow_cycles *cycles, const struct search *search, uint32_t seed, size_t steps)
{
	struct flow_cycle cycle = { .edges = memory_zero(steps, sizeof *cycle.edges), .count = steps, .width = search->width[seed] };
	uint32_t at = seed;
	for (size_t i = steps; i-- > 0;) {
		at = search->before[at];
		cycle.edges[i] = at;
		cycle.calls += is_call(&search->graph->edges.items[at]);
	}
	cycle.weight = weigh(search->graph, &cycle);
	vec_push(&cycles->list, cycle);
}

static int compare_cycles(const void *a, const void *b)
{
	const struct flow_cycle *left = a, *right = b;
	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return left->width > right->width ? -1 : left->width < right->width;
}

void flow_cycles_find(struct flow_cycles *cycles, const struct flow_graph *graph, uint64_t least)
{
	struct search search;
	seed_list seeds = { 0 };
	cycles->least = least;
	if (search_begin(&search, graph, least))
		find_seeds(graph, least, &seeds);
	for (size_t i = 0; i < seeds.count; i++) {
		/* the cycle of a call that lies on a known cycle was found from a more frequent call */
		size_t steps = is_known(cycles, seeds.items[i].edge) ? 0 : search_from(&search, seeds.items[i].edge);
		if (steps)
			add_cycle(cycles, &search, seeds.items[i].edge, steps);
	}
	vec_fini(&seeds);
	search_end(&search);
	if (cycles->list.count)
		qsort(cycles->list.items, cycles->list.count, sizeof *cycles->list.items, compare_cycles);
	while (cycles->list.count > FLOW_CYCLES_MAX)
		free(cycles->list.items[--cycles->list.count].edges);
}

void flow_cycles_fini(struct flow_cycles *cycles)
{
	for (size_t i = 0; i < cycles->list.count; i++)
		free(cycles->list.items[i].edges);
	vec_fini(&cycles->list);
}

/* Means of one pass over a step. */
static double step_cycles(const struct flow_edge *edge)
{
	return edge->timed ? edge->cycles / (double)edge->timed : 0;
}

static double step_instructions(const struct flow_edge *edge)
{
	return edge->counted ? (double)edge->instructions / (double)edge->counted : 0;
}

double flow_cycle_windows(const struct flow_graph *graph, const struct flow_cycle *cycle, struct flow_window *windows, size_t count)
{
	double all = 0, at = 0;
	for (size_t i = 0; i < cycle->count; i++)
		all += step_cycles(&graph->edges.items[cycle->edges[i]]);
	for (size_t w = 0; w < count; w++)
		windows[w] = (struct flow_window){ all * (double)w / (double)count, all * (double)(w + 1) / (double)count, 0, SIZE_MAX, 0 };
	for (size_t i = 0; i < cycle->count && all > 0; i++) {
		const struct flow_edge *edge = &graph->edges.items[cycle->edges[i]];
		double length = step_cycles(edge), end = at + length;
		for (size_t w = 0; w < count; w++) {
			double from = at > windows[w].from_cycle ? at : windows[w].from_cycle;
			double to = end < windows[w].to_cycle ? end : windows[w].to_cycle;
			if (to > from)
				windows[w].instructions += step_instructions(edge) * (to - from) / length;
			bool here = at >= windows[w].from_cycle && (at < windows[w].to_cycle || w + 1 == count);
			if (here && windows[w].first == SIZE_MAX)
				windows[w].first = i;
			if (here)
				windows[w].end = i + 1;
			if (here && length <= 0)
				windows[w].instructions += step_instructions(edge);
		}
		at = end;
	}
	for (size_t w = 0; w < count; w++)
		if (windows[w].first == SIZE_MAX)
			windows[w].first = windows[w].end = 0;
	return all;
}
