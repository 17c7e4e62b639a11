#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/list/list.h"
#include "event/metric_catalogue.h"

static bool is_wanted(const struct listing *l, const struct metric_entry *entry)
{
	return !l->name || (l->metrics && list_matches(l->name, entry->metric->name, 0)) ||
		(l->groups && list_matches(l->name, entry->group, 0));
}

static void print_heading(struct listing *l)
{
	if (!l->groups)
		writer_puts(l->out, "\nMetrics:\n\n");
	else
		writer_puts(l->out, l->metrics ? "\nMetric Groups:\n" : "\nMetric Groups:\n\n");
}

static void print_group(struct listing *l, const struct metric_entry *entry)
{
	bool names_only = l->options->names_only;
	if (names_only) {
		writer_printf(l->out, "%s ", entry->group);
		return;
	}
	writer_printf(l->out, "%s%s%s", l->metrics ? "\n" : "", entry->group, l->metrics ? ":" : "");
	if (l->options->describe && entry->group_description)
		writer_printf(l->out, " [%s]", entry->group_description);
	writer_putc(l->out, '\n');
}

static void print_metric(struct listing *l, const struct metric *metric)
{
	const struct list_options *o = l->options;
	bool is_long = o->describe_long && metric->long_description;
	writer_printf(l->out, "  %s\n", metric->name);
	if (is_long || (o->describe && metric->description))
		list_print_description(l->out, is_long ? metric->long_description : metric->description, NULL);
	if (o->details)
		list_print_description(l->out, metric->expression, NULL);
	if (o->details && metric->threshold)
		list_print_description(l->out, metric->threshold, NULL);
}

static void print_json(struct listing *l, const struct metric_entry *entry)
{
	const struct metric *metric = entry->metric;
	const struct list_member members[] = {
		{ "MetricGroup", entry->group }, { "MetricName", metric->name }, { "MetricExpr", metric->expression },
		{ "MetricThreshold", metric->threshold }, { "ScaleUnit", metric->scale_unit }, { "BriefDescription", metric->description },
		{ "PublicDescription", metric->long_description },
	};
	list_print_object(l, members, sizeof members / sizeof members[0]);
}

static bool is_repeated(const struct metric_entries *entries, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (entries->list.items[i].metric == entries->list.items[index].metric)
			return true;
	return false;
}

void list_print_metrics(struct listing *l)
{
	struct metric_entries entries = { 0 };
	metric_entries_make(&entries, &l->catalogue);
	for (size_t i = 0; i < entries.list.count; i++) {
		const struct metric_entry *entry = &entries.list.items[i];
		if (l->options->json) {
			print_json(l, entry);
			continue;
		}
		if (!is_wanted(l, entry))
			continue;
		if (!l->options->names_only && !l->last_group)
			print_heading(l);
		if (l->groups && (!l->last_group || strcmp(l->last_group, entry->group) != 0))
			print_group(l, entry);
		l->last_group = arena_string(&l->catalogue.arena, entry->group, strlen(entry->group));
		if (!l->metrics)
			continue;
		if (!l->options->names_only)
			print_metric(l, entry->metric);
		else if (!is_repeated(&entries, i))
			writer_printf(l->out, "%s ", entry->metric->name);
	}
	metric_entries_fini(&entries);
}
