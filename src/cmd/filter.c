#include "cmd/filter.h"

#include "os/cpus.h"

int filter_open_lists(struct sample_filter *filter, const struct filter_options *options, struct error *err)
{
	const struct {
		const char *text;
		struct name_list **list;
		int (*open)(struct name_list **, const char *, struct error *);
	} rows[] = {
		{ options->comms, &filter->comms, name_list_open }, { options->dsos, &filter->dsos, name_list_open },
		{ options->symbols, &filter->symbols, name_list_open }, { options->pids, &filter->pids, number_list_open },
		{ options->tids, &filter->tids, number_list_open },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].text && rows[i].open(rows[i].list, rows[i].text, err) < 0)
			return -1;
	if (filter->symbols)
		name_list_split_addresses(filter->symbols);
	return 0;
}

int filter_open_time(struct sample_filter *filter, const struct filter_options *options, const struct header *header, bool relative,
	struct error *err)
{
	uint64_t first, last;
	if (!options->time)
		return 0;
	time_filter_bounds(header, &first, &last);
	return time_filter_parse(&filter->time, options->time, first, last, relative, err);
}

int filter_open_cpus(struct sample_filter *filter, const struct filter_options *options, uint32_t available, int32_t *refused,
	struct error *err)
{
	struct cpus cpus = { 0 };
	int result = cpus_parse(&cpus, options->cpus, err) < 0 ? -1 : 0;
	if (result == 0)
		cpu_filter_init(&filter->cpus, CPUS_MAX);
	for (size_t i = 0; result == 0 && i < cpus.list.count; i++) {
		int32_t cpu = cpus.list.items[i];
		if (cpu >= 0 && cpu < CPUS_MAX && (uint32_t)cpu < available) {
			cpu_filter_add(&filter->cpus, (uint32_t)cpu);
			continue;
		}
		*refused = cpu;
		result = 1;
	}
	cpus_fini(&cpus);
	return result;
}

int filter_open(struct sample_filter *filter, const struct filter_options *options, const struct header *header, struct error *err)
{
	int32_t refused; /* no CPU that a list may hold is refused */
	if (filter_open_lists(filter, options, err) < 0 || filter_open_time(filter, options, header, false, err) < 0)
		return -1;
	return options->cpus && filter_open_cpus(filter, options, CPUS_MAX, &refused, err) < 0 ? -1 : 0;
}

bool filter_cpus_known(const struct evlist *evlist)
{
	bool seen[ATTR_BREAKPOINT + 1] = { false };
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct attr *attr = &evlist->events.items[i].attr;
		if (attr->type > ATTR_BREAKPOINT || seen[attr->type])
			continue;
		seen[attr->type] = true;
		if (!(attr->sample_type & SAMPLE_CPU))
			return false;
	}
	return true;
}
