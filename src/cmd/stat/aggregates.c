#include "cmd/stat/aggregates.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"

/* A CPU and where it is. */
struct placed {
	struct cpu_place place;
	int32_t cpu;
};

struct placing {
	const struct aggregates_input *input;
	VEC(struct placed) list;
	struct idmap seen;
};

static bool has_places(enum stat_grain grain)
{
	return grain >= STAT_CORE && grain <= STAT_NODE;
}

static void label_of(struct str *label, const struct placed *placed, enum stat_grain grain)
{
	const struct cpu_place *p = &placed->place;
	switch (grain) {
	case STAT_CPU:
		if (placed->cpu >= 0)
			str_printf(label, "CPU%d", placed->cpu);
		break;
	case STAT_CORE:
		str_printf(label, "S%d-D%d-C%d", p->socket, p->die, p->core);
		break;
	case STAT_CLUSTER:
		str_printf(label, "S%d-D%d-CLS%d", p->socket, p->die, p->cluster);
		break;
	case STAT_CACHE:
		str_printf(label, "S%d-D%d-L%d-ID%d", p->socket, p->die, p->cache_level, p->cache);
		break;
	case STAT_DIE:
		str_printf(label, "S%d-D%d", p->socket, p->die);
		break;
	case STAT_SOCKET:
		str_printf(label, "S%d", p->socket);
		break;
	case STAT_NODE:
		str_printf(label, "N%d", p->node);
		break;
	case STAT_ALL:
	case STAT_THREAD:
		break;
	}
}

static void read_place(const struct aggregates_input *input, struct placed *placed)
{
	static const enum cpu_place_kind kinds[] = {
		[STAT_CORE] = CPU_PLACE_CORE, [STAT_CLUSTER] = CPU_PLACE_CLUSTER, [STAT_CACHE] = CPU_PLACE_CACHE, [STAT_DIE] = CPU_PLACE_DIE,
		[STAT_SOCKET] = CPU_PLACE_SOCKET, [STAT_NODE] = CPU_PLACE_NODE,
	};
	if (!has_places(input->grain))
		return;
	if (input->place)
		input->place(input->context, &placed->place, placed->cpu, kinds[input->grain], input->cache_level);
	else
		cpu_place_read(&placed->place, placed->cpu, kinds[input->grain], input->cache_level);
}

/* In perf's order: by node, package, die, cluster, cache, core; for rows by CPU, by its number. */
static int compare(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;
	const struct cpu_place *p = &a->place, *q = &b->place;
	const int32_t of_a[] = { p->node, p->socket, p->die, p->cluster, p->cache_level, p->cache, p->core };
	const int32_t of_b[] = { q->node, q->socket, q->die, q->cluster, q->cache_level, q->cache, q->core };
	for (size_t i = 0; i < sizeof of_a / sizeof *of_a; i++)
		if (of_a[i] != of_b[i])
			return of_a[i] < of_b[i] ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static void add_cpus(struct placing *p)
{
	for (size_t i = 0; i < p->input->count; i++) {
		int32_t cpu = p->input->counters[i].cpu;
		bool added;
		idmap_add(&p->seen, (uint64_t)(uint32_t)cpu, 0, &added);
		if (!added)
			continue;
		struct placed *placed = vec_add(&p->list);
		placed->cpu = cpu;
		read_place(p->input, placed);
	}
	if (p->list.count)
		qsort(p->list.items, p->list.count, sizeof *p->list.items, compare);
}

static void find_cores(struct aggregates *a, const struct placing *p)
{
	CLEANUP_STR struct str label = { 0 };
	for (size_t i = 0; i < p->list.count; i++) {
		struct placed placed = p->list.items[i];
		cpu_place_read(&placed.place, placed.cpu, CPU_PLACE_CORE, 0);
		str_clear(&label);
		label_of(&label, &placed, STAT_CORE);
		uint32_t first = 0;
		while (first < i && strcmp(a->core_labels.items[first], str_text(&label)) != 0)
			first++;
		vec_push(&a->cores, first);
		vec_push(&a->core_labels, arena_string(&a->arena, str_text(&label), label.len));
	}
}

/* CPUs of one label are neighbours; rows of everything have one label. */
static void label_cpus(struct aggregates *a, struct placing *p)
{
	struct idmap aggregates = { 0 };
	CLEANUP_STR struct str label = { 0 };
	for (size_t i = 0; i < p->list.count; i++) {
		struct placed *placed = &p->list.items[i];
		str_clear(&label);
		label_of(&label, placed, p->input->grain);
		size_t last = a->labels.count;
		if (!last || strcmp(a->labels.items[last - 1], str_text(&label)) != 0)
			vec_push(&a->labels, arena_string(&a->arena, str_text(&label), label.len));
		idmap_set(&aggregates, (uint64_t)(uint32_t)placed->cpu, (uint32_t)a->labels.count - 1);
	}
	for (size_t i = 0; i < p->input->count; i++) {
		const struct stat_counter *counter = &p->input->counters[i];
		uint32_t aggregate = idmap_get(&aggregates, (uint64_t)(uint32_t)counter->cpu);
		vec_push(&a->places, ((struct stat_place){ counter->event, aggregate }));
	}
	idmap_fini(&aggregates);
}

static void label_threads(struct aggregates *a, const struct aggregates_input *input)
{
	for (size_t i = 0; i < input->thread_count; i++) {
		char *comm = arena_string(&a->arena, input->threads[i].comm, strlen(input->threads[i].comm));
		text_make_printable(comm);
		vec_push(&a->labels, comm);
		vec_push(&a->tids, input->threads[i].tid);
	}
	for (size_t i = 0; i < input->count; i++)
		vec_push(&a->places, ((struct stat_place){ input->counters[i].event, input->counters[i].thread }));
}

void aggregates_make(struct aggregates *a, const struct aggregates_input *input)
{
	struct placing placing = { .input = input };
	if (input->grain == STAT_THREAD) {
		label_threads(a, input);
	} else {
		add_cpus(&placing);
		label_cpus(a, &placing);
		if (input->cores && input->grain == STAT_CPU)
			find_cores(a, &placing);
	}
	if (!a->labels.count)
		vec_push(&a->labels, "");
	vec_fini(&placing.list);
	idmap_fini(&placing.seen);
}

void aggregates_fini(struct aggregates *a)
{
	vec_fini(&a->labels);
	vec_fini(&a->tids);
	vec_fini(&a->cores);
	vec_fini(&a->core_labels);
	vec_fini(&a->places);
	arena_fini(&a->arena);
}
