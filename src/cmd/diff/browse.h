/* The comparison in the terminal browser: key a shows the code of a function with the samples of each recording. */
#pragma once
#include "cmd/diff/code.h"
#include "cmd/diff/options.h"
#include "cmd/browse_screen.h"
#include "cmd/browse_table.h"

/* What the browser knows of a comparison. */
struct diff_browse {
	struct browse_screen *screen;
	const char *const *paths;      /* of the recordings, the baseline first */
	uint32_t count;
	struct diff_code *code;
	struct browse_code row_code;
};

/* Opens the screen. */
int diff_browse_open(struct diff_browse *browse, struct error *err);
/* As browse_table. */
int diff_browse_show(struct diff_browse *browse, const struct results *results, struct error *err);
