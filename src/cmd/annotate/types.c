#include "cmd/annotate/types.h"

#include <stdlib.h>

#include "analysis/datatype/type_hits.h"
#include "base/memory.h"
#include "cmd/browse_table.h"
#include "data/evsel_name.h"
#include "render/annotate/type_text.h"

struct typing {
	const struct annotate_types *run;
	const struct modules *modules;
	struct data_types *types;
	struct type_hits list;
	struct hit_groups groups;
	VEC(const char *) names;       /* of events */
	struct arena arena;
};

void annotate_types_statistics(const struct annotate_options *options, const struct data_types *types, struct writer *out)
{
	struct data_statistics statistics = { 0 };
	if (types)
		data_types_statistics(types, &statistics);
	if (options->type_statistics)
		type_statistics_print(&statistics, out);
	if (options->instruction_statistics)
		type_instructions_print(&statistics, out);
	data_statistics_fini(&statistics);
}

static size_t order_of(const struct typing *typing, const struct hit_group *group, uint32_t **order)
{
	const struct annotate_options *options = typing->run->options;
	return type_order_make(&typing->list, typing->run->hits, group, options->percent_limit, options->type, typing->modules, order);
}

static size_t print_group(const struct typing *typing, const struct hit_group *group)
{
	const struct annotate_types *run = typing->run;
	uint32_t *order, *events = memory_zero(group->members.count, sizeof *events);
	const char **names = memory_zero(group->members.count, sizeof *names);
	struct type_view view = { .list = &typing->list, .events = events, .event_names = names, .group = group->members.count > 1 };
	for (size_t i = 0; i < group->members.count; i++) {
		uint32_t event = group->members.items[i];
		if (view.group && run->options->skip_empty && !run->hits->events[event].samples)
			continue;
		names[view.event_count] = typing->names.items[event];
		events[view.event_count++] = event;
	}
	size_t count = order_of(typing, group, &order);
	annotate_types_statistics(run->options, typing->types, run->cli->out);
	for (size_t i = 0; i < count; i++) {
		view.sum = &typing->list.sums.items[order[i]];
		view.module = modules_get(typing->modules, data_types_get(typing->types, view.sum->type)->module)->long_name;
		type_text_print(&run->style, &view, run->cli->out);
	}
	free(order);
	free(events);
	free(names);
	return count;
}

static size_t print_text(struct typing *typing)
{
	const struct annotate_types *run = typing->run;
	size_t shown = 0;
	const struct annotate_options *options = run->options;
	hit_groups_make(&typing->groups, session_evlist(&run->input->session), options->group, options->group_given && options->group);
	for (size_t i = 0; i < typing->groups.groups.count; i++) {
		const struct hit_group *group = &typing->groups.groups.items[i];
		uint64_t samples = 0;
		for (size_t k = 0; k < group->members.count; k++)
			samples += run->hits->events[group->members.items[k]].samples;
		if (samples)
			shown += print_group(typing, group);
	}
	hit_groups_fini(&typing->groups);
	return shown;
}

static void print_results(const struct typing *typing, const struct table *tables, size_t count)
{
	const struct annotate_types *run = typing->run;
	struct data_statistics statistics;
	data_types_statistics(typing->types, &statistics);
	const struct table_fact facts[] = { { "instructions", cell_count(statistics.total) },
		{ "found", cell_count(statistics.results[ACCESS_FOUND]) } };
	const struct results results = { .schema = "perfuse.annotate.types", .version = 1, .tables = tables, .table_count = count,
		.facts = facts, .fact_count = 2 };
	struct error err = { 0 };
	if (!run->browses)
		run->options->format->print(&results, run->cli->out);
	else if (count && browse_table(run->cli->screen, &results, &err) < 0)
		cli_complain(run->cli, &err);
	data_statistics_fini(&statistics);
}

static size_t print_tables(const struct typing *typing)
{
	struct hit_group all = { 0 };
	uint32_t *order;
	for (uint32_t i = 0; i < typing->names.count; i++)
		vec_push(&all.members, i);
	size_t count = order_of(typing, &all, &order);
	struct type_table *views = memory_zero(count + 1, sizeof *views);
	struct table *tables = memory_zero(count + 1, sizeof *tables);
	for (size_t i = 0; i < count; i++) {
		type_table_init(&views[i], &typing->list, &typing->list.sums.items[order[i]], typing->modules, typing->names.items);
		tables[i] = views[i].table;
	}
	print_results(typing, tables, count);
	for (size_t i = 0; i < count; i++)
		type_table_fini(&views[i]);
	free(views);
	free(tables);
	free(order);
	vec_fini(&all.members);
	return count;
}

size_t annotate_types_print(const struct annotate_types *run)
{
	struct typing typing = { .run = run, .modules = &run->input->session.model.modules };
	const struct evlist *evlist = session_evlist(&run->input->session);
	const struct data_types_options options = { .symbols = run->input->symbols, .modules = typing.modules,
		.header = &run->input->session.source->header, .kcore = run->input->kernel_files.kcore };
	for (uint32_t i = 0; i < evlist->events.count; i++) {
		char name[EVSEL_NAME_MAX];
		const char *shown = evsel_name(&evlist->events.items[i], name, sizeof name);
		vec_push(&typing.names, arena_string(&typing.arena, shown, strlen(shown)));
	}
	typing.types = data_types_new(&options);
	type_hits_make(&typing.list, run->hits, typing.modules, run->input->symbols, typing.types);
	size_t shown = run->browses || format_is_table(run->options->format) ? print_tables(&typing) : print_text(&typing);
	type_hits_fini(&typing.list);
	data_types_free(typing.types);
	vec_fini(&typing.names);
	arena_fini(&typing.arena);
	return shown;
}
