#include "analysis/profile/fold.h"

#include <stdlib.h>

#include "analysis/column/source.h"
#include "analysis/entry/names.h"
#include "analysis/profile/collapse.h"
#include "base/memory.h"

/* Functions as chains distinguish them: by their addresses, inlined ones by their names alone. */
struct functions {
	struct idmap known, named;
	struct strtab names;         /* filled only if there are inlined functions */
	bool inlines;
};

static void functions_init(struct functions *functions, const struct profile *profile)
{
	*functions = (struct functions){ 0 };
	for (uint32_t id = 0; !functions->inlines && id < profile->collected.stacks->places.count; id++)
		functions->inlines = symbol_is_inlined(stacks_place_at(profile->collected.stacks, id)->symbol);
}

static void functions_fini(struct functions *functions)
{
	idmap_fini(&functions->known);
	idmap_fini(&functions->named);
	strtab_fini(&functions->names);
}

/* The first place that shows the same function. */
static uint32_t function_of(struct functions *functions, const struct profile *profile, const struct place *place, uint32_t id)
{
	bool added;
	uint32_t first = idmap_add(&functions->known, (uint64_t)place->module << 32 | place->symbol, id, &added);
	if (!added || !functions->inlines)
		return first;
	const char *name = profile_symbol_name(profile, place->module, place->symbol);
	uint32_t named = idmap_add(&functions->named, strtab_add(&functions->names, name, strlen(name)), id, &added);
	bool inlined = symbol_is_inlined(place->symbol) || symbol_is_inlined(stacks_place_at(profile->collected.stacks, named)->symbol);
	if (!inlined || named == id)
		return first;
	idmap_set(&functions->known, (uint64_t)place->module << 32 | place->symbol, named);
	return named;
}

/* Numbers the places by the entry that they belong to: some at a time, as each one's slot is read from memory. */
static void class_all(struct fold *fold, uint32_t places)
{
	enum { TOGETHER = 32 };
	const struct profile *profile = fold->profile;
	const struct columns *columns = profile->options.columns;
	size_t words = fold->class_words + COLUMN_KEY_WORDS;
	uint64_t *rows CLEANUP_FREE = memory_zero(TOGETHER * words, sizeof *rows);
	for (uint32_t first = 0; first < places; first += TOGETHER) {
		uint32_t count = places - first < TOGETHER ? places - first : TOGETHER;
		for (uint32_t k = 0; k < count; k++) {
			for (size_t i = 0; i < columns->all.count; i++) {
				const struct column *column = &columns->all.items[i];
				const struct place *place = stacks_place_at(profile->collected.stacks, first + k);
				if (column->type->place_key)
					column->type->place_key(profile, place, rows + k * words + (column->at - profile->sample_key_words));
			}
			tuples_fetch(&fold->classes, rows + k * words);
		}
		for (uint32_t k = 0; k < count; k++)
			fold->class_of_place[first + k] = tuples_add(&fold->classes, rows + k * words);
	}
}

