#include "analysis/record_text.h"
#include "cmd/attr_names.h"
#include "cmd/command.h"
#include "data/attr_text.h"
#include "data/evsel_name.h"
#include "data/source.h"
#include "tracepoint/tracepoint.h"

extern const struct command command_evlist;

struct evlist_options {
	const char *input;
	bool freq, verbose, group, force, trace_fields;
};

static const struct option evlist_table[] = {
	OPT_STRING('i', "input", struct evlist_options, input, "file", "the recording to read (perf.data)"),
	OPT_BOOL('F', "freq", struct evlist_options, freq, "add the frequency or period of sampling"),
	OPT_BOOL('v', "verbose", struct evlist_options, verbose, "add every field of the attribute that is set"),
	OPT_BOOL('g', "group", struct evlist_options, group, "show which events are counted together"),
	OPT_BOOL('f', "force", struct evlist_options, force, "do not ask whose file it is"),
	OPT_BOOL(0, "trace-fields", struct evlist_options, trace_fields, "add the fields of tracepoints"),
	OPT_END(),
};

static const char *const evlist_usage[] = { "perf evlist [<options>]", NULL };

/* One run. */
struct listing {
	const struct evlist_options *options;
	struct source *source;
	const struct evlist *evlist;
	struct tracepoints *tracepoints;
	struct attr_names names;
	struct writer *out;
	bool first; /* the next field is the first after the name */
};

static void print_name(const struct listing *listing, const struct evsel *evsel)
{
	char buffer[EVSEL_NAME_MAX];
	/* A pipe tells names only after its attributes, and reading stops before. */
	const char *name = listing->source->header.pipe ? attr_name(&evsel->attr, buffer, sizeof buffer) :
		evsel_name(evsel, buffer, sizeof buffer);
	plain_text(listing->out, name, strlen(name));
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
	plain_text(listing->out, text, strlen(text));
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
		plain_text(listing->out, name, strlen(name));
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
		plain_text(listing->out, name, strlen(name));
		writer_putc(listing->out, '{');
	}
	print_name(listing, &events[leader]);
	for (uint32_t i = leader + 1; i < listing->evlist->events.count && events[i].leader == leader; i++) {
		writer_putc(listing->out, ',');
		print_name(listing, &events[i]);
	}
	writer_puts(listing->out, braces ? "}\n" : "\n");
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
		writer_puts(listing->out, "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n");
	if (has_group && !listing->options->group)
		writer_puts(listing->out, "# Tip: use 'perf evlist -g' to show group information\n");
}

/* perf takes an older, shorter attribute of a pipe to be as long as its own: the ids behind it show as fields. */
static void widen_attribute(struct evlist *evlist, const struct record *record)
{
	size_t len = record->body_len < ATTR_SIZE_VER8 ? record->body_len : ATTR_SIZE_VER8;
	struct attr attr;
	if (evlist->events.count && attr_decode(&attr, record->body, len, false, NULL) == 0)
		evlist->events.items[evlist->events.count - 1].attr = attr;
}

/* A pipe's attributes come first; what stands behind them is of no interest, nor whether it is whole. */
static int read_attributes(struct source *source, struct error *err)
{
	struct record record;
	int more;
	while ((more = source_next(source, &record, err)) > 0 && record.type >= RECORD_USER_TYPE_START &&
	       record.type != RECORD_HEADER_FEATURE) {
		if (record.type == RECORD_HEADER_ATTR)
			widen_attribute(&source->header.evlist, &record);
		source_release(source, source_mark(source));
	}
	return more < 0 ? -1 : 0;
}

static bool tracepoint_lookup(const void *context, uint64_t id, const char **system, const char **name)
{
	return tracepoints_name(context, id, system, name);
}

static int evlist_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	const struct evlist_options *options = arg;
	struct error err = { 0 };
	if (argc)
		return cli_usage(cli, &command_evlist, NULL);
	if (options->group && (options->verbose || options->freq)) {
		error_set(&err, ERROR_USAGE, "--group option is not compatible with other options\n");
		return cli_usage(cli, &command_evlist, &err);
	}
	struct listing listing = { .options = options, .out = cli->out };
	struct source_options source_options = { .force = options->force };
	if (source_open(&listing.source, options->input ? options->input : "perf.data", &source_options, &err) < 0) {
		cli_complain(cli, &err);
		return 255;
	}
	struct header *header = &listing.source->header;
	listing.evlist = &header->evlist;
	bool cut = header->pipe && read_attributes(listing.source, &err) < 0;
	struct span formats = header->feature_data[FEATURE_TRACING_DATA];
	if (formats.data && tracepoints_open(&listing.tracepoints, formats, NULL) == 0)
		evlist_name_tracepoints(&header->evlist, tracepoint_lookup, listing.tracepoints);
	attr_names_open(&listing.names);
	print_events(&listing);
	attr_names_close(&listing.names);
	tracepoints_close(listing.tracepoints);
	source_close(listing.source);
	if (cut)
		cli_complain(cli, &err);
	return cut ? 255 : 0;
}

const struct command command_evlist = {
	.name = "evlist",
	.summary = "list the events of a recording",
	.usage = evlist_usage,
	.options = evlist_table,
	.options_size = sizeof(struct evlist_options),
	.run = evlist_run,
};
