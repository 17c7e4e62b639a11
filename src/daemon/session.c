#include "daemon/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/str.h"
#include "daemon/base.h"
#include "daemon/words.h"
#include "os/checked.h"
#include "os/file.h"
#include "os/process.h"

void session_fini(struct session *session)
{
	free(session->name);
	free(session->run);
	*session = (struct session){ 0 };
}

/* Forks with SIGUSR2 held back: one that comes before the recorder reads signals waits for it, and does not end it. */
static pid_t fork_held(void)
{
	sigset_t held, before;
	sigemptyset(&held);
	sigaddset(&held, SIGUSR2);
	sigprocmask(SIG_BLOCK, &held, &before);
	pid_t pid = fork();
	sigprocmask(SIG_SETMASK, pid ? &before : &held, NULL);
	return pid;
}

/* In the child process. */
static _Noreturn void become_record(int folder, pid_t daemon, const struct session_program *program, const char *const *words)
{
	signal(SIGPIPE, SIG_DFL);
	/* without its daemon, no command can reach a session */
	bool wanted = process_ends_with(daemon, SIGTERM);
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int output = base_output(folder, NULL);
	int place = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (wanted && input >= 0 && output >= 0 && place >= 0 && fchdir(place) == 0 && dup2(input, STDIN_FILENO) >= 0 &&
	    dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0)
		execv(program->path, (char *const *)words);
	_exit(127);
}

int session_start(struct session *session, int base, const struct session_program *program, const char *name, const char *run,
	struct error *err)
{
	CLEANUP_STR struct str folder_name = { 0 };
	struct words words = { 0 };
	pid_t pid = -1, daemon = getpid();
	vec_push(&words.list, program->name);
	vec_push(&words.list, "record");
	vec_push(&words.list, "--control=fifo:control,ack");
	str_printf(&folder_name, "session-%s", name);
	CLEANUP_FD int folder = base_session(base, str_text(&folder_name), err);
	if (folder >= 0 && words_split(&words, run, err) == 0) {
		vec_push(&words.list, NULL);
		pid = fork_held();
		if (pid == 0)
			become_record(folder, daemon, program, words.list.items);
		if (pid < 0)
			error_system(err, "session '%s'", name);
	}
	words_fini(&words);
	if (pid < 0)
		return -1;
	*session = (struct session){ .name = memory_string(name), .run = memory_string(run), .pid = pid, .start = time(NULL) };
	return 0;
}

void session_stop(struct session *session, int64_t time_ms, unsigned wait_ms)
{
	if (session->state == SESSION_ENDS)
		return;
	kill(session->pid, SIGTERM);
	session->state = SESSION_ENDS;
	session->kill_ms = time_ms + wait_ms;
}

int session_overdue(struct session *session, int64_t time_ms)
{
	enum { AGAIN_MS = 1000 };
	if (session->state != SESSION_ENDS)
		return -1;
	if (time_ms >= session->kill_ms) {
		kill(session->pid, SIGKILL);
		session->kill_ms = time_ms + AGAIN_MS; /* a process in the kernel ends later */
	}
	return (int)(session->kill_ms - time_ms);
}

/* Opens a FIFO of the session; -1 if its other end is closed. */
static int open_fifo(int base, const struct session *session, const char *name, int flags)
{
	CLEANUP_STR struct str path = { 0 };
	str_printf(&path, "session-%s/%s", session->name, name);
	return checked_open(base, str_text(&path), flags | O_NONBLOCK, NULL);
}

/* Sends "ping"; returns the descriptor of the answer, -1 if the session does not listen. */
static int send_ping(int base, const struct session *session)
{
	static const char ping[] = "ping\n";
	char old[256];
	CLEANUP_FD int control = open_fifo(base, session, "control", O_WRONLY);
	int ack = control < 0 ? -1 : open_fifo(base, session, "ack", O_RDONLY);
	if (ack < 0)
		return -1;
	/* an answer to an earlier ping that was late */
	while (read(ack, old, sizeof old) > 0)
		;
	if (write(control, ping, sizeof ping - 1) == (ssize_t)sizeof ping - 1)
		return ack;
	close(ack);
	return -1;
}

void sessions_ping(struct session *const *sessions, size_t count, int base, unsigned wait_ms, bool *answered)
{
	int64_t end_ms = now_ms() + wait_ms;
	CLEANUP_FREE struct pollfd *acks = memory_zero(count ? count : 1, sizeof *acks);
	size_t open = 0;
	for (size_t i = 0; i < count; i++) {
		acks[i] = (struct pollfd){ .fd = send_ping(base, sessions[i]), .events = POLLIN };
		answered[i] = false;
		open += acks[i].fd >= 0;
	}
	for (int64_t left; open > 0 && (left = end_ms - now_ms()) > 0;) {
		if (poll(acks, count, (int)left) < 0 && errno != EINTR)
			break;
		for (size_t i = 0; i < count; i++) {
			char text[16];
			if (acks[i].fd < 0 || !acks[i].revents)
				continue;
			answered[i] = read(acks[i].fd, text, sizeof text) >= 3 && !strncmp(text, "ack", 3);
			close(acks[i].fd);
			acks[i].fd = -1;
			open--;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (acks[i].fd >= 0)
			close(acks[i].fd);
	}
}
