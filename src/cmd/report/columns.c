/* The columns of a report: --sort and --fields, fields of tracepoints, columns that are left out, widths. */
#include <stdlib.h>

#include "cmd/report/setup.h"
#include "data/evsel_name.h"

static bool all_tracepoints(const struct evlist *evlist)
{
	for (size_t i = 0; i < evlist->events.count; i++)
		if (evlist->events.items[i].attr.type != ATTR_TRACEPOINT)
			return false;
	return evlist->events.count;
}

/* A tracepoint's field as a column of this event. */
static void add_field_column(struct columns *columns, uint32_t event, const struct tracepoint_field *field, bool raw, int level)
{
	uint32_t index = columns_add_sort(columns, &column_type_field, level);
	struct column *column = &columns->all.items[index];
	column->header = tracepoint_field_name(field);
	column->event = event;
	column->field = field;
	column->raw = raw;
}

static void add_all_fields(struct report *report, struct columns *columns, uint32_t event, bool raw, int level)
{
	uint64_t id = session_evlist(&report->input.session)->events.items[event].attr.config;
	const struct tracepoint_field *field;
	for (unsigned i = 0; (field = tracepoints_field_at(report->input.tracepoints, id, i)); i++)
		add_field_column(columns, event, field, raw, level);
}

/* "%2", "sched:sched_switch", or a part of one event's name. */
static uint32_t find_event(const struct evlist *evlist, const char *name)
{
	char buffer[EVSEL_NAME_MAX];
	uint32_t found = UINT32_MAX;
	if (*name == '%') {
		unsigned long number = strtoul(name + 1, NULL, 0);
		return number <= evlist->events.count ? (uint32_t)(number ? number - 1 : 0) : UINT32_MAX;
	}
	for (uint32_t i = 0; i < evlist->events.count; i++) {
		const char *other = evsel_name(&evlist->events.items[i], buffer, sizeof buffer);
		if (strchr(name, ':') ? strcmp(other, name) == 0 : strstr(other, name) != NULL) {
			if (strchr(name, ':'))
				return i;
			if (found != UINT32_MAX)
				return UINT32_MAX;
			found = i;
		}
	}
	return found;
}

/* Of every tracepoint that has such a field. */
static int add_matching_fields(struct report *report, struct columns *columns, const char *name, bool raw, int level)
{
	const struct evlist *evlist = session_evlist(&report->input.session);
	bool whole = strcmp(name, "trace_fields") == 0;
	int result = whole ? 0 : -1;
	for (uint32_t i = 0; report->input.tracepoints && i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		if (evsel->attr.type != ATTR_TRACEPOINT)
			continue;
		const struct tracepoint_field *field = whole ? NULL : tracepoints_field(report->input.tracepoints, evsel->attr.config, name);
		if (whole)
			add_all_fields(report, columns, i, raw, level);
		if (field) {
			add_field_column(columns, i, field, raw, level);
			result = 0;
		}
	}
	return result;
}

static int add_event_fields(struct report *report, struct columns *columns, const char *event, const char *name, bool raw, int level)
{
	const struct evlist *evlist = session_evlist(&report->input.session);
	uint32_t index = find_event(evlist, event);
	if (!report->input.tracepoints || index == UINT32_MAX || evlist->events.items[index].attr.type != ATTR_TRACEPOINT)
		return -1;
	if (strcmp(name, "*") == 0) {
		add_all_fields(report, columns, index, raw, level);
		return 0;
	}
	const struct tracepoint_field *field = tracepoints_field(report->input.tracepoints, evlist->events.items[index].attr.config, name);
	if (!field)
		return -1;
	add_field_column(columns, index, field, raw, level);
	return 0;
}

/* "event.field/raw", "event.*", "field", "trace_fields". */
static int add_dynamic(void *context, struct columns *columns, const char *word, int level)
{
	struct report *report = context;
	char *text = memory_string(word), *event = text, *field = strchr(text, '.');
	int result = -1;
	if (field)
		*field++ = '\0';
	else
		field = text;
	char *option = strchr(field, '/');
	if (option)
		*option++ = '\0';
	bool raw = option || report->options->raw_trace;
	if (option && strcmp(option, "raw") != 0)
		result = -1;
	else if (field == text || strcmp(field, "trace_fields") == 0)
		result = add_matching_fields(report, columns, field, raw, level);
	else
		result = add_event_fields(report, columns, event, field, raw, level);
	free(text);
	return result;
}

