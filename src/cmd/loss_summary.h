/* What every command that reads a recording prints at its end on stderr about missing data, and the exit code: one rule for all. */
#pragma once
#include "cmd/command.h"
#include "session/losses.h"

/* Prints a sentence for each kind of loss, with the recording's name. quiet: only those of damage.
 * Returns EXIT_DAMAGED if recorded data is not shown, otherwise 0: records of a newer kernel, and data that the kernel lost while it
 * recorded, are no damage. */
int loss_summary_print(const struct cli *cli, const char *path, const struct losses *losses, bool quiet);
/* refused: the number of scheduler events with an impossible CPU or thread (sched_reader). If it is not 0, prints it and returns
 * EXIT_DAMAGED; otherwise returns 0. */
int loss_summary_refused(const struct cli *cli, const char *path, uint64_t refused);