/* The same, and by what chains match frames by. */
static void class_places(struct fold *fold)
{
	const struct profile *profile = fold->profile;
	const struct columns *columns = profile->options.columns;
	uint32_t places = profile->collected.stacks->places.count;
	for (size_t i = 0; i < columns->all.count; i++)
		if (columns->all.items[i].type->place_key)
			fold->class_words += columns->all.items[i].type->words;
	fold->row_words = profile->sample_key_words + fold->class_words;
	tuples_init(&fold->classes, fold->class_words, fold->class_words);
	fold->class_of_place = memory_zero(places + 1, sizeof *fold->class_of_place);
	fold->chain_of_place = memory_zero(places + 1, sizeof *fold->chain_of_place);
	fold->frame_of_chain = memory_zero(places + 1, sizeof *fold->frame_of_chain);
	class_all(fold, places);
	struct idmap maps = { 0 }, lines = { 0 };
	struct functions functions;
	functions_init(&functions, profile);
	bool by_address = profile->options.chain.key != CHAIN_FUNCTION;
	for (uint32_t id = 0; id < places; id++) {
		const struct place *place = stacks_place_at(profile->collected.stacks, id);
		bool added;
		fold->chain_of_place[id] = id;
		if (profile->options.chain.key == CHAIN_SRCLINE && place->map && *profile_place_line_text(profile, id))
			fold->chain_of_place[id] = idmap_add(&lines, profile_place_line(profile, id), id, &added);
		else if (place->symbol && !by_address)
			fold->chain_of_place[id] = function_of(&functions, profile, place, id);
		else if (profile->by_map || profile->options.branch_history)
			fold->chain_of_place[id] = idmap_add(&maps, hash_pair((uint64_t)place->module << 32 | place->symbol, place->ip), id, &added);
	}
	functions_fini(&functions);
	idmap_fini(&maps);
	idmap_fini(&lines);
}

/* Sorts tallies by sample key (counting sort) into fold->tally_order; returns the start of each sample key. */
static uint32_t *sort_tallies(struct fold *fold)
{
	const struct profile *profile = fold->profile;
	uint32_t sample_keys = profile->collected.sample_keys.count;
	uint32_t *starts = memory_zero(sample_keys + 2, sizeof *starts);
	for (uint32_t i = 0; i < profile->collected.tallies.count; i++)
		starts[profile->collected.tallies.items[i].sample_key + 2]++;
	for (uint32_t i = 2; i < sample_keys + 2; i++)
		starts[i] += starts[i - 1];
	fold->tally_order = memory_zero(profile->collected.tallies.count + 1, sizeof *fold->tally_order);
	for (uint32_t i = 0; i < profile->collected.tallies.count; i++)
		fold->tally_order[starts[profile->collected.tallies.items[i].sample_key + 1]++] = i;
	return starts;
}

static struct fold_entry *entry_of(struct fold *fold, uint32_t class)
{
	uint32_t known = fold->entry_of_class[class];
	if (known)
		return &fold->entries.items[known - 1];
	struct fold_entry *made = vec_add(&fold->entries);
	made->class = class;
	made->earliest = UINT32_MAX;
	fold->entry_of_class[class] = (uint32_t)fold->entries.count;
	return made;
}

static void note_earliest(struct fold *fold, struct fold_entry *entry, uint32_t tally, uint32_t from)
{
	if (entry->earliest != UINT32_MAX && fold->tallies.items[entry->earliest].tally->first <= fold->tallies.items[tally].tally->first)
		return;
	entry->earliest = tally;
	entry->first_from = from;
}

static struct entry *entry_at(struct fold *fold, uint32_t index)
{
	struct fold_entry *at = &fold->entries.items[index];
	if (!at->entry)
		at->entry = arena_alloc(fold->arena, sizeof *at->entry);
	return at->entry;
}

static void add_mode_period(struct entry_sums *sums, unsigned cpumode, uint64_t period)
{
	switch (cpumode) {
	case RECORD_MISC_KERNEL:
		sums->period_sys += period;
		break;
	case RECORD_MISC_USER:
		sums->period_us += period;
		break;
	case RECORD_MISC_GUEST_KERNEL:
		sums->period_guest_sys += period;
		break;
	case RECORD_MISC_GUEST_USER:
		sums->period_guest_us += period;
		break;
	}
}

