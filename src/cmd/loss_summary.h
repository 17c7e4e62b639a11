/* What every command that reads a recording reports at its end, on stderr, and the exit code that follows: one rule for all. */
#pragma once
#include "cmd/command.h"
#include "session/losses.h"

/* A sentence for each kind of loss, with the recording's name; nothing where there is none. quiet: damage alone.
 * Returns EXIT_DAMAGED where something that was recorded is not shown, otherwise 0: what a newer kernel wrote and what the kernel lost
 * while it recorded are no damage. */
int loss_summary_print(const struct cli *cli, const char *path, const struct losses *losses, bool quiet);
