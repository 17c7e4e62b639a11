#include "daemon/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "daemon/answers.h"
#include "daemon/base.h"
#include "daemon/request.h"
#include "daemon/watch.h"
#include "os/file.h"

enum {
	STOP_MS = 5000,           /* a session may take to end, before it is killed */
	CLIENT_MS = 1000,         /* a client may take to send its request, or to read the answer */
	ACCEPT_AGAIN_MS = 200,    /* after accept failed: descriptors may be free then */
};

struct server {
	const struct server_options *options;
	struct plan plan;
	struct watch watch;
	int socket, signals;
	time_t start;
	bool ends;
	bool busy;                /* accept failed: not polled for ACCEPT_AGAIN_MS */
	VEC(struct session) sessions;
};

__attribute__((format(printf, 1, 2))) static void log_line(const char *format, ...)
{
	CLEANUP_STR struct str line = { 0 };
	struct timeval now;
	struct tm local;
	char when[32] = "";
	va_list args;
	gettimeofday(&now, NULL);
	if (localtime_r(&now.tv_sec, &local))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
	str_printf(&line, "[%s.%06ld] ", when, (long)now.tv_usec);
	va_start(args, format);
	str_vprintf_line(&line, format, args);
	va_end(args);
	str_putc(&line, '\n');
	file_write(STDOUT_FILENO, line.text, line.len);
}

static struct session *find_session(struct server *server, const char *name)
{
	for (size_t i = 0; i < server->sessions.count; i++) {
		if (!strcmp(server->sessions.items[i].name, name))
			return &server->sessions.items[i];
	}
	return NULL;
}

static void log_end(const struct session *session, int status)
{
	if (WIFSIGNALED(status))
		log_line("session '%s' killed (signal %d)", session->name, WTERMSIG(status));
	else
		log_line("session '%s' exited, status=%d", session->name, WEXITSTATUS(status));
}

/* Removes the sessions whose process has ended. Returns whether one of them was asked to end. */
static bool reap(struct server *server)
{
	bool stopped = false;
	size_t left = 0;
	for (size_t i = 0; i < server->sessions.count; i++) {
		struct session *session = &server->sessions.items[i];
		int status;
		if (waitpid(session->pid, &status, WNOHANG) != session->pid) {
			server->sessions.items[left++] = *session;
			continue;
		}
		log_end(session, status);
		stopped |= session->state == SESSION_ENDS;
		session_fini(session);
	}
	server->sessions.count = left;
	return stopped;
}

static void start_session(struct server *server, const struct planned_session *planned)
{
	struct session session;
	struct error err = { 0 };
	const struct server_options *o = server->options;
	if (session_start(&session, o->base, &o->program, planned->name, planned->run, &err) < 0) {
		log_line("%s", err.text);
		return;
	}
	vec_push(&server->sessions, session);
	/* perf's word */
	log_line("reconfig: ruining session [%s:%d]: %s", session.name, (int)session.pid, session.run);
}

/* Ends sessions that the plan does not have or has changed; starts those that do not run. A changed one starts after its process
 * has ended. */
static void follow_plan(struct server *server)
{
	for (size_t i = 0; i < server->sessions.count; i++) {
		struct session *session = &server->sessions.items[i];
		const struct planned_session *planned = plan_find(&server->plan, session->name);
		if (session->state == SESSION_RUNS && (!planned || strcmp(planned->run, session->run) != 0)) {
			log_line("reconfig: session '%s' %s", session->name, planned ? "is changed" : "killed");
			session_stop(session, now_ms(), STOP_MS);
		}
	}
	for (size_t i = 0; i < server->plan.sessions.count; i++) {
		if (!find_session(server, server->plan.sessions.items[i].name))
			start_session(server, &server->plan.sessions.items[i]);
	}
}

/* A session that was asked to end is started again if the plan has it with another command line. */
static void restart_stopped(struct server *server, bool stopped)
{
	if (stopped && !server->ends)
		follow_plan(server);
}

static void reread_plan(struct server *server)
{
	const struct server_options *o = server->options;
	struct plan plan = { 0 };
	struct error err = { 0 };
	if (o->read_plan(o->context, &plan, &err) < 0) {
		log_line("reconfig: %s: the sessions stay as they are", err.text);
		plan_fini(&plan);
		return;
	}
	if (o->verbose)
		log_line("reconfig: started");
	if (plan.base && server->plan.base && strcmp(plan.base, server->plan.base) != 0)
		log_line("reconfig: the base folder stays %s until the daemon is started again", o->base_path);
	plan_fini(&server->plan);
	server->plan = plan;
	follow_plan(server);
}

