/* What every command that reads a recording prints at its end on stderr about missing data, and the exit code: one rule for all. */
#pragma once
#include "cmd/command.h"
#include "session/losses.h"

/* Prints a sentence for each kind of loss, with the recording's name. quiet: only those of damage.
 * Returns EXIT_DAMAGED if recorded data is not shown, otherwise 0: records of a newer kernel, and data that the kernel lost while it
 * recorded, are no damage. */
int loss_summary_print(const struct cli *cli, const char *path, const struct losses *losses, bool quiet);
/* refused: scheduler events that no machine has (sched_reader). Prints how many, and returns EXIT_DAMAGED; 0 if there are none. */
int loss_summary_refused(const struct cli *cli, const char *path, uint64_t refused);
