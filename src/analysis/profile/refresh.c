#include "analysis/profile/refresh.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/entry/texts.h"
#include "analysis/profile/collector.h"
#include "analysis/profile/fold.h"
#include "analysis/profile/merge.h"
#include "base/hash.h"
#include "base/memory.h"

enum { DECAY_PART = 7, DECAY_WHOLE = 8 };

static struct collector *only_collector(const struct profile *profile)
{
	return profile->collectors[0];
}

static bool is_shown(const struct profile_view *view, const struct tally *tally)
{
	bool user = tally->cpumode == RECORD_MISC_USER || tally->cpumode == RECORD_MISC_GUEST_USER;
	return tally->period && !(user ? view->no_user : view->no_kernel);
}

static void copy_tallies(const struct tallies *from, const struct profile_view *view, struct tallies *shown)
{
	*shown = (struct tallies){ .capacity = from->count };
	shown->items = memory_resize(NULL, from->count + 1, sizeof *shown->items);
	if (from->sums)
		shown->sums = memory_resize(NULL, from->count + 1, sizeof *shown->sums);
	for (uint32_t i = 0; i < from->count; i++) {
		if (!is_shown(view, &from->items[i]))
			continue;
		shown->items[shown->count] = from->items[i];
		if (shown->sums)
			shown->sums[shown->count] = from->sums[i];
		shown->count++;
	}
}

/* What the stages after the merge read: the collector's stacks, which only grow, and copies of the tables that change while it collects. */
static void fill_collected(struct profile *profile, const struct profile_view *view)
{
	struct collector *c = only_collector(profile);
	struct collected *collected = &profile->collected;
	if (!profile->shares_stacks) {
		stacks_fini(collected->stacks);
		free(collected->stacks);
	}
	profile->shares_stacks = true;
	collected->stacks = &c->stacks;
	copy_tallies(&c->tallies, view, &collected->tallies);
	collected->sample_keys = (struct tuples){ .key_words = c->sample_keys.key_words, .row_words = c->sample_keys.row_words,
		.count = c->sample_keys.count, .capacity = c->sample_keys.count };
	size_t words = (size_t)c->sample_keys.count * c->sample_keys.row_words;
	collected->sample_keys.words = memory_resize(NULL, words + 1, sizeof(uint64_t));
	if (words)
		memcpy(collected->sample_keys.words, c->sample_keys.words, words * sizeof(uint64_t));
	collected->branches = c->branches;
}

static void drop_entries(struct profile *profile)
{
	for (size_t i = 0; i < profile->folded.hist_count; i++)
		free(profile->folded.hists[i].entries);
	free(profile->folded.hists);
	free(profile->folded.class_of_place);
	profile->folded = (struct folded){ 0 };
	tallies_fini(&profile->collected.tallies);
	tuples_fini(&profile->collected.sample_keys);
	arena_clear(profile->arena);
}

static void add_dropped(struct profile *profile)
{
	const struct collector *c = only_collector(profile);
	for (size_t i = 0; i < profile->folded.hist_count && i < c->dropped.count; i++) {
		profile->folded.hists[i].total_period += c->dropped.items[i].period;
		profile->folded.hists[i].shown_period += c->dropped.items[i].passed;
	}
}

void profile_show(struct profile *profile, const struct profile_view *view)
{
	drop_entries(profile);
	profile->logs = profile->logs_all = profile->wild = false;
	fill_collected(profile, view);
	profile_rank_modules(profile, &profile->collected);
	profile_fold(profile);
	if (!view->no_kernel && !view->no_user)
		add_dropped(profile);
}

/* A row below this part of its event's whole is dropped: in a system that builds, such rows are tens of thousands, sorted with each table
 * and never shown. Their weight remains in the whole. */
enum { WEIGHT_LEAST_SHIFT = 15 };

static uint64_t seven_eighths(uint64_t value)
{
	return value / DECAY_WHOLE * DECAY_PART + value % DECAY_WHOLE * DECAY_PART / DECAY_WHOLE;
}

static struct dropped *dropped_of(struct collector *c, const struct tally *tally)
{
	uint64_t event = tuples_row(&c->sample_keys, tally->sample_key)[SAMPLE_KEY_EVENT];
	while (c->dropped.count <= event)
		(void)vec_add(&c->dropped);
	return &c->dropped.items[event];
}

static void sum_events(struct collector *c)
{
	for (size_t i = 0; i < c->dropped.count; i++) {
		struct dropped *dropped = &c->dropped.items[i];
		dropped->period = seven_eighths(dropped->period);
		dropped->passed = seven_eighths(dropped->passed);
		dropped->whole = dropped->period;
	}
	for (uint32_t i = 0; i < c->tallies.count; i++)
		dropped_of(c, &c->tallies.items[i])->whole += c->tallies.items[i].period;
}

