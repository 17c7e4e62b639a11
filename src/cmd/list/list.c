#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/event_files.h"
#include "cmd/list/list.h"
#include "event/event_pfm.h"
#include "os/written_file.h"

extern const struct command command_list;

static const struct option list_table[] = {
	OPTION_ROW(BOOL, 0, "raw-dump", struct list_options, names_only, "names alone, on one line", .flags = OPTION_HIDDEN),
	OPT_BOOL('j', "json", struct list_options, json, "print a JSON document with everything that is known"),
	OPT_BOOL('d', "desc", struct list_options, describe, "print descriptions (the default; --no-desc: do not)"),
	OPT_BOOL('v', "long-desc", struct list_options, describe_long, "print the longer descriptions, and every PMU of a family"),
	OPT_BOOL(0, "details", struct list_options, details, "print how the events are encoded"),
	OPT_STRING('o', "output", struct list_options, output, "file", "write to a file"),
	OPT_BOOL(0, "deprecated", struct list_options, deprecated, "print deprecated events, too"),
	OPTION_ROW(STRING, 0, "cputype", struct list_options, cpu_type, "only the events of a kind of core", .arg = "cpu type",
		.flags = OPTION_HIDDEN),
	OPT_STRING(0, "unit", struct list_options, unit, "PMU name", "only the events of PMUs of that name, which may be a pattern"),
	OPT_INCR(0, "debug", struct list_options, debug, "print more"),
	OPT_END(),
};

static const char *const list_usage[] = {
	"perf list [<options>] [hw|sw|cache|tracepoint|pmu|sdt|metric|metricgroup|event_glob]", NULL
};

static bool is_wanted(const struct listing *l, const struct catalogue_event *event)
{
	if (event->deprecated && !l->options->deprecated)
		return false;
	if (l->unit && event->pmu && !list_matches(l->unit, event->pmu, 0))
		return false;
	return !l->name || list_matches(l->name, event->name, 0) || list_matches(l->name, event->alias, 0) ||
		list_matches(l->name, event->topic, FNM_CASEFOLD);
}

static void print_text(struct listing *l, const struct catalogue_event *event)
{
	const struct list_options *o = l->options;
	struct writer *out = l->out;
	const char *topic = event->topic ? event->topic : "";
	if (strcmp(l->last_topic, topic) != 0) {
		if (event->topic)
			writer_printf(out, "\n%s:\n", topic);
		l->last_topic = topic;
	}
	size_t length = 2 + strlen(event->name);
	writer_printf(out, "  %s", event->name);
	if (event->alias) {
		length += 4 + strlen(event->alias);
		writer_printf(out, " OR %s", event->alias);
	}
	if (!event->topic && event->type_text) {
		writer_pad(out, ' ', length < LIST_TYPE_COLUMN ? LIST_TYPE_COLUMN - length : 0);
		writer_printf(out, "[%s]", event->type_text);
	}
	writer_putc(out, '\n');
	if (event->long_description && o->describe_long)
		list_print_description(out, event->long_description, NULL);
	else if (event->description && o->describe)
		list_print_description(out, event->description, event->pmu);
	if (o->details && event->encoding) {
		writer_pad(out, ' ', LIST_INDENT);
		list_print_wrapped(out, event->encoding);
		writer_putc(out, '\n');
	}
}

static void print_json(struct listing *l, const struct catalogue_event *event)
{
	const struct list_member members[] = {
		{ "Unit", event->pmu }, { "Topic", event->topic }, { "EventName", event->name }, { "EventAlias", event->alias },
		{ "ScaleUnit", event->scale_unit }, { "EventType", event->type_text }, { "Deprecated", event->deprecated ? "1" : NULL },
		{ "BriefDescription", event->description }, { "PublicDescription", event->long_description }, { "Encoding", event->encoding },
	};
	list_print_object(l, members, sizeof members / sizeof members[0]);
}

void list_print_event(struct listing *l, const struct catalogue_event *event)
{
	if (l->options->json)
		print_json(l, event);
	else if (!is_wanted(l, event))
		return;
	else if (l->options->names_only)
		writer_printf(l->out, "%s ", event->alias ? event->alias : event->name);
	else
		print_text(l, event);
}

static void print_kind(struct cli *cli, struct listing *l, enum catalogue_kind kind)
{
	struct error err;
	struct catalogue *catalogue = &l->catalogue;
	catalogue->list.count = 0;
	if (catalogue_add(catalogue, kind, &err) < 0)
		cli_complain(cli, &err);
	for (size_t i = 0; i < catalogue->list.count; i++)
		list_print_event(l, &catalogue->list.items[i]);
}

static void print_pfm(struct cli *cli, struct listing *l)
{
	struct error err;
	struct catalogue *catalogue = &l->catalogue;
	catalogue->list.count = 0;
	if (catalogue_add_pfm(catalogue, &err) < 0)
		cli_complain(cli, &err);
	for (size_t i = 0; i < catalogue->list.count; i++)
		list_print_event(l, &catalogue->list.items[i]);
}

static void print_all(struct cli *cli, struct listing *l, bool forms)
{
	for (enum catalogue_kind kind = 0; kind < CATALOGUE_KINDS; kind++)
		if (forms || (kind != CATALOGUE_RAW && kind != CATALOGUE_BREAKPOINT))
			print_kind(cli, l, kind);
	list_print_probes(cli, l);
	l->metrics = l->groups = true;
	list_print_metrics(l);
}

