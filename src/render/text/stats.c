#include "render/text/stats.h"

#include <inttypes.h>

#include "render/dump/record_text.h"
#include "data/evsel_name.h"

/* Whether perf 6.12 knows a type: then it is listed even if no record has it. */
static bool known_to_perf(uint32_t type)
{
	return type < RECORD_USER_TYPE_START ? type <= RECORD_AUX_OUTPUT_HW_ID : type <= RECORD_FINISHED_INIT;
}

static void stats_print_events(const struct stats *stats, const struct evlist *evlist, bool skip_empty, struct writer *out)
{
	static const struct event_stats none;
	char buffer[EVSEL_NAME_MAX];
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct event_stats *event = i < stats->events.count ? &stats->events.items[i] : &none;
		const char *name = evsel_name(&evlist->events.items[i], buffer, sizeof buffer);
		if (skip_empty && event->samples + event->lost + event->dropped == 0)
			continue;
		writer_name(out, name, strlen(name));
		writer_puts(out, " stats:\n");
		if (event->samples)
			writer_printf(out, "%20s events: %10" PRIu64 "\n", "SAMPLE", event->samples);
		if (event->lost)
			writer_printf(out, "%20s events: %10" PRIu64 "\n", "LOST_SAMPLES", event->lost);
		if (event->dropped)
			writer_printf(out, "%20s events: %10" PRIu64 "\n", "LOST_SAMPLES (BPF)", event->dropped);
	}
}

void stats_print(const struct stats *stats, const struct header *header, bool skip_empty, struct writer *out)
{
	writer_printf(out, "\nAggregated stats:%s\n", header_has(header, FEATURE_AUXTRACE) ?
		" (excludes AUX area (e.g. instruction trace) decoded / synthesized events)" : "");
	if (stats->total || !skip_empty)
		writer_printf(out, "%20s events: %10" PRIu64 "\n", "TOTAL", stats->total);
	for (uint32_t type = 1; type < RECORD_TYPE_MAX; type++) {
		const char *name = record_type_name(type);
		uint64_t count = stats->by_type[type];
		if (!name || (!count && (skip_empty || !known_to_perf(type))))
			continue;
		writer_printf(out, "%20s events: %10" PRIu64, name, count);
		if (stats->total)
			writer_printf(out, "  (%4.1f%%)", 100.0 * (double)count / (double)stats->total);
		writer_putc(out, '\n');
	}
	stats_print_events(stats, &header->evlist, skip_empty, out);
}
