#include "analysis/compat/replay.h"

#include <stdlib.h>

#include "analysis/column/cells.h"
#include "analysis/column/order.h"
#include "base/memory.h"
#include "base/radix.h"
#include "base/rb_tree.h"

/* The part of a tally that was added to an instance. */
struct share {
	uint32_t tally, node, count;
	uint64_t period;
};

/* A row as perf has it. */
struct instance {
	struct entry *entry;
	struct entry_sums self;
	uint64_t children_period;
	bool first;                  /* of its entry; the sums of the others are subtracted from it at the end */
	bool merged;                 /* into another one */
	uint32_t tally, node;         /* of the others: the first addition; node 0: by a sample of the entry itself */
	struct instance *next;       /* of the same entry */
	VEC(struct share) shares;    /* of split entries */
	uint32_t max_depth;          /* of split entries: of its chains before the collapse, to which perf's merge of chains adds nothing */
	struct chain_tree *chain;    /* of split entries */
};

/* The rows in the tree of perf's look-ups. A node's key decides most comparisons without a look at the row: `element` is the number of the
 * keys before the first column without a total order, `group` that of the symbol there, if symbols have a total order among themselves,
 * `inner` and `outer` are the low and the high half of the address of a row without one. */
struct row_tree {
	struct rb_tree nodes;
	VEC(struct instance *) rows; /* by node */
};

/* An entry that a tally is added to and that perf can miss, in the order in which perf looks it up. */
struct target {
	struct entry *entry;
	uint32_t node, rank;
};

struct replay {
	const struct profile *profile;
	struct hist *hist;
	size_t entry_count;          /* before the entries are those of the tree */
	const struct entry_order *order;
	const struct replay_chains *chains;
	struct arena arena;
	bool *wild;                  /* by entry */
	bool *wild_class;            /* by class: has a wild entry */
	struct idmap entries;        /* sample_key << 32 | class → entry's index; wild ones */
	uint32_t *target_starts;     /* by tally: into targets; made on demand */
	VEC(struct target) targets;  /* per tally: a count in `rank`, then that many */
	struct instance **instances; /* by entry: the first */
	struct instance **found;     /* by entry: the result of the last look-up … */
	uint32_t *found_at;          /* … when the tree had this many rows: valid until a row is added */
	struct rb_key *keys;         /* by entry: of its rows */
	bool later;                  /* rows with equal keys of this kind may differ in a column */
	struct row_tree tree;
	struct instance *spare;
	bool *split;                 /* by entry: it had several rows; NULL in the first run, which determines that */
	bool *apart;                 /* by entry: it still has several rows after the collapse */
};

void replay_decide(struct profile *profile)
{
	const struct columns *columns = profile->options.columns;
	for (size_t i = 0; i < columns->sorts.count; i++) {
		const struct column_type *type = columns->all.items[columns->sorts.items[i]].type;
		profile->logs |= type->by_address;
		profile->logs_all |= type->unordered || (type->by_symbol && !columns->has_dso);
	}
	profile->logs |= profile->logs_all;
}

/* Entries are sorted by keys: those with equal keys before column `first` are adjacent. Returns how many such keys there are. */
static uint32_t number_prefixes(struct replay *r, size_t first)
{
	const struct entry_order *order = r->order;
	const uint32_t *before = NULL;
	uint32_t number = 0;
	for (size_t i = 0; i < r->hist->count; i++) {
		uint32_t index = r->hist->entries[i]->index;
		const uint32_t *numbers = order->keys + index * order->columns;
		number += before && memcmp(before, numbers, first * sizeof *numbers) != 0;
		r->keys[index].element = number;
		before = numbers;
	}
	return number + 1;
}

