#include "analysis/profile/addresses.h"

#include <stdlib.h>

#include "analysis/count/address_hits.h"
#include "analysis/entry/state.h"
#include "analysis/profile/collector.h"
#include "analysis/profile/profile.h"
#include "data/evlist.h"

struct addresses {
	VEC(struct address_hits) hits; /* by event */
	struct worker *worker;         /* of the samples */
	bool one_by_one;               /* from the first wild address on: perf's order of rows depends on the order of samples */
};

void addresses_free(struct addresses *addresses)
{
	if (!addresses)
		return;
	for (size_t i = 0; i < addresses->hits.count; i++)
		address_hits_fini(&addresses->hits.items[i]);
	vec_fini(&addresses->hits);
	free(addresses);
}

static bool filters_samples(const struct sample_filter *filter)
{
	return filter->comms || filter->pids || filter->tids || filter->time.count || filter->cpus.words;
}

static bool addresses_suffice(struct profile *profile)
{
	const struct profile_options *options = &profile->options;
	const struct session *session = profile->session;
	const struct evlist *evlist = session_evlist(session);
	bool chains = options->use_chains || options->branch_marks || options->columns->has_parent;
	bool more = chains || profile->needs_sums || profile->by_map || profile->logs_all || profile_needs_order(profile);
	if (!options->at_end || more || options->iteration != ITERATE_SAMPLES || filters_samples(&options->filter) ||
	    profile->sample_key_words != SAMPLE_KEY_COLUMNS || profile->sample_fact_words != FACT_WORDS_NONE ||
	    options->socket_filter >= 0 || session->source->header.pipe || session->trace)
		return false;
	for (size_t i = 0; i < evlist->events.count; i++)
		if (evlist->events.items[i].layout.brief != BRIEF_PLACE)
			return false;
	return true;
}

/* The event with the earliest address that is not added yet; UINT32_MAX: none is left. */
static uint32_t earliest(const struct addresses *addresses, const uint32_t *added)
{
	uint32_t found = UINT32_MAX;
	for (uint32_t i = 0; i < addresses->hits.count; i++) {
		const struct address_hits *hits = &addresses->hits.items[i];
		if (added[i] < hits->count && (found == UINT32_MAX ||
		    hits->firsts.items[added[i]].clock < addresses->hits.items[found].firsts.items[added[found]].clock))
			found = i;
	}
	return found;
}

static void add_one(struct profile *profile, uint32_t event, const struct address_hit *hit, const struct address_first *first)
{
	const struct evsel *evsel = &session_evlist(profile->session)->events.items[event];
	const struct sample sample = { .present = evsel->layout.sample_type, .ip = hit->address, .period = hit->period, .time = UINT64_MAX,
		.cpu = first->cpu };
	const struct record record = { .type = RECORD_SAMPLE, .misc = (uint16_t)address_hit_cpumode(hit) };
	bool kernel = record.misc == RECORD_MISC_KERNEL;
	const struct resolved r = { .session = profile->session, .worker = profile->addresses->worker, .record = &record, .sample = &sample,
		.event = event, .evsel = evsel, .clock = first->clock, .thread = first->thread, .pid = -1, .tid = first->tid, .comm = COMM_NONE,
		.kernel_root = kernel ? address_hit_root(hit) : NULL, .user_root = kernel ? NULL : address_hit_root(hit) };
	collector_samples(profile->collectors[0], &r, hit->samples);
}

void addresses_add(struct profile *profile)
{
	struct addresses *addresses = profile->addresses;
	if (!addresses)
		return;
	size_t count = addresses->hits.count;
	struct address_hit **all = memory_zero(count + 1, sizeof *all);
	uint32_t *added = memory_zero(count + 1, sizeof *added);
	for (size_t i = 0; i < count; i++)
		all[i] = address_hits_take(&addresses->hits.items[i]);
	for (uint32_t event; (event = earliest(addresses, added)) != UINT32_MAX; added[event]++)
		add_one(profile, event, &all[event][added[event]], &addresses->hits.items[event].firsts.items[added[event]]);
	for (size_t i = 0; i < count; i++) {
		free(all[i]);
		address_hits_fini(&addresses->hits.items[i]);
	}
	free(all);
	free(added);
	if (!addresses->one_by_one)
		vec_clear(&profile->collectors[0]->log);
	profile->wild |= addresses->one_by_one;
}

static void count_address(void *context, const struct resolved *r, size_t slice)
{
	struct profile *profile = context;
	struct addresses *addresses = profile->addresses;
	const struct sample *sample = r->sample;
	unsigned cpumode = record_cpumode(r->record);
	const struct map_node *root = cpumode == RECORD_MISC_KERNEL ? r->kernel_root : cpumode == RECORD_MISC_USER ? r->user_root : NULL;
	addresses->worker = r->worker;
	if (__builtin_expect(!addresses->one_by_one && address_is_wild(sample->ip), 0)) {
		addresses_add(profile);
		addresses->one_by_one = true;
	}
	if (__builtin_expect(addresses->one_by_one, 0)) {
		collector_sample(profile->collectors[0], r);
		return;
	}
	while (addresses->hits.count <= r->event)
		(void)vec_add(&addresses->hits);
	address_hits_add(&addresses->hits.items[r->event], root, cpumode, sample->ip, sample->period,
		&(struct address_first){ r->clock, r->thread, sample->cpu, r->tid });
}

bool addresses_sink(struct profile *profile, struct sink *sink)
{
	if (!addresses_suffice(profile))
		return false;
	profile->addresses = profile->addresses ? profile->addresses : memory_zero(1, sizeof *profile->addresses);
	*sink = (struct sink){ .context = profile, .record = count_address, .plain = true, .spaces = true };
	return true;
}
