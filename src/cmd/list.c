#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/event_files.h"
#include "event/catalogue.h"
#include "os/written_file.h"

extern const struct command command_list;

struct list_options {
	bool names_only, json, describe, describe_long, details, deprecated;
	const char *output, *unit, *cpu_type;
	int debug;
};

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

/* One run. */
struct listing {
	const struct list_options *options;
	struct catalogue catalogue;
	struct writer *out;
	const char *unit;          /* pattern of PMUs; NULL: all */
	const char *name;          /* pattern of names; NULL: all */
	const char *last_topic;
	bool any;                  /* of JSON: an event has been printed */
};

enum { INDENT = 8, TYPE_COLUMN = 53, WIDTH = 80, MARGIN = 2 };

static bool matches(const char *pattern, const char *text, int flags)
{
	return text && fnmatch(pattern, text, flags) == 0;
}

static bool is_wanted(const struct listing *l, const struct catalogue_event *event)
{
	if (event->deprecated && !l->options->deprecated)
		return false;
	if (l->unit && event->pmu && !matches(l->unit, event->pmu, 0))
		return false;
	return !l->name || matches(l->name, event->name, 0) || matches(l->name, event->alias, 0) ||
		matches(l->name, event->topic, FNM_CASEFOLD);
}

static size_t columns(void)
{
	const char *given = secure_getenv("COLUMNS");
	struct winsize size;
	if (given)
		return (size_t)strtoul(given, NULL, 10);
	return (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH) - MARGIN;
}

/* Prints words in lines of `width` columns, the first of which begins at the indent. */
static void print_wrapped(struct writer *out, const char *text, size_t width)
{
	size_t column = INDENT;
	bool comma = false, newline = false;
	while (*text) {
		size_t length = strcspn(text, " ,\t\n");
		if ((column + length >= width && column > INDENT) || newline) {
			writer_puts(out, comma ? ",\n" : "\n");
			writer_pad(out, ' ', INDENT);
			column = INDENT;
		}
		if (column > INDENT) {
			writer_putc(out, comma ? ',' : ' ');
			column++;
		}
		writer_add(out, text, length);
		column += length;
		newline = text[length] == '\n';
		comma = text[length] == ',';
		text += length;
		text += strspn(text, " ,\t\n\v\f\r");
	}
}

static void print_description(struct writer *out, const char *text, const char *unit)
{
	struct str full = { 0 };
	str_puts(&full, text);
	if (unit)
		str_printf(&full, "%s Unit: %s", full.len && full.text[full.len - 1] != '.' ? "." : "", unit);
	writer_pad(out, ' ', INDENT - 1);
	writer_putc(out, '[');
	print_wrapped(out, str_text(&full), columns());
	writer_puts(out, "]\n");
	str_fini(&full);
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
		writer_pad(out, ' ', length < TYPE_COLUMN ? TYPE_COLUMN - length : 0);
		writer_printf(out, "[%s]", event->type_text);
	}
	writer_putc(out, '\n');
	if (event->long_description && o->describe_long)
		print_description(out, event->long_description, NULL);
	else if (event->description && o->describe)
		print_description(out, event->description, event->pmu);
	if (o->details && event->encoding) {
		writer_pad(out, ' ', INDENT);
		print_wrapped(out, event->encoding, columns());
		writer_putc(out, '\n');
	}
}

/* perf's escapes, which leave other control characters. */
static void print_json_text(struct writer *out, const char *text)
{
	for (;;) {
		size_t plain = strcspn(text, "\n\r\\\"");
		writer_add(out, text, plain);
		text += plain;
		if (!*text)
			return;
		writer_putc(out, '\\');
		writer_putc(out, *text == '\n' ? 'n' : *text == '\r' ? 'r' : *text);
		text++;
	}
}

static void print_json(struct listing *l, const struct catalogue_event *event)
{
	const struct {
		const char *key, *value;
	} rows[] = {
		{ "Unit", event->pmu }, { "Topic", event->topic }, { "EventName", event->name }, { "EventAlias", event->alias },
		{ "ScaleUnit", event->scale_unit }, { "EventType", event->type_text }, { "Deprecated", event->deprecated ? "1" : NULL },
		{ "BriefDescription", event->description }, { "PublicDescription", event->long_description }, { "Encoding", event->encoding },
	};
	bool first = true;
	writer_puts(l->out, l->any ? ",\n{\n" : "{\n");
	l->any = true;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (!rows[i].value)
			continue;
		writer_printf(l->out, "%s\t\"%s\": \"", first ? "" : ",\n", rows[i].key);
		print_json_text(l->out, rows[i].value);
		writer_putc(l->out, '"');
		first = false;
	}
	writer_puts(l->out, first ? "}" : "\n}");
}

static void print_event(struct listing *l, const struct catalogue_event *event)
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
		print_event(l, &catalogue->list.items[i]);
}

static void print_all(struct cli *cli, struct listing *l, bool forms)
{
	for (enum catalogue_kind kind = 0; kind < CATALOGUE_KINDS; kind++)
		if (forms || (kind != CATALOGUE_RAW && kind != CATALOGUE_BREAKPOINT))
			print_kind(cli, l, kind);
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
		{ { "sdt" }, { 0 }, 0 }, /* probe points and metrics are not listed yet */
		{ { "metric", "metrics" }, { 0 }, 0 },
		{ { "metricgroup", "metricgroups" }, { 0 }, 0 },
	};
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
	if (tracepoints)
		print_kind(cli, l, CATALOGUE_TRACEPOINT);
	else
		print_all(cli, l, false);
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
