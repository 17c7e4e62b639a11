#include "script/stat.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/whole.h"
#include "data/evsel_name.h"

enum { CPUS_LISTED = 0, CPUS_MASK = 1, CPUS_RANGE = 2, CPUS_MAX = 65536, VALUES_MAX = 1 << 22, CONFIG_SCALE = 2 };

void listing_stat_fini(struct listing_stat *stat)
{
	vec_fini(&stat->cpus);
	vec_fini(&stat->threads);
	free(stat->values);
	free(stat->before);
	*stat = (struct listing_stat){ 0 };
}

static void add_cpu(struct listing_stat *stat, int32_t cpu)
{
	if (stat->cpus.count < CPUS_MAX)
		vec_push(&stat->cpus, cpu);
}

static void add_mask(struct listing_stat *stat, struct cursor *c)
{
	uint16_t words = take_u16(c), word_bytes = take_u16(c);

	if (word_bytes == 8)
		take_u32(c); /* padding */
	for (uint32_t i = 0; i < words && !c->short_read; i++) {
		uint64_t word = word_bytes == 8 ? take_u64(c) : take_u32(c);
		for (unsigned bit = 0; bit < word_bytes * 8u && bit < 64; bit++)
			if (word >> bit & 1)
				add_cpu(stat, (int32_t)(i * word_bytes * 8 + bit));
	}
}

static void add_cpus(struct listing_stat *stat, struct cursor *c)
{
	uint16_t type = take_u16(c);

	if (stat->has_cpus)
		return;
	stat->has_cpus = true;
	if (type == CPUS_LISTED) {
		uint16_t count = take_u16(c);
		for (unsigned i = 0; i < count && cursor_left(c) >= 2; i++)
			add_cpu(stat, (int16_t)take_u16(c));
	} else if (type == CPUS_MASK) {
		add_mask(stat, c);
	} else if (type == CPUS_RANGE) {
		bool any = take_u8(c);
		take_u8(c);
		int32_t first = take_u16(c), last = take_u16(c);
		if (any)
			add_cpu(stat, -1);
		for (int32_t cpu = first; cpu <= last; cpu++)
			add_cpu(stat, cpu);
	}
}

static void add_threads(struct listing_stat *stat, struct cursor *c)
{
	enum { COMM_BYTES = 16 };
	uint64_t count = take_u64(c);

	if (stat->has_threads)
		return;
	stat->has_threads = true;
	for (uint64_t i = 0; i < count && cursor_left(c) >= 8; i++) {
		vec_push(&stat->threads, (int32_t)take_u64(c));
		take(c, COMM_BYTES);
	}
}

/* Allocates all values once CPUs and threads are known. */
static bool has_room(struct listing_stat *stat, const struct evlist *evlist)
{
	size_t count = stat->cpus.count * stat->threads.count;

	if (stat->values)
		return true;
	if (!stat->has_cpus || !stat->has_threads || !count || count > VALUES_MAX / (evlist->events.count + 1))
		return false;
	stat->count = count * evlist->events.count;
	stat->values = memory_zero(stat->count + 1, sizeof *stat->values);
	stat->before = memory_zero(stat->count + 1, sizeof *stat->before);
	return true;
}

static size_t value_index(const struct listing_stat *stat, size_t event, size_t cpu, size_t thread)
{
	return (event * stat->cpus.count + cpu) * stat->threads.count + thread;
}

/* Records have the number of the CPU, and the index of the thread. */
static size_t cpu_index(const struct listing_stat *stat, int32_t cpu)
{
	size_t i = 0;

	while (i < stat->cpus.count && stat->cpus.items[i] != cpu)
		i++;
	return i;
}

static void add_values(struct listing_stat *stat, const struct evlist *evlist, struct cursor *c)
{
	uint64_t id = take_u64(c);
	uint32_t cpu = take_u32(c), thread = take_u32(c), event = idmap_get(&evlist->by_id, id);
	struct stat_value value = { take_u64(c), take_u64(c), take_u64(c) };

	if (event == IDMAP_NONE && evlist->events.count == 1)
		event = 0;
	if (!has_room(stat, evlist) || event >= evlist->events.count || c->short_read)
		return;
	size_t index = cpu_index(stat, (int32_t)cpu), at = value_index(stat, event, index, thread);
	if (index < stat->cpus.count && thread < stat->threads.count && at < stat->count)
		stat->values[at] = value;
}

static void apply_config(struct listing_stat *stat, struct cursor *c)
{
	uint64_t count = take_u64(c);

	for (uint64_t i = 0; i < count && cursor_left(c) >= 16; i++) {
		uint64_t tag = take_u64(c), value = take_u64(c);
		if (tag == CONFIG_SCALE)
			stat->scaled = value;
	}
}

/* The count since the round before, scaled to the time that the event was enabled. */
static struct stat_value value_since(struct listing_stat *stat, size_t at)
{
	struct stat_value now = stat->values[at], before = stat->before[at];
	struct stat_value value = { now.value - before.value, now.enabled - before.enabled, now.running - before.running };

	stat->before[at] = now;
	if (stat->scaled && !value.running)
		value.value = 0;
	else if (stat->scaled && value.running < value.enabled)
		value.value = whole_below((double)value.value * (double)value.enabled / (double)value.running);
	stat->values[at] = value;
	return value;
}

static void print_round(struct listing_stat *stat, const struct evlist *evlist, uint64_t time, struct writer *out)
{
	char buffer[EVSEL_NAME_MAX];

	if (!has_room(stat, evlist))
		return;
	if (!stat->titled)
		writer_printf(out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA", "RUN", "TIME", "EVENT");
	stat->titled = true;
	for (size_t event = 0; event < evlist->events.count; event++)
		for (size_t thread = 0; thread < stat->threads.count; thread++)
			for (size_t cpu = 0; cpu < stat->cpus.count; cpu++) {
				size_t at = value_index(stat, event, cpu, thread);
				if (at >= stat->count)
					return;
				struct stat_value value = value_since(stat, at);
				writer_printf(out, "%3d %8d %15llu %15llu %15llu %15llu %s\n", stat->cpus.items[cpu],
					stat->threads.items[thread], (unsigned long long)value.value, (unsigned long long)value.enabled,
					(unsigned long long)value.running, (unsigned long long)time,
					evsel_name(&evlist->events.items[event], buffer, sizeof buffer));
			}
}

void listing_stat_add(struct listing_stat *stat, const struct evlist *evlist, const struct record *record, struct writer *out)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);

	switch (record->type) {
	case RECORD_CPU_MAP:
		add_cpus(stat, &c);
		break;
	case RECORD_THREAD_MAP:
		add_threads(stat, &c);
		break;
	case RECORD_STAT_CONFIG:
		apply_config(stat, &c);
		break;
	case RECORD_STAT:
		add_values(stat, evlist, &c);
		break;
	case RECORD_STAT_ROUND:
		take_u64(&c); /* type */
		print_round(stat, evlist, take_u64(&c), out);
		break;
	}
}
