#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/environment.h"

/* The first pager that the user names, otherwise one that is installed. NULL: plain output. */
static const char *pager_command(const struct cli *cli, const struct command *command, char *key, size_t size)
{
	snprintf(key, size, "pager.%s", command ? command->name : "");
	const char *own = command ? config_get(cli->config, key) : NULL;
	if (own && config_text_is_true(own) < 0)
		return own;
	const char *named[] = { secure_getenv("PERF_PAGER"), config_get(cli->config, "core.pager"), secure_getenv("PAGER") };
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		if (named[i])
			return named[i];
	}
	static const char *const installed[] = { "/usr/bin/pager", "/usr/bin/less" };
	for (size_t i = 0; i < sizeof installed / sizeof *installed; i++) {
		if (access(installed[i], X_OK) == 0)
			return installed[i];
	}
	return NULL;
}

static bool pager_wanted(const struct cli *cli, const struct command *command)
{
	if (cli->use_pager >= 0)
		return cli->use_pager;
	char key[64];
	snprintf(key, sizeof key, "pager.%s", command ? command->name : "");
	const char *value = command ? config_get(cli->config, key) : NULL;
	return !value || config_text_is_true(value) != 0;
}

/* A pager that reads a pipe cannot ask its input for the width of the terminal. */
static void pass_columns(void)
{
	struct winsize size;
	char columns[16];
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col)
		return;
	snprintf(columns, sizeof columns, "%u", size.ws_col);
	setenv("COLUMNS", columns, 0);
}

/* A command of words alone needs no shell. Returns if it cannot be started. */
static bool run_words(const char *pager)
{
	enum { WORDS_MAX = 64 };
	char *words[WORDS_MAX + 1] = { 0 }, *rest = memory_string(pager);
	size_t count = 0;
	if (pager[strcspn(pager, "|&;<>()$`\\\"'*?[]#~={}!\n\t")])
		return false;
	for (char *word; (word = strsep(&rest, " "));) {
		if (count == WORDS_MAX)
			return false;
		if (*word)
			words[count++] = word;
	}
	if (count)
		execvp(words[0], words);
	return true;
}

static void run_pager(const char *pager, const int *pipe_fd)
{
	dup2(pipe_fd[0], STDIN_FILENO);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	setenv("LESS", "FRSX", 0);
	/* anything else is for a shell, as the user wrote it */
	if (!run_words(pager))
		execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(EXIT_NOT_STARTED);
}

void cli_pager(struct cli *cli, const struct command *command)
{
	char key[64];
	if (cli->pager_pid || !cli->tty_out || environment_is_foreign() || !pager_wanted(cli, command))
		return;
	const char *pager = pager_command(cli, command, key, sizeof key);
	int pipe_fd[2];
	if (!pager || !*pager || !strcmp(pager, "cat") || writer_flush(cli->out, NULL) < 0 || pipe(pipe_fd) < 0)
		return;
	pass_columns();
	int pid = fork();
	if (pid == 0)
		run_pager(pager, pipe_fd);
	if (pid > 0) {
		cli->pager_pid = pid;
		setenv("PERF_PAGER_IN_USE", "true", 1);
		dup2(pipe_fd[1], STDOUT_FILENO);
		if (cli->tty_err)
			dup2(pipe_fd[1], STDERR_FILENO);
	}
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

void cli_pager_end(struct cli *cli)
{
	if (!cli->pager_pid)
		return;
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(cli->pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	cli->pager_pid = 0;
}
