/* `data convert --to-json`: a recording's header and samples as one JSON document, in perf's layout (linux-perf-json-version 1). */
#pragma once
#include "cmd/filter.h"
#include "cmd/input.h"

struct convert_request {
	struct input_options input;  /* force: an existing file is replaced, too */
	const char *path;            /* of the document; NULL: not given */
	struct filter_options filter; /* the time alone */
	bool all;                    /* --all: not supported, as in perf */
};

/* Returns the exit code. */
int convert_run(struct cli *cli, struct convert_request *request);
