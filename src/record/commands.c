#include "record/commands.h"

#include <string.h>

#include "data/attr_text.h"

/* The commands "enable NAME" and "disable NAME"; "": all events. */
static void control_enable(struct recorder *r, bool on, const char *name)
{
	const struct events *events = r->measurement.events;
	if (!*name) {
		loop_enable_all(r, on);
		return;
	}
	bool found = false;
	for (uint32_t i = 0; i < events->list.count; i++) {
		if (strcmp(events->list.items[i].name, name) != 0)
			continue;
		found = true;
		loop_enable(r, i, on);
		recorder_say(r, "Event %s %s", name, on ? "enabled" : "disabled");
	}
	if (!found)
		recorder_say(r, "failed: can't find '%s' event", name);
}

static const char *pmu_name(void *context, uint32_t type)
{
	struct events *events = context;
	const struct pmu *pmu = pmus_by_type(&events->pmus, type);
	return pmu ? pmu->name : NULL;
}

static void add_field(void *context, const char *name, const char *text)
{
	struct str *line = context;
	str_printf(line, "%s %s: %s", strstr(str_text(line), ": ") ? "," : ":", name, text);
}

static void list_event(struct recorder *r, const struct event *event, bool fields, bool rate)
{
	CLEANUP_STR struct str after = { 0 };
	const struct attr_names names = { .context = r->measurement.events, .pmu = pmu_name };
	struct attr attr = event->attr;
	attr.size = ATTR_SIZE_VER8; /* as the file has it */
	if (fields)
		attr_each_field(&attr, &names, add_field, &after);
	else if (rate)
		str_printf(&after, ": %s=%llu", attr_flag(&event->attr, ATTR_FREQ) ? "sample_freq" : "sample_period",
			(unsigned long long)event->attr.sample_period);
	recorder_say(r, "%s%s", event->name, str_text(&after));
}

static void list_group(struct recorder *r, uint32_t leader)
{
	const struct events *events = r->measurement.events;
	CLEANUP_STR struct str line = { 0 };
	bool braces = events->list.items[leader].members > 1;
	if (events->list.items[leader].leader != leader)
		return;
	if (braces)
		str_printf(&line, "%s{", events->list.items[leader].group_name ? events->list.items[leader].group_name : "");
	for (uint32_t i = leader; i < events->list.count; i++)
		if (events->list.items[i].leader == leader)
			str_printf(&line, "%s%s", i > leader ? "," : "", events->list.items[i].name);
	recorder_say(r, "%s%s", str_text(&line), braces ? "}" : "");
}

/* "evlist", with the options -v, -g and -F of the command. */
static bool control_list(struct recorder *r, const char *options)
{
	const struct events *events = r->measurement.events;
	options += strspn(options, " ");
	if (*options && strcmp(options, "-v") != 0 && strcmp(options, "-g") != 0 && strcmp(options, "-F") != 0)
		return false;
	for (uint32_t i = 0; i < events->list.count; i++) {
		if (options[0] && options[1] == 'g')
			list_group(r, i);
		else
			list_event(r, &events->list.items[i], options[0] && options[1] == 'v', options[0] && options[1] == 'F');
	}
	return true;
}

static void control_command(void *recorder, const char *line)
{
	struct recorder *r = recorder;
	bool known = true;
	const char *rest;
	if (control_is(line, "enable", &rest))
		control_enable(r, true, rest);
	else if (control_is(line, "disable", &rest))
		control_enable(r, false, rest);
	else if (strcmp(line, "stop") == 0)
		r->done = true;
	else if (control_is(line, "evlist", &rest))
		known = control_list(r, rest);
	else
		known = strcmp(line, "ping") == 0 || strcmp(line, "snapshot") == 0;
	if (strcmp(line, "snapshot") == 0)
		loop_request_snapshot(r);
	if (known)
		control_acknowledge(r->options->acknowledge);
}

void commands_read(struct recorder *r)
{
	if (control_read(r->options->control, &r->command, control_command, r) < 0)
		measurement_unwatch(&r->measurement, r->options->control);
}
