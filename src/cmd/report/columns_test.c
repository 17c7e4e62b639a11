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
