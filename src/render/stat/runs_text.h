/* A comparison of repeated runs as text: a line for each counter, with the medians of both commands and the change. */
#pragma once
#include "analysis/runs/runs.h"
#include "base/writer.h"

void runs_text_print(const struct runs *runs, const char *const names[RUN_SIDES], bool colour, struct writer *out);
