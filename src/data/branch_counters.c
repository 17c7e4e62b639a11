#include "data/branch_counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/evsel_name.h"
#include "data/feature.h"

enum { LETTERS = 26, NAMES = LETTERS * 11, BITS_MAX = 8 }; /* processors have 2 bits */

struct branch_counter_limits branch_counter_limits(const struct header *header)
{
	struct branch_counter_limits limits = { 0 };
	struct arena arena = { 0 };
	struct feature_capabilities own = { 0 };
	struct feature_pmu_capabilities others = { 0 };
	const struct feature_capabilities *pmu = NULL;

	if (feature_cpu_capabilities(header, &arena, &own) == 0 && own.pairs.count)
		pmu = &own;
	else if (feature_pmu_capabilities(header, &arena, &others) == 0 && others.count)
		pmu = &others.pmus[0];
	for (uint32_t i = 0; pmu && i < pmu->pairs.count; i++) {
		sscanf(pmu->pairs.items[i], "branch_counter_nr=%u", &limits.events);
		sscanf(pmu->pairs.items[i], "branch_counter_width=%u", &limits.bits);
	}
	arena_fini(&arena);
	limits.bits = limits.bits < BITS_MAX ? limits.bits : BITS_MAX;
	return limits;
}

void branch_counters_init(struct branch_counters *counters, const struct header *header)
{
	const struct evlist *evlist = &header->evlist;
	VEC(uint32_t) named = { 0 }; /* by letter: its first event */
	char own[EVSEL_NAME_MAX], known[EVSEL_NAME_MAX];

	*counters = (struct branch_counters){ .bits = branch_counter_limits(header).bits };
	for (uint32_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		unsigned letter = 0;
		if (!evsel_counts_branches(evsel))
			continue;
		evsel_name(evsel, own, sizeof own);
		while (letter < named.count &&
			strcmp(evsel_name(&evlist->events.items[named.items[letter]], known, sizeof known), evsel_name(evsel, own, sizeof own)) != 0)
			letter++;
		if (letter == named.count && named.count < NAMES)
			vec_push(&named, i);
		vec_push(&counters->items, ((struct branch_counter){ i, letter }));
	}
	vec_fini(&named);
}

void branch_counters_fini(struct branch_counters *counters)
{
	vec_fini(&counters->items);
}

const char *branch_counter_name(unsigned letter, char buffer[static BRANCH_COUNTER_NAME_MAX])
{
	if (letter >= NAMES)
		snprintf(buffer, BRANCH_COUNTER_NAME_MAX, "NA");
	else if (letter < LETTERS)
		snprintf(buffer, BRANCH_COUNTER_NAME_MAX, "%c", (char)('A' + letter));
	else
		snprintf(buffer, BRANCH_COUNTER_NAME_MAX, "%c%u", (char)('A' + letter % LETTERS), (letter / LETTERS - 1) % 10);
	return buffer;
}

void branch_counters_explain(const struct branch_counters *counters, const struct header *header, struct writer *out)
{
	if (!counters->items.count)
		return;
	writer_puts(out, "# Branch counter abbr list:\n");
	for (size_t i = 0; i < counters->items.count; i++) {
		const struct branch_counter *counter = &counters->items.items[i];
		char letters[BRANCH_COUNTER_NAME_MAX], name[EVSEL_NAME_MAX];
		writer_printf(out, "# %s = %s\n", evsel_name(&header->evlist.events.items[counter->event], name, sizeof name),
			branch_counter_name(counter->letter, letters));
	}
	writer_puts(out, "# '-' No event occurs\n# '+' Event occurrences may be lost due to branch counter saturated\n");
}
