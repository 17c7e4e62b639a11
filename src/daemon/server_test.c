#include "daemon/server.h"

#include <ctype.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "daemon/base.h"
#include "daemon/request.h"
#include "daemon/test_recorder.h"

struct daemon {
	struct recorder_place place;
	char config[96];
	pid_t pid;
};

static int read_plan(void *context, struct plan *plan, struct error *err)
{
	const struct daemon *daemon = context;
	struct config config = { 0 };
	int result = plan_config_read(&config, CONFIG_USER, daemon->config, err);
	if (result == 0)
		result = plan_read(plan, &config, err);
	config_fini(&config);
	return result;
}

static int ready(void *context, struct error *err)
{
	const struct daemon *daemon = context;
	int fd = base_output(daemon->place.base, err);
	return fd < 0 || dup2(fd, STDOUT_FILENO) < 0 ? -1 : 0;
}

static void configure(const struct daemon *daemon, const char *text)
{
	char path[112];
	snprintf(path, sizeof path, "%s.new", daemon->config);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	EXPECT(fd >= 0 && file_write(fd, text, strlen(text)));
	if (fd >= 0)
		close(fd); /* before it has its name: one change */
	EXPECT_INT(rename(path, daemon->config), 0);
}

static void become_daemon(struct daemon *daemon)
{
	struct plan plan = { 0 };
	struct error err = { 0 };
	struct server_options options = { .base_path = daemon->place.path, .base = daemon->place.base, .record_name = "perf", .verbose = true,
		.program = { .path = daemon->place.program, .name = "perf" }, .files = { daemon->config }, .read_plan = read_plan,
		.context = daemon };
	options.lock = base_lock(daemon->place.base, daemon->place.path, &err);
	if (options.lock < 0 || read_plan(daemon, &plan, &err) < 0)
		_exit(2);
	_exit(server_run(&options, &plan, ready, &err) == 0 ? 0 : 1);
}

/* What the daemon answers. */
static void ask(const struct daemon *daemon, enum request_command command, const char *name, struct str *answer)
{
	struct error err = { 0 };
	struct request request = { .magic = REQUEST_MAGIC, .command = command };
	snprintf(request.session, sizeof request.session, "%s", name);
	CLEANUP_FD int client = base_connect(daemon->place.base, &err);
	str_clear(answer);
	EXPECT(client >= 0 && request_ask(client, &request, answer, &err) == 0);
}

/* Whether a process id begins here: after `[`, `:` or `pid `. Signals and exit codes come after other words. */
static bool is_process(const char *text, const char *at)
{
	size_t before = (size_t)(at - text);
	return isdigit((unsigned char)*at) && ((before && strchr("[:", at[-1])) || (before >= 4 && strncmp(at - 4, "pid ", 4) == 0));
}

/* The lines without dates, the base and process ids. */
static void plain(const struct daemon *daemon, const struct str *text, struct str *out)
{
	for (const char *at = str_text(text); *at;) {
		size_t base = strlen(daemon->place.path);
		if (*at == '[' && isdigit((unsigned char)at[1]) && strncmp(at + 5, "-", 1) == 0) {
			at = strchr(at, ']') ? strchr(at, ']') + 2 : at + 1;
		} else if (strncmp(at, daemon->place.path, base) == 0) {
			str_puts(out, "BASE");
			at += base;
		} else if (is_process(str_text(text), at)) {
			str_puts(out, "PID");
			at += strspn(at, "0123456789");
		} else {
			str_putc(out, *at++);
		}
	}
}

static void expect_list(const struct daemon *daemon, const char *want)
{
	CLEANUP_STR struct str answer = { 0 }, shown = { 0 };
	ask(daemon, REQUEST_LIST, "", &answer);
	plain(daemon, &answer, &shown);
	const char *first = strchr(str_text(&shown), '\n');
	EXPECT_STR(first ? first + 1 : NULL, want);
}

static bool logged(const struct daemon *daemon, const char *text)
{
	CLEANUP_STR struct str log = { 0 };
	bool found = recorder_wrote(&daemon->place, "output", text, &log);
	if (!found)
		unit_fail(__FILE__, __LINE__, "the log lacks \"%s\": %s", text, str_text(&log));
	return found;
}

/* Each waits for what it causes, so that the log has one order. */
static void use(struct daemon *daemon)
{
	CLEANUP_STR struct str text = { 0 };
	EXPECT(logged(daemon, "]: -a one\n") && recorder_wrote(&daemon->place, "session-x/output", "ready\n", &text));
	expect_list(daemon, "[PID:x] perf record -a one\n");
	ask(daemon, REQUEST_PING, "", &text);
	EXPECT_STR(str_text(&text), "OK   x\n");
	ask(daemon, REQUEST_PING, "y", &text);
	EXPECT_STR(str_text(&text), "FAIL y (not found)\n");
	ask(daemon, REQUEST_SIGNAL, "y", &text);
	EXPECT_STR(str_text(&text), "");
	ask(daemon, REQUEST_SIGNAL, "x", &text);
	EXPECT(strncmp(str_text(&text), "signal 12 sent to session 'x [", 30) == 0);
	CLEANUP_FD int client = base_connect(daemon->place.base, NULL);
	EXPECT(client >= 0 && write(client, "no request", 10) == 10 && shutdown(client, 1) == 0);
	EXPECT(logged(daemon, "an incomplete or invalid request is refused\n"));

	configure(daemon, "[daemon]\nbase=/other\n[session-x]\nrun=-a one\n[session-y]\nrun='end\n");
	EXPECT(logged(daemon, "the sessions stay as they are\n"));
	expect_list(daemon, "[PID:x] perf record -a one\n");
	configure(daemon, "[daemon]\nbase=/other\n[session-x]\nrun=-a two\n");
	EXPECT(logged(daemon, "]: -a two\n") && recorder_wrote(&daemon->place, "session-x/output", "-a two\n", &text));
	expect_list(daemon, "[PID:x] perf record -a two\n");
	configure(daemon, "[session-x]\nrun=-a two\n[session-y]\nrun=end\n");
	EXPECT(logged(daemon, "exited, status=3\n"));
	expect_list(daemon, "[PID:x] perf record -a two\n");
	configure(daemon, "[session-z]\nrun=-a three\n");
	EXPECT(logged(daemon, "]: -a three\n") && logged(daemon, "'x' killed (signal 15)\n"));
}

