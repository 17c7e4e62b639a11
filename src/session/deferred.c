#include "session/deferred.h"

#include <stdlib.h>
#include <string.h>

enum { COOKIE_ENTRIES = 2 };         /* the marker and the cookie after it */

void deferred_fini(struct deferred *d)
{
	vec_fini(&d->chains);
	vec_fini(&d->waiting);
	idmap_fini(&d->by_key);
	*d = (struct deferred){ 0 };
}

void deferred_add_events(struct deferred *d, const struct evlist *evlist, size_t first)
{
	for (size_t i = first; i < evlist->events.count; i++)
		d->wanted |= attr_flag(&evlist->events.items[i].attr, ATTR_DEFER_CALLCHAIN);
}

static bool has_cookie(const struct sample *sample)
{
	return sample->callchain_count >= COOKIE_ENTRIES &&
	       sample_chain_at(sample, sample->callchain_count - COOKIE_ENTRIES) == CONTEXT_USER_DEFERRED;
}

static uint64_t cookie_of(const struct sample *sample)
{
	return sample_chain_at(sample, sample->callchain_count - 1);
}

static uint64_t key_of(uint32_t tid, uint64_t cookie)
{
	return hash_pair(tid, cookie);
}

static void note_sample(struct deferred *d, const struct sample_layout *layout, const struct record *record, size_t place)
{
	struct sample sample;
	if (!(layout->sample_type & SAMPLE_CALLCHAIN) || sample_decode(&sample, layout, record, NULL) < 0 || !has_cookie(&sample))
		return;
	vec_push(&d->waiting, ((struct deferred_sample){ key_of(sample.tid, cookie_of(&sample)), place }));
}

static void note_chain(struct deferred *d, const struct sample_layout *layout, const struct record *record, size_t place)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	struct sample trailer;
	struct deferred_chain chain = { .cookie = take_u64(&c), .place = place };
	chain.count = take_u64(&c);
	if (c.short_read || chain.count > cursor_left(&c) / 8)
		return;
	chain.ips = record->body + c.at;
	sample_decode_trailer(&trailer, layout, record);
	chain.tid = trailer.tid;
	idmap_set(&d->by_key, key_of(chain.tid, chain.cookie), (uint32_t)d->chains.count);
	vec_push(&d->chains, chain);
}

void deferred_note(struct deferred *d, const struct evlist *evlist, const struct record *record, size_t place)
{
	uint32_t event = evlist_event_of(evlist, record);
	if (event == UINT32_MAX)
		return;
	const struct sample_layout *layout = &evlist->events.items[event].layout;
	if (record->type == RECORD_SAMPLE)
		note_sample(d, layout, record, place);
	else
		note_chain(d, layout, record, place);
}

size_t deferred_due(struct deferred *d, size_t count, size_t patience)
{
	for (; d->head < d->waiting.count; d->head++) {
		const struct deferred_sample *sample = &d->waiting.items[d->head];
		if (idmap_get(&d->by_key, sample->key) == IDMAP_NONE && count - sample->place <= patience)
			return sample->place;
	}
	return count;
}

void deferred_shift(struct deferred *d, size_t gone)
{
	size_t left = 0;
	for (size_t i = 0; i < d->waiting.count; i++)
		if (d->waiting.items[i].place >= gone)
			d->waiting.items[left++] = (struct deferred_sample){ d->waiting.items[i].key, d->waiting.items[i].place - gone };
	d->waiting.count = left;
	d->head = 0;
	left = 0;
	idmap_fini(&d->by_key);
	for (size_t i = 0; i < d->chains.count; i++) {
		struct deferred_chain chain = d->chains.items[i];
		if (chain.place < gone)
			continue;
		chain.place -= gone;
		idmap_set(&d->by_key, key_of(chain.tid, chain.cookie), (uint32_t)left);
		d->chains.items[left++] = chain;
	}
	d->chains.count = left;
}

void deferred_merge(const struct deferred *d, struct sample *sample, struct arena *arena)
{
	if (!(sample->present & SAMPLE_CALLCHAIN) || !has_cookie(sample))
		return;
	uint64_t cookie = cookie_of(sample), left = sample->callchain_count - COOKIE_ENTRIES;
	uint32_t index = idmap_get(&d->by_key, key_of(sample->tid, cookie));
	sample->callchain_count = left;
	const struct deferred_chain *chain = index == IDMAP_NONE ? NULL : &d->chains.items[index];
	if (!chain || chain->cookie != cookie || chain->tid != sample->tid || !chain->count)
		return;
	const uint64_t user = CONTEXT_USER;
	bool marked = load_u64(chain->ips) >= CONTEXT_MAX;
	uint64_t count = left + !marked + chain->count;
	uint8_t *ips = arena_alloc(arena, count * 8);
	if (left)
		memcpy(ips, sample->callchain, left * 8);
	if (!marked)
		memcpy(ips + left * 8, &user, 8);
	memcpy(ips + (count - chain->count) * 8, chain->ips, chain->count * 8);
	sample->callchain = ips;
	sample->callchain_count = count;
}
