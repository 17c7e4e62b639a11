#include "cmd/event_words.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/event_files.h"
#include "event/event_pfm.h"
#include "event/sample_condition.h"

int event_words_usage(const struct cli *cli, const struct command *command, const char *option)
{
	struct error err = { .kind = ERROR_OPTION };
	snprintf(err.hint, sizeof err.hint, "%s%s", option[1] ? "--" : "", option);
	return cli_usage(cli, command, &err);
}

int event_words_parse(struct event_words *words, const char *text, const char *option)
{
	struct events *events = words->events;
	struct event_error why;
	struct writer out;
	events->regrouped = events->by_pattern = false;
	event_files_set(words->cli, &events->pmus);
	int status = events_parse(events, text, &why);
	event_files_remarks(words->cli, &events->pmus);
	if (status == 0) {
		if (events->regrouped && !events->by_pattern)
			cli_warn(words->cli, "WARNING: events were regrouped to match PMUs");
		return 0;
	}
	writer_open(&out, -1, 0);
	event_error_print(&why, &out);
	cli_warn(words->cli, "%.*s", (int)out.len - 1, out.buffer);
	writer_fini(&out);
	return event_words_usage(words->cli, words->command, option);
}

static bool filters_addresses(const struct event_words *words, const struct event *event)
{
	struct pmus *pmus = &words->events->pmus;
	return event->traces && pmu_number(pmus, pmus_named(pmus, event->pmu), "nr_addr_filters");
}

/* Adds the filter to the existing one of the event. */
static const char *joined(struct event_words *words, const char *format, const char *old, const char *text)
{
	str_clear(&words->text);
	if (old)
		str_printf(&words->text, format, old, text);
	else
		str_puts(&words->text, text);
	return arena_string(&words->events->arena, words->text.text, words->text.len);
}

static int check_condition(const struct event_words *words, const char *text, const char *option)
{
	struct sample_condition condition;
	struct error err;
	int status = sample_condition_parse(&condition, text, &err);
	sample_condition_fini(&condition);
	if (status == 0)
		return 0;
	cli_complain(words->cli, &err);
	return event_words_usage(words->cli, words->command, option);
}

/* Whether the option can follow the last -e. */
static bool filter_fits(const struct event_words *words, bool filter)
{
	size_t count = words->events->list.count;
	bool fits = count > 0;
	for (size_t i = words->last; i < count; i++) {
		const struct event *event = &words->events->list.items[i];
		fits &= event->attr.type == ATTR_TRACEPOINT || (filter && (words->conditions || filters_addresses(words, event)));
	}
	return fits;
}

/* A condition for the events of the last -e: for tracepoints the kernel's, for a hardware trace addresses, otherwise one on samples. */
static int add_filter(struct event_words *words, const char *text, const char *option)
{
	bool filter = strcmp(option, "filter") == 0;
	if (!filter_fits(words, filter)) {
		cli_warn(words->cli, "--%s option should follow a -e tracepoint%s", option, filter ? " or HW tracer option" : " option");
		return event_words_usage(words->cli, words->command, option);
	}
	for (size_t i = words->last; i < words->events->list.count; i++) {
		struct event *event = &words->events->list.items[i];
		if (event->attr.type == ATTR_TRACEPOINT) {
			event->filter = joined(words, "(%s) && (%s)", event->filter, text);
		} else if (filters_addresses(words, event)) {
			event->filter = joined(words, "%s,%s", event->filter, text);
		} else {
			int status = check_condition(words, text, option);
			if (status)
				return status;
			event->condition = joined(words, "%s,%s", event->condition, text);
		}
	}
	return 0;
}

static int add_cgroups(struct event_words *words, const char *text)
{
	struct error err;
	size_t index = 0;
	const char *name = text;
	if (!words->events->list.count) {
		cli_warn(words->cli, "must define events before cgroups");
		return event_words_usage(words->cli, words->command, "cgroup");
	}
	for (const char *at = text; index < words->events->list.count; index++) {
		size_t length = strcspn(at, ",");
		name = arena_string(&words->events->arena, at, length);
		if (length && event_set_cgroup(words->events, index, name, &err) < 0)
			return cli_complain(words->cli, &err), EXIT_FAILED;
		at += length;
		if (*at == ',')
			at++;
		else
			break;
	}
	/* one name is meant for all events */
	for (size_t i = 1; index == 0 && *name && i < words->events->list.count; i++)
		if (event_set_cgroup(words->events, i, name, &err) < 0)
			return cli_complain(words->cli, &err), EXIT_FAILED;
	return 0;
}

int event_words_take(struct event_words *words, const struct event_word *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct event_word *word = &list[i];
		char condition[64];
		struct error err;
		int status = 0;
		switch (word->kind) {
		case WORD_EVENT:
			words->last = words->events->list.count;
			status = event_words_parse(words, word->text, "e");
			break;
		case WORD_PFM_EVENT:
			words->last = words->events->list.count;
			status = events_parse_pfm(words->events, word->text, &err) < 0 ? cli_complain(words->cli, &err), EXIT_USAGE : 0;
			break;
		case WORD_FILTER:
			status = add_filter(words, word->text, "filter");
			break;
		case WORD_EXCLUDE_SELF:
			snprintf(condition, sizeof condition, "common_pid != %d", getpid());
			status = add_filter(words, condition, "exclude-perf");
			break;
		case WORD_CGROUP:
			status = add_cgroups(words, word->text);
			break;
		}
		if (status)
			return status;
	}
	return 0;
}

void event_words_fini(struct event_words *words)
{
	str_fini(&words->text);
}
