#include "cmd/compare/recordings.h"

#include <string.h>

#include "cmd/recorded_counts.h"

bool recording_starts(const void *bytes, size_t len)
{
	static const char *const magics[] = { "PERFILE2", "2ELIFREP", "PERFFILE" };
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (len >= strlen(magics[i]) && memcmp(bytes, magics[i], strlen(magics[i])) == 0)
			return true;
	return false;
}

struct sums {
	struct recorded_counts counts;
	struct events events;
	VEC(struct stat_place) places;   /* of each counter: the row of its event */
	struct stat_table table;
	size_t values;
};

static const char *printable(struct arena *arena, const char *text)
{
	char *copy = arena_string(arena, text ? text : "", text ? strlen(text) : 0);
	text_make_printable(copy);
	return copy;
}

static void configure(struct sums *s)
{
	for (size_t i = 0; i < s->events.list.count; i++) {
		struct event *event = &s->events.list.items[i];
		event->name = printable(&s->counts.arena, event->name);
		event->unit = printable(&s->counts.arena, event->unit);
	}
	for (size_t i = 0; i < s->counts.counters.count; i++)
		vec_push(&s->places, ((struct stat_place){ .event = s->counts.counters.items[i].event }));
}

/* The counts since the round before, as one row an event. */
static void add_round(struct sums *s, struct runs *runs, enum run_side side)
{
	const struct recorded_counts *c = &s->counts;
	stat_table_fill(&s->table, &s->events, c->missing.items, 1, s->places.items, c->since.items, c->since.count, c->config.scale);
	for (size_t i = 0; i < s->table.rows.count; i++) {
		const struct stat_row *row = &s->table.rows.items[i];
		const struct event *event = &s->events.list.items[row->event];
		if (row->state != STAT_COUNTED)
			continue;
		runs_add(runs, side, event->name, event->unit, stat_shown(&s->table, row));
		s->values++;
	}
}

static int read_rounds(struct sums *s, const char *path, struct runs *runs, enum run_side side, struct budget *budget, struct error *err)
{
	int step;
	if (recorded_counts_open(&s->counts, path, &s->events, budget, err) < 0)
		return -1;
	while ((step = recorded_counts_next(&s->counts, err)) > 0)
		if (step == RECORDED_ROUND)
			add_round(s, runs, side);
		else
			configure(s);
	if (step < 0 || s->values)
		return step;
	error_set(err, ERROR_FORMAT, "%s has no counts of `stat record`", path);
	return error_hint(err, "perf stat record -I 100 -o FILE COMMAND records them, each interval");
}

int recording_read(const char *path, struct runs *runs, enum run_side side, struct budget *budget, struct error *err)
{
	/* each round is a run of the table, of which the row has the last one's count */
	struct sums sums = { .table.last = true };
	int status = read_rounds(&sums, path, runs, side, budget, err);
	recorded_counts_fini(&sums.counts);
	stat_table_fini(&sums.table);
	vec_fini(&sums.places);
	events_fini(&sums.events);
	return status;
}
