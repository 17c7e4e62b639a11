/* The comparison in the terminal browser: key a lists the code of a function with the samples of each recording. */
#pragma once
#include "cmd/diff/options.h"
#include "render/format/format.h"

/* paths: of the recordings, the baseline first. < 0: the terminal cannot be used. */
int diff_browse(const struct results *results, const struct diff_cli_options *options, const char *const *paths, uint32_t count,
	struct error *err);
