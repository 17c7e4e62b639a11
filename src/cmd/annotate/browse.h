/* `annotate` in the terminal browser: the functions with samples, and the code of the hottest. */
#pragma once
#include "analysis/annotate/annotation.h"
#include "cmd/annotate/options.h"
#include "cmd/browse.h"

/* The screen is cli's. */
struct annotate_browse {
	struct cli *cli;
	const struct annotate_options *options;
	struct input *input;           /* of the present run */
	struct annotator *annotator;   /* of the code; set before the recording is read to its end */
};

/* 1: use it; 0: print the code; < 0: an option requires it, but it cannot be used. */
int annotate_browses(const struct cli *cli, const struct annotate_options *options, struct error *err);
/* Before the screen opens. */
void annotate_browse_source(struct annotate_browse *browse);
/* Publishes the functions. The screen may use those that are lent to it (browse_screen_lend). */
void annotate_browse_publish(const struct annotate_browse *browse, const struct hits *hits);
