/* The table of cells: open addressing over their keys. */
#include <stdlib.h>
#include <string.h>

#include "analysis/collector.h"
#include "base/hash.h"
#include "base/memory.h"

void cells_fini(struct cells *cells)
{
	free(cells->items);
	free(cells->sums);
	free(cells->slots);
	*cells = (struct cells){ 0 };
}

static uint32_t cell_hash(const struct cell *cell)
{
	return (uint32_t)hash_pair((uint64_t)cell->node << 32 | cell->place,
		(uint64_t)cell->group << 32 | (uint32_t)cell->stale << 16 | (uint32_t)cell->cpumode << 8 | cell->filtered);
}

static bool cell_same(const struct cell *a, const struct cell *b)
{
	return a->node == b->node && a->place == b->place && a->group == b->group && a->cpumode == b->cpumode &&
	       a->filtered == b->filtered && a->stale == b->stale;
}

static void grow_slots(struct cells *cells)
{
	free(cells->slots);
	cells->slot_count = cells->slot_count ? cells->slot_count * 2 : 256;
	cells->slots = memory_table(cells->slot_count, sizeof *cells->slots);
	uint32_t mask = cells->slot_count - 1;
	for (uint32_t i = 0; i < cells->count; i++) {
		uint32_t at = cell_hash(&cells->items[i]) & mask;
		while (cells->slots[at])
			at = (at + 1) & mask;
		cells->slots[at] = i + 1;
	}
}

static void grow_items(struct cells *cells, bool sums)
{
	cells->capacity = cells->capacity ? cells->capacity * 2 : 256;
	cells->items = memory_resize(cells->items, cells->capacity, sizeof *cells->items);
	if (sums)
		cells->sums = memory_resize(cells->sums, cells->capacity, sizeof *cells->sums);
}

struct cell *cells_add(struct cells *cells, const struct cell *key, const struct cell_sums *sums)
{
	if (cells->count >= cells->slot_count / 2)
		grow_slots(cells);
	uint32_t mask = cells->slot_count - 1;
	uint32_t at = cell_hash(key) & mask;
	for (; cells->slots[at]; at = (at + 1) & mask) {
		uint32_t index = cells->slots[at] - 1;
		struct cell *cell = &cells->items[index];
		if (!cell_same(cell, key))
			continue;
		cell->period += key->period;
		cell->count += key->count;
		if (sums)
			for (unsigned i = 0; i < 3; i++)
				cells->sums[index].weight[i] += sums->weight[i];
		return cell;
	}
	if (cells->count == cells->capacity)
		grow_items(cells, sums);
	cells->items[cells->count] = *key;
	if (sums)
		cells->sums[cells->count] = *sums;
	cells->slots[at] = ++cells->count;
	return &cells->items[cells->count - 1];
}

void cells_add_near(struct cells *cells, const struct cell *key, uint32_t *near)
{
	if (*near) {
		struct cell *cell = &cells->items[*near - 1];
		if (cell_same(cell, key)) {
			cell->period += key->period;
			cell->count += key->count;
			return;
		}
	}
	*near = (uint32_t)(cells_add(cells, key, NULL) - cells->items) + 1;
}