/* Adds the symbol or the address of column `first` to the keys of rows; false if the symbols have no total order. */
static bool number_symbols(struct replay *r, size_t first)
{
	for (size_t i = 0; i < r->hist->count; i++)
		if (symbol_is_inlined(entry_place(r->profile, r->hist->entries[i])->symbol))
			return false;
	for (size_t i = 0; i < r->hist->count; i++) {
		const struct entry *entry = r->hist->entries[i];
		const struct place *place = entry_place(r->profile, entry);
		struct rb_key *key = &r->keys[entry->index];
		key->group = place->symbol ? r->order->keys[entry->index * r->order->columns + first] : UINT32_MAX;
		key->inner = place->symbol ? 0 : (uint32_t)place->ip;
		key->outer = place->symbol ? 0 : (uint32_t)(place->ip >> 32);
	}
	return true;
}

/* Whether a column after `first` can distinguish rows. */
static bool has_later_column(const struct columns *columns, size_t first)
{
	bool later = false;
	for (size_t i = first + 1; i < columns->sorts.count; i++)
		later |= columns->all.items[columns->sorts.items[i]].type->class != COLUMN_MEASURE;
	return later;
}

/* The addresses of the entries that are compared with each other. */
struct address_span {
	int64_t low, high;
};

/* Marks the entries that perf can miss: those that have equal keys before the first column without a total order. */
static void mark_wild(struct replay *r)
{
	const struct columns *columns = r->profile->options.columns;
	const struct entry_order *order = r->order;
	size_t first = 0;
	while (!order->direct[first])
		first++;
	const struct column_type *type = columns->all.items[columns->sorts.items[first]].type;
	bool by_span = type->by_address && !order->mixed;
	uint32_t prefixes = number_prefixes(r, first);
	bool numbered = by_span && type->id == ID_SYMBOL && number_symbols(r, first);
	r->later = !numbered || has_later_column(columns, first);
	size_t span_count = prefixes * (size_t)2; /* by prefix and whether there is a symbol */
	struct address_span *spans CLEANUP_FREE = memory_resize(NULL, span_count, sizeof *spans);
	for (size_t i = 0; i < span_count; i++)
		spans[i] = (struct address_span){ INT64_MAX, INT64_MIN };
	for (size_t i = 0; i < r->hist->count; i++) {
		const struct entry *entry = r->hist->entries[i];
		const struct place *place = entry_place(r->profile, entry);
		struct address_span *span = &spans[r->keys[entry->index].element * (size_t)2 + (by_span && place->symbol)];
		int64_t ip = (int64_t)place->ip;
		span->low = ip < span->low ? ip : span->low;
		span->high = ip > span->high ? ip : span->high;
	}
	for (size_t i = 0; i < r->hist->count; i++) {
		const struct entry *entry = r->hist->entries[i];
		int64_t distance;
		const struct address_span *span = &spans[r->keys[entry->index].element * (size_t)2];
		bool apart = __builtin_sub_overflow(span->high, span->low, &distance);
		r->wild[entry->index] = by_span ? apart && !entry_place(r->profile, entry)->symbol : true;
	}
}

static struct entry *wild_entry(const struct replay *r, uint32_t sample_key, uint32_t place)
{
	uint32_t class = r->profile->folded.class_of_place[place];
	if (!r->wild_class[class])
		return NULL;
	uint32_t index = idmap_get(&r->entries, (uint64_t)sample_key << 32 | class);
	return index == IDMAP_NONE ? NULL : r->hist->entries[index];
}

static void add_target(struct replay *r, uint32_t start, struct entry *entry, uint32_t node, uint32_t rank)
{
	if (!entry)
		return;
	for (size_t i = start + 1; i < r->targets.count; i++)
		if (r->targets.items[i].entry == entry)
			return;
	vec_push(&r->targets, ((struct target){ entry, node, rank }));
	r->targets.items[start].rank++;
}

