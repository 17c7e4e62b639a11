#include "daemon/session.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "daemon/test_recorder.h"

__attribute__((constructor)) static void run_as_recorder(int argc, char **argv)
{
	if (secure_getenv(AS_RECORDER))
		recorder_run(argc, argv);
}

static bool begin(struct recorder_place *p, struct session *session, const char *name, const char *run)
{
	struct error err = { 0 };
	const struct session_program program = { .path = p->program, .name = "perf" };
	time_t before = time(NULL);
	int status = session_start(session, p->base, &program, name, run, &err);
	EXPECT_STR(err.text, "");
	EXPECT_INT(status, 0);
	if (status < 0)
		return false;
	EXPECT_STR(session->name, name);
	EXPECT_STR(session->run, run);
	EXPECT_INT(session->state, SESSION_RUNS);
	EXPECT(session->pid > 0 && session->start >= before && session->start <= time(NULL));
	return true;
}

static int end(struct session *session)
{
	int status = 0;
	EXPECT_INT(waitpid(session->pid, &status, 0), session->pid);
	session_fini(session);
	EXPECT(!session->name && !session->run && !session->pid);
	return status;
}

TEST("a recorder starts in its folder with its words, holds SIGUSR2 back, and ends by SIGTERM once it is stopped")
{
	struct recorder_place p;
	struct session session;
	CLEANUP_STR struct str text = { 0 };
	sigset_t blocked;
	if (!recorder_place_begin(&p))
		return;
	if (begin(&p, &session, "a", "-e 'x y' -a")) {
		EXPECT(recorder_wrote(&p, "session-a/output", "ready\n", &text));
		EXPECT_STR(str_text(&text), "record --control=fifo:control,ack -e x y -a\nperf 100 ready\n");
		EXPECT(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGUSR2));
		EXPECT_INT(session_overdue(&session, 1 << 30), -1);
		session_stop(&session, 1000, 500);
		EXPECT_INT(session.state, SESSION_ENDS);
		EXPECT_INT(session.kill_ms, 1500);
		session_stop(&session, 7000, 500); /* the first one holds */
		EXPECT_INT(session.kill_ms, 1500);
		EXPECT_INT(session_overdue(&session, 1499), 1);
		int status = end(&session);
		EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	}
	recorder_place_end(&p);
}

TEST("a recorder whose time is up is killed, and again each second")
{
	struct session session = { .pid = fork() };
	int status = 0;
	if (session.pid == 0) {
		signal(SIGTERM, SIG_IGN);
		for (;;)
			pause();
	}
	session.state = SESSION_ENDS;
	session.kill_ms = 1500;
	EXPECT_INT(session_overdue(&session, 1400), 100);
	EXPECT_INT(kill(session.pid, 0), 0);
	EXPECT_INT(session_overdue(&session, 1500), 1000);
	EXPECT_INT(session.kill_ms, 2500);
	EXPECT_INT(session_overdue(&session, 2499), 1);
	EXPECT_INT(waitpid(session.pid, &status, 0), session.pid);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST("a recorder that cannot be started has a reason")
{
	struct recorder_place p;
	struct session session;
	struct error err = { 0 };
	if (!recorder_place_begin(&p))
		return;
	struct session_program program = { .path = p.program, .name = "perf" };
	EXPECT(session_start(&session, p.base, &program, "a", "-e 'x", &err) < 0);
	EXPECT_STR(err.text, "a quote is not closed in '-e 'x'");
	EXPECT_INT(symlinkat("/tmp", p.base, "session-b"), 0);
	err.text[0] = '\0';
	EXPECT(session_start(&session, p.base, &program, "b", "-a", &err) < 0);
	EXPECT(err.text[0]);
	program.path = "/nonexistent/perf";
	EXPECT_INT(session_start(&session, p.base, &program, "a", "-a", &err), 0);
	int status = end(&session);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 127);
	recorder_place_end(&p);
}

TEST("of several recorders, those that answer a ping in time with ack have answered")
{
	struct recorder_place p;
	struct session all[4] = { { 0 } };
	struct session *asked[] = { &all[0], &all[1], &all[2], &all[3] };
	static const char *const names[] = { "one", "two", "three" }, *const runs[] = { "-a", "wrong", "late" };
	bool answered[4] = { false, true, true, true };
	CLEANUP_STR struct str text = { 0 };
	if (!recorder_place_begin(&p))
		return;
	bool runs_all = true;
	for (int i = 0; i < 3 && runs_all; i++) {
		char output[64];
		snprintf(output, sizeof output, "session-%s/output", names[i]);
		runs_all = begin(&p, &all[i], names[i], runs[i]) && recorder_wrote(&p, output, "ready\n", &text);
		EXPECT(runs_all);
	}
	all[3].name = (char *)"absent";
	sessions_ping(asked, 0, p.base, 60000, answered); /* at once */
	if (runs_all) {
		int64_t began = now_ms();
		sessions_ping(asked, 2, p.base, 60000, answered);
		EXPECT(answered[0] && !answered[1]);
		EXPECT(now_ms() - began < 60000);
		answered[0] = false;
		for (int wait_ms = 500; wait_ms < 60000 && !answered[0]; wait_ms *= 2) { /* one never answers: the time is always used up */
			answered[1] = answered[2] = answered[3] = true;
			sessions_ping(asked, 4, p.base, wait_ms, answered);
		}
		EXPECT(answered[0] && !answered[1] && !answered[2] && !answered[3]);
	}
	for (int i = 0; i < 3; i++)
		if (all[i].pid > 0) {
			kill(all[i].pid, SIGKILL);
			end(&all[i]);
		}
	recorder_place_end(&p);
}
