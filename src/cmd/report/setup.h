/* One run of `report`: its state, and how it is prepared. */
#pragma once
#include "analysis/column/columns.h"
#include "analysis/count/thread_values.h"
#include "analysis/profile/hist.h"
#include "analysis/profile/profile.h"
#include "cmd/report/options.h"

struct branch_cycles;
struct viewer;
struct flame_sink;
struct code_view;

/* What the browser adds to a reading; viewer NULL: without a browser. */
struct report_watch {
	struct viewer *viewer;
	struct heat *heats;           /* one per worker */
	struct flame_sink *flame;     /* NULL: not asked for */
	struct sink flame_sink;
	struct code_view *code;
};

struct report {
	struct cli *cli;
	struct report_options *options;
	struct input input;
	struct columns columns;
	char *sort;                  /* the effective --sort; NULL: the default */
	struct profile profile;
	struct profile_options profile_options;
	struct sample_filter filter;
	regex_t parent, ignore_callees;
	bool parent_compiled, ignore_compiled;
	struct thread_values values;   /* -T */
	enum sort_mode mode;
	bool children;
	bool browses;                  /* in the terminal browser: nothing is printed */
	struct report_watch watch;
	struct branch_cycles *cycles;  /* NULL: not needed */
};

/* In this order. */
int report_find_switches(struct report *report, struct error *err);
int report_choose_mode(struct report *report, struct error *err);
int report_setup_columns(struct report *report, struct error *err);
int report_open_filters(struct report *report, struct error *err);
/* Prints on stdout which columns are left out, as they could hold only one value. */
void report_elide_columns(struct report *report);
void report_set_widths(struct report *report);
int report_setup_samples(struct report *report, struct error *err);
void report_fill_profile(struct report *report);