/* The sample's own entry, then those of its chain in the order of the chain. */
static uint32_t make_targets(struct replay *r, const struct tally *tally)
{
	const struct stacks *stacks = r->profile->collected.stacks;
	uint32_t start = (uint32_t)r->targets.count;
	bool outermost_first = r->profile->options.chain.order == CHAIN_CALLER;
	vec_push(&r->targets, ((struct target){ 0 }));
	add_target(r, start, wild_entry(r, tally->sample_key, tally->place), STACK_ROOT, 0);
	if (r->profile->options.iteration != ITERATE_CALLERS)
		return start;
	uint32_t depth = stacks_depth(stacks, tally->node), found = 0, capacity = depth + 1;
	struct target *list = memory_resize(NULL, capacity, sizeof *list);
	uint32_t at = depth;
	for (uint32_t node = tally->node; node != STACK_ROOT; node = stacks->nodes[node].parent, at--) {
		struct entry *entry = wild_entry(r, tally->sample_key, stacks->nodes[node].place);
		if (entry)
			list[found++] = (struct target){ entry, node, outermost_first ? at : depth - at + 1 };
	}
	for (uint32_t i = 0; i < found; i++) {
		const struct target *target = &list[outermost_first ? found - 1 - i : i];
		add_target(r, start, target->entry, target->node, target->rank);
	}
	free(list);
	return start;
}

static const struct target *targets_of(struct replay *r, uint32_t tally, uint32_t *count)
{
	if (!r->target_starts[tally])
		r->target_starts[tally] = make_targets(r, &r->profile->collected.tallies.items[tally]) + 1;
	uint32_t start = r->target_starts[tally] - 1;
	*count = r->targets.items[start].rank;
	return &r->targets.items[start + 1];
}

static void row_tree_init(struct row_tree *tree)
{
	*tree = (struct row_tree){ 0 };
	rb_tree_init(&tree->nodes, NULL, NULL);
	vec_push(&tree->rows, NULL);
}

static void row_tree_fini(struct row_tree *tree)
{
	rb_tree_fini(&tree->nodes);
	vec_fini(&tree->rows);
}

/* As rb_side. */
static inline int64_t row_side(const struct replay *r, const struct row_tree *tree, const struct instance *row, uint32_t node)
{
	const struct rb_key *key = &r->keys[row->entry->index];
	const struct rb_key *existing = &tree->nodes.nodes.items[node].key;
	if (key->element != existing->element)
		return (int64_t)key->element - existing->element;
	if (key->group != existing->group)
		return (int64_t)key->group - existing->group;
	uint64_t address = (uint64_t)key->outer << 32 | key->inner, other = (uint64_t)existing->outer << 32 | existing->inner;
	if (address != other)
		return (int64_t)(address - other);
	return r->later ? entry_order_keys(r->order, tree->rows.items[node]->entry, row->entry) : 0;
}

/* Inserts a row. Returns the equal row of the tree if it exists, otherwise NULL. */
static struct instance *row_tree_put(const struct replay *r, struct row_tree *tree, struct instance *row)
{
	const struct rb_node *nodes = tree->nodes.nodes.items;
	uint32_t parent = 0;
	bool right = false;
	for (uint32_t at = tree->nodes.root; at; at = nodes[at].child[right]) {
		__builtin_prefetch(&nodes[nodes[at].child[0]]);
		__builtin_prefetch(&nodes[nodes[at].child[1]]);
		int64_t side = row_side(r, tree, row, at);
		if (!side)
			return tree->rows.items[at];
		parent = at;
		right = side > 0;
	}
	vec_push(&tree->rows, row);
	vec_push(&tree->nodes.nodes, ((struct rb_node){ .key = r->keys[row->entry->index] }));
	rb_tree_attach(&tree->nodes, (uint32_t)tree->nodes.nodes.count - 1, parent, right);
	return NULL;
}

static struct instance *insert_row(struct replay *r, struct entry *entry)
{
	uint32_t index = entry->index;
	if (r->found[index] && r->found_at[index] == r->tree.rows.count)
		return r->found[index];
	if (!r->spare)
		r->spare = arena_alloc(&r->arena, sizeof *r->spare);
	r->spare->entry = entry;
	struct instance *found = row_tree_put(r, &r->tree, r->spare);
	r->found[index] = found ? found : r->spare;
	r->found_at[index] = (uint32_t)r->tree.rows.count;
	if (found)
		return found;
	struct instance *added = r->spare;
	r->spare = NULL;
	added->first = !r->instances[entry->index];
	added->next = r->instances[entry->index];
	if (added->first)
		r->instances[entry->index] = added;
	else {
		added->next = r->instances[entry->index]->next;
		r->instances[entry->index]->next = added;
	}
	return added;
}

