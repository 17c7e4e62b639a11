/* `report` without a profile: the header, -D, --stats, --tasks, --mmaps. */
#pragma once
#include "analysis/filter/time_filter.h"
#include "cmd/command.h"
#include "cmd/report/options.h"
#include "session/session.h"

struct report_raw {
	struct cli *cli;
	const struct report_options *options;
	struct session *session;
	const struct time_filter *time; /* -D: samples that it drops are not resolved */
	bool by_branch;                 /* report would show branches: each counts as a sample */
};

/* --header, --header-only. The features of a stream are records: with header_only it is read to its end for them. */
void report_raw_header(const struct report_raw *raw);

/* --stats, --tasks or --mmaps: no symbol is looked up. */
bool report_raw_is_plain(const struct report_options *options);
/* -D, --stats, --tasks or --mmaps is asked for. */
bool report_raw_wanted(const struct report_options *options);
/* Reads the recording and prints what the options ask for, without damaged records. */
void report_raw_run(const struct report_raw *raw);