void profile_decay(struct profile *profile)
{
	struct collector *c = only_collector(profile);
	struct tallies *tallies = &c->tallies;
	sum_events(c);
	for (uint32_t i = 0; i < tallies->count; i++) {
		struct tally *tally = &tallies->items[i];
		struct dropped *dropped = dropped_of(c, tally);
		tally->period = seven_eighths(tally->period);
		tally->count = (uint32_t)((uint64_t)tally->count * DECAY_PART / DECAY_WHOLE);
		for (unsigned k = 0; tallies->sums && k < 3; k++)
			tallies->sums[i].weight[k] = seven_eighths(tallies->sums[i].weight[k]);
		if (tally->period >= dropped->whole >> WEIGHT_LEAST_SHIFT)
			continue;
		dropped->period += tally->period;
		dropped->passed += tally->filtered ? 0 : tally->period;
		tally->period = tally->count = 0;
	}
}

void profile_zero(struct profile *profile)
{
	struct tallies *tallies = &only_collector(profile)->tallies;
	vec_clear(&only_collector(profile)->dropped);
	for (uint32_t i = 0; i < tallies->count; i++) {
		tallies->items[i].period = 0;
		tallies->items[i].count = 0;
		if (tallies->sums)
			tallies->sums[i] = (struct tally_sums){ 0 };
	}
}

void profile_drop_symbols(struct profile *profile)
{
	const struct model *model = &profile->session->model;
	const struct tuples *places = &only_collector(profile)->stacks.places;
	bool *held = memory_zero(model->modules.list.count + 1, sizeof *held);
	for (uint32_t i = 0; i < places->count; i++) {
		uint32_t module = stacks_place_at(&only_collector(profile)->stacks, i)->module;
		if (module != MODULE_ID_NONE)
			held[module] = true;
	}
	for (size_t i = 0; i < model->modules.list.count; i++) {
		const struct module *module = model->modules.list.items[i];
		if (module && !held[i] && module->generation != model->generation && (module->kind == MODULE_FILE || module->kind == MODULE_ANON))
			symbols_drop(profile->symbols, module);
	}
	free(held);
}

size_t profile_growth(const struct profile *profile)
{
	const struct collector *c = only_collector(profile);
	return c->tallies.capacity * sizeof *c->tallies.items + c->tallies.slot_count * sizeof *c->tallies.slots +
		c->stacks.capacity * sizeof *c->stacks.nodes + c->stacks.slot_count * sizeof *c->stacks.slots +
		c->stacks.places.count * sizeof(struct place) + c->sample_keys.count * c->sample_keys.row_words * sizeof *c->row +
		c->payloads.bytes + c->expansion_places.count * sizeof *c->expansion_places.items;
}

/* Only columns of threads show more of a tally's thread than its number. */
static bool shows_threads(const struct profile *profile)
{
	return profile->options.columns->has_thread;
}

void profile_hold(const struct profile *profile, bool *held)
{
	if (!shows_threads(profile))
		return;
	const struct tallies *tallies = &only_collector(profile)->tallies;
	for (uint32_t i = 0; i < tallies->count; i++)
		if (tallies->items[i].period && tallies->items[i].thread != THREAD_NONE)
			held[tallies->items[i].thread] = true;
}

/* One renewal: from a collector to a new one. */
struct carry {
	const struct profile *profile;
	const struct model *old;
	const uint32_t *threads;
	struct collector *from, *to;
	uint32_t *nodes, *places, *keys;  /* by old id: new id + 1; 0: not carried yet */
	struct idmap map_ids;             /* by the address of an old mapping: index of its copy */
	VEC(const struct map *) maps;
	uint64_t *row;
};

/* A mapping of the old generation is copied: places refer to it for the addresses that they show. */
static const struct map *carry_map(struct carry *carry, const struct map *map)
{
	bool added;
	if (!map)
		return NULL;
	uint32_t id = idmap_add(&carry->map_ids, (uintptr_t)map, (uint32_t)carry->maps.count, &added);
	if (added)
		vec_push(&carry->maps, arena_copy(&carry->to->payloads, map, sizeof *map));
	return carry->maps.items[id];
}

static uint32_t carry_place(struct carry *carry, uint32_t old)
{
	if (!carry->places[old]) {
		struct place place = *stacks_place_at(&carry->from->stacks, old);
		bool by_map = place.key_map && place.key_map == (uintptr_t)place.map;
		place.map = carry_map(carry, place.map);
		if (by_map)
			place.key_map = (uintptr_t)place.map;
		carry->places[old] = stacks_place(&carry->to->stacks, &place) + 1;
	}
	return carry->places[old] - 1;
}