static void add_period(struct entry_sums *sums, unsigned cpumode, uint64_t period)
{
	sums->period += period;
	sums->count++;
	if (cpumode == RECORD_MISC_KERNEL)
		sums->period_sys += period;
	else if (cpumode == RECORD_MISC_USER)
		sums->period_us += period;
}

static void visit(struct replay *r, const struct access *access, const struct target *target)
{
	struct instance *instance = insert_row(r, target->entry);
	const struct tally *tally = &r->profile->collected.tallies.items[access->tally];
	if (!instance->first && !instance->children_period && !instance->self.count) {
		instance->tally = access->tally;
		instance->node = target->node;
	}
	if (target->node == STACK_ROOT)
		add_period(&instance->self, tally->cpumode, access->period);
	instance->children_period += access->period;
	if (r->split && r->split[target->entry->index] && !instance->first)
		vec_push(&instance->shares, ((struct share){ access->tally, target->node, 1, access->period }));
}

/* The entries in order of their first samples; the caller frees them. */
static struct entry **order_of_firsts(const struct replay *r)
{
	size_t count = r->hist->count;
	struct entry **firsts = memory_resize(NULL, count + 1, sizeof *firsts);
	struct radix order;
	memcpy(firsts, r->hist->entries, count * sizeof *firsts);
	radix_init(&order, count);
	for (uint32_t i = 0; i < count; i++)
		order.items[i] = (struct radix_item){ firsts[i]->first_rank, i };
	radix_sort(&order, r->profile->session->pool);
	for (uint32_t i = 0; i < count; i++)
		order.items[i].key = firsts[order.items[i].value]->first;
	radix_sort(&order, r->profile->session->pool);
	radix_apply(&order, (void **)firsts);
	radix_fini(&order);
	return firsts;
}

/* Adds each entry at its first sample; entries that can be missed are looked up at every sample of the log. */
static void replay_samples(struct replay *r)
{
	const struct profile *profile = r->profile;
	size_t count = r->hist->count, next = 0;
	struct entry **firsts CLEANUP_FREE = order_of_firsts(r);
	uint64_t start = profile->collected.log_count ? profile->collected.log[0].clock : UINT64_MAX;
	for (size_t i = 0; i < profile->collected.log_count; i++) {
		const struct access *access = &profile->collected.log[i];
		uint32_t targets;
		if (tally_event(&profile->collected, &profile->collected.tallies.items[access->tally]) != r->hist->event)
			continue;
		const struct target *target = targets_of(r, access->tally, &targets);
		for (uint32_t t = 0; t <= targets; t++) {
			uint32_t rank = t < targets ? target[t].rank : UINT32_MAX;
			for (; next < count && (firsts[next]->first < access->clock || (firsts[next]->first == access->clock &&
				firsts[next]->first_rank < rank)); next++)
				if (!r->wild[firsts[next]->index] || firsts[next]->first < start)
					insert_row(r, firsts[next]);
			if (t < targets)
				visit(r, access, &target[t]);
		}
	}
	for (; next < count; next++)
		if (!r->instances[firsts[next]->index])
			insert_row(r, firsts[next]);
}

static void subtract_sums(struct entry_sums *from, const struct entry_sums *sums)
{
	from->period -= sums->period;
	from->period_sys -= sums->period_sys;
	from->period_us -= sums->period_us;
	from->count -= sums->count;
}

static void add_sums(struct entry_sums *to, const struct entry_sums *sums)
{
	to->period += sums->period;
	to->period_sys += sums->period_sys;
	to->period_us += sums->period_us;
	to->count += sums->count;
}

