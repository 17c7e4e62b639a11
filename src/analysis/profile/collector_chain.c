/* Makes a stack of a sample's call chain: the frames in the order of the report, and a cache of the last chains. */
#include <stdlib.h>

#include "abi/sample.h"
#include "analysis/stack/branch_history.h"
#include "analysis/profile/collector.h"
#include "analysis/place/source_line.h"
#include "base/hash.h"
#include "base/memory.h"

static struct place frame_place(const struct collector *c, const struct location *location, uint32_t symbol)
{
	const struct profile *profile = c->profile;
	bool in_map = location->map;
	return (struct place){
		.symbol = symbol, .module = location->module, .ip = location->address, .map = location->map,
		.key_ip = symbol && !profile->by_address ? 0 : location->address,
		.key_map = profile->by_map ? (uintptr_t)location->map : 0,
		.level = !in_map ? 0 : PLACE_FRAME | (location->cpumode == RECORD_MISC_KERNEL ? 'k' : '.'),
	};
}

uint32_t collector_frame(struct collector *c, const struct location *location)
{
	struct site *site = collector_site(c, location);
	if (site->frame && !c->profile->by_map && site->frame_address == (site->symbol && !c->profile->by_address ? 0 : location->address))
		return site->frame - 1;
	struct place place = frame_place(c, location, site->symbol);
	uint32_t id = stacks_place(&c->stacks, &place);
	c->wild |= !place.symbol && address_is_wild(place.ip);
	site->frame = id + 1;
	site->frame_address = place.key_ip;
	return id;
}

/* Applies --parent, --ignore-callees and --hide-unresolved to the frames, in the order of the walk. As in perf, the first two ignore
 * frames that were unwound from registers and stack bytes. */
static void filter_frames(struct collector *c, const struct resolved *r, struct chain *chain, uint64_t *marks, struct chain_found *found)
{
	const struct profile_options *options = &c->profile->options;
	bool unwinds = sample_unwinds(r);
	size_t count = 0;
	for (size_t i = 0; i < chain->count; i++) {
		const struct location *location = chain->frames[i];
		const struct site *site = collector_site(c, location);
		const char *name = site->symbol ? profile_symbol_name(c->profile, location->module, site->symbol) : NULL;
		bool seen = name && !(unwinds && location->cpumode == RECORD_MISC_USER);
		if (seen && options->parent && options->columns->has_parent && !found->parent &&
		    regexec(options->parent, name, 0, NULL, 0) == 0) {
			found->parent = location;
		} else if (seen && options->ignore_callees && regexec(options->ignore_callees, name, 0, NULL, 0) == 0) {
			found->root = location;
			count = 0;
		}
		if (options->hide_unresolved && !name)
			continue;
		if (marks)
			marks[count] = marks[i];
		chain->frames[count++] = location;
	}
	chain->count = count;
}

static uint32_t collector_symbol(const struct collector *c, const struct location *location, uint64_t offset)
{
	return symbols_lookup(c->profile->symbols, profile_module(c->profile, location->module), offset);
}

/* Returns the inlined calls at a location, and the function that contains them; this alone only where stacks are unwound: it is a frame as
 * others otherwise. */
static const struct expansion *expansion_make(struct collector *c, const struct location *location, enum frame_at where, bool unwound)
{
	struct site *site = collector_site(c, location);
	struct line_frame frames[LINE_FRAMES_MAX];
	size_t count = 0;
	uint64_t back = where == FRAME_RETURN && location->offset, key = 4 * (uint64_t)location->id + 2 * unwound + where;
	if (c->profile->by_address || c->profile->by_map)
		key = hash_pair(key, hash_pair(location->address, (uintptr_t)location->map));
	uint32_t known = idmap_get(&c->expansion_of, key);
	if (known != IDMAP_NONE)
		return &c->expansions.items[known];
	if (site->symbol && location->map && (!back || collector_symbol(c, location, location->offset - back) == site->symbol))
		count = lines_inlines(c->profile->symbols, profile_module(c->profile, location->module), location->offset - back,
			site->symbol, frames);
	if (count == 1 && !unwound)
		count = 0;
	struct expansion expansion = { .first = (uint32_t)c->expansion_places.count, .count = (uint32_t)count };
	for (size_t i = 0; i < count; i++) {
		struct place place = frame_place(c, location, frames[i].symbol);
		place.level |= PLACE_UNWOUND;
		place.ip -= back;
		vec_push(&c->expansion_places, stacks_place(&c->stacks, &place));
	}
	vec_push(&c->expansions, expansion);
	idmap_set(&c->expansion_of, key, (uint32_t)c->expansions.count - 1);
	return &c->expansions.items[c->expansions.count - 1];
}

