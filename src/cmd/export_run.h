/* One export: a recording → a database file or SQL text. */
#pragma once
#include "cmd/input.h"
#include "decode/itrace.h"
#include "export/schema.h"

struct export_request {
	struct input_options input;
	struct itrace itrace;
	struct schema schema;
	const char *path;          /* of the new file; NULL or "-": stdout, for SQL text alone */
};

void export_defaults(struct export_request *request);
/* Fills columns, calls and callchains from the words of perf's scripts: all or branches, then calls, callchains. */
int export_words(struct schema *schema, int count, const char *const *words, struct error *err);
/* Returns the exit code. */
int export_run(struct cli *cli, struct export_request *request);
