#include "cmd/stat/metrics.h"

#include <stdio.h>
#include <string.h>

#include "cmd/event_files.h"
#include "os/file.h"

#define FREEZE_ON_SMI "/sys/bus/event_source/devices/cpu/freeze_on_smi"

enum { TOPDOWN_LEVELS = 9 };

static int plan(struct stat_run *run, const char *text)
{
	struct error err = { 0 };
	const struct stat_options *o = run->o;
	run->plan.options = (struct metric_options){
		.no_group = o->metric_no_group, .no_merge = o->metric_no_merge, .no_threshold = o->metric_no_threshold,
		.target = { .system_wide = run->system_wide, .cpus_given = o->target.cpus != NULL },
	};
	int status = metric_plan_add(&run->plan, &run->events, text, &err);
	event_files_remarks(run->cli, &run->events.pmus);
	if (status == 0)
		return 0;
	cli_complain(run->cli, &err);
	if (strncmp(err.text, "Cannot find", strlen("Cannot find")) == 0)
		return EXIT_INVALID;
	return err.kind == ERROR_LIMIT ? EXIT_FAILED : EXIT_ERROR;
}

/* The highest level that some metric has; 0: none. */
static int topdown_levels(struct stat_run *run)
{
	struct metric_list all = { 0 };
	int levels = 0;
	metric_list_make(&all, &run->events.pmus);
	for (int level = 1; level <= TOPDOWN_LEVELS; level++) {
		char group[] = "TopdownL0";
		group[8] = (char)('0' + level);
		for (size_t i = 0; i < all.list.count; i++)
			levels = metric_groups_have(all.list.items[i]->groups, group) ? level : levels;
	}
	metric_list_fini(&all);
	return levels;
}

/* Whether one of the metrics of that group can be counted here. */
static bool is_possible(struct stat_run *run, const char *group)
{
	struct metric_list all = { 0 };
	bool possible = false;
	metric_list_make(&all, &run->events.pmus);
	for (size_t i = 0; i < all.list.count && !possible; i++) {
		size_t before = run->events.list.count;
		if (!metric_groups_have(all.list.items[i]->groups, group))
			continue;
		possible = metric_plan_events(&run->events, all.list.items[i]) == 0;
		run->events.list.count = before;
	}
	metric_list_fini(&all);
	return possible;
}

static int take_topdown(struct stat_run *run)
{
	struct stat_options *o = run->o;
	char group[] = "TopdownL1";
	int levels = topdown_levels(run);
	if (!o->metric_only_given)
		o->metric_only = true;
	if (!levels || !is_possible(run, "TopdownL1")) {
		cli_warn(run->cli, "Topdown requested but the topdown metric groups aren't present.\n"
			"(See perf list the metric groups have names like TopdownL1)");
		return EXIT_INVALID;
	}
	if (o->topdown_level > (unsigned)levels) {
		cli_warn(run->cli, "Invalid top-down metrics level. The max level is %d.", levels);
		return EXIT_INVALID;
	}
	if (!o->interval_ms && !o->metric_only)
		cli_warn(run->cli, "Topdown accuracy may decrease when measuring long periods.\n"
			"Please print the result regularly, e.g. -I1000");
	group[8] = (char)('0' + (o->topdown_level ? o->topdown_level : 1));
	return plan(run, group);
}

/* A metric or a group that a single option requests. */
static int take_named(struct stat_run *run, const char *name, const char *missing)
{
	struct metric_list all = { 0 };
	bool found = metric_find(&run->events.pmus, name) != NULL;
	metric_list_make(&all, &run->events.pmus);
	for (size_t i = 0; i < all.list.count && !found; i++)
		found = metric_groups_have(all.list.items[i]->groups, name);
	metric_list_fini(&all);
	if (found)
		return plan(run, name);
	cli_warn(run->cli, "%s", missing);
	return EXIT_INVALID;
}

int stat_metrics_take(struct stat_run *run)
{
	const struct stat_options *o = run->o;
	CLEANUP_STR struct str names = { 0 };
	bool any = false;
	int status = 0;
	event_files_set(run->cli, &run->events.pmus);
	for (size_t i = 0; i < o->words.count; i++)
		if (o->words.items[i].kind == STAT_WORD_METRICS) {
			str_printf(&names, "%s%s", names.len ? "," : "", o->words.items[i].text);
			any = true;
		}
	if (any)
		status = plan(run, str_text(&names));
	if (o->null_run || status)
		return status;
	if (o->transaction)
		return take_named(run, "transaction", "Missing transaction metrics");
	if (o->smi_cost)
		return take_named(run, "smi", file_exists(FREEZE_ON_SMI) ? "Missing smi metrics" : "freeze_on_smi is not supported.");
	return o->topdown ? take_topdown(run) : 0;
}

int stat_metrics_check(const struct stat_run *run)
{
	const struct stat_options *o = run->o;
	if (!o->metric_only || (!o->target.per_thread && o->repeat == 1))
		return 0;
	cli_warn(run->cli, "--metric-only is not supported with %s", o->target.per_thread ? "--per-thread" : "-r");
	return EXIT_INVALID;
}
