/* The fold in parallel: ranges of sample keys, and the chains of one sample key's entries. The result does not depend on the workers. */
#include <stdlib.h>

#include "analysis/profile/fold.h"
#include "base/memory.h"
#include "base/pool.h"

enum {
	RANGES = 8,          /* per worker */
	RANGE_TALLIES = 512, /* at least */
	LARGE_RANGES = 4,    /* a sample key as large as this many ranges delays the others: all workers make its chains */
	CHAIN_NODES = 4096,  /* a sample key with fewer nodes has its chains made by one worker */
};

struct listed_entry {
	struct entry *entry;
	bool passes;         /* its first sample does */
};

/* Consecutive sample keys, or a single large one. */
struct fold_range {
	uint32_t first, end;
	bool large;
	VEC(struct listed_entry) entries;
	VEC(uint32_t) counts; /* of entries, by sample key from `first` on */
};

struct fold_jobs {
	struct fold *fold, *helpers;
	struct folded *folded;
	const uint32_t *starts;
	bool chains;
	VEC(struct fold_range) ranges;
};

/* Texts of source lines are made in one thread. */
static bool is_parallel(const struct fold *fold)
{
	return fold->profile->options.chain.key != CHAIN_SRCLINE && pool_workers(fold->profile->session->pool) > 1;
}

/* Scratch memory of a worker; the tables are shared. */
static void helper_init(struct fold *helper, const struct fold *fold)
{
	const struct profile *profile = fold->profile;
	*helper = (struct fold){
		.profile = profile, .row_words = fold->row_words, .class_of_place = fold->class_of_place, .chain_of_place = fold->chain_of_place,
		.classes = fold->classes, .class_words = fold->class_words, .tally_order = fold->tally_order, .whole_chains = fold->whole_chains,
		.arena = memory_zero(1, sizeof *helper->arena),
	};
	helper->local_of_node = memory_zero(profile->collected.stacks->count + 1, sizeof *helper->local_of_node);
	helper->entry_of_class = memory_zero(fold->classes.count + 1, sizeof *helper->entry_of_class);
	helper->frame_of_chain = memory_zero(profile->collected.stacks->places.count + 1, sizeof *helper->frame_of_chain);
}

static struct fold *helpers_new(const struct fold *fold)
{
	unsigned workers = pool_workers(fold->profile->session->pool);
	struct fold *helpers = is_parallel(fold) ? memory_zero(workers, sizeof *helpers) : NULL;
	for (unsigned i = 0; helpers && i < workers; i++)
		helper_init(&helpers[i], fold);
	return helpers;
}

static void helpers_free(struct fold *helpers, const struct fold *fold)
{
	unsigned workers = pool_workers(fold->profile->session->pool);
	for (unsigned i = 0; helpers && i < workers; i++) {
		arena_join(fold->arena, helpers[i].arena);
		free(helpers[i].arena);
		fold_fini_scratch(&helpers[i]);
	}
	free(helpers);
}

struct chain_jobs {
	struct fold *fold;
	const struct hist *hist;
	uint64_t min_hit;
};

static void make_chain(struct fold *maker, const struct chain_jobs *jobs, size_t index)
{
	struct fold_entry *at = &jobs->fold->entries.items[index];
	if (jobs->fold->whole_chains || fold_shows_chain(maker->profile, jobs->hist, at->entry))
		at->entry->chain = fold_chain(maker, at, jobs->min_hit);
}

static void make_chain_job(void *context, size_t job, unsigned worker)
{
	const struct chain_jobs *jobs = context;
	make_chain(&jobs->fold->helpers[worker], jobs, job);
}

/* Lends the nodes and tallies to a helper, which makes single chains of them. What it had of small ranges is done. */
static void helper_borrow(struct fold *helper, const struct fold *fold, bool innermost)
{
	vec_fini(&helper->nodes);
	vec_fini(&helper->tallies);
	vec_fini(&helper->entries);
	helper->nodes = fold->nodes;
	helper->tallies = fold->tallies;
	helper->entries = fold->entries;
	helper->counts_repeats = fold->counts_repeats;
	if (innermost) {
		vec_fini(&helper->own);
		helper->own = fold->own;
	} else {
		fold_reserve_own(helper);
	}
}

static void helper_return(struct fold *helper, bool innermost)
{
	memset(&helper->nodes, 0, sizeof helper->nodes);
	memset(&helper->tallies, 0, sizeof helper->tallies);
	memset(&helper->entries, 0, sizeof helper->entries);
	if (innermost)
		memset(&helper->own, 0, sizeof helper->own);
}