/* A key that contains "symbol" adds a column of instructions per cycle. */
static void expand_sort(struct report *report)
{
	const char *sort = report->options->sort;
	if (!sort && report->options->branch_history)
		sort = "srcline,symbol,dso";
	if (!sort)
		return;
	const char *more = !strstr(sort, "symbol") ? "" : report->mode == SORT_BRANCH ? ",ipc_lbr" : ",ipc_null";
	report->sort = memory_alloc(strlen(sort) + strlen(more) + 1);
	strcat(strcpy(report->sort, sort), more);
}

int report_setup_columns(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	if (options->sort && strstr(options->sort, "ipc")) {
		error_set(err, ERROR_OPTION, "%s", "");
		return error_hint(err, "sort");
	}
	expand_sort(report);
	struct column_request request = {
		.sort = report->sort, .fields = options->fields, .default_sort = options->default_sort, .children = report->children,
		.show_samples = options->show_samples, .show_period = options->show_period, .show_cpu_utilization = options->cpu_utilization,
		.with_parent = options->parent, .raw_trace = options->raw_trace, .mode = report->mode, .dynamic = add_dynamic, .context = report,
	};
	request.tracepoints = all_tracepoints(session_evlist(&report->input.session));
	int result = columns_setup(&report->columns, &request, err);
	report->mode = report->columns.mode;
	if (result < 0 && request.invalid) { /* its row of the usage lists the keys */
		struct error why = *err;
		error_set(err, ERROR_OPTION, "Error:\n%s", why.text);
		error_hint(err, "%s", request.invalid);
	}
	return result;
}

/* "# dso: libc.so.6": a column that can hold only one value is not shown. */
static void elide_column(struct report *report, enum column_id width, const struct name_list *list, const char *name)
{
	const char *only = name_list_single(list);
	for (size_t i = 0; only && i < report->columns.fields.count; i++) {
		struct column *column = &report->columns.all.items[report->columns.fields.items[i]];
		if (column->type->class == COLUMN_MEASURE || column->type->id != width)
			continue;
		/* The levels of a hierarchy were made before, except where the events of a stream follow later. */
		column->elided = true;
		column->level_elided = report->input.session.source->header.pipe;
		if (!report->browses)
			writer_printf(report->cli->out, "# %s: %s\n", name, only);
	}
}

void report_elide_columns(struct report *report)
{
	struct columns *columns = &report->columns;
	bool shown = false;
	for (size_t i = 0; i < columns->fields.count; i++) {
		enum column_id width = columns->all.items[columns->fields.items[i]].type->id;
		if (width == ID_COMM)
			elide_column(report, width, report->filter.comms, "comm");
		else if (width == ID_DSO)
			elide_column(report, width, report->filter.dsos, "dso");
		else if (width == ID_SYMBOL)
			elide_column(report, width, report->filter.symbols, "symbol");
	}
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = &columns->all.items[columns->fields.items[i]];
		shown |= column->type->class != COLUMN_MEASURE && column->type->class != COLUMN_FIELD && !column->elided;
	}
	for (size_t i = 0; !shown && i < columns->all.count; i++)
		columns->all.items[i].elided = columns->all.items[i].level_elided = false;
}

/* -w: one width per field, for as many fields as widths are given. */
void report_set_widths(struct report *report)
{
	const char *text = report->options->column_widths;
	struct columns *columns = &report->columns;
	for (size_t i = 0; text && i < columns->fields.count; i++) {
		char *end;
		long width = strtol(text, &end, 10);
		columns->all.items[columns->fields.items[i]].user_width = width > 0 && width < 1 << 16 ? (unsigned)width : 0;
		text = *end == ',' ? end + 1 : NULL;
	}
}

