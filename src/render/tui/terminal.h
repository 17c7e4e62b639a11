/* The terminal: paints screens with ncurses, delivers keys and clicks, restores the terminal at every end, also by a fatal signal. */
#pragma once
#include "render/tui/browser.h"

/* Whether standard output is a terminal that can be painted on; false and *err: why not. */
bool terminal_usable(struct error *err);

/* Shows the browser until the user quits. < 0: the terminal could not be used, or is gone. */
int terminal_run(struct browser *browser, struct error *err);
