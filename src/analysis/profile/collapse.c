#include "analysis/profile/collapse.h"

#include <stdlib.h>

#include "analysis/compat/entry_order.h"
#include "analysis/entry/names.h"
#include "analysis/entry/texts.h"
#include "analysis/profile/fold.h"
#include "analysis/place/source_line.h"
#include "base/memory.h"

bool collapse_needed(const struct profile *profile)
{
	const struct columns *columns = profile->options.columns;
	for (size_t i = 0; i < columns->all.count; i++)
		if (columns->all.items[i].type->text)
			return true;
	return false;
}

/* Requests all source lines at once. */
static void prepare_lines(const struct profile *profile)
{
	VEC(struct source_request) requests = { 0 };
	for (size_t h = 0; h < profile->folded.hist_count; h++)
		for (size_t i = 0; i < profile->folded.hists[h].count; i++) {
			const struct place *place = entry_place(profile, profile->folded.hists[h].entries[i]);
			if (place->map && place->module != MODULE_ID_NONE)
				vec_push(&requests, ((struct source_request){ profile_module(profile, place->module), place->ip }));
		}
	source_lines_prepare(profile->symbols, profile->session->pool, requests.items, requests.count);
	vec_fini(&requests);
}

static int by_first(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->first_rank > y->first_rank) - (x->first_rank < y->first_rank);
}

/* The order in which perf visits the entries; of equal ones, the order in which samples made them. */
static int by_keys(const void *a, const void *b, void *context)
{
	int64_t order = entry_order_keys(context, *(struct entry *const *)a, *(struct entry *const *)b);
	return order ? (order < 0) - (order > 0) : by_first(a, b);
}

/* Replaces the addresses in a row's columns of this kind by texts, or adds the texts. */
static void set_texts(const struct profile *profile, struct entry *entry, struct str *text)
{
	const struct columns *columns = profile->options.columns;
	uint64_t *row = (uint64_t *)entry->row; /* each entry's own */
	for (size_t i = 0; i < columns->all.count; i++) {
		const struct column *column = &columns->all.items[i];
		if (!column->type->text)
			continue;
		str_clear(text);
		column->type->text(profile, column, entry, text);
		uint64_t number = strtab_add(&profile->source_texts->texts, str_text(text), text->len);
		if (columns->needs_collapse)
			row[column->at] = row[column->at + 1] = 0;
		row[column->at + 1] |= number << COLLAPSE_TEXT_SHIFT;
	}
}

/* If no key makes perf collapse rows (-F alone names its columns), rows with the same text are separate. */
static void collapse_entries(const struct profile *profile, struct hist *hist)
{
	bool joins = profile->options.columns->needs_collapse;
	uint32_t count = 0;
	CLEANUP_STR struct str text = { 0 };
	struct tuples rows;
	struct chain_joiner joiner;
	struct entry **merged = memory_resize(NULL, hist->count + 1, sizeof(struct entry *));
	tuples_init(&rows, profile->folded.row_words, profile->folded.row_words);
	chain_joiner_init(&joiner, profile);
	for (size_t i = 0; i < hist->count; i++) {
		struct entry *entry = hist->entries[i];
		set_texts(profile, entry, &text);
		uint32_t id = joins ? tuples_add(&rows, entry->row) : count;
		chain_joiner_add(&joiner, id, entry->chain);
		entry->chain = NULL;
		if (id == count) {
			merged[count++] = entry;
			continue;
		}
		entry_sums_add(&merged[id]->self, &entry->self);
		merged[id]->children_period += entry->children_period;
	}
	hist->count = count;
	if (count)
		memcpy(hist->entries, merged, count * sizeof(struct entry *));
	for (uint32_t i = 0; i < count; i++)
		if (profile->options.use_chains && fold_shows_chain(profile, hist, merged[i]))
			merged[i]->chain = chain_joiner_tree(&joiner, i, fold_least_hit(profile, hist));
	chain_joiner_fini(&joiner);
	tuples_fini(&rows);
	free(merged);
}

void collapse_hists(const struct profile *profile, struct folded *folded)
{
	prepare_lines(profile);
	for (size_t i = 0; i < folded->hist_count; i++) {
		struct hist *hist = &folded->hists[i];
		struct entry_order order;
		entry_order_init(&order, profile, hist);
		if (hist->count && order.wild) /* no total order: what sorting makes of it depends on where it starts */
			qsort(hist->entries, hist->count, sizeof *hist->entries, by_first);
		if (hist->count)
			qsort_r(hist->entries, hist->count, sizeof *hist->entries, by_keys, &order);
		entry_order_fini(&order);
		collapse_entries(profile, hist);
	}
	folded->collapsed = true;
}