/* Adds the tallies to their own entries. */
static void fold_self(struct fold *fold)
{
	const struct tallies *all = &fold->profile->collected.tallies;
	for (uint32_t i = 0; i < fold->tallies.count; i++) {
		struct fold_tally *at = &fold->tallies.items[i];
		struct fold_entry *own = entry_of(fold, fold->class_of_place[at->tally->place]);
		uint32_t index = (uint32_t)(own - fold->entries.items);
		at->entry = index + 1;
		at->next_of_entry = own->first_tally;
		own->first_tally = i + 1;
		note_earliest(fold, own, i, 0);
		struct entry *entry = entry_at(fold, index);
		entry->self.period += at->tally->period;
		entry->self.count += at->tally->count;
		add_mode_period(&entry->self, at->tally->cpumode, at->tally->period);
		if (all->sums)
			for (unsigned w = 0; w < 3; w++)
				entry->self.weight[w] += all->sums[at->tally - all->items].weight[w];
		unsigned depth = fold->nodes.count ? fold->nodes.items[at->leaf].depth : 0;
		if (entry->max_depth < depth && !at->tally->stale)
			entry->max_depth = depth;
	}
}

/* The frame of a node has an entry, to which its callees are added, once for each sample. */
static void enter_node(struct fold *fold, uint32_t index)
{
	struct trie_node *node = &fold->nodes.items[index];
	struct fold_entry *at = entry_of(fold, fold->class_of_place[node->place]);
	uint32_t which = (uint32_t)(at - fold->entries.items);
	node->entry = which + 1;
	if (at->on_path++ && !fold->counts_repeats)
		return;
	struct entry *entry = entry_at(fold, which);
	entry->children_period += node->period;
	if (fold->profile->options.chain.order == CHAIN_CALLER) {
		node->next_of_entry = at->first_node;
		at->first_node = index;
		if (entry->max_depth < node->deepest - node->depth + 1u)
			entry->max_depth = node->deepest - node->depth + 1;
	}
	note_earliest(fold, at, node->tally, index);
}

/* Adds tallies that end at a node to their own entries, unless these are on the path already. */
static void count_ends(struct fold *fold, uint32_t index)
{
	for (uint32_t i = fold->nodes.items[index].first_tally; i; i = fold->tallies.items[i - 1].next_at_leaf) {
		const struct fold_tally *at = &fold->tallies.items[i - 1];
		struct fold_entry *own = &fold->entries.items[at->entry - 1];
		if (!own->on_path || fold->counts_repeats)
			entry_at(fold, at->entry - 1)->children_period += at->tally->period;
	}
}

/* Depth first, so that on_path counts the nodes above. */
static void fold_callers(struct fold *fold)
{
	struct trie_node *nodes = fold->nodes.items;
	count_ends(fold, 0);
	uint32_t at = nodes[0].first_child;
	while (at) {
		enter_node(fold, at);
		count_ends(fold, at);
		if (nodes[at].first_child) {
			at = nodes[at].first_child;
			continue;
		}
		while (at && !nodes[at].next_sibling) {
			fold->entries.items[nodes[at].entry - 1].on_path--;
			at = nodes[at].parent;
		}
		if (at) {
			fold->entries.items[nodes[at].entry - 1].on_path--;
			at = nodes[at].next_sibling;
		}
	}
}

/* Callee order: a caller's chain starts at its innermost frame. Sums per node in own, nodes listed by entry. */
static void fold_innermost(struct fold *fold)
{
	struct trie_node *nodes = fold->nodes.items;
	for (uint32_t i = 0; i < fold->tallies.count; i++) {
		const struct fold_tally *at = &fold->tallies.items[i];
		for (uint32_t node = at->leaf; node; node = nodes[node].parent) {
			struct fold_entry *of = &fold->entries.items[nodes[node].entry - 1];
			bool repeated = of->on_path == i + 1 || nodes[node].entry == at->entry;
			if (repeated && !fold->counts_repeats)
				continue;
			of->on_path = i + 1;
			struct entry *entry = entry_at(fold, nodes[node].entry - 1);
			if (entry->max_depth < nodes[node].depth)
				entry->max_depth = nodes[node].depth;
			struct own_sums *own = &fold->own.items[node];
			if (!own->count) {
				nodes[node].next_of_entry = of->first_node;
				of->first_node = node;
			}
			if (!own->count || at->tally->first < own->first)
				own->first = at->tally->first;
			own->period += at->tally->period;
			own->count += at->tally->count;
		}
	}
}

