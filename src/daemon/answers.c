#include "daemon/answers.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum { PING_WAIT_MS = 2000 };

static long minutes_since(time_t start)
{
	return (long)((time(NULL) - start) / 60);
}

/* A command line can contain line ends; a row of a list cannot. */
static void add_line(struct str *to, const char *text)
{
	size_t begin = to->len;
	str_puts(to, text);
	if (to->len > begin)
		text_join_lines(to->text + begin, to->len - begin);
}

static void add_path(struct str *to, const struct answers *from, const char *session, const char *file)
{
	str_puts(to, from->base_path);
	if (session)
		str_printf(to, "/session-%s", session);
	if (file)
		str_printf(to, "/%s", file);
}

static void list_daemon(const struct answers *from, const struct request *request, struct str *to)
{
	static const char *const files[] = { "output", "lock" };
	char separator = (char)request->separator;
	if (separator) {
		str_printf(to, "%d%cdaemon%c%s", (int)getpid(), separator, separator, from->base_path);
		for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
			str_putc(to, separator);
			add_path(to, from, NULL, files[i]);
		}
		str_printf(to, "%c%ld\n", separator, minutes_since(from->start));
		return;
	}
	str_printf(to, "[%d:daemon] base: %s\n", (int)getpid(), from->base_path);
	if (request->verbose)
		str_printf(to, "  output:  %s/output\n  lock:    %s/lock\n  up:      %ld minutes\n", from->base_path, from->base_path,
			minutes_since(from->start));
}

static void list_session(const struct answers *from, const struct session *session, const struct request *request, struct str *to)
{
	static const struct { const char *label, *file; } rows[] = { { "base:   ", NULL }, { "output: ", "output" }, { "control:", "control" },
		{ "ack:    ", "ack" } };
	char separator = (char)request->separator;
	if (separator)
		str_printf(to, "%d%c%s%c", (int)session->pid, separator, session->name, separator);
	else
		str_printf(to, "[%d:%s] %s record ", (int)session->pid, session->name, from->record_name);
	add_line(to, session->run);
	for (size_t i = 0; (separator || request->verbose) && i < sizeof rows / sizeof *rows; i++) {
		if (separator)
			str_putc(to, separator);
		else
			str_printf(to, "\n  %s ", rows[i].label);
		add_path(to, from, session->name, rows[i].file);
	}
	if (separator)
		str_printf(to, "%c%ld", separator, minutes_since(session->start));
	else if (request->verbose)
		str_printf(to, "\n  up:      %ld minutes", minutes_since(session->start));
	str_putc(to, '\n');
}

void answer_list(const struct answers *from, const struct request *request, struct str *to)
{
	list_daemon(from, request, to);
	for (size_t i = 0; i < from->count; i++)
		list_session(from, &from->sessions[i], request, to);
}

static bool is_asked(const struct request *request, const struct session *session)
{
	return !request->session[0] || !strcmp(request->session, session->name);
}

void answer_signal(const struct answers *from, const struct request *request, struct str *to)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct session *session = &from->sessions[i];
		if (!is_asked(request, session))
			continue;
		kill(session->pid, SIGUSR2);
		str_printf(to, "signal %d sent to session '%s [%d]'\n", SIGUSR2, session->name, (int)session->pid);
	}
}

void answer_ping(const struct answers *from, const struct request *request, struct str *to)
{
	CLEANUP_FREE struct session **asked = memory_zero(from->count + 1, sizeof *asked);
	CLEANUP_FREE bool *answered = memory_zero(from->count + 1, sizeof *answered);
	size_t count = 0;
	for (size_t i = 0; i < from->count; i++) {
		if (is_asked(request, &from->sessions[i]))
			asked[count++] = &from->sessions[i];
	}
	sessions_ping(asked, count, from->base, PING_WAIT_MS, answered);
	for (size_t i = 0; i < count; i++)
		str_printf(to, "%-4s %s\n", answered[i] ? "OK" : "FAIL", asked[i]->name);
	if (!count && request->session[0])
		str_printf(to, "%-4s %s (not found)\n", "FAIL", request->session);
}
