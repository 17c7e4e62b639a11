/* For builds without ncurses. */
#include "render/tui/terminal.h"

bool terminal_usable(struct error *err)
{
	error_set(err, ERROR_UNSUPPORTED, "the terminal browser is not in this build");
	return false;
}

int terminal_run(struct browser *browser, struct error *err)
{
	return terminal_usable(err) ? 0 : -1;
}
