/* `annotate` in the terminal browser: the functions with samples, and the code of the hottest. */
#pragma once
#include "analysis/annotate/annotation.h"
#include "cmd/annotate/options.h"
#include "cmd/browse.h"

/* What the recording gave; nothing changes while the browser is open. */
struct annotate_browse {
	struct cli *cli;
	const struct annotate_options *options;
	struct input *input;
	const struct hits *hits;
	struct annotator *annotator;
};

/* 1: use it; 0: print the code; < 0: an option requires it, but it cannot be used. */
int annotate_browses(const struct cli *cli, const struct annotate_options *options, struct error *err);
int annotate_browse(const struct annotate_browse *browse, struct error *err);