/* The level of a frame in no mapping is that of the frame before it in the chain's order; before the first: the sample's. */
static uint8_t inherited_level(const struct fold *fold, const struct fold_entry *entry)
{
	const struct stacks *stacks = fold->profile->collected.stacks;
	const struct fold_tally *tally = &fold->tallies.items[entry->earliest];
	const struct trie_node *nodes = fold->nodes.items;
	if (fold->profile->options.chain.order == CHAIN_CALLER) {
		for (uint32_t node = entry->first_from; node; node = nodes[node].parent)
			if (stacks_place_at(stacks, nodes[node].place)->level)
				return (uint8_t)stacks_place_at(stacks, nodes[node].place)->level;
		return tally->tally->level;
	}
	uint8_t level = tally->tally->level;
	for (uint32_t node = tally->leaf; node && node != entry->first_from; node = nodes[node].parent)
		if (stacks_place_at(stacks, nodes[node].place)->level)
			level = (uint8_t)stacks_place_at(stacks, nodes[node].place)->level;
	return level;
}

/* Filters that perf applies to whole entries, and only if a column makes it collapse them. */
static uint8_t late_filter(const struct profile *profile, const struct entry *entry, const struct tally *tally)
{
	const struct profile_options *options = &profile->options;
	const struct place *place = entry_place(profile, entry);
	uint8_t filtered = 0;
	if (!options->columns->needs_collapse)
		return 0;
	if (options->symbol_filter && entry->row[SAMPLE_KEY_EVENT] == 0 &&
	    (!place->symbol || !strstr(profile_symbol_name(profile, place->module, place->symbol), options->symbol_filter)))
		filtered |= FILTER_SYMBOL;
	if (options->socket_filter >= 0 && profile_socket(profile, tally->cpu) != options->socket_filter)
		filtered |= FILTER_SOCKET;
	return filtered;
}

/* In callee order the innermost frame is first. */
static uint32_t innermost_of(const struct fold *fold, const struct fold_entry *entry)
{
	uint32_t which = (uint32_t)(entry - fold->entries.items) + 1;
	uint32_t node = fold->tallies.items[entry->earliest].leaf;
	while (node && fold->nodes.items[node].entry != which)
		node = fold->nodes.items[node].parent;
	return node;
}

/* Sets the values that an entry has from its first sample. */
static void finish_entry(struct fold *fold, struct fold_entry *at, const uint64_t *sample_key)
{
	const struct profile *profile = fold->profile;
	const struct tally *tally = fold->tallies.items[at->earliest].tally;
	struct entry *entry = at->entry;
	if (at->first_from && profile->options.chain.order == CHAIN_CALLEE)
		at->first_from = innermost_of(fold, at);
	uint64_t *row = (uint64_t *)arena_alloc(fold->arena, (profile->sample_key_words + fold->class_words + 1) * sizeof *row);
	memcpy(row, sample_key, profile->sample_key_words * sizeof *row);
	memcpy(row + profile->sample_key_words, tuples_row(&fold->classes, at->class), fold->class_words * sizeof *row);
	entry->row = row;
	entry->sample_key = tally->sample_key;
	entry->class = at->class;
	entry->facts = sample_facts(profile, sample_key);
	entry->first = tally->first;
	entry->thread = tally->thread;
	entry->tid = tally->tid;
	entry->cpumode = tally->cpumode;
	entry->place = at->first_from ? fold->nodes.items[at->first_from].place : tally->place;
	entry->filtered = tally->filtered | late_filter(profile, entry, tally);
	entry->leaf = true;
	uint64_t level = stacks_place_at(profile->collected.stacks, entry->place)->level;
	unsigned leaf_depth = fold->nodes.count ? fold->nodes.items[fold->tallies.items[at->earliest].leaf].depth : 0;
	unsigned depth = at->first_from ? fold->nodes.items[at->first_from].depth : 0;
	if (at->first_from)
		entry->first_rank = profile->options.chain.order == CHAIN_CALLER ? depth : leaf_depth - depth + 1;
	if (!at->first_from)
		entry->level = tally->level;
	else
		entry->level = level ? (uint8_t)level : inherited_level(fold, at);
}

