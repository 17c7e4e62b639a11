#include "analysis/profile/hierarchy.h"

#include <stdlib.h>

#include "analysis/column/order.h"
#include "base/hash.h"
#include "base/memory.h"

void hierarchy_levels(struct hierarchy *hierarchy, const struct profile *profile, const struct hist *hist)
{
	const struct columns *columns = profile->options.columns;
	int numbers[HIERARCHY_LEVELS_MAX];
	*hierarchy = (struct hierarchy){ 0 };
	for (size_t i = 0; i < columns->sorts.count; i++) {
		const struct column *column = &columns->all.items[columns->sorts.items[i]];
		if (column->type->class == COLUMN_FIELD && column->event != hist->event)
			continue;
		int number = column->type->class == COLUMN_MEASURE ? 0 : column->level;
		uint32_t at = 0;
		while (at < hierarchy->count && numbers[at] != number)
			at++;
		if (at == HIERARCHY_LEVELS_MAX)
			continue;
		struct hierarchy_level *level = &hierarchy->levels[at];
		if (at == hierarchy->count) {
			numbers[hierarchy->count++] = number;
			level->skipped = true;
		}
		if (level->count < HIERARCHY_LEVELS_MAX)
			level->columns[level->count++] = columns->sorts.items[i];
		level->skipped &= column_skipped_in_level(column, hist);
	}
}

/* Nodes by parent and key while the tree is built. */
struct builder {
	const struct profile *profile;
	struct hist *hist;
	const struct hierarchy *hierarchy;
	VEC(struct entry *) slots;   /* open addressing; count is the size, a power of two */
	VEC(struct entry *) nodes;   /* all, in the order they were made */
};

static const struct column *level_column(const struct builder *b, const struct hierarchy_level *level, uint32_t i)
{
	return &b->profile->options.columns->all.items[level->columns[i]];
}

static bool same_key(const struct builder *b, const struct hierarchy_level *level, const struct entry *x, const struct entry *y)
{
	for (uint32_t i = 0; i < level->count; i++) {
		const struct column *column = level_column(b, level, i);
		if (memcmp(entry_key(x, column), entry_key(y, column), column->type->words * sizeof(uint64_t)) != 0)
			return false;
	}
	return true;
}

static uint64_t key_hash(const struct builder *b, const struct hierarchy_level *level, const struct entry *parent,
			 const struct entry *entry)
{
	uint64_t hash = (uintptr_t)parent;
	for (uint32_t i = 0; i < level->count; i++) {
		const struct column *column = level_column(b, level, i);
		hash = hash_pair(hash, hash_bytes(entry_key(entry, column), column->type->words * sizeof(uint64_t)));
	}
	return hash;
}

static struct entry **slot_of(struct builder *b, uint32_t depth, struct entry *parent, const struct entry *entry)
{
	const struct hierarchy_level *level = &b->hierarchy->levels[depth];
	size_t at = key_hash(b, level, parent, entry) & (b->slots.count - 1);
	for (struct entry *known; (known = b->slots.items[at]); at = (at + 1) & (b->slots.count - 1))
		if (known->level_index == depth && known->parent == parent && same_key(b, level, known, entry))
			break;
	return &b->slots.items[at];
}

/* The sums of the other members of the event group below a node, in separate entries. */
static void add_pairs(struct builder *b, struct entry *node, const struct entry *flat)
{
	struct arena *arena = b->profile->arena;
	for (uint32_t i = 1; flat->pairs && i < b->hist->member_count; i++) {
		if (!flat->pairs[i])
			continue;
		if (!node->pairs)
			node->pairs = arena_alloc(arena, b->hist->member_count * sizeof *node->pairs);
		if (!node->pairs[i])
			node->pairs[i] = arena_alloc(arena, sizeof **node->pairs);
		entry_sums_add(&((struct entry *)node->pairs[i])->self, &flat->pairs[i]->self);
	}
}

static bool level_has(const struct builder *b, const struct hierarchy_level *level, uint8_t filter)
{
	for (uint32_t i = 0; i < level->count; i++) {
		enum column_id width = level_column(b, level, i)->type->id;
		if (filter == FILTER_THREAD ? width == ID_THREAD || width == ID_COMM
					    : width == (filter == FILTER_DSO ? ID_DSO : ID_SYMBOL))
			return true;
	}
	return false;
}

/* A filter applies at the level of its key: an entry above it is filtered until an entry below it passes. */
static void apply_filter(const struct builder *b, struct entry *node, uint8_t filter, bool given)
{
	if (!given)
		return;
	if (!level_has(b, &b->hierarchy->levels[node->level_index], filter)) {
		node->filtered |= node->parent ? node->parent->filtered & filter : filter;
	} else if (!(node->filtered & filter)) {
		for (struct entry *parent = node->parent; parent; parent = parent->parent)
			parent->filtered &= (uint8_t)~filter;
	}
}

