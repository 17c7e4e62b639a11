#include "base/pool_sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"

enum {
	SERIAL_ITEMS = 8192,  /* up to this many are sorted on the calling thread */
	MERGE_ITEMS = 4096,   /* a job merges this many items of the first run */
	PARTS = 4,            /* runs per worker: workers do not end at the same time */
};

struct sort_run {
	size_t first, end;
};

/* A piece of two neighbouring runs, which becomes a piece of the merged run. */
struct merge_job {
	size_t a, a_end, b, b_end, out;
};

struct sorting {
	void **items, **spare;
	pool_compare *compare;
	void *context;
	struct sort_run *runs;
	struct merge_job *jobs;
};

static void sort_job(void *context, size_t job, unsigned worker)
{
	const struct sorting *s = context;
	const struct sort_run *run = &s->runs[job];
	qsort_r(s->items + run->first, run->end - run->first, sizeof *s->items, s->compare, s->context);
}

static void merge_job(void *context, size_t index, unsigned worker)
{
	const struct sorting *s = context;
	const struct merge_job *job = &s->jobs[index];
	void **a = s->items + job->a, **a_end = s->items + job->a_end, **b = s->items + job->b, **b_end = s->items + job->b_end;
	void **out = s->spare + job->out;
	while (a < a_end && b < b_end)
		*out++ = s->compare(b, a, s->context) < 0 ? *b++ : *a++;
	memcpy(out, a, (size_t)(a_end - a) * sizeof *out);
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *out);
}

/* Number of items of a run that precede the item: those that equal it come from a later run. */
static size_t before(const struct sorting *s, const struct sort_run *run, void *const *item)
{
	size_t low = run->first, high = run->end;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->compare(s->items + middle, item, s->context) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low - run->first;
}

/* Cuts the merge of two runs into jobs; returns their number. */
static size_t cut_merge(const struct sorting *s, const struct sort_run *a, const struct sort_run *b, struct merge_job *jobs)
{
	size_t count = 0, from = b->first;
	for (size_t at = a->first; at < a->end; at += MERGE_ITEMS) {
		size_t end = a->end - at > MERGE_ITEMS ? at + MERGE_ITEMS : a->end;
		size_t to = end < a->end ? b->first + before(s, b, &s->items[end]) : b->end;
		jobs[count++] = (struct merge_job){ .a = at, .a_end = end, .b = from, .b_end = to, .out = at + (from - b->first) };
		from = to;
	}
	return count;
}

/* Merges neighbouring runs in pairs; returns the number of runs that are left. */
static size_t merge_runs(struct sorting *s, struct pool *pool, size_t runs)
{
	size_t jobs = 0, left = 0;
	for (size_t i = 0; i < runs; i += 2) {
		struct sort_run a = s->runs[i], b = i + 1 < runs ? s->runs[i + 1] : (struct sort_run){ a.end, a.end };
		jobs += cut_merge(s, &a, &b, s->jobs + jobs);
		s->runs[left++] = (struct sort_run){ a.first, b.end };
	}
	pool_run(pool, jobs, merge_job, s);
	void **merged = s->spare;
	s->spare = s->items;
	s->items = merged;
	return left;
}

void pool_sort(struct pool *pool, void **items, size_t count, pool_compare *compare, void *context)
{
	size_t runs = (size_t)pool_workers(pool) * PARTS;
	if (count <= SERIAL_ITEMS || runs == PARTS) {
		if (count)
			qsort_r(items, count, sizeof *items, compare, context);
		return;
	}
	struct sorting s = { .items = items, .spare = memory_resize(NULL, count, sizeof *items), .compare = compare, .context = context };
	s.runs = memory_resize(NULL, runs, sizeof *s.runs);
	s.jobs = memory_resize(NULL, count / MERGE_ITEMS + runs, sizeof *s.jobs);
	for (size_t i = 0; i < runs; i++)
		s.runs[i] = (struct sort_run){ count / runs * i, i + 1 < runs ? count / runs * (i + 1) : count };
	pool_run(pool, runs, sort_job, &s);
	while (runs > 1)
		runs = merge_runs(&s, pool, runs);
	if (s.items != items) {
		memcpy(items, s.items, count * sizeof *items);
		s.spare = s.items;
	}
	free(s.spare);
	free(s.runs);
	free(s.jobs);
}