/* The expansion of entry i of a chain; NULL: the entry is one frame. */
static const struct expansion *expansion_at(struct collector *c, const struct resolved *r, const struct chain *chain, size_t i)
{
	enum inline_frames inlines = sample_inlines(c->profile->options.inlines, r);
	bool unwound = sample_unwinds(r);
	if (!inlines || (inlines == INLINE_UNWOUND && chain->frames[i]->cpumode != RECORD_MISC_USER))
		return NULL;
	const struct expansion *expansion = expansion_make(c, chain->frames[i], unwound || i == 0 ? FRAME_EXACT : FRAME_RETURN, unwound);
	return expansion->count ? expansion : NULL;
}

/* A stack grows inwards: the outermost frame of the expansion is pushed first. */
static void push_expansion(struct collector *c, const struct expansion *expansion)
{
	for (uint32_t i = expansion->count; i-- > 0;)
		vec_push(&c->stack, c->expansion_places.items[expansion->first + i]);
}

static uint32_t push_frames(struct collector *c, const struct resolved *r, const struct chain *chain)
{
	bool outermost_first = c->profile->options.chain.order == CHAIN_CALLER;
	vec_clear(&c->stack);
	for (size_t i = 0; i < chain->count; i++) {
		size_t at = outermost_first ? i : chain->count - 1 - i;
		const struct expansion *expansion = expansion_at(c, r, chain, at);
		if (expansion)
			push_expansion(c, expansion);
		else
			vec_push(&c->stack, collector_frame(c, chain->frames[at]));
	}
	return stacks_push_all(&c->stacks, STACK_ROOT, c->stack.items, c->stack.count);
}

static uint32_t push_history(struct collector *c, const struct chain *chain)
{
	uint32_t node = STACK_ROOT;
	bool outermost_first = c->profile->options.chain.order == CHAIN_CALLER;
	for (size_t i = 0; i < chain->count; i++) {
		size_t at = outermost_first ? i : chain->count - 1 - i;
		struct place place = frame_place(c, chain->frames[at], collector_site(c, chain->frames[at])->symbol);
		place.key_branch = c->marks.items[at];
		c->wild |= !place.symbol && address_is_wild(place.ip);
		node = stacks_push(&c->stacks, node, stacks_place(&c->stacks, &place));
	}
	return node;
}

static struct chain_found walk_history(struct collector *c, const struct resolved *r)
{
	struct chain_found found = { .node = STACK_ROOT };
	const struct profile_options *options = &c->profile->options;
	enum chain_direction direction = options->chain.order == CHAIN_CALLEE ? CHAIN_INNERMOST_FIRST : CHAIN_OUTERMOST_FIRST;
	size_t room = 2 * HISTORY_BRANCHES_MAX + r->sample->callchain_count;
	vec_reserve(&c->history, room);
	vec_reserve(&c->marks, room);
	struct chain chain = { .frames = c->history.items };
	chain.count = history_frames(r, direction, options->max_stack, c->history.items, c->marks.items, &chain.damaged);
	if (options->parent || options->ignore_callees || options->hide_unresolved)
		filter_frames(c, r, &chain, c->marks.items, &found);
	if (!chain.damaged)
		found.node = push_history(c, &chain);
	return found;
}

