/* The terminal browser as commands start it: when it starts, other recordings. Knows no
 * analysis: a loader publishes results (render/tui/feed.h). */
#pragma once
#include "cmd/command.h"

enum browse_choice { BROWSE_AUTO, BROWSE_NO, BROWSE_YES };

/* Whether to browse: requested, or stdout is a terminal that can be painted on and neither the user's configuration ("tui.report") nor the
 * input (a pipe) forbids it. BROWSE_YES on an unusable terminal: false and *err. */
bool browse_wanted(const struct cli *cli, const char *command, enum browse_choice choice, const char *input, struct error *err);

/* For struct browse_source. context is ignored. */
void browse_files(void *context, struct str *out);
/* The output of `script` for a recording: at most the first samples. comm NULL: of all commands. */
int browse_script(const char *path, const char *comm, struct str *out, struct error *err);
