/* -D: the records of each recording, before the comparison. */
#pragma once
#include "cmd/input.h"

/* Prints all records of the recording as bytes and as text. Returns < 0 if it cannot be opened. */
int diff_dump(struct cli *cli, const struct input_options *options, struct error *err);