/* Additions that are not in the log belong to the first instance. */
static void settle_sums(struct replay *r)
{
	for (size_t i = 0; i < r->hist->count; i++) {
		struct instance *first = r->instances[i];
		if (!first)
			continue;
		first->self = first->entry->self;
		first->children_period = first->entry->children_period;
		for (struct instance *other = first->next; other; other = other->next) {
			subtract_sums(&first->self, &other->self);
			first->children_period -= other->children_period;
		}
	}
}

/* The level of a frame in no mapping is that of its neighbour in the chain's order. */
static uint8_t level_of(const struct replay *r, const struct tally *tally, uint32_t node)
{
	const struct stacks *stacks = r->profile->collected.stacks;
	uint8_t level = tally->level;
	if (r->profile->options.chain.order == CHAIN_CALLER) {
		for (; node != STACK_ROOT; node = stacks->nodes[node].parent)
			if (stacks_place_at(stacks, stacks->nodes[node].place)->level)
				return (uint8_t)stacks_place_at(stacks, stacks->nodes[node].place)->level;
		return level;
	}
	for (uint32_t at = tally->node; at != STACK_ROOT; at = stacks->nodes[at].parent) {
		if (stacks_place_at(stacks, stacks->nodes[at].place)->level)
			level = (uint8_t)stacks_place_at(stacks, stacks->nodes[at].place)->level;
		if (at == node)
			break;
	}
	return level;
}

static struct entry *entry_of_instance(struct replay *r, const struct instance *instance)
{
	struct entry *entry = instance->entry;
	if (!instance->first) {
		const struct tally *tally = &r->profile->collected.tallies.items[instance->tally];
		entry = arena_copy(r->profile->arena, entry, sizeof *entry);
		entry->thread = tally->thread;
		entry->tid = tally->tid;
		entry->filtered = tally->filtered | (entry->filtered & FILTER_SYMBOL);
		entry->cpumode = tally->cpumode;
		entry->place = instance->node == STACK_ROOT ? tally->place : r->profile->collected.stacks->nodes[instance->node].place;
		entry->level = instance->node == STACK_ROOT ? tally->level : level_of(r, tally, instance->node);
	}
	if (r->apart[instance->entry->index])
		entry->chain = instance->chain;
	if (r->split[instance->entry->index])
		entry->max_depth = instance->max_depth;
	entry->self = instance->self;
	entry->children_period = instance->children_period;
	return entry;
}

/* If a column requires it, perf inserts all rows into a second tree: rows that were missed are found then, or missed again. */
static void collapse(struct replay *r)
{
	if (!r->profile->options.columns->needs_collapse)
		return;
	struct row_tree second;
	row_tree_init(&second);
	for (uint32_t node = rb_tree_first(&r->tree.nodes); node; node = rb_tree_next(&r->tree.nodes, node)) {
		struct instance *row = r->tree.rows.items[node], *found = row_tree_put(r, &second, row);
		if (!found)
			continue;
		add_sums(&found->self, &row->self);
		found->children_period += row->children_period;
		for (size_t share = 0; share < row->shares.count; share++)
			vec_push(&found->shares, row->shares.items[share]);
		row->merged = true;
	}
	row_tree_fini(&r->tree);
	r->tree = second;
}

static int64_t entries_side(void *context, const void *item, const void *existing)
{
	int64_t order = entries_compare(context, existing, item);
	return order ? order : 1;
}

/* The first row of a split entry has the part of each tally that the other rows do not have. */
static void share_out(struct replay *r)
{
	struct idmap places = { 0 };
	for (uint32_t tally = 0; tally < r->profile->collected.tallies.count; tally++) {
		const struct tally *whole = &r->profile->collected.tallies.items[tally];
		uint32_t count;
		if (tally_event(&r->profile->collected, whole) != r->hist->event)
			continue;
		const struct target *targets = targets_of(r, tally, &count);
		for (uint32_t i = 0; i < count; i++) {
			struct instance *first = r->instances[targets[i].entry->index];
			if (!r->split[targets[i].entry->index])
				continue;
			idmap_set(&places, (uint64_t)targets[i].entry->index << 32 | tally, (uint32_t)first->shares.count);
			vec_push(&first->shares, ((struct share){ tally, targets[i].node, whole->count, whole->period }));
		}
	}
	for (size_t i = 0; i < r->hist->count; i++) {
		struct instance *first = r->instances[i];
		for (const struct instance *other = first && r->split[i] ? first->next : NULL; other; other = other->next)
			for (size_t s = 0; s < other->shares.count; s++) {
				uint32_t at = idmap_get(&places, (uint64_t)i << 32 | other->shares.items[s].tally);
				first->shares.items[at].period -= other->shares.items[s].period;
				first->shares.items[at].count -= other->shares.items[s].count;
			}
	}
	idmap_fini(&places);
}

