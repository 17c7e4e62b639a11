#include "cmd/stat/aggregates.h"

#include <string.h>

#include "base/str.h"
#include "record/count/cpu_place.h"

static void cpu_label(struct str *label, int32_t cpu, enum stat_grain grain, int cache_level)
{
	static const enum cpu_place_kind kinds[] = {
		[STAT_CORE] = CPU_PLACE_CORE, [STAT_CLUSTER] = CPU_PLACE_CLUSTER, [STAT_CACHE] = CPU_PLACE_CACHE, [STAT_DIE] = CPU_PLACE_DIE,
		[STAT_SOCKET] = CPU_PLACE_SOCKET, [STAT_NODE] = CPU_PLACE_NODE,
	};
	struct cpu_place p = { 0 };
	if (grain >= STAT_CORE && grain <= STAT_NODE)
		cpu_place_read(&p, cpu, kinds[grain], cache_level);
	switch (grain) {
	case STAT_CPU:
		str_printf(label, "CPU%d", cpu);
		break;
	case STAT_CORE:
		str_printf(label, "S%d-D%d-C%d", p.socket, p.die, p.core);
		break;
	case STAT_CLUSTER:
		str_printf(label, "S%d-D%d-CLS%d", p.socket, p.die, p.cluster);
		break;
	case STAT_CACHE:
		str_printf(label, "S%d-D%d-L%d-ID%d", p.socket, p.die, p.cache_level, p.cache);
		break;
	case STAT_DIE:
		str_printf(label, "S%d-D%d", p.socket, p.die);
		break;
	case STAT_SOCKET:
		str_printf(label, "S%d", p.socket);
		break;
	case STAT_NODE:
		str_printf(label, "N%d", p.node);
		break;
	case STAT_ALL:
	case STAT_THREAD:
		break;
	}
}

static uint32_t label_index(struct aggregates *a, const struct str *label)
{
	for (uint32_t i = 0; i < a->labels.count; i++)
		if (strcmp(a->labels.items[i], str_text(label)) == 0)
			return i;
	vec_push(&a->labels, arena_string(&a->arena, str_text(label), label->len));
	return (uint32_t)a->labels.count - 1;
}

/* The aggregate of a slot; those of CPUs are looked up once per CPU. */
static uint32_t aggregate_of(struct aggregates *a, const struct counting *c, enum stat_grain grain, int cache_level,
	size_t slot)
{
	const struct counting_slot *s = &c->slots.items[slot];
	CLEANUP_STR struct str label = { 0 };
	for (size_t i = 0; i < slot && grain != STAT_THREAD && c->slots.items[i].event != s->event; i++)
		if (c->slots.items[i].cpu == s->cpu)
			return a->places.items[i].aggregate;
	cpu_label(&label, s->cpu, grain, cache_level);
	return label_index(a, &label);
}

void aggregates_make(struct aggregates *a, const struct counting *c, enum stat_grain grain, int cache_level)
{
	CLEANUP_STR struct str label = { 0 };
	if (grain == STAT_THREAD)
		for (size_t i = 0; i < c->target.threads.count; i++) {
			str_clear(&label);
			str_printf(&label, "%s-%d", c->target.threads.items[i].comm, (int)c->target.threads.items[i].tid);
			if (label.text)
				text_make_printable(label.text);
			vec_push(&a->labels, arena_string(&a->arena, str_text(&label), label.len));
		}
	for (size_t i = 0; i < c->slots.count; i++) {
		uint32_t aggregate = grain == STAT_THREAD ? c->slots.items[i].thread : aggregate_of(a, c, grain, cache_level, i);
		vec_push(&a->places, ((struct stat_place){ c->slots.items[i].event, aggregate }));
	}
	if (!a->labels.count)
		vec_push(&a->labels, "");
}

void aggregates_fini(struct aggregates *a)
{
	vec_fini(&a->labels);
	vec_fini(&a->places);
	arena_fini(&a->arena);
}
