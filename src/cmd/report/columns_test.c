#include "cmd/report/setup.h"

#include <stdlib.h>

#include "cmd/test_cli.h"
#include "data/source.h"

/* A report of a recording without events. */
struct trial {
	struct test_cli t;
	struct source source;
	struct report_options options;
	struct report report;
};

static struct trial *trial_new(void)
{
	struct trial *trial = calloc(1, sizeof *trial);
	test_cli_open(&trial->t);
	report_defaults(&trial->options, &trial->t.cli);
	trial->report.cli = &trial->t.cli;
	trial->report.options = &trial->options;
	trial->report.input.session.source = &trial->source;
	return trial;
}

static void trial_free(struct trial *trial)
{
	columns_fini(&trial->report.columns);
	sample_filter_fini(&trial->report.filter);
	free(trial->report.sort);
	evlist_fini(&trial->source.header.evlist);
	test_cli_close(&trial->t);
	free(trial);
}

static void expect_sort(const char *given, enum sort_mode mode, bool history, const char *want)
{
	struct error err = { 0 };
	struct trial *trial = trial_new();
	trial->options.sort = given;
	trial->options.branch_history = history;
	trial->report.mode = mode;
	EXPECT_INT(report_setup_columns(&trial->report, &err), 0);
	if (want)
		EXPECT_STR(trial->report.sort, want);
	else
		EXPECT(trial->report.sort == NULL);
	trial_free(trial);
}

TEST("a sort key with symbols brings a column of instructions per cycle")
{
	expect_sort(NULL, SORT_NORMAL, false, NULL);
	expect_sort("dso", SORT_NORMAL, false, "dso");
	expect_sort("dso,sym", SORT_NORMAL, false, "dso,sym");
	expect_sort("symbol", SORT_NORMAL, false, "symbol,ipc_null");
	expect_sort("symbol_from", SORT_BRANCH, false, "symbol_from,ipc_lbr");
	expect_sort(NULL, SORT_NORMAL, true, "srcline,symbol,dso,ipc_null");
	expect_sort("comm", SORT_NORMAL, true, "comm");
}

TEST("keys of that column cannot be given, unknown ones name their option")
{
	struct error err = { 0 };
	struct trial *trial = trial_new();
	trial->options.sort = "comm,ipc_lbr";
	EXPECT(report_setup_columns(&trial->report, &err) < 0);
	EXPECT_STR(err.hint, "sort");
	EXPECT(err.kind == ERROR_OPTION);
	trial->options.sort = "nosuch";
	EXPECT(report_setup_columns(&trial->report, &err) < 0);
	EXPECT_STR(err.hint, "--sort");
	EXPECT(strncmp(err.text, "Error:\n", 7) == 0);
	trial_free(trial);
}

TEST("widths are given to the columns in their order, and 0 or nonsense means as needed")
{
	struct error err = { 0 };
	struct trial *trial = trial_new();
	struct columns *columns = &trial->report.columns;
	trial->options.sort = "comm,dso,sym";
	trial->options.fields = "comm,dso,sym";
	EXPECT_INT(report_setup_columns(&trial->report, &err), 0);
	EXPECT_INT(columns->fields.count, 3);
	trial->options.column_widths = "7,65535,65536,9";
	report_set_widths(&trial->report);
	EXPECT_INT(columns->all.items[columns->fields.items[0]].user_width, 7);
	EXPECT_INT(columns->all.items[columns->fields.items[1]].user_width, 65535);
	EXPECT_INT(columns->all.items[columns->fields.items[2]].user_width, 0);
	trial->options.column_widths = "-1,,4";
	report_set_widths(&trial->report);
	EXPECT_INT(columns->all.items[columns->fields.items[0]].user_width, 0);
	EXPECT_INT(columns->all.items[columns->fields.items[1]].user_width, 0);
	EXPECT_INT(columns->all.items[columns->fields.items[2]].user_width, 4);
	trial->options.column_widths = "5";
	report_set_widths(&trial->report);
	EXPECT_INT(columns->all.items[columns->fields.items[0]].user_width, 5);
	EXPECT_INT(columns->all.items[columns->fields.items[2]].user_width, 4);
	trial_free(trial);
}

static void open_lists(struct trial *trial, const char *comms, const char *dsos)
{
	struct error err = { 0 };
	EXPECT_INT(filter_open_lists(&trial->report.filter, &(struct filter_options){ .comms = comms, .dsos = dsos }, &err), 0);
}

TEST("a column that a filter leaves one value is left out and named, unless all would be")
{
	struct error err = { 0 };
	struct trial *trial = trial_new();
	struct columns *columns = &trial->report.columns;
	trial->options.fields = trial->options.sort = "comm,dso";
	EXPECT_INT(report_setup_columns(&trial->report, &err), 0);
	open_lists(trial, "a", "x,y");
	report_elide_columns(&trial->report);
	EXPECT_STR(test_cli_output(&trial->t), "# comm: a\n");
	EXPECT(columns->all.items[columns->fields.items[0]].elided);
	EXPECT(!columns->all.items[columns->fields.items[1]].elided);
	sample_filter_fini(&trial->report.filter);
	trial->report.filter = (struct sample_filter){ 0 };
	open_lists(trial, "a", "x");
	report_elide_columns(&trial->report);
	EXPECT_STR(test_cli_output(&trial->t), "# comm: a\n# dso: x\n");
	EXPECT(!columns->all.items[columns->fields.items[0]].elided);
	EXPECT(!columns->all.items[columns->fields.items[1]].elided);
	trial_free(trial);
}