static struct entry *add_node(struct builder *b, uint32_t depth, struct entry *parent, const struct entry *flat)
{
	const struct profile_options *options = &b->profile->options;
	struct entry *node = arena_copy(b->profile->arena, flat, sizeof *flat);
	node->parent = parent;
	node->level_index = (uint16_t)depth;
	node->depth = parent ? parent->depth + 1 : 0;
	node->leaf = false;
	node->pairs = NULL;
	node->chain = NULL;
	node->children = NULL;
	node->child_count = 0;
	apply_filter(b, node, FILTER_THREAD, options->filter.comms || options->filter.pids || options->filter.tids);
	apply_filter(b, node, FILTER_DSO, options->filter.dsos);
	apply_filter(b, node, FILTER_SYMBOL, options->filter.symbols);
	vec_push(&b->nodes, node);
	return node;
}

static void grow_slots(struct builder *b)
{
	size_t size = b->slots.count ? b->slots.count * 2 : 256;
	vec_reserve(&b->slots, size);
	b->slots.count = size;
	memset(b->slots.items, 0, size * sizeof *b->slots.items);
	for (size_t i = 0; i < b->nodes.count; i++) {
		struct entry *node = b->nodes.items[i];
		*slot_of(b, node->level_index, node->parent, node) = node;
	}
}

static void insert(struct builder *b, struct entry *flat)
{
	struct entry *node = NULL;
	for (uint32_t depth = 1; depth < b->hierarchy->count; depth++) {
		if (b->hierarchy->levels[depth].skipped)
			continue;
		if (b->nodes.count * 2 >= b->slots.count)
			grow_slots(b);
		struct entry *parent = node, **slot = slot_of(b, depth, parent, flat);
		if (*slot) {
			node = *slot;
			entry_sums_add(&node->self, &flat->self);
		} else {
			node = *slot = add_node(b, depth, parent, flat);
			if (parent)
				parent->child_count++;
		}
		add_pairs(b, node, flat);
	}
	if (node) {
		node->leaf = true;
		node->chain = flat->chain;
	}
}

/* Siblings that are equal in the output are in the order of their keys. */
static int64_t compare_level(const struct builder *b, const struct entry *x, const struct entry *y)
{
	const struct hierarchy_level *level = &b->hierarchy->levels[x->level_index];
	int64_t order = 0;
	for (uint32_t i = 0; !order && i < level->count; i++) {
		const struct column *column = level_column(b, level, i);
		if (column->type->compare)
			order = column->type->compare(b->profile, column, x, y);
	}
	return order;
}

static int by_output(const void *x, const void *y, void *context)
{
	const struct builder *b = context;
	const struct entry *one = *(struct entry *const *)x, *other = *(struct entry *const *)y;
	int64_t order = entries_sort(b->profile, b->hist, one, other);
	if (!order)
		order = compare_level(b, one, other);
	return order > 0 ? -1 : order < 0;
}

/* Moves the children of each node into an array. */
static void arrange(struct builder *b)
{
	struct hist *hist = b->hist;
	hist->count = 0;
	for (size_t i = 0; i < b->nodes.count; i++) {
		struct entry *node = b->nodes.items[i];
		if (node->child_count)
			node->children = arena_alloc(b->profile->arena, node->child_count * sizeof *node->children);
		node->child_count = 0;
		if (node->parent)
			node->parent->children[node->parent->child_count++] = node;
		else
			hist->entries[hist->count++] = node;
	}
	for (size_t i = 0; i < b->nodes.count; i++)
		if (b->nodes.items[i]->child_count)
			qsort_r(b->nodes.items[i]->children, b->nodes.items[i]->child_count, sizeof(struct entry *), by_output, b);
	if (hist->count)
		qsort_r(hist->entries, hist->count, sizeof *hist->entries, by_output, b);
}

void hierarchy_build(const struct profile *profile, struct hist *hist)
{
	struct hierarchy hierarchy;
	hierarchy_levels(&hierarchy, profile, hist);
	struct builder b = { .profile = profile, .hist = hist, .hierarchy = &hierarchy };
	for (size_t i = 0; i < hist->count; i++)
		insert(&b, hist->entries[i]);
	arrange(&b);
	hist->total_period = hist->shown_period = 0;
	for (size_t i = 0; i < hist->count; i++) {
		hist->total_period += hist->entries[i]->self.period;
		if (!hist->entries[i]->filtered)
			hist->shown_period += hist->entries[i]->self.period;
	}
	vec_fini(&b.slots);
	vec_fini(&b.nodes);
}
