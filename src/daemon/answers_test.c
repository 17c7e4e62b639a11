#include "daemon/answers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

TEST("a list has the daemon and its sessions, as text, with files, and as fields")
{
	struct session sessions[] = { { .name = (char *)"a", .run = (char *)"-e x\n-a", .pid = 77, .start = time(NULL) - 119 } };
	const struct answers from = { .base_path = "/b", .record_name = "perf", .start = time(NULL) - 3600, .sessions = sessions, .count = 1 };
	char expected[512];
	struct { struct request request; const char *text; } cases[] = {
		{ { 0 }, "[%d:daemon] base: /b\n[77:a] perf record -e x?-a\n" },
		{ { .verbose = 1 }, "[%d:daemon] base: /b\n  output:  /b/output\n  lock:    /b/lock\n  up:      60 minutes\n"
			"[77:a] perf record -e x?-a\n  base:    /b/session-a\n  output:  /b/session-a/output\n  control: /b/session-a/control\n"
			"  ack:     /b/session-a/ack\n  up:      1 minutes\n" },
		{ { .separator = ':' }, "%d:daemon:/b:/b/output:/b/lock:60\n"
			"77:a:-e x?-a:/b/session-a:/b/session-a/output:/b/session-a/control:/b/session-a/ack:1\n" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CLEANUP_STR struct str text = { 0 };
		answer_list(&from, &cases[i].request, &text);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(expected, sizeof expected, cases[i].text, (int)getpid());
#pragma GCC diagnostic pop
		EXPECT_STR(str_text(&text), expected);
	}
}

TEST("a signal is sent to the sessions that are asked for")
{
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	struct session sessions[] = { { .name = (char *)"a", .run = (char *)"", .pid = pid } };
	const struct answers from = { .base_path = "/b", .record_name = "perf", .sessions = sessions, .count = 1 };
	struct request request = { .session = "b" };
	CLEANUP_STR struct str text = { 0 };
	answer_signal(&from, &request, &text);
	EXPECT_STR(str_text(&text), "");
	strcpy(request.session, "a");
	char expected[64];
	int status = 0;
	snprintf(expected, sizeof expected, "signal 12 sent to session 'a [%d]'\n", (int)pid);
	answer_signal(&from, &request, &text);
	EXPECT_STR(str_text(&text), expected);
	EXPECT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
}

TEST("a ping of a session that does not exist, or has no FIFOs, fails")
{
	struct session sessions[] = { { .name = (char *)"a", .run = (char *)"" } };
	const struct answers from = { .base_path = "/b", .record_name = "perf", .base = -1, .sessions = sessions, .count = 1 };
	struct request request = { .session = "b" };
	CLEANUP_STR struct str text = { 0 };
	answer_ping(&from, &request, &text);
	request.session[0] = '\0';
	answer_ping(&from, &request, &text);
	EXPECT_STR(str_text(&text), "FAIL b (not found)\nFAIL a\n");
}