/* Frames of a share's chain. */
static uint32_t share_depth(const struct replay *r, const struct share *share)
{
	const struct stacks *stacks = r->profile->collected.stacks;
	uint32_t leaf = r->profile->collected.tallies.items[share->tally].node;
	if (share->node == STACK_ROOT)
		return stacks_depth(stacks, leaf);
	uint32_t depth = stacks_depth(stacks, share->node);
	return r->profile->options.chain.order == CHAIN_CALLEE ? depth : stacks_depth(stacks, leaf) - depth + 1;
}

static bool share_has_chain(const struct replay *r, const struct share *share)
{
	return share->count && !(share->node == STACK_ROOT && r->profile->collected.tallies.items[share->tally].stale);
}

static void measure_chains(struct replay *r)
{
	for (size_t i = 0; i < r->hist->count; i++)
		for (struct instance *instance = r->instances[i]; instance; instance = instance->next)
			for (size_t s = 0; s < instance->shares.count; s++) {
				const struct share *share = &instance->shares.items[s];
				uint32_t depth = share_has_chain(r, share) ? share_depth(r, share) : 0;
				instance->max_depth = depth > instance->max_depth ? depth : instance->max_depth;
			}
}

/* The stack of a share's chain: from the frame inwards, or from it outwards. */
static uint32_t share_stack(struct replay *r, const struct share *share)
{
	struct stacks *stacks = r->profile->collected.stacks;
	uint32_t leaf = r->profile->collected.tallies.items[share->tally].node;
	if (share->node == STACK_ROOT)
		return leaf;
	if (r->profile->options.chain.order == CHAIN_CALLEE)
		return share->node;
	uint32_t depth = stacks_depth(stacks, leaf) - stacks_depth(stacks, share->node) + 1;
	uint32_t *path = memory_resize(NULL, depth, sizeof *path), at = depth, node = STACK_ROOT;
	for (uint32_t up = leaf; at-- > 0; up = stacks->nodes[up].parent)
		path[at] = stacks->nodes[up].place;
	for (at = 0; at < depth; at++)
		node = stacks_push(stacks, node, path[at]);
	free(path);
	return node;
}

static struct chain_tree *instance_chain(struct replay *r, const struct instance *instance)
{
	struct tally *tallies = memory_zero(instance->shares.count + 1, sizeof *tallies);
	uint32_t count = 0;
	for (size_t i = 0; i < instance->shares.count; i++) {
		const struct share *share = &instance->shares.items[i];
		const struct tally *whole = &r->profile->collected.tallies.items[share->tally];
		if (!share_has_chain(r, share))
			continue;
		tallies[count++] = (struct tally){ .node = share_stack(r, share), .period = share->period, .count = share->count, .first = whole->first };
	}
	struct chain_tree *tree = r->chains->make(r->chains->context, r->hist, tallies, count);
	free(tallies);
	return tree;
}

/* Makes the chains of the rows of split entries. */
static void make_chains(struct replay *r)
{
	const struct profile *profile = r->profile;
	for (size_t i = 1; i < r->tree.rows.count; i++) {
		struct instance *instance = r->tree.rows.items[i];
		if (!r->apart[instance->entry->index])
			continue;
		struct entry sums = { .self = instance->self, .children_period = instance->children_period };
		if (hist_percent(profile, r->hist, &sums) >= profile->options.min_percent)
			instance->chain = instance_chain(r, instance);
	}
}