/* Prints what one word of the command line asks for. */
static void print_word(struct cli *cli, struct listing *l, const char *word)
{
	static const struct {
		const char *words[2];
		enum catalogue_kind kinds[2];
		size_t count;
	} rows[] = {
		{ { "tracepoint" }, { CATALOGUE_TRACEPOINT }, 1 },
		{ { "hw", "hardware" }, { CATALOGUE_HARDWARE }, 1 },
		{ { "sw", "software" }, { CATALOGUE_SOFTWARE, CATALOGUE_TOOL }, 2 },
		{ { "cache", "hwcache" }, { CATALOGUE_CACHE }, 1 },
		{ { "pmu" }, { CATALOGUE_PMU }, 1 },
	};
	bool metric = strcmp(word, "metric") == 0 || strcmp(word, "metrics") == 0;
	bool group = strcmp(word, "metricgroup") == 0 || strcmp(word, "metricgroups") == 0;
	if (metric || group) {
		l->metrics = metric;
		l->groups = group;
		list_print_metrics(l);
		return;
	}
	if (strcmp(word, "pfm") == 0) {
		print_pfm(cli, l);
		return;
	}
	if (strcmp(word, "sdt") == 0) {
		list_print_probes(cli, l);
		return;
	}
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (strcmp(rows[i].words[0], word) != 0 && (!rows[i].words[1] || strcmp(rows[i].words[1], word) != 0))
			continue;
		for (size_t k = 0; k < rows[i].count; k++)
			print_kind(cli, l, rows[i].kinds[k]);
		return;
	}
	struct str pattern = { 0 };
	bool tracepoints = strchr(word, ':') != NULL;
	str_printf(&pattern, tracepoints ? "%s" : "*%s*", word);
	l->name = pattern.text;
	l->last_group = NULL;
	if (tracepoints) {
		print_kind(cli, l, CATALOGUE_TRACEPOINT);
		list_print_probes(cli, l);
	} else {
		print_all(cli, l, false);
	}
	l->name = NULL;
	str_fini(&pattern);
}

/* The PMU that a kind of core is: "core" and "cpu_core" are one. NULL: no such PMU exists. */
static const char *pmu_of_cpu_type(struct pmus *pmus, const char *name)
{
	static const char *const prefixes[] = { "", "uncore_", "cpu_" };
	pmus_read(pmus);
	for (size_t i = 0; i < pmus->list.count; i++) {
		const char *pmu = pmus->list.items[i]->name;
		for (size_t k = 0; k < sizeof prefixes / sizeof prefixes[0]; k++) {
			size_t length = strlen(prefixes[k]);
			if (strncmp(pmu, prefixes[k], length) == 0 && strcmp(pmu + length, name) == 0)
				return pmu;
		}
	}
	return NULL;
}

static void print_list(struct cli *cli, struct listing *l, int argc, const char **argv)
{
	const struct list_options *o = l->options;
	if (o->json)
		writer_puts(l->out, "[\n");
	else if (!o->names_only && cli->pager_pid)
		writer_puts(l->out, "\nList of pre-defined events (to be used in -e or -M):\n\n");
	if (!argc)
		print_all(cli, l, true);
	for (int i = 0; i < argc; i++)
		print_word(cli, l, argv[i]);
	if (o->json)
		writer_puts(l->out, l->any ? "\n]\n" : "]\n");
}

static int print_to_file(struct cli *cli, struct listing *l, int argc, const char **argv)
{
	struct error err;
	struct written_file file;
	if (written_open(&file, l->options->output, &err) < 0)
		return cli_complain(cli, &err);
	l->out = &file.out;
	print_list(cli, l, argc, argv);
	int status = written_keep(&file, l->options->output, &err) < 0 ? cli_complain(cli, &err) : 0;
	written_drop(&file);
	return status;
}

static int run_list(struct cli *cli, void *options, int argc, const char **argv)
{
	const struct list_options *o = options;
	struct listing l = { .options = o, .out = cli->out, .unit = o->json ? NULL : o->unit, .last_topic = "" };
	int status = 0;
	event_files_set(cli, &l.catalogue.pmus);
	l.catalogue.every_pmu = o->json || o->describe_long;
	l.catalogue.encodings = o->json || o->details;
	if (o->cpu_type && !o->unit && !o->json) {
		l.unit = pmu_of_cpu_type(&l.catalogue.pmus, o->cpu_type);
		if (!l.unit) {
			cli_warn(cli, "ERROR: cputype is not supported!");
			status = 255;
		}
	}
	if (status == 0 && o->output)
		status = print_to_file(cli, &l, argc, argv);
	else if (status == 0)
		print_list(cli, &l, argc, argv);
	event_files_remarks(cli, &l.catalogue.pmus);
	catalogue_fini(&l.catalogue);
	return status;
}

static void list_defaults(void *options, __attribute__((unused)) const struct cli *cli)
{
	struct list_options *o = options;
	o->describe = true;
}

const struct command command_list = {
	.name = "list",
	.summary = "list the events that can be recorded and counted",
	.usage = list_usage,
	.options = list_table,
	.options_size = sizeof(struct list_options),
	.defaults = list_defaults,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = run_list,
	.pages = true,
};
