/* `report` in the terminal browser: a loader thread reads the recording, publishes what it has so far, and reads again for a range of time
 * or a flame graph. */
#pragma once
#include "cmd/report/setup.h"

/* In the sinks of a reading. */
void report_watch_sample(struct report *report, const struct resolved *r, size_t slice);
void report_watch_slice(struct report *report, const struct worker *worker, size_t slice);
void report_watch_begin(struct report *report, struct session *session, size_t slices);
void report_watch_batch(struct report *report, struct session *session, size_t slices);

/* Whether this command line browses; < 0: *err. */
int report_browses(const struct cli *cli, const struct report_options *options, struct error *err);
/* Shows a report that is set up and not read yet. Returns the exit code. *next: another recording to show then, to be freed; NULL: none. */
int report_browse(struct report *report, char **next);
