/* The columns of a report: --sort and --fields, fields of tracepoints, columns that are left out, widths. */
#include <stdlib.h>

#include "cmd/field_columns.h"
#include "cmd/report/setup.h"

static bool all_tracepoints(const struct evlist *evlist)
{
	for (size_t i = 0; i < evlist->events.count; i++)
		if (evlist->events.items[i].attr.type != ATTR_TRACEPOINT)
			return false;
	return evlist->events.count;
}

/* A key that contains "symbol" adds a column of instructions per cycle. */
static void expand_sort(struct report *report)
{
	bool blocks = report->options->total_cycles && report->mode == SORT_BRANCH; /* of branches as by default, as perf */
	const char *sort = blocks ? NULL : report->options->sort;
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
	struct field_columns fields = { .evlist = session_evlist(&report->input.session), .tracepoints = report->input.tracepoints,
		.raw = options->raw_trace };
	struct column_request request = {
		.sort = report->sort, .fields = options->fields, .default_sort = options->default_sort, .children = report->children,
		.show_samples = options->show_samples, .show_period = options->show_period, .show_cpu_utilization = options->cpu_utilization,
		.with_parent = options->parent, .raw_trace = options->raw_trace, .mode = report->mode, .dynamic = field_columns_add, .context = &fields,
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

/* -w: one width per field, for as many fields as widths are given. A hierarchy has its own widths, as in perf. */
void report_set_widths(struct report *report)
{
	const char *text = report->options->hierarchy ? NULL : report->options->column_widths;
	struct columns *columns = &report->columns;
	for (size_t i = 0; text && i < columns->fields.count; i++) {
		char *end;
		long width = strtol(text, &end, 10);
		columns->all.items[columns->fields.items[i]].user_width = width > 0 && width < 1 << 16 ? (unsigned)width : 0;
		text = *end == ',' ? end + 1 : NULL;
	}
}