void fold_chains(struct fold *fold, const struct hist *hist)
{
	const struct profile_options *options = &fold->profile->options;
	struct chain_jobs jobs = { .fold = fold, .hist = hist, .min_hit = fold->whole_chains ? 0 : fold_least_hit(fold->profile, hist) };
	bool innermost = options->iteration == ITERATE_CALLERS && options->chain.order == CHAIN_CALLEE;
	if (!fold->helpers || fold->nodes.count < CHAIN_NODES) {
		for (size_t i = 0; i < fold->entries.count; i++)
			make_chain(fold, &jobs, i);
		return;
	}
	unsigned workers = pool_workers(fold->profile->session->pool);
	for (unsigned i = 0; i < workers; i++)
		helper_borrow(&fold->helpers[i], fold, innermost);
	pool_run(fold->profile->session->pool, fold->entries.count, make_chain_job, &jobs);
	for (unsigned i = 0; i < workers; i++)
		helper_return(&fold->helpers[i], innermost);
}

static void fold_range(const struct fold_jobs *jobs, struct fold *fold, struct fold_range *range)
{
	for (uint32_t key = range->first; key < range->end; key++) {
		uint32_t first = jobs->starts[key], count = jobs->starts[key + 1] - first;
		fold_sample_key(fold, key, fold->tally_order + first, count, fold_hist_of_key(fold->profile, jobs->folded, key), jobs->chains);
		for (size_t i = 0; i < fold->entries.count; i++) {
			const struct fold_entry *at = &fold->entries.items[i];
			vec_push(&range->entries, ((struct listed_entry){ at->entry, !fold->tallies.items[at->earliest].tally->filtered }));
		}
		vec_push(&range->counts, (uint32_t)fold->entries.count);
	}
}

static void fold_range_job(void *context, size_t job, unsigned worker)
{
	const struct fold_jobs *jobs = context;
	if (!jobs->ranges.items[job].large)
		fold_range(jobs, &jobs->helpers[worker], &jobs->ranges.items[job]);
}

static void split_ranges(struct fold_jobs *jobs)
{
	const struct profile *profile = jobs->fold->profile;
	uint32_t keys = profile->collected.sample_keys.count, all = profile->collected.tallies.count;
	unsigned parts = jobs->helpers ? RANGES * pool_workers(profile->session->pool) : 1;
	uint32_t most = all / parts > RANGE_TALLIES ? all / parts : RANGE_TALLIES;
	for (uint32_t key = 0; key < keys; key++) {
		uint32_t count = jobs->starts[key + 1] - jobs->starts[key];
		struct fold_range *last = jobs->ranges.count ? &jobs->ranges.items[jobs->ranges.count - 1] : NULL;
		bool large = jobs->helpers && count >= LARGE_RANGES * most;
		if (!last || large || last->large || (jobs->helpers && jobs->starts[key] - jobs->starts[last->first] >= most))
			vec_push(&jobs->ranges, ((struct fold_range){ .first = key, .end = key + 1, .large = large }));
		else
			last->end = key + 1;
	}
}

static void list_entries(const struct fold_jobs *jobs, const struct fold_range *range, size_t *capacities, bool sums)
{
	const struct listed_entry *listed = range->entries.items;
	for (uint32_t key = range->first; key < range->end; key++) {
		struct hist *hist = fold_hist_of_key(jobs->fold->profile, jobs->folded, key);
		uint32_t count = range->counts.items[key - range->first];
		size_t *capacity = &capacities[hist->event];
		while (*capacity < hist->count + count)
			*capacity = *capacity ? *capacity * 2 : 64;
		hist->entries = memory_resize(hist->entries, *capacity, sizeof *hist->entries);
		for (uint32_t i = 0; i < count; i++, listed++) {
			struct entry *entry = listed->entry;
			hist->entries[hist->count++] = entry;
			if (sums && !entry->filtered)
				hist->shown_period += entry->self.period;
			if (sums && listed->passes) {
				hist->shown_samples += entry->self.count;
				hist->shown_chain_period += entry->self.period;
			}
		}
	}
}

void fold_sample_keys(struct fold *fold, struct folded *folded, const uint32_t *starts, bool sums, bool chains)
{
	struct fold_jobs jobs = { .fold = fold, .folded = folded, .starts = starts, .chains = chains, .helpers = helpers_new(fold) };
	size_t *capacities = memory_zero(folded->hist_count + 1, sizeof *capacities);
	for (size_t i = 0; i < folded->hist_count; i++)
		folded->hists[i].count = 0;
	split_ranges(&jobs);
	if (jobs.helpers)
		pool_run(fold->profile->session->pool, jobs.ranges.count, fold_range_job, &jobs);
	fold->helpers = jobs.helpers;
	for (size_t i = 0; i < jobs.ranges.count; i++) {
		struct fold_range *range = &jobs.ranges.items[i];
		if (range->large || !jobs.helpers)
			fold_range(&jobs, fold, range);
		list_entries(&jobs, range, capacities, sums);
		vec_fini(&range->entries);
		vec_fini(&range->counts);
	}
	fold->helpers = NULL;
	helpers_free(jobs.helpers, fold);
	vec_fini(&jobs.ranges);
	free(capacities);
}
