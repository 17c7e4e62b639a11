/* Where the user has the events and metrics of vendors (vendor/vendor.h), and what is wrong with those files. */
#pragma once
#include "cmd/command.h"
#include "event/pmu.h"

/* Sets the folders: $PERFUSE_EVENTS, else perfuse.events of the configuration, else perfuse/events of the user's configuration folder and
 * /usr/share/perfuse/events. Nothing is read. */
void event_files_set(struct cli *cli, struct pmus *pmus);
/* Prints a line for each damaged file or entry of those that were read. */
void event_files_remarks(const struct cli *cli, const struct pmus *pmus);