/* perf looks callers up without some columns: if any of these is not 0, a sample adds a new row for each of its frames. */
static bool sample_key_repeats(const struct profile *profile, const uint64_t *sample_key)
{
	const struct columns *columns = profile->options.columns;
	for (size_t i = 0; i < columns->all.count; i++) {
		const struct column *column = &columns->all.items[i];
		if (!column->type->not_in_callers)
			continue;
		for (unsigned word = 0; word < column->type->words; word++)
			if (sample_key[column->at + word])
				return true;
	}
	return false;
}

uint64_t fold_least_hit(const struct profile *profile, const struct hist *hist)
{
	uint64_t total = profile->options.relative ? hist->shown_chain_period : hist->chain_period;
	return (uint64_t)((double)total * (profile->options.chain.min_percent / 100));
}

bool fold_shows_chain(const struct profile *profile, const struct hist *hist, const struct entry *entry)
{
	const struct evsel *evsel = &session_evlist(profile->session)->events.items[hist->event];
	if (!(evsel->attr.sample_type & SAMPLE_CALLCHAIN) && !profile->options.show_reference && !profile->options.branch_marks)
		return false;
	uint64_t whole = profile->options.iteration == ITERATE_CALLERS ? entry->children_period : entry->self.period;
	if (hist->leader != hist->event || entry->filtered || hist_percent(profile, hist, entry) < profile->options.min_percent)
		return false;
	return profile->options.chain.mode == CHAIN_FRACTAL || whole >= fold_least_hit(profile, hist);
}

void fold_reserve_own(struct fold *fold)
{
	size_t old = fold->own.count;
	if (old >= fold->nodes.count)
		return;
	vec_reserve(&fold->own, fold->nodes.count);
	fold->own.count = fold->nodes.count;
	memset(fold->own.items + old, 0, (fold->nodes.count - old) * sizeof *fold->own.items);
}

static void load_sample_key(struct fold *fold, const uint32_t *tallies, uint32_t count)
{
	vec_clear(&fold->tallies);
	vec_clear(&fold->entries);
	vec_clear(&fold->nodes);
	vec_reserve(&fold->tallies, count);
	for (uint32_t i = 0; i < count; i++)
		vec_push(&fold->tallies, ((struct fold_tally){ .tally = &fold->profile->collected.tallies.items[tallies[i]] }));
}

void fold_sample_key(struct fold *fold, uint32_t sample_key, const uint32_t *tallies, uint32_t count, const struct hist *hist, bool chains)
{
	const struct profile *profile = fold->profile;
	const uint64_t *row = tuples_row(&profile->collected.sample_keys, sample_key);
	load_sample_key(fold, tallies, count);
	bool callers = profile->options.iteration == ITERATE_CALLERS;
	fold->counts_repeats = callers && sample_key_repeats(profile, row);
	if (profile->options.use_chains || callers) {
		fold_trie(fold);
		fold_reserve_own(fold);
	}
	fold_self(fold);
	if (callers)
		fold_callers(fold);
	for (size_t i = 0; i < fold->entries.count; i++)
		finish_entry(fold, &fold->entries.items[i], row);
	bool innermost = callers && profile->options.chain.order == CHAIN_CALLEE;
	if (innermost)
		fold_innermost(fold);
	if (chains && profile->options.use_chains)
		fold_chains(fold, hist);
	if (innermost)
		memset(fold->own.items, 0, fold->nodes.count * sizeof *fold->own.items);
	for (size_t i = 0; i < fold->entries.count; i++)
		fold->entry_of_class[fold->entries.items[i].class] = 0;
}

