/* The steps of one reading, in this order; report_close also after a failure. */
#pragma once
#include "cmd/report/setup.h"

int report_open(struct report *report, struct error *err);
/* Everything before the first record is read. REPORT_READY, or the exit code: there is nothing to read, or *err was printed. */
enum { REPORT_READY = -1 };
int report_prepare(struct report *report, struct error *err);
void report_run_session(struct report *report);
bool report_has_entries(const struct report *report);
/* Prints tables in the format of the command line, or as the page of --gtk. Returns 0, or the exit code after a message. */
int report_print_results(const struct report *report, const struct results *results);
/* Prints what the recording lacks; returns the exit code. */
int report_end(struct report *report);
void report_close(struct report *report);
