/* Tables of a finished analysis in the terminal browser. Every command with OPT_FORMAT has it as --format=tui: the command prints its
 * results with the format, as with any other. */
#pragma once
#include "render/format/format.h"
#include "render/tui/snapshot.h"

/* The code of the function of a row, as struct browse_source has it. */
struct browse_listing {
	int (*make)(void *context, const struct snapshot *shot, uint32_t row, struct str *out, struct error *err);
	void *context;
	double least_percent; /* rows whose shares are all below it are hidden until the user undoes this filter; 0: none */
};

/* Shows the tables until the user leaves: with one table its rows, otherwise a list of the tables. They are copied first. No pager may run
 * (cli_pager starts none for --format=tui). listing NULL: rows have no code. < 0: the terminal cannot be used. */
int browse_table(const struct results *results, const struct browse_listing *listing, struct error *err);

/* print: browse_table on standard output's terminal; the writer is flushed first. Where the terminal fails, it writes the tables as CSV. */
extern const struct format format_tui;
