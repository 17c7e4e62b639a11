/* Probes of programs in the build-id cache (--cache), from which %GROUP:EVENT adds them without a program's name and debug information. */
#pragma once
#include "cmd/probe/probe_options.h"

int probe_cached_list(struct cli *cli, const struct probe_options *options);
int probe_cached_delete(struct cli *cli, const struct probe_options *options);
/* Appends the events that the definition %GROUP:EVENT names, of programs that are unchanged. path: of the program; NULL: of all. Fails
 * with ERROR_USAGE if no probe is stored. */
int probe_cached_find(struct cli *cli, const struct probe_spec *spec, const char *path, struct probe_events *events, struct error *err);