/* Ids of parents are lower, but stacks can be as deep as a user's --max-stack: without recursion. */
static uint32_t carry_node(struct carry *carry, uint32_t old)
{
	VEC(uint32_t) path = { 0 };
	uint32_t node = old, made;
	for (; node != STACK_ROOT && !carry->nodes[node]; node = carry->from->stacks.nodes[node].parent)
		vec_push(&path, node);
	made = node == STACK_ROOT ? STACK_ROOT : carry->nodes[node] - 1;
	while (path.count) {
		uint32_t next = path.items[--path.count];
		made = stacks_push(&carry->to->stacks, made, carry_place(carry, carry->from->stacks.nodes[next].place));
		carry->nodes[next] = made + 1;
	}
	vec_fini(&path);
	return made;
}

static uint64_t carry_comm(const struct carry *carry, uint64_t key)
{
	struct strtab *strings = &carry->profile->session->model.strings;
	if (key >> 32 == 0) {
		const char *text = strtab_text(&carry->old->strings, (uint32_t)key);
		return strtab_add(strings, text, strlen(text));
	}
	if (key >> 32 != COMM_KEY_THREAD >> 32)
		return key;
	uint32_t thread = carry->threads[(uint32_t)key];
	return thread != THREAD_NONE ? COMM_KEY_THREAD | thread : COMM_KEY_TID | (uint32_t)carry->old->threads.items[(uint32_t)key]->tid;
}

static void carry_facts(struct carry *carry, struct sample_facts *facts)
{
	if (carry->profile->sample_fact_words >= FACT_WORDS_RAW && facts->raw_size)
		facts->raw = arena_copy(&carry->to->payloads, facts->raw, facts->raw_size);
	if (carry->profile->sample_fact_words == FACT_WORDS_ALL)
		for (unsigned i = 0; i < 2; i++)
			facts->ends[i].map = carry_map(carry, facts->ends[i].map);
}

static uint32_t carry_key(struct carry *carry, uint32_t old)
{
	const struct columns *columns = carry->profile->options.columns;
	const struct tuples *from = &carry->from->sample_keys;
	if (carry->keys[old])
		return carry->keys[old] - 1;
	memcpy(carry->row, tuples_row(from, old), from->row_words * sizeof *carry->row);
	for (size_t i = 0; i < columns->all.count; i++) {
		const struct column *column = &columns->all.items[i];
		if (column->type->sample_key && column->type->id == ID_COMM)
			carry->row[column->at] = carry_comm(carry, carry->row[column->at]);
	}
	carry_facts(carry, (struct sample_facts *)(carry->row + carry->profile->sample_key_words));
	uint32_t id = tuples_add(&carry->to->sample_keys, carry->row);
	carry->keys[old] = id + 1;
	return id;
}

static void carry_tally(struct carry *carry, uint32_t index)
{
	struct tally tally = carry->from->tallies.items[index];
	tally.sample_key = carry_key(carry, tally.sample_key);
	tally.node = carry_node(carry, tally.node);
	tally.place = carry_place(carry, tally.place);
	if (tally.thread != THREAD_NONE)
		tally.thread = shows_threads(carry->profile) ? carry->threads[tally.thread] : THREAD_NONE;
	const struct tally_sums *sums = carry->from->tallies.sums ? &carry->from->tallies.sums[index] : NULL;
	tallies_add(&carry->to->tallies, &tally, sums);
}

void profile_renew(struct profile *profile, const struct model *old, const uint32_t *threads)
{
	drop_entries(profile);
	struct carry carry = { .profile = profile, .old = old, .threads = threads, .from = only_collector(profile) };
	carry.to = collector_new(profile);
	carry.nodes = memory_zero(carry.from->stacks.count + 1, sizeof *carry.nodes);
	carry.places = memory_zero(carry.from->stacks.places.count + 1, sizeof *carry.places);
	carry.keys = memory_zero(carry.from->sample_keys.count + 1, sizeof *carry.keys);
	carry.row = memory_zero(carry.from->sample_keys.row_words + FACT_WORDS_ALL, sizeof *carry.row);
	for (uint32_t i = 0; i < carry.from->tallies.count; i++)
		if (carry.from->tallies.items[i].period)
			carry_tally(&carry, i);
	carry.to->branches = carry.from->branches;
	for (size_t i = 0; i < carry.from->dropped.count; i++)
		vec_push(&carry.to->dropped, carry.from->dropped.items[i]);
	profile->collectors[0] = carry.to;
	if (profile->shares_stacks)
		profile->collected.stacks = &carry.to->stacks;
	source_texts_free(profile->source_texts);
	profile->source_texts = source_texts_new();
	collector_free(carry.from);
	free(carry.nodes);
	free(carry.places);
	free(carry.keys);
	free(carry.row);
	idmap_fini(&carry.map_ids);
	vec_fini(&carry.maps);
}
