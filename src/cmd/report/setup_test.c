#include "cmd/report/setup.h"

#include <stdlib.h>

#include "cmd/test_cli.h"
#include "data/test_recording.h"
#include "image/test_folder.h"

/* A report of a recording with the events "cpu-clock" and "task-clock", up to its columns. */
struct trial {
	struct test_cli t;
	struct folder f;
	struct report_options options;
	struct report report;
};

static struct trial *trial_new(void)
{
	struct trial *trial = calloc(1, sizeof *trial);
	struct recording *r = recording_new(false);
	struct error err = { 0 };
	test_cli_open(&trial->t);
	folder_open(&trial->f);
	make_file(r);
	report_defaults(&trial->options, &trial->t.cli);
	trial->options.input.path = strdup(folder_write(&trial->f, "perf.data", r->bytes, r->len));
	trial->options.input.force = true;
	trial->report.cli = &trial->t.cli;
	trial->report.options = &trial->options;
	EXPECT_INT(input_open(&trial->report.input, &trial->t.cli, &trial->options.input, &(struct input_use){ .no_progress = true }, &err), 0);
	free(r);
	return trial;
}

static void trial_free(struct trial *trial)
{
	columns_fini(&trial->report.columns);
	sample_filter_fini(&trial->report.filter);
	free(trial->report.sort);
	input_close(&trial->report.input);
	free((char *)trial->options.input.path);
	folder_close(&trial->f);
	test_cli_close(&trial->t);
	free(trial);
}

static struct evsel *event(struct trial *trial, size_t i)
{
	return &trial->report.input.session.source->header.evlist.events.items[i];
}

TEST("rows are samples, branches where they were recorded or asked for, or memory accesses; not two of them")
{
	struct error err = { 0 };
	struct trial *trial = trial_new();
	struct report *report = &trial->report;
	EXPECT_INT(report_choose_mode(report, &err), 0);
	EXPECT(report->mode == SORT_NORMAL && report->children);
	trial->options.branch_mode = 1;
	EXPECT_INT(report_choose_mode(report, &err), 0);
	EXPECT(report->mode == SORT_BRANCH && !report->children);
	trial->options.memory = true;
	EXPECT(report_choose_mode(report, &err) < 0);
	EXPECT_STR(err.text, "branch and mem mode incompatible");
	report->mode = SORT_NORMAL;
	trial->options.branch_mode = 0;
	EXPECT_INT(report_choose_mode(report, &err), 0);
	EXPECT(report->mode == SORT_MEMORY && !report->children);
	report->mode = SORT_NORMAL;
	trial->options.memory = false;
	trial->options.branch_mode = -1;
	report->input.session.source->header.features[0] |= 1ull << FEATURE_BRANCH_STACK;
	EXPECT_INT(report_choose_mode(report, &err), 0);
	EXPECT(report->mode == SORT_BRANCH);
	report->mode = SORT_NORMAL;
	trial->options.branch_history = true;
	EXPECT_INT(report_choose_mode(report, &err), 0);
	EXPECT(report->mode == SORT_NORMAL && report->profile_options.branch_marks);
	trial_free(trial);
}

TEST("a hierarchy has no accumulated children, and no --fields")
{
	struct error err = { 0 };
	struct trial *trial = trial_new();
	trial->options.hierarchy = true;
	EXPECT_INT(report_choose_mode(&trial->report, &err), 0);
	EXPECT(!trial->report.children);
	trial->options.fields = "overhead";
	EXPECT(report_choose_mode(&trial->report, &err) < 0);
	EXPECT_STR(err.hint, "fields");
	trial_free(trial);
}

TEST("events that switch counting on and off are found by their whole names")
{
	struct error err = { 0 };
	struct trial *trial = trial_new();
	struct report *report = &trial->report;
	EXPECT_INT(report_find_switches(report, &err), 0);
	EXPECT(!event_switch_given(&report->profile_options.switches));
	trial->options.switch_on = "task-clock";
	trial->options.switch_off = "cpu-clock";
	EXPECT_INT(report_find_switches(report, &err), 0);
	EXPECT_INT(report->profile_options.switches.on, 1);
	EXPECT_INT(report->profile_options.switches.off, 0);
	trial->options.switch_off = "cpu-cloc";
	EXPECT(report_find_switches(report, &err) < 0);
	EXPECT_STR(err.text, "ERROR: switch-off event not found (cpu-cloc)");
	trial_free(trial);
}

TEST("samples without chains refuse -g and leave no children; samples with chains use them unless -g none")
{
	struct error err = { 0 };
	struct trial *trial = trial_new();
	struct report *report = &trial->report;
	EXPECT_INT(report_choose_mode(report, &err), 0);
	EXPECT_INT(report_setup_columns(report, &err), 0);
	EXPECT_INT(report_setup_samples(report, &err), 0);
	EXPECT(!report->children && !report->profile_options.use_chains);
	trial->options.chain_given = true;
	EXPECT(report_setup_samples(report, &err) < 0);
	EXPECT(strncmp(err.text, "Error:\nSelected -g or --branch-history.", 39) == 0);
	trial->options.chain_given = false;
	event(trial, 1)->attr.sample_type |= SAMPLE_CALLCHAIN;
	EXPECT_INT(report_setup_samples(report, &err), 0);
	EXPECT(report->profile_options.use_chains);
	trial->options.chain.mode = CHAIN_NONE;
	EXPECT_INT(report_setup_samples(report, &err), 0);
	EXPECT(!report->profile_options.use_chains);
	report->mode = SORT_BRANCH;
	EXPECT(report_setup_samples(report, &err) < 0);
	EXPECT(strstr(err.text, "no branch data") != NULL);
	report->mode = SORT_MEMORY;
	EXPECT(report_setup_samples(report, &err) < 0);
	EXPECT(strstr(err.text, "no mem data") != NULL);
	trial_free(trial);
}

TEST("a profile gets the options with their dependences")
{
	struct trial *trial = trial_new();
	struct report *report = &trial->report;
	const struct profile_options *out = &report->profile_options;
	trial->options.children = false;
	report_fill_profile(report);
	EXPECT(out->iteration == ITERATE_SAMPLES && out->chain.order == CHAIN_CALLEE && out->chain.mode == CHAIN_GRAPH);
	EXPECT(out->inlines == INLINE_UNWOUND);
	EXPECT_INT(out->max_stack, 127);
	trial->options.children = report->children = true;
	trial->options.max_stack = -1;
	trial->options.inline_given = true;
	report_fill_profile(report);
	EXPECT(out->iteration == ITERATE_CALLERS && out->chain.order == CHAIN_CALLER && out->inlines == INLINE_ALL);
	EXPECT_INT(out->max_stack, 0);
	trial->options.chain_order_given = true;
	trial->options.inline_names = false;
	trial->options.chain.mode = CHAIN_FOLDED;
	report_fill_profile(report);
	EXPECT(out->chain.order == CHAIN_CALLEE && out->inlines == INLINE_NONE && out->chain.mode == CHAIN_FOLDED);
	struct error err = { 0 };
	trial->options.format = format_find("json", &err);
	report_fill_profile(report);
	EXPECT(out->chain.mode == CHAIN_GRAPH);
	trial_free(trial);
}
