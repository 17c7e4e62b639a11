#include "cmd/stat/busy_threads.h"

void busy_threads_begin(struct busy_threads *busy, const struct aggregates *threads)
{
	vec_clear(&busy->numbers);
	vec_clear(&busy->labels);
	vec_clear(&busy->tids);
	vec_clear(&busy->places);
	vec_reserve(&busy->numbers, threads->labels.count);
	for (size_t i = 0; i < threads->labels.count; i++)
		vec_push(&busy->numbers, UINT32_MAX);
}

void busy_threads_mark(struct busy_threads *busy, uint32_t aggregate)
{
	busy->numbers.items[aggregate] = 0;
}

void busy_threads_number(struct busy_threads *busy, const struct aggregates *threads)
{
	for (size_t i = 0; i < busy->numbers.count; i++) {
		if (busy->numbers.items[i] == UINT32_MAX)
			continue;
		busy->numbers.items[i] = (uint32_t)busy->labels.count;
		vec_push(&busy->labels, threads->labels.items[i]);
		if (i < threads->tids.count)
			vec_push(&busy->tids, threads->tids.items[i]);
	}
}

bool busy_threads_place(struct busy_threads *busy, const struct stat_place *place)
{
	uint32_t number = busy->numbers.items[place->aggregate];
	if (number == UINT32_MAX)
		return false;
	vec_push(&busy->places, ((struct stat_place){ place->event, number }));
	return true;
}

void busy_threads_fini(struct busy_threads *busy)
{
	vec_fini(&busy->numbers);
	vec_fini(&busy->labels);
	vec_fini(&busy->tids);
	vec_fini(&busy->places);
}