/* Replaces the rows of the tree by entries. */
static void collect_rows(struct replay *r)
{
	struct hist *hist = r->hist;
	for (size_t i = 1; i < r->tree.rows.count; i++)
		r->tree.nodes.nodes.items[i].item = entry_of_instance(r, r->tree.rows.items[i]);
	vec_fini(&r->tree.rows);
	hist->capacity = r->tree.nodes.nodes.count;
	hist->entries = memory_resize(hist->entries, hist->capacity, sizeof *hist->entries);
	hist->tree = memory_alloc(sizeof *hist->tree);
	*hist->tree = r->tree.nodes;
	hist->tree->side = entries_side;
	hist->tree->context = (void *)r->profile;
	hist->count = rb_tree_items(hist->tree, (void **)hist->entries);
}

/* Returns whether any entry had several rows. */
static bool find_split(struct replay *r)
{
	bool any = false;
	r->split = memory_zero(r->hist->count + 1, sizeof *r->split);
	r->apart = memory_zero(r->hist->count + 1, sizeof *r->apart);
	for (size_t i = 0; i < r->hist->count; i++) {
		unsigned left = 0;
		for (const struct instance *other = r->instances[i]; other; other = other->next)
			left += !other->merged;
		r->apart[i] = left > 1;
		r->split[i] = r->instances[i] && r->instances[i]->next;
		any |= r->split[i];
	}
	return any;
}

static void drop_instances(struct replay *r)
{
	for (size_t i = 0; i < r->hist->count; i++)
		for (struct instance *instance = r->instances[i]; instance; instance = instance->next)
			vec_fini(&instance->shares);
	memset(r->instances, 0, r->hist->count * sizeof(struct instance *));
	memset(r->found, 0, r->hist->count * sizeof(struct instance *));
	row_tree_fini(&r->tree);
	arena_fini(&r->arena);
	r->spare = NULL;
}

void replay_hist(const struct profile *profile, struct hist *hist, const struct entry_order *order, const struct replay_chains *chains)
{
	struct replay r = { .profile = profile, .hist = hist, .entry_count = hist->count, .order = order, .chains = chains };
	r.wild = memory_zero(hist->count + 1, sizeof *r.wild);
	r.wild_class = memory_zero(profile->folded.class_count + 1, sizeof *r.wild_class);
	r.target_starts = memory_zero(profile->collected.tallies.count + 1, sizeof *r.target_starts);
	r.instances = memory_zero(hist->count + 1, sizeof(struct instance *));
	r.found = memory_zero(hist->count + 1, sizeof(struct instance *));
	r.found_at = memory_zero(hist->count + 1, sizeof *r.found_at);
	r.keys = memory_zero(hist->count + 1, sizeof *r.keys);
	mark_wild(&r);
	for (size_t i = 0; i < hist->count; i++) {
		const struct entry *entry = hist->entries[i];
		if (!r.wild[entry->index] || entry->placeholder)
			continue;
		r.wild_class[entry->class] = true;
		idmap_set(&r.entries, (uint64_t)entry->sample_key << 32 | entry->class, (uint32_t)i);
	}
	row_tree_init(&r.tree);
	replay_samples(&r);
	settle_sums(&r);
	collapse(&r);
	if (find_split(&r) && profile->options.use_chains) {
		drop_instances(&r);
		row_tree_init(&r.tree);
		replay_samples(&r);
		settle_sums(&r);
		share_out(&r);
		measure_chains(&r);
		collapse(&r);
		make_chains(&r);
	}
	collect_rows(&r);
	idmap_fini(&r.entries);
	vec_fini(&r.targets);
	for (size_t i = 0; i < r.entry_count; i++)
		for (struct instance *instance = r.instances[i]; instance; instance = instance->next)
			vec_fini(&instance->shares);
	arena_fini(&r.arena);
	free(r.wild);
	free(r.wild_class);
	free(r.target_starts);
	free(r.instances);
	free(r.found);
	free(r.found_at);
	free(r.keys);
	free(r.split);
	free(r.apart);
}
