#include "analysis/profile/event_group.h"

#include "analysis/profile/hist.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

bool event_groups_exist(const struct evlist *evlist)
{
	for (size_t i = 0; i < evlist->events.count; i++)
		if (evlist->events.items[i].group_members > 1)
			return true;
	return false;
}

void event_groups_link(const struct profile *profile, struct folded *folded)
{
	const struct evlist *evlist = session_evlist(profile->session);
	bool force = profile->options.force_group && !folded->has_groups;
	for (uint32_t i = 0; i < folded->hist_count; i++) {
		struct hist *hist = &folded->hists[i];
		uint32_t leader = force ? 0 : evlist->events.items[i].leader;
		hist->leader = leader < i ? leader : i;
		if (hist->leader == i)
			continue;
		struct hist *first = &folded->hists[hist->leader];
		if (!first->members) {
			first->members = arena_alloc(profile->arena, folded->hist_count * sizeof *first->members);
			first->members[first->member_count++] = first;
		}
		first->members[first->member_count++] = hist;
	}
}

/* The leader's entries by their keys without the event. */
struct index {
	struct entry **slots;
	size_t mask, count;
	uint32_t words;
};

static uint64_t row_hash(const struct index *index, const uint64_t *row)
{
	return hash_bytes_from((uintptr_t)index->slots, row + SAMPLE_KEY_COLUMNS, (index->words - SAMPLE_KEY_COLUMNS) * sizeof *row);
}

static struct entry **slot_of(const struct index *index, const uint64_t *row)
{
	size_t at = row_hash(index, row) & index->mask;
	while (index->slots[at] &&
	       memcmp(index->slots[at]->row + SAMPLE_KEY_COLUMNS, row + SAMPLE_KEY_COLUMNS,
		       (index->words - SAMPLE_KEY_COLUMNS) * sizeof *row) != 0)
		at = (at + 1) & index->mask;
	return &index->slots[at];
}

static void index_open(struct index *index, const struct hist *leader, uint32_t words)
{
	size_t room = leader->count;
	for (uint32_t i = 1; i < leader->member_count; i++)
		room += leader->members[i]->count;
	size_t size = 64;
	while (size < room * 2)
		size *= 2;
	*index = (struct index){ .slots = memory_zero(size, sizeof *index->slots), .mask = size - 1, .words = words };
	for (size_t i = 0; i < leader->count; i++)
		*slot_of(index, leader->entries[i]->row) = leader->entries[i];
}

static void add_pair(const struct profile *profile, struct entry *entry, uint32_t member, uint32_t members, const struct entry *pair)
{
	if (!entry->pairs)
		entry->pairs = arena_alloc(profile->arena, members * sizeof *entry->pairs);
	entry->pairs[member] = pair;
}

static struct entry *add_placeholder(const struct profile *profile, struct hist *leader, const struct entry *pair)
{
	struct entry *entry = arena_copy(profile->arena, pair, sizeof *pair);
	entry->self = (struct entry_sums){ 0 };
	entry->children_period = 0;
	entry->max_depth = 0;
	entry->pairs = NULL;
	entry->chain = NULL;
	entry->placeholder = true;
	uint64_t *row = arena_copy(profile->arena, pair->row, profile->folded.row_words * sizeof *row);
	row[SAMPLE_KEY_EVENT] = leader->event;
	entry->row = row;
	hist_add(profile, leader, entry);
	return entry;
}

static void match_member(const struct profile *profile, struct hist *leader, struct index *index, uint32_t member)
{
	const struct hist *hist = leader->members[member];
	for (size_t i = 0; i < hist->count; i++) {
		struct entry **slot = slot_of(index, hist->entries[i]->row);
		if (!*slot)
			*slot = add_placeholder(profile, leader, hist->entries[i]);
		add_pair(profile, *slot, member, leader->member_count, hist->entries[i]);
	}
}

void event_groups_match(const struct profile *profile, struct folded *folded)
{
	for (size_t i = 0; i < folded->hist_count; i++) {
		struct hist *leader = &folded->hists[i];
		if (leader->member_count < 2)
			continue;
		struct index index;
		index_open(&index, leader, folded->row_words);
		for (uint32_t member = 1; member < leader->member_count; member++)
			match_member(profile, leader, &index, member);
		free(index.slots);
	}
}