struct hist *fold_hist_of_key(const struct profile *profile, struct folded *folded, uint32_t sample_key)
{
	return &folded->hists[tuples_row(&profile->collected.sample_keys, sample_key)[SAMPLE_KEY_EVENT]];
}

/* Adds up the totals of all tallies, before entries are made. */
static void add_totals(const struct profile *profile, struct folded *folded)
{
	for (uint32_t i = 0; i < profile->collected.tallies.count; i++) {
		const struct tally *tally = &profile->collected.tallies.items[i];
		struct hist *hist = fold_hist_of_key(profile, folded, tally->sample_key);
		hist->samples += tally->count;
		hist->total_period += tally->period;
		hist->chain_period += tally->period;
	}
}

void fold_fini_scratch(struct fold *fold)
{
	vec_fini(&fold->nodes);
	vec_fini(&fold->tallies);
	vec_fini(&fold->entries);
	free(fold->local_of_node);
	free(fold->entry_of_class);
	vec_fini(&fold->reached);
	vec_fini(&fold->own);
	vec_fini(&fold->steps);
	vec_fini(&fold->gathered);
	vec_fini(&fold->frames);
	free(fold->frame_of_chain);
	vec_fini(&fold->tree);
	vec_fini(&fold->tree_places);
	vec_fini(&fold->tree_marks);
	vec_fini(&fold->tree_order);
}

static void fold_fini(struct fold *fold)
{
	free(fold->chain_of_place);
	tuples_fini(&fold->classes);
	free(fold->tally_order);
	fold_fini_scratch(fold);
}

void fold_tallies(const struct profile *profile, struct folded *folded)
{
	struct fold fold = { .profile = profile, .arena = profile->arena };
	fold.whole_chains = collapse_needed(profile);
	class_places(&fold);
	uint32_t *starts = sort_tallies(&fold);
	fold.local_of_node = memory_zero(profile->collected.stacks->count + 1, sizeof *fold.local_of_node);
	fold.entry_of_class = memory_zero(fold.classes.count + 1, sizeof *fold.entry_of_class);
	add_totals(profile, folded);
	/* Thresholds that are relative to the shown period are known only after all entries are made. */
	bool twice = profile->options.relative && profile->options.use_chains && !fold.whole_chains;
	fold_sample_keys(&fold, folded, starts, true, !twice);
	if (twice)
		fold_sample_keys(&fold, folded, starts, false, true);
	free(starts);
	folded->class_of_place = fold.class_of_place;
	folded->class_count = fold.classes.count;
	folded->row_words = fold.row_words;
	fold_fini(&fold);
}

struct fold *fold_new(const struct profile *profile)
{
	struct fold *fold = memory_zero(1, sizeof *fold);
	fold->profile = profile;
	fold->arena = profile->arena;
	class_places(fold);
	free(fold->class_of_place);
	fold->class_of_place = NULL;
	return fold;
}

void fold_free(struct fold *fold)
{
	fold_fini(fold);
	free(fold);
}

struct chain_tree *fold_chain_of_tallies(struct fold *fold, const struct hist *hist, const struct tally *tallies, uint32_t count)
{
	struct fold_entry entry = { 0 };
	vec_clear(&fold->tallies);
	vec_clear(&fold->nodes);
	for (uint32_t i = 0; i < count; i++) {
		vec_push(&fold->tallies, ((struct fold_tally){ .tally = &tallies[i], .next_of_entry = entry.first_tally }));
		entry.first_tally = i + 1;
	}
	free(fold->local_of_node); /* the stacks may have grown */
	fold->local_of_node = memory_zero(fold->profile->collected.stacks->count + 1, sizeof *fold->local_of_node);
	fold_trie(fold);
	fold_reserve_own(fold);
	return fold_chain(fold, &entry, fold_least_hit(fold->profile, hist));
}