#define FIELD(name, offset) "\tfield:int " name ";\toffset:" #offset ";\tsize:4;\tsigned:1;\n"

static void put_number(struct str *blob, uint64_t value, size_t size)
{
	uint32_t small = (uint32_t)value;
	str_add(blob, size == 8 ? (const char *)&value : (const char *)&small, size);
}

static void put_format(struct str *blob, const char *name, unsigned id, const char *fields)
{
	CLEANUP_STR struct str format = { 0 };
	str_printf(&format, "name: %s\nID: %u\nformat:\n" FIELD("common_pid", 4) "\n%s\nprint fmt: \"x\"\n", name, id, fields);
	put_number(blob, format.len, 8);
	str_puts(blob, str_text(&format));
}

/* The formats of sys:one (id 7: pid, cpu) and sys:two (id 8: pid), as in a recording (trace-cmd's tracing data). */
static struct tracepoints *open_formats(void)
{
	CLEANUP_STR struct str blob = { 0 };
	struct tracepoints *opened = NULL;
	struct error err = { 0 };
	str_add(&blob, "\x17\x08\x44tracing0.5", 14);
	str_putc(&blob, HOST_IS_BIG_ENDIAN);
	str_putc(&blob, 8);
	put_number(&blob, 4096, 4);
	str_add(&blob, "header_page", 12);
	put_number(&blob, 0, 8);
	str_add(&blob, "header_event", 13);
	put_number(&blob, 0, 8);
	put_number(&blob, 0, 4);
	put_number(&blob, 1, 4);
	str_add(&blob, "sys", 4);
	put_number(&blob, 2, 4);
	put_format(&blob, "one", 7, FIELD("pid", 8) FIELD("cpu", 12));
	put_format(&blob, "two", 8, FIELD("pid", 8));
	put_number(&blob, 0, 4);
	put_number(&blob, 0, 4);
	EXPECT_INT(tracepoints_open(&opened, (struct span){ (const uint8_t *)str_text(&blob), blob.len }, &err), 0);
	return opened;
}

/* want: "event.field" or "event.field/raw" of each column that the key makes; NULL: the key is refused. */
static void expect_fields(const char *key, const char *want)
{
	struct error err = { 0 };
	struct trial *trial = trial_new();
	struct attr attr = { .type = ATTR_SOFTWARE };
	CLEANUP_STR struct str found = { 0 };
	evlist_add(&trial->source.header.evlist, &attr, NULL, 0, "clock");
	attr = (struct attr){ .type = ATTR_TRACEPOINT, .config = 7 };
	evlist_add(&trial->source.header.evlist, &attr, NULL, 0, "sys:one");
	attr.config = 8;
	evlist_add(&trial->source.header.evlist, &attr, NULL, 0, "sys:two");
	trial->report.input.tracepoints = open_formats();
	trial->options.sort = key;
	int result = report_setup_columns(&trial->report, &err);
	EXPECT_INT(result, want ? 0 : -1);
	const struct columns *columns = &trial->report.columns;
	for (size_t i = 0; want && i < columns->all.count; i++) {
		const struct column *column = &columns->all.items[i];
		if (column->type == &column_type_field)
			str_printf(&found, "%s%u.%s%s", found.len ? " " : "", column->event, column->header, column->raw ? "/raw" : "");
	}
	if (want)
		EXPECT_STR(str_text(&found), want);
	tracepoints_close(trial->report.input.tracepoints);
	trial_free(trial);
}

TEST("a field of tracepoints is a column for each event that has it, or for the event that is named")
{
	expect_fields("pid", ""); /* a key of its own */
	expect_fields("cpu,trace_fields", "1.pid 1.cpu 2.pid");
	expect_fields("sys:one.cpu", "1.cpu");
	expect_fields("two.pid", "2.pid");
	expect_fields("%2.pid", "1.pid");
	expect_fields("%3.pid/raw", "2.pid/raw");
	expect_fields("sys:one.*", "1.pid 1.cpu");
}

TEST("fields of no event, of an ambiguous name, of an event that is no tracepoint, or with another suffix are refused")
{
	expect_fields("nosuch", NULL);
	expect_fields("sys:two.cpu", NULL);
	expect_fields("sys.pid", NULL);
	expect_fields("sys:on.pid", NULL);
	expect_fields("%1.pid", NULL);
	expect_fields("%4.pid", NULL);
	expect_fields("clock.pid", NULL);
	expect_fields("two.pid/hex", NULL);
}
