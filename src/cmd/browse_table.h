/* Tables in the terminal browser. Every command with OPT_FORMAT has it as --format=tui: the command prints its results with the format, as
 * with any other, and those so far in a preview (browse_screen.h). */
#pragma once
#include "render/format/format.h"
#include "render/tui/snapshot.h"

/* The code of the function of a row, as struct browse_source has it. */
struct browse_code {
	struct snapshot *(*make)(void *context, const struct snapshot *shot, uint32_t row, struct error *err);
	void *context;
	double least_percent; /* rows whose shares are all below it are hidden until the user undoes this filter; 0: none */
};

struct browse_screen;

enum { PREVIEW_ROWS = 20000 }; /* below a row, while the recording is read */

/* What a screen shows that is not open yet: tables, and the code of their rows. code NULL: rows have none; borrowed. */
void browse_table_source(struct browse_screen *screen, const struct browse_code *code);

/* Shows the tables until the user leaves: with one table its rows, otherwise a list of the tables. They are copied first. screen: the
 * command's, which opens now unless it did while the recording was read, NULL: one for these tables. In a preview the tables are shown, and
 * the command goes on. No pager may run (cli_pager starts none for --format=tui). < 0: the terminal cannot be used. */
int browse_table(struct browse_screen *screen, const struct results *results, struct error *err);

/* print: browse_table on the writer's screen; the writer is flushed first. Where the terminal fails, it writes the tables as CSV. */
extern const struct format format_tui;
