#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/environment.h"
#include "daemon/base.h"
#include "daemon/plan.h"
#include "daemon/request.h"
#include "daemon/server.h"
#include "os/file.h"
#include "os/process.h"

struct daemon_options {
	const char *base, *config, *separator, *session;
	bool foreground;
	int verbose;
};

/* What starting, and reading the configuration again, need. */
struct daemon_state {
	const struct daemon_options *options;
	struct config_files files;   /* absolute; with --config only `user` */
	char base_path[PATH_MAX];
	int base;
	int started;                 /* pipe to the parent, which waits for the daemon; -1: in the foreground */
};

#define DAEMON_OPTIONS                                                                                                      \
	OPT_INCR('v', "verbose", struct daemon_options, verbose, "list the files of each session, too; start: log more"),           \
	OPTION_ROW(STRING, 'x', "field-separator", struct daemon_options, separator,                                                \
		"list fields with this separator (default: a comma)", .arg = "separator", .flags = OPTION_OPTARG, .fallback = ","), \
	OPT_STRING(0, "base", struct daemon_options, base, "directory", "the base folder (default: daemon.base of the configuration)"), \
	OPT_STRING(0, "config", struct daemon_options, config, "file", "the configuration file (default: perf's files)")

static const char *const daemon_usage[] = { "perf daemon {start|signal|stop|ping} [<options>]", "perf daemon [<options>]", NULL };

static void close_state(struct daemon_state *state)
{
	config_files_fini(&state->files);
	if (state->base >= 0)
		close(state->base);
}

/* Which files are read; < 0: none exists. */
static int find_files(struct daemon_state *state, struct error *err)
{
	const char *named = state->options->config;
	if (named) {
		state->files.user = realpath(named, NULL);
		return state->files.user ? 0 : error_system(err, "failed: realpath");
	}
	environment_config_files(&state->files);
	char **files[] = { &state->files.system, &state->files.user };
	bool found = false;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char *real = *files[i] ? realpath(*files[i], NULL) : NULL;
		free(*files[i]);
		*files[i] = real;
		found |= real != NULL;
	}
	if (found)
		return 0;
	error_set(err, ERROR_USAGE, "failed: config not found");
	return error_hint(err, "Name a file with --config, or write one with 'perf config daemon.base=DIRECTORY session-NAME.run=OPTIONS'.");
}

static int read_config(const struct daemon_state *state, struct config *config, struct error *err)
{
	if (state->files.system && plan_config_read(config, CONFIG_SYSTEM, state->files.system, err) < 0)
		return -1;
	return state->files.user ? plan_config_read(config, CONFIG_USER, state->files.user, err) : 0;
}

static int read_plan(void *context, struct plan *plan, struct error *err)
{
	struct config config = { 0 };
	int result = read_config(context, &config, err);
	if (result == 0)
		result = plan_read(plan, &config, err);
	config_fini(&config);
	return result;
}

static int open_base(struct daemon_state *state, const char *base, struct error *err)
{
	char opened[64];
	if (!base || !*base)
		return error_set(err, ERROR_USAGE, "failed: base not defined");
	state->base = base_open(base, err);
	if (state->base < 0)
		return -1;
	if (base[0] == '/' && strlen(base) < sizeof state->base_path) {
		strcpy(state->base_path, base);
		return 0;
	}
	snprintf(opened, sizeof opened, "/proc/self/fd/%d", state->base);
	ssize_t n = readlink(opened, state->base_path, sizeof state->base_path - 1);
	if (n < 0)
		return error_system(err, "failed: readlink");
	state->base_path[n] = '\0';
	return 0;
}

/* A client needs the base folder alone: a mistake in a session does not hinder it. */
static int open_client(struct daemon_state *state, struct error *err)
{
	struct config config = { 0 };
	int result = find_files(state, err);
	if (result == 0)
		result = read_config(state, &config, err);
	if (result == 0)
		result = open_base(state, state->options->base ? state->options->base : config_get(&config, "daemon.base"), err);
	config_fini(&config);
	return result;
}

/* Asks the running daemon and prints its answer. */
static int ask(struct cli *cli, const struct daemon_options *options, enum request_command command)
{
	struct daemon_state state = { .options = options, .base = -1 };
	struct request request = { .magic = REQUEST_MAGIC, .command = command, .verbose = options->verbose > 0 };
	struct error err = { 0 };
	CLEANUP_STR struct str answer = { 0 };
	request.separator = options->separator ? (uint8_t)options->separator[0] : 0;
	if (options->session && strlen(options->session) >= sizeof request.session) {
		error_set(&err, ERROR_LIMIT, "failed: a session's name has at most %zu bytes", sizeof request.session - 1);
	} else if (open_client(&state, &err) == 0) {
		strcpy(request.session, options->session ? options->session : "");
		CLEANUP_FD int socket = base_connect(state.base, &err);
		if (socket >= 0)
			request_ask(socket, &request, &answer, &err);
	}
	close_state(&state);
	writer_puts(cli->out, str_text(&answer));
	if (err.kind != ERROR_NONE)
		cli_complain(cli, &err);
	else if (command == REQUEST_SIGNAL && !answer.len)
		cli_warn(cli, "No session '%s' runs", options->session ? options->session : "");
	return err.kind != ERROR_NONE ? EXIT_FAILED : 0;
}

