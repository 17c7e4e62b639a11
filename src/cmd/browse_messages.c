#include "cmd/browse_messages.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void change_signals(int how, sigset_t *old)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	pthread_sigmask(how, &set, old);
}

void browse_signals_block(sigset_t *old)
{
	change_signals(SIG_BLOCK, old);
}

void browse_signals_take(void)
{
	change_signals(SIG_UNBLOCK, NULL);
}

void browse_signals_restore(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

void browse_messages_begin(struct browse_messages *messages)
{
	fflush(stderr);
	messages->memory = memfd_create("messages", MFD_CLOEXEC);
	messages->stderr_fd = messages->memory < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (messages->stderr_fd >= 0)
		dup2(messages->memory, STDERR_FILENO);
}

enum { MESSAGES_MAX = 64 << 10 };

void browse_messages_text(const struct browse_messages *messages, struct str *out)
{
	char buffer[4096];
	fflush(stderr);
	for (off_t at = 0; messages->memory >= 0 && out->len < MESSAGES_MAX;) {
		ssize_t n = pread(messages->memory, buffer, sizeof buffer, at);
		if (n <= 0)
			break;
		str_add(out, buffer, (size_t)n);
		at += n;
	}
}

void browse_messages_clear(struct browse_messages *messages)
{
	fflush(stderr);
	if (messages->memory >= 0 && ftruncate(messages->memory, 0) == 0)
		lseek(messages->memory, 0, SEEK_SET);
}

long browse_messages_length(const struct browse_messages *messages)
{
	struct stat st;
	fflush(stderr);
	return messages->memory >= 0 && fstat(messages->memory, &st) == 0 ? (long)st.st_size : 0;
}

void browse_messages_end(struct browse_messages *messages, long most)
{
	CLEANUP_STR struct str text = { 0 };
	browse_messages_text(messages, &text);
	if (most >= 0 && (size_t)most < text.len)
		text.len = (size_t)most;
	if (messages->stderr_fd >= 0) {
		dup2(messages->stderr_fd, STDERR_FILENO);
		close(messages->stderr_fd);
	}
	if (messages->memory >= 0)
		close(messages->memory);
	if (text.len && write(STDERR_FILENO, text.text, text.len) < 0)
		return; /* the terminal is gone */
}
