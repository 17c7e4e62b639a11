#include "analysis/profile/threads.h"

#include <stdlib.h>

#include "analysis/entry/names.h"
#include "base/memory.h"

/* A tid without a comm is the thread that a later record names, unless that thread was forked. clock: of a sample. */
static uint32_t settle_thread(const struct model *model, int32_t tid, uint64_t clock)
{
	uint32_t index = idmap_get(&model->by_tid, (uint32_t)tid);
	if (index == IDMAP_NONE)
		return THREAD_NONE;
	uint32_t first = model->lives.items[index].threads.items[0];
	const struct thread *thread = model->threads.items[first];
	bool gone = !model->keep_exited && thread->died < clock;
	return thread->ppid < 0 && !gone ? first : THREAD_NONE;
}

static uint64_t settle_comm(const struct model *model, uint64_t key, uint64_t clock)
{
	uint32_t thread = (uint32_t)key;
	if (key >> 32 == 0)
		return key;
	if (key >> 32 == COMM_KEY_TID >> 32)
		thread = settle_thread(model, (int32_t)key, clock);
	if (thread == THREAD_NONE)
		return key;
	const struct thread *known = model->threads.items[thread];
	return known->comms.count ? known->comms.items[0].comm : COMM_KEY_TID | (uint32_t)known->tid;
}

static const struct column *comm_column(const struct columns *columns)
{
	for (size_t i = 0; i < columns->all.count; i++)
		if (columns->all.items[i].type->class != COLUMN_MEASURE && columns->all.items[i].type->id == ID_COMM)
			return &columns->all.items[i];
	return NULL;
}

/* Merges sample keys that have become equal with the names of comms. */
static void settle_sample_keys(const struct profile *profile, struct collected *collected, const struct column *column)
{
	struct tuples old = collected->sample_keys;
	uint32_t *ids = memory_zero(old.count + 1, sizeof *ids);
	tuples_init(&collected->sample_keys, old.key_words, old.row_words);
	for (uint32_t i = 0; i < old.count; i++) {
		uint64_t *row = tuples_row(&old, i);
		row[column->at] = settle_comm(&profile->session->model, row[column->at], sample_facts(profile, row)->clock);
		uint32_t known = collected->sample_keys.count;
		ids[i] = tuples_add(&collected->sample_keys, row);
		uint64_t *first = tuples_row(&collected->sample_keys, ids[i]);
		if (collected->sample_keys.count == known && sample_facts(profile, row)->clock < sample_facts(profile, first)->clock)
			memcpy(first, row, old.row_words * sizeof *row);
	}
	for (uint32_t i = 0; i < collected->tallies.count; i++)
		collected->tallies.items[i].sample_key = ids[collected->tallies.items[i].sample_key];
	tuples_fini(&old);
	free(ids);
}

void profile_name_threads(const struct profile *profile, struct collected *collected)
{
	const struct model *model = &profile->session->model;
	for (uint32_t i = 0; i < collected->tallies.count; i++) {
		struct tally *tally = &collected->tallies.items[i];
		if (tally->thread == THREAD_NONE)
			tally->thread = settle_thread(model, tally->tid, tally->first);
	}
	const struct column *column = comm_column(profile->options.columns);
	bool unnamed = false;
	for (uint32_t i = 0; column && i < collected->sample_keys.count; i++)
		unnamed |= tuples_row(&collected->sample_keys, i)[column->at] >> 32 != 0;
	if (unnamed)
		settle_sample_keys(profile, collected, column);
}