static const char log_wanted[] =
	"daemon started (pid PID)\n"
	"reconfig: ruining session [x:PID]: -a one\n"
	"an incomplete or invalid request is refused\n"
	"reconfig: a quote is not closed in ''end': the sessions stay as they are\n"
	"reconfig: started\n"
	"reconfig: the base folder stays BASE until the daemon is started again\n"
	"reconfig: session 'x' is changed\n"
	"session 'x' killed (signal 15)\n"
	"reconfig: ruining session [x:PID]: -a two\n"
	"reconfig: started\n"
	"reconfig: ruining session [y:PID]: end\n"
	"session 'y' exited, status=3\n"
	"reconfig: started\n"
	"reconfig: session 'x' killed\n"
	"reconfig: ruining session [z:PID]: -a three\n"
	"session 'x' killed (signal 15)\n"
	"session 'z' killed (signal 15)\n"
	"daemon exited\n";

/* by: a request if 0, else a signal. */
static void run_daemon(int by, void (*work)(struct daemon *daemon), const char *config, const char *want)
{
	struct daemon daemon = { 0 };
	CLEANUP_STR struct str log = { 0 }, shown = { 0 };
	int status = -1;
	if (!recorder_place_begin(&daemon.place))
		return;
	snprintf(daemon.config, sizeof daemon.config, "%s/config", daemon.place.path);
	configure(&daemon, config);
	fflush(stdout);
	daemon.pid = fork();
	if (daemon.pid == 0)
		become_daemon(&daemon);
	work(&daemon);
	if (by)
		kill(daemon.pid, by);
	else
		ask(&daemon, REQUEST_STOP, "", &log);
	EXPECT_INT(waitpid(daemon.pid, &status, 0), daemon.pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	EXPECT(faccessat(daemon.place.base, "control", F_OK, 0) != 0);
	str_clear(&log);
	EXPECT(recorder_wrote(&daemon.place, "output", "", &log));
	plain(&daemon, &log, &shown);
	EXPECT_STR(str_text(&shown), want);
	char lock[16] = "", pid[16];
	CLEANUP_FD int fd = openat(daemon.place.base, "lock", O_RDONLY | O_CLOEXEC);
	snprintf(pid, sizeof pid, "%d", (int)daemon.pid);
	EXPECT(fd >= 0 && read(fd, lock, sizeof lock - 1) > 0);
	EXPECT_STR(lock, pid);
	recorder_place_end(&daemon.place);
}

TEST("a daemon answers its clients, follows its configuration, and ends all sessions when it is asked to stop")
{
	run_daemon(0, use, "[daemon]\nbase=/base\n[session-x]\nrun=-a one\n", log_wanted);
}

static void wait_for_two(struct daemon *daemon)
{
	CLEANUP_STR struct str text = { 0 };
	EXPECT(logged(daemon, "]: two\n"));
	EXPECT(recorder_wrote(&daemon->place, "session-a/output", "ready\n", &text));
	EXPECT(recorder_wrote(&daemon->place, "session-b/output", "ready\n", &text));
	expect_list(daemon, "[PID:a] perf record one\n[PID:b] perf record two\n");
	ask(daemon, REQUEST_PING, "", &text);
	EXPECT_STR(str_text(&text), "OK   a\nOK   b\n");
	/* what ends alone, ends before the others */
	CLEANUP_STR struct str list = { 0 };
	ask(daemon, REQUEST_LIST, "", &list);
	const char *second = strstr(str_text(&list), ":b]");
	while (second && second > list.text && second[-1] != '[')
		second--;
	EXPECT(second && kill((pid_t)strtol(second, NULL, 10), SIGKILL) == 0);
	EXPECT(logged(daemon, "session 'b' killed (signal 9)\n"));
	expect_list(daemon, "[PID:a] perf record one\n");
}

TEST("a daemon ends on a signal; a session that was killed is not started again")
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		run_daemon(signals[i], wait_for_two, "[session-a]\nrun=one\n[session-b]\nrun=two\n",
			"daemon started (pid PID)\nreconfig: ruining session [a:PID]: one\nreconfig: ruining session [b:PID]: two\n"
			"session 'b' killed (signal 9)\nsession 'a' killed (signal 15)\ndaemon exited\n");
}
