#include "cmd/page.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/commands.h"

extern const struct command command_help;

/* The installed page: in ../share/man of the folder of the program. */
static bool installed_page(const char *program, const char *word, char path[static PATH_MAX])
{
	static const char *const endings[] = { "", ".gz", ".xz", ".bz2" };
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	self[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		int n = snprintf(path, PATH_MAX, "%s/../share/man/man1/%s-%s.1%s", self, program, word, endings[i]);
		if (n < PATH_MAX && access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* Whether man showed it. */
static bool run_man(struct cli *cli, const char *path)
{
	int status = 0;
	if (writer_flush(cli->out, NULL) < 0)
		return true;
	pid_t pid = fork();
	if (pid == 0) {
		if (cli->use_pager == 0)
			setenv("MANPAGER", "cat", 1);
		execlp("man", "man", path, (char *)NULL);
		_exit(EXIT_NOT_STARTED);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && (!WIFEXITED(status) || WEXITSTATUS(status) == 0);
}

/* Whether a command follows "perfuse". */
static bool names_command(const char *after)
{
	char word[32];
	size_t len = strcspn(after + 1, " \t\n(),.:;'\"");
	if ((*after != ' ' && *after != '-') || len >= sizeof word)
		return false;
	memcpy(word, after + 1, len);
	word[len] = '\0';
	return commands_find(word) || !strcmp(word, "COMMAND") || !strcmp(word, "WORD") || word[0] == '-';
}

/* The pages say "perfuse record"; they are printed with the name by which the program was called. */
static void write_text(const struct cli *cli, const char *text)
{
	static const char own[] = "perfuse";
	for (const char *at; (at = strstr(text, own)); text = at + sizeof own - 1) {
		writer_add(cli->out, text, (size_t)(at - text));
		writer_puts(cli->out, names_command(at + sizeof own - 1) ? cli->program : own);
	}
	writer_puts(cli->out, text);
}

int page_show(struct cli *cli, const char *word)
{
	char path[PATH_MAX];
	const struct page *page = pages;
	while (page->name && strcmp(page->name, word) != 0)
		page++;
	if (!page->name && commands_awaited(word)) {
		cli_warn(cli, "No manual entry for %s-%s: this command of perf's is not part of perfuse yet", cli->program, word);
		return EXIT_NO_PAGE;
	}
	if (!page->name) {
		cli_warn(cli, "No manual entry for %s-%s", cli->program, word);
		return EXIT_NO_PAGE;
	}
	if (installed_page(cli->program, word, path) && run_man(cli, path))
		return 0;
	cli_pager(cli, &command_help);
	write_text(cli, page->text);
	return 0;
}
