#include "analysis/ipc/ipc_lengths.h"

uint64_t ipc_round_up(uint64_t number)
{
	static const unsigned steps[] = { 1, 2, 5 };
	for (uint64_t unit = 1; unit <= UINT64_MAX / 100; unit *= 10)
		for (size_t i = 0; i < 3; i++)
			if (steps[i] * unit >= number)
				return steps[i] * unit;
	return UINT64_MAX;
}

/* The windows of a length that are precise enough, and all that were tried. */
static void judge(const struct ipc_track *track, uint64_t length, unsigned width, uint64_t *precise, uint64_t *tried)
{
	enum { WINDOWS = 2000, APART = 10 };
	uint64_t count = track->cycles / length, step = count > WINDOWS ? count / WINDOWS : 1;
	for (uint64_t i = 0; i < count; i += step) {
		struct ipc_window window;
		ipc_window_at(track, i * length, (i + 1) * length, width, &window);
		*precise += (double)(window.most - window.least) * APART <= window.linear && !window.gap;
		++*tried;
	}
}

uint64_t ipc_smallest_window(const struct ipc_tracks *tracks, unsigned width)
{
	enum { SMALLEST = 10 };
	uint64_t longest = 0;
	for (size_t i = 0; i < tracks->list.count; i++)
		longest = tracks->list.items[i].cycles > longest ? tracks->list.items[i].cycles : longest;
	for (uint64_t length = SMALLEST; length < longest; length = ipc_round_up(length + 1)) {
		uint64_t precise = 0, tried = 0;
		for (size_t i = 0; i < tracks->list.count; i++)
			judge(&tracks->list.items[i], length, width, &precise, &tried);
		if (tried && precise * 10 >= tried * 9)
			return length;
	}
	return longest;
}

static void add_range(struct ipc_lengths *lengths, const struct ipc_range *range)
{
	uint64_t cycles = range->to_cycle - range->from_cycle;
	size_t i = 0;
	while (i < IPC_LENGTHS_MAX - 1 && lengths->rows[i].cycles < cycles)
		i++;
	lengths->rows[i].ranges++;
	lengths->rows[i].instructions += range->instructions;
	lengths->rows[i].weight += cycles;
	lengths->count = i + 1 > lengths->count ? i + 1 : lengths->count;
	lengths->ranges++;
	lengths->cycles += cycles;
}

void ipc_lengths_make(struct ipc_lengths *lengths, const struct ipc_tracks *tracks, unsigned width)
{
	*lengths = (struct ipc_lengths){ 0 };
	for (size_t i = 1; i < IPC_LENGTHS_MAX; i++)
		lengths->rows[i].cycles = ipc_round_up(lengths->rows[i - 1].cycles + 1);
	for (size_t i = 0; i < tracks->list.count; i++)
		for (size_t n = 0; n < tracks->list.items[i].ranges.count; n++)
			add_range(lengths, &tracks->list.items[i].ranges.items[n]);
	lengths->smallest = ipc_smallest_window(tracks, width);
}
