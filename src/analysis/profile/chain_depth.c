/* Number of call chains by frame pointers that end after a few frames. */
#include "analysis/profile/collector.h"
#include "analysis/profile/profile.h"

enum { SHORT = 2 };

/* Counts the frames of user code in a stack, up to SHORT + 1. */
static uint32_t user_frames(const struct stacks *stacks, uint32_t node)
{
	uint32_t count = 0;
	for (; node != STACK_ROOT && count <= SHORT; node = stacks->nodes[node].parent)
		count += (stacks_place_at(stacks, stacks->nodes[node].place)->level & 0xff) != 'k';
	return count;
}

struct profile_depths profile_chain_depths(const struct profile *profile)
{
	struct profile_depths depths = { 0 };
	const struct profile_options *options = &profile->options;
	const struct evlist *evlist = session_evlist(profile->session);
	if (!options->use_chains || options->ignore_callees || options->hide_unresolved || options->max_stack <= SHORT)
		return depths;
	for (uint32_t i = 0; i < profile->collected.tallies.count; i++) {
		const struct tally *tally = &profile->collected.tallies.items[i];
		uint32_t event = tally_event(&profile->collected, tally);
		if (event >= evlist->events.count || !attr_chains_of_user(&evlist->events.items[event].attr))
			continue;
		bool pointers = attr_chains_by_frame_pointer(&evlist->events.items[event].attr);
		uint32_t frames = user_frames(profile->collected.stacks, tally->node);
		depths.chains += frames ? tally->count : 0;
		depths.short_chains += pointers && frames && frames <= SHORT ? tally->count : 0;
	}
	return depths;
}