/* From here on the daemon's output is its log, and its parent does not wait any more. */
static int leave_console(void *context, struct error *err)
{
	const struct daemon_state *state = context;
	if (fchdir(state->base) != 0)
		return error_system(err, "failed: chdir");
	if (state->started < 0)
		return 0;
	CLEANUP_FD int output = base_output(state->base, err);
	CLEANUP_FD int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (output < 0)
		return -1;
	if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
		return error_system(err, "failed: dup2");
	bool told = file_write(state->started, "", 1);
	close(state->started);
	return told ? 0 : error_system(err, "failed: write");
}

/* In the background: returns the parent's exit code there, -1 in the daemon. */
static int begin_background(struct daemon_state *state, struct error *err)
{
	int ends[2];
	char byte;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		error_system(err, "failed: pipe");
		return EXIT_FAILED;
	}
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		close(ends[0]);
		state->started = ends[1];
		return -1;
	}
	if (pid < 0)
		error_system(err, "failed: fork");
	close(ends[1]);
	bool started = pid > 0 && read(ends[0], &byte, 1) == 1;
	close(ends[0]);
	return started ? 0 : EXIT_FAILED;
}

static int start_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct daemon_options *options = filled;
	struct daemon_state state = { .options = options, .base = -1, .started = -1 };
	struct plan plan = { 0 };
	struct error err = { 0 };
	char program[PATH_MAX];
	/* descriptors of the caller would stay open as long as the daemon runs */
	close_range(STDERR_FILENO + 1, UINT_MAX, 0);
	process_self_path(program, sizeof program, "/proc/self/exe");
	bool opened = find_files(&state, &err) == 0 && read_plan(&state, &plan, &err) == 0 &&
		open_base(&state, options->base ? options->base : plan.base, &err) == 0;
	int code = opened ? -1 : EXIT_FAILED;
	CLEANUP_FD int lock = code < 0 ? base_lock(state.base, state.base_path, &err) : -1;
	if (code < 0)
		code = lock < 0 ? EXIT_FAILED : options->foreground ? -1 : begin_background(&state, &err);
	if (code < 0) {
		struct server_options server = { .base_path = state.base_path, .base = state.base, .lock = lock,
			.program = { .path = program, .name = cli->program }, .record_name = cli->program, .verbose = options->verbose > 0,
			.files = { state.files.system, state.files.user }, .read_plan = read_plan, .context = &state };
		code = server_run(&server, &plan, leave_console, &err) < 0 ? EXIT_FAILED : 0;
	}
	plan_fini(&plan);
	close_state(&state);
	if (err.kind != ERROR_NONE)
		cli_complain(cli, &err);
	return code;
}

static int stop_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	return ask(cli, filled, REQUEST_STOP);
}

static int signal_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	return ask(cli, filled, REQUEST_SIGNAL);
}

static int ping_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	return ask(cli, filled, REQUEST_PING);
}

static const struct option start_table[] = {
	OPT_BOOL('f', "foreground", struct daemon_options, foreground, "stay in the foreground and print the log"),
	DAEMON_OPTIONS,
	OPT_END(),
};

static const struct option session_table[] = {
	DAEMON_OPTIONS,
	OPT_STRING(0, "session", struct daemon_options, session, "session", "only this session"),
	OPT_END(),
};

static const struct option daemon_table[] = {
	DAEMON_OPTIONS,
	OPT_END(),
};

static const struct command parts[] = {
	{ .name = "start", .usage = daemon_usage, .options = start_table, .run = start_run },
	{ .name = "stop", .usage = daemon_usage, .options = daemon_table, .run = stop_run },
	{ .name = "signal", .usage = daemon_usage, .options = session_table, .run = signal_run },
	{ .name = "ping", .usage = daemon_usage, .options = session_table, .run = ping_run },
};

static int daemon_run(struct cli *cli, void *options, int argc, const char **argv)
{
	struct error err = { 0 };
	if (!argc)
		return ask(cli, options, REQUEST_LIST);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (!strcmp(argv[0], parts[i].name))
			return command_run_filled(cli, &parts[i], options, argc - 1, argv + 1);
	}
	error_set(&err, ERROR_USAGE, "failed: unknown command '%s'", argv[0]);
	cli_complain(cli, &err);
	return EXIT_FAILED;
}

static const char *const daemon_words[] = { "start", "signal", "stop", "ping", NULL };

const struct command command_daemon = {
	.name = "daemon",
	.summary = "run recordings in the background",
	.usage = daemon_usage,
	.options = daemon_table,
	.options_size = sizeof(struct daemon_options),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = daemon_run,
	.subcommands = daemon_words,
};
