/* Signals of the terminal and messages on stderr while the terminal browser is open. */
#pragma once
#include <signal.h>

#include "base/str.h"

/* Between these two, threads that start do not take the signals that are the screen's. */
void browse_signals_block(sigset_t *old);
void browse_signals_restore(const sigset_t *old);
/* In the thread of the screen, where they are blocked. */
void browse_signals_take(void);

/* Messages on stderr go to memory while the screen is in use, and are printed afterwards. */
struct browse_messages {
	int memory, stderr_fd;
};
void browse_messages_begin(struct browse_messages *messages);
/* most: bytes that are printed; < 0: all. */
void browse_messages_end(struct browse_messages *messages, long most);
/* Drops them: what they are about is read again. */
void browse_messages_clear(struct browse_messages *messages);
long browse_messages_length(const struct browse_messages *messages);
void browse_messages_text(const struct browse_messages *messages, struct str *out);
