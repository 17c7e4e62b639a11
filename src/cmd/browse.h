/* The terminal browser as commands start it: when it starts, what happens to messages, other recordings. Knows no
 * analysis: a loader publishes results (render/tui/feed.h). */
#pragma once
#include <signal.h>

#include "cmd/browse_save.h"
#include "cmd/command.h"

enum browse_choice { BROWSE_AUTO, BROWSE_NO, BROWSE_YES };

/* Whether to browse: requested, or stdout is a terminal that can be painted on and neither the user's configuration ("tui.report") nor the
 * input (a pipe) forbids it. BROWSE_YES on an unusable terminal: false and *err. */
bool browse_wanted(const struct cli *cli, const char *command, enum browse_choice choice, const char *input, struct error *err);

/* Between these two, threads that start do not take the signals that are the screen's. */
void browse_signals_block(sigset_t *old);
void browse_signals_restore(const sigset_t *old);

/* Messages on stderr go to memory while the screen is in use, and are printed afterwards. */
struct browse_messages {
	int memory, stderr_fd;
};
void browse_messages_begin(struct browse_messages *messages);
void browse_messages_end(struct browse_messages *messages);
void browse_messages_text(const struct browse_messages *messages, struct str *out);

/* For struct browse_source. context is ignored. */
void browse_files(void *context, struct str *out);
/* Runs this program and appends what it prints on stdout, at most 4 MB. words: NULL-terminated, the first is the program's name; rest: the
 * command that prints the rest, for the text that ends a longer output. */
int browse_run(const char *const *words, const char *rest, struct str *out, struct error *err);
/* The output of `script` for a recording: at most the first samples. comm NULL: of all commands. */
int browse_script(const char *path, const char *comm, struct str *out, struct error *err);