/* Brings the symbols of the new ones among the frames into the caches. */
static void expect_sites(const struct collector *c, const struct chain *chain)
{
	struct symbols_query queries[SYMBOLS_EXPECTED];
	size_t count = 0;
	for (size_t i = 0; i < chain->count && count < SYMBOLS_EXPECTED; i++) {
		const struct location *location = chain->frames[i];
		const struct site *site = location_note(location);
		if (!site->known && location->module != MODULE_ID_NONE)
			queries[count++] = (struct symbols_query){ location->module, location->offset };
	}
	if (count > 1)
		symbols_expect(c->profile->symbols, queries, count);
}

static struct chain_found collect_chain(struct collector *c, const struct resolved *r)
{
	struct chain_found found = { .node = STACK_ROOT };
	const struct profile_options *options = &c->profile->options;
	enum chain_direction direction = options->chain.order == CHAIN_CALLEE ? CHAIN_INNERMOST_FIRST : CHAIN_OUTERMOST_FIRST;
	struct chain chain = resolved_chain(r, direction, options->max_stack);
	expect_sites(c, &chain);
	if (options->parent || options->ignore_callees || options->hide_unresolved)
		filter_frames(c, r, &chain, NULL, &found);
	if (!chain.damaged)
		found.node = push_frames(c, r, &chain);
	return found;
}

static void memo_store(struct collector *c, struct chain_memo *memo, const struct resolved *r, uint64_t hash,
	const struct chain_found *found, uint32_t joined)
{
	const struct sample *sample = r->sample;
	uint32_t count = (uint32_t)sample->callchain_count;
	if (count > memo->capacity) {
		if (c->memo_words + count > CHAIN_MEMO_WORDS)
			return;
		c->memo_words += count + 8 - memo->capacity;
		memo->capacity = count + 8;
		memo->words = memory_resize(memo->words, memo->capacity, sizeof *memo->words);
	}
	if (count)
		memcpy(memo->words, sample->callchain, count * sizeof *memo->words);
	memo->word_count = count;
	memo->hash = hash;
	memo->user_root = r->user_root;
	memo->kernel_root = r->kernel_root;
	memo->node = found->node;
	if (c->matches)
		c->matches[memo - c->memos] = (struct chain_match){
			found->parent ? *found->parent : (struct location){ 0 }, found->root ? *found->root : (struct location){ 0 } };
	memo->joined = joined;
}

static void make_memos(struct collector *c)
{
	const struct profile_options *options = &c->profile->options;
	c->memos = memory_zero(CHAIN_MEMOS, sizeof *c->memos);
	if (options->parent || options->ignore_callees)
		c->matches = memory_zero(CHAIN_MEMOS, sizeof *c->matches);
}

struct chain_found collector_chain(struct collector *c, const struct resolved *r)
{
	const struct sample *sample = r->sample;
	if (c->profile->options.branch_history && history_wanted(r, c->profile->options.max_stack))
		return walk_history(c, r);
	if (!resolved_chain_is_plain(r))
		return collect_chain(c, r);
	if (__builtin_expect(!c->memos, 0))
		make_memos(c);
	size_t bytes = sample->callchain_count * 8;
	uint64_t hash = hash_bytes(sample->callchain, bytes) ^ hash_pair((uintptr_t)r->user_root, (uintptr_t)r->kernel_root);
	struct chain_memo *memo = &c->memos[hash & (CHAIN_MEMOS - 1)];
	if (memo->words && memo->hash == hash && memo->word_count == sample->callchain_count && memo->user_root == r->user_root &&
	    memo->kernel_root == r->kernel_root && memcmp(memo->words, sample->callchain, bytes) == 0) {
		joined_count(&c->joined, memo->joined);
		struct chain_match *match = c->matches ? &c->matches[memo - c->memos] : NULL;
		return (struct chain_found){ memo->node, match && match->parent.point ? &match->parent : NULL,
			match && match->root.point ? &match->root : NULL };
	}
	struct chain_found found = collect_chain(c, r);
	uint32_t joined = joined_part(c, r);
	memo_store(c, memo, r, hash, &found, joined);
	joined_count(&c->joined, joined);
	return found;
}