static void serve_client(struct server *server, int client)
{
	struct request request = { 0 };
	CLEANUP_STR struct str answer = { 0 };
	if (!base_peer_is_own(client)) {
		log_line("a connection of another user is refused");
		return;
	}
	if (!request_take(client, CLIENT_MS, &request)) {
		log_line("an incomplete or invalid request is refused");
		return;
	}
	const struct answers from = { .base_path = server->options->base_path, .record_name = server->options->record_name,
		.base = server->options->base, .start = server->start, .sessions = server->sessions.items, .count = server->sessions.count };
	switch ((enum request_command)request.command) {
	case REQUEST_LIST:
		answer_list(&from, &request, &answer);
		break;
	case REQUEST_SIGNAL:
		answer_signal(&from, &request, &answer);
		break;
	case REQUEST_PING:
		answer_ping(&from, &request, &answer);
		break;
	default:
		server->ends = true;
	}
	request_answer(client, CLIENT_MS, &answer);
}

static void accept_client(struct server *server)
{
	CLEANUP_FD int client = accept4(server->socket, NULL, NULL, SOCK_CLOEXEC);
	if (client >= 0)
		serve_client(server, client);
	else
		server->busy = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
}

/* Until the next session has to be killed. */
static int next_timeout(struct server *server)
{
	int64_t now = now_ms();
	int next = server->busy ? ACCEPT_AGAIN_MS : -1;
	for (size_t i = 0; i < server->sessions.count; i++) {
		int left = session_overdue(&server->sessions.items[i], now);
		next = left >= 0 && (next < 0 || left < next) ? left : next;
	}
	return next;
}

static void take_signals(struct server *server)
{
	struct signalfd_siginfo info;
	while (read(server->signals, &info, sizeof info) == (ssize_t)sizeof info)
		server->ends |= info.ssi_signo != SIGCHLD;
	restart_stopped(server, reap(server));
}

static void serve(struct server *server)
{
	while (!server->ends) {
		struct pollfd fds[] = { { .fd = server->busy ? -1 : server->socket, .events = POLLIN },
			{ .fd = server->watch.fd, .events = POLLIN }, { .fd = server->signals, .events = POLLIN } };
		int timeout = next_timeout(server);
		server->busy = false;
		if (poll(fds, sizeof fds / sizeof *fds, timeout) < 0)
			continue;
		if (fds[2].revents)
			take_signals(server);
		if (fds[1].revents && watch_changed(&server->watch))
			reread_plan(server);
		if (fds[0].revents)
			accept_client(server);
	}
}

static void end_sessions(struct server *server)
{
	for (size_t i = 0; i < server->sessions.count; i++)
		session_stop(&server->sessions.items[i], now_ms(), STOP_MS);
	while (server->sessions.count) {
		struct pollfd fd = { .fd = server->signals, .events = POLLIN };
		poll(&fd, 1, next_timeout(server));
		take_signals(server);
	}
	vec_fini(&server->sessions);
}

static int open_signals(struct error *err)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error_system(err, "failed: signalfd") : fd;
}

int server_run(const struct server_options *options, struct plan *plan, int (*ready)(void *context, struct error *err),
	struct error *err)
{
	struct server server = { .options = options, .start = time(NULL), .socket = -1, .signals = -1, .watch = { .fd = -1 }, .plan = *plan };
	int result = -1;
	*plan = (struct plan){ 0 };
	if (base_lock_owner(options->lock, err) == 0 && (server.signals = open_signals(err)) >= 0 &&
	    (server.socket = base_listen(options->base, err)) >= 0 && watch_open(&server.watch, options->files, SERVER_FILES_MAX, err) == 0 &&
	    ready(options->context, err) == 0) {
		log_line("daemon started (pid %d)", (int)getpid());
		follow_plan(&server);
		serve(&server);
		close(server.socket);
		server.socket = -1;
		end_sessions(&server);
		unlinkat(options->base, "control", 0);
		log_line("daemon exited");
		result = 0;
	}
	watch_close(&server.watch);
	if (server.socket >= 0)
		close(server.socket);
	if (server.signals >= 0)
		close(server.signals);
	plan_fini(&server.plan);
	return result;
}
