#include "analysis/stat/stat_records.h"

#include <string.h>

#include "base/bytes.h"
#include "base/str.h"

enum { MAP_CPUS = 0, MAP_MASK = 1, MAP_RANGE = 2, COMM_SIZE = 16 };

static struct cursor body_of(const struct record *record)
{
	return cursor_of(record->body, record->body_len, false);
}

bool stat_config_read(const struct record *record, struct stat_config *config)
{
	struct cursor c = body_of(record);
	uint64_t count = take_u64(&c);
	*config = (struct stat_config){ .aggregation = STAT_BY_NOTHING };
	if (c.short_read || count > cursor_left(&c) / 16)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t term = take_u64(&c), value = take_u64(&c);
		if (term == STAT_TERM_AGGREGATION && value >= STAT_BY_COUNT)
			return false;
		if (term == STAT_TERM_AGGREGATION)
			config->aggregation = (enum stat_aggregation)value;
		else if (term == STAT_TERM_INTERVAL)
			config->interval_ms = (uint32_t)value;
		else if (term == STAT_TERM_SCALE)
			config->scale = value != 0;
		else if (term == STAT_TERM_CACHE_LEVEL)
			config->cache_level = (uint32_t)value;
	}
	return true;
}

bool stat_threads_read(const struct record *record, struct arena *arena, struct stat_threads *threads)
{
	struct cursor c = body_of(record);
	uint64_t count = take_u64(&c);
	if (c.short_read || !count || count > cursor_left(&c) / (8 + COMM_SIZE))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		struct stat_thread *thread = vec_add(&threads->list);
		size_t length;
		thread->tid = (int32_t)take_u64(&c);
		const char *comm = take_string(&c, COMM_SIZE, &length);
		thread->comm = text_one_line(arena, comm ? comm : "", length);
	}
	return true;
}

static void add_mask(struct cursor *c, struct cpus *cpus)
{
	uint16_t words = take_u16(c), bytes = take_u16(c);
	if (bytes == 8)
		take(c, 4);
	else if (bytes != 4)
		c->short_read = true;
	for (uint32_t i = 0; i < words && !c->short_read; i++) {
		uint64_t word = bytes == 8 ? take_u64(c) : take_u32(c);
		for (uint32_t bit = 0; word && !c->short_read; bit++, word >>= 1) {
			uint32_t cpu = i * bytes * 8 + bit;
			if (word & 1 && cpu < CPUS_MAX)
				cpus_add(cpus, (int32_t)cpu);
		}
	}
}

bool stat_cpus_read(const struct record *record, struct cpus *cpus)
{
	struct cursor c = body_of(record);
	uint16_t type = take_u16(&c);
	if (type == MAP_CPUS) {
		uint16_t count = take_u16(&c);
		for (uint32_t i = 0; i < count && !c.short_read; i++) {
			uint16_t cpu = take_u16(&c);
			if (!c.short_read)
				cpus_add(cpus, cpu == UINT16_MAX ? -1 : cpu);
		}
	} else if (type == MAP_MASK) {
		add_mask(&c, cpus);
	} else if (type == MAP_RANGE) {
		bool any = take_u8(&c);
		take_u8(&c);
		uint16_t first = take_u16(&c), last = take_u16(&c);
		if (any && !c.short_read)
			cpus_add(cpus, -1);
		for (uint32_t cpu = first; cpu <= last && !c.short_read; cpu++)
			cpus_add(cpus, (int32_t)cpu);
	} else {
		return false;
	}
	return !c.short_read && cpus->list.count;
}

bool stat_value_read(const struct record *record, struct stat_value *value)
{
	struct cursor c = body_of(record);
	value->id = take_u64(&c);
	value->cpu = (int32_t)take_u32(&c);
	value->thread = take_u32(&c);
	value->value = take_u64(&c);
	value->enabled = take_u64(&c);
	value->running = take_u64(&c);
	return !c.short_read;
}

bool stat_round_read(const struct record *record, struct stat_round *round)
{
	struct cursor c = body_of(record);
	round->type = take_u64(&c);
	round->time_ns = take_u64(&c);
	return !c.short_read;
}
