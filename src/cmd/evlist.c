#include "render/dump/record_text.h"
#include "cmd/attr_names.h"
#include "cmd/evlist_results.h"
#include "cmd/format_option.h"
#include "cmd/loss_summary.h"
#include "data/attr_text.h"
#include "data/evsel_name.h"
#include "data/source.h"
#include "tracepoint/tracepoint.h"

extern const struct command command_evlist;

struct evlist_options {
	const char *input;
	const struct format *format;
	bool freq, verbose, group, force, trace_fields;
};

static const struct option evlist_table[] = {
	OPT_STRING('i', "input", struct evlist_options, input, "file", "the recording to read (perf.data)"),
	OPT_BOOL('F', "freq", struct evlist_options, freq, "add the frequency or period of sampling"),
	OPT_BOOL('v', "verbose", struct evlist_options, verbose, "add every field of the attribute that is set"),
	OPT_BOOL('g', "group", struct evlist_options, group, "show which events are counted together"),
	OPT_BOOL('f', "force", struct evlist_options, force, "read a recording of another user, too"),
	OPT_BOOL(0, "trace-fields", struct evlist_options, trace_fields, "add the fields of tracepoints"),
	OPT_FORMAT(struct evlist_options, format),
	OPT_END(),
};

static const char *const evlist_usage[] = { "perf evlist [<options>]", NULL };

/* One run. */
struct listing {
	const struct cli *cli;
	const struct evlist_options *options;
	struct source *source;
	const struct evlist *evlist;
	struct tracepoints *tracepoints;
	struct attr_names names;
	struct writer *out;
	bool attr_names_only; /* a pipe: names come after its attributes, and reading stops before them */
	bool first; /* the next field is the first after the name */
};

static void print_name(const struct listing *listing, const struct evsel *evsel)
{
	char buffer[EVSEL_NAME_MAX];
	const char *name = evlist_event_name(evsel, listing->attr_names_only, buffer, sizeof buffer);
	writer_name(listing->out, name, strlen(name));
}

static void print_separator(struct listing *listing)
{
	writer_putc(listing->out, listing->first ? ':' : ',');
	listing->first = false;
}

static void print_field(void *context, const char *name, const char *text)
{
	struct listing *listing = context;
	print_separator(listing);
	writer_printf(listing->out, " %s: ", name);
	writer_name(listing->out, text, strlen(text));
}

static void print_trace_fields(struct listing *listing, const struct attr *attr)
{
	const struct tracepoints *known = listing->tracepoints;
	const struct tracepoint_field *field = NULL;
	bool tracepoint = attr->type == ATTR_TRACEPOINT;
	for (unsigned i = 0; tracepoint && known && (field = tracepoints_field_at(known, attr->config, i)); i++) {
		const char *name = tracepoint_field_name(field);
		print_separator(listing);
		if (i == 0)
			writer_puts(listing->out, " trace_fields: ");
		writer_name(listing->out, name, strlen(name));
	}
	if (tracepoint && known && tracepoints_field_at(known, attr->config, 0))
		return;
	print_separator(listing);
	writer_puts(listing->out, tracepoint ? " (no trace field)" : " (not a tracepoint)");
}

static void print_event(struct listing *listing, const struct evsel *evsel)
{
	const struct evlist_options *options = listing->options;
	listing->first = true;
	print_name(listing, evsel);
	if (options->verbose) {
		attr_each_field(&evsel->attr, &listing->names, print_field, listing);
	} else if (options->freq) {
		print_separator(listing);
		writer_printf(listing->out, " %s=%llu", attr_flag(&evsel->attr, ATTR_FREQ) ? "sample_freq" : "sample_period",
			(unsigned long long)evsel->attr.sample_period);
	}
	if (options->trace_fields)
		print_trace_fields(listing, &evsel->attr);
	writer_putc(listing->out, '\n');
}

static void print_group(struct listing *listing, uint32_t leader)
{
	const struct evsel *events = listing->evlist->events.items;
	bool braces = events[leader].group_members > 1;
	if (braces) {
		const char *name = events[leader].group_name ? events[leader].group_name : "";
		writer_name(listing->out, name, strlen(name));
		writer_putc(listing->out, '{');
	}
	print_name(listing, &events[leader]);
	for (uint32_t i = leader + 1; i < listing->evlist->events.count && events[i].leader == leader; i++) {
		writer_putc(listing->out, ',');
		print_name(listing, &events[i]);
	}
	writer_puts(listing->out, braces ? "}\n" : "\n");
}

static void print_tip(const struct listing *listing, const char *text)
{
	CLEANUP_STR struct str tip = { 0 };
	cli_named(listing->cli, &tip, text);
	writer_puts(listing->out, str_text(&tip));
}

static void print_events(struct listing *listing)
{
	const struct evlist *evlist = listing->evlist;
	bool has_tracepoint = false, has_group = false;
	for (uint32_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		has_tracepoint |= evsel->attr.type == ATTR_TRACEPOINT;
		has_group |= evsel->leader != i;
		if (!listing->options->group)
			print_event(listing, evsel);
		else if (evsel->leader == i)
			print_group(listing, i);
	}
	if (has_tracepoint && !listing->options->trace_fields)
		print_tip(listing, "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n");
	if (has_group && !listing->options->group)
		print_tip(listing, "# Tip: use 'perf evlist -g' to show group information\n");
}

static void print_table(const struct listing *listing)
{
	const struct evlist_options *options = listing->options;
	struct evlist_results results;
	evlist_results_init(&results, listing->evlist, &listing->names, options->trace_fields ? listing->tracepoints : NULL,
		listing->attr_names_only);
	options->format->print(&results.results, listing->out);
	evlist_results_fini(&results);
}

/* perf reads an older, shorter attribute of a pipe with the length of its own: the ids that follow it appear as fields. */
static void widen_attribute(struct evlist *evlist, const struct record *record)
{
	size_t len = record->body_len < ATTR_SIZE_VER8 ? record->body_len : ATTR_SIZE_VER8;
	struct attr attr;
	if (evlist->events.count && attr_decode(&attr, record->body, len, false, NULL) == 0)
		evlist->events.items[evlist->events.count - 1].attr = attr;
}

/* A pipe's attributes come first; the records after them are not read. */
static void read_attributes(struct source *source, struct error *err)
{
	struct record record;
	while (source_next(source, &record, err) > 0 && record.type >= RECORD_USER_TYPE_START &&
	       record.type != RECORD_HEADER_FEATURE) {
		if (record.type == RECORD_HEADER_ATTR)
			widen_attribute(&source->header.evlist, &record);
		source_release(source, source_mark(source));
	}
}

static bool tracepoint_lookup(const void *context, uint64_t id, const char **system, const char **name)
{
	return tracepoints_name(context, id, system, name);
}

static int evlist_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	const struct evlist_options *options = arg;
	struct error err = { 0 };
	struct losses losses;
	if (argc)
		return cli_usage(cli, &command_evlist, NULL);
	if (options->group && (options->verbose || options->freq)) {
		error_set(&err, ERROR_USAGE, "  Error: --group option is not compatible with other options");
		return cli_usage(cli, &command_evlist, &err);
	}
	struct listing listing = { .cli = cli, .options = options, .out = cli->out };
	struct source_options source_options = { .force = options->force, .event_memory = source_event_memory(cli->budget) };
	if (source_open(&listing.source, options->input ? options->input : "perf.data", &source_options, &err) < 0) {
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	struct header *header = &listing.source->header;
	listing.evlist = &header->evlist;
	listing.attr_names_only = header->pipe;
	if (header->pipe)
		read_attributes(listing.source, &err);
	struct span tracing = header->feature_data[FEATURE_TRACING_DATA];
	if (tracing.data && tracepoints_open(&listing.tracepoints, tracing, NULL) == 0)
		evlist_name_tracepoints(&header->evlist, 0, tracepoint_lookup, listing.tracepoints);
	attr_names_open(&listing.names);
	if (format_is_table(options->format))
		print_table(&listing);
	else
		print_events(&listing);
	attr_names_close(&listing.names);
	tracepoints_close(listing.tracepoints);
	losses_of_source(&losses, listing.source, &err);
	source_close(listing.source);
	return loss_summary_print(cli, options->input ? options->input : "perf.data", &losses, false);
}

const struct command command_evlist = {
	.name = "evlist",
	.summary = "list the events of a recording",
	.usage = evlist_usage,
	.options = evlist_table,
	.options_size = sizeof(struct evlist_options),
	.run = evlist_run,
};
