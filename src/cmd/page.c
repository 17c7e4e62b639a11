#include "cmd/page.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/environment.h"

extern const struct command command_help;

/* The folder of the program; false if it is unknown. */
static bool own_folder(char folder[static PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	folder[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

/* The installed page: in ../share/man of the folder of the program. */
static bool installed_page(const char *program, const char *word, char path[static PATH_MAX])
{
	static const char *const endings[] = { "", ".gz", ".xz", ".bz2" };
	char folder[PATH_MAX];
	for (size_t i = 0; own_folder(folder) && i < sizeof endings / sizeof *endings; i++) {
		int n = snprintf(path, PATH_MAX, "%s/../share/man/man1/%s-%s.1%s", folder, program, word, endings[i]);
		if (n < PATH_MAX && access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* The installed HTML page, beside the program or where it was configured to be. */
static bool installed_html(const char *word, char path[static PATH_MAX])
{
	char folder[PATH_MAX];
	int n = own_folder(folder) ? snprintf(path, PATH_MAX, "%s/../share/doc/perfuse/perfuse-%s.html", folder, word) : PATH_MAX;
	if (n < PATH_MAX && access(path, R_OK) == 0)
		return true;
	n = snprintf(path, PATH_MAX, "%s/perfuse-%s.html", PERFUSE_DOC_PATH, word);
	return n < PATH_MAX && access(path, R_OK) == 0;
}

/* The exit code of the program; < 0: it was not started, or it was killed. */
static int run_viewer(struct cli *cli, const char *program, const char *argument)
{
	int status = 0;
	if (writer_flush(cli->out, NULL) < 0)
		return 0;
	pid_t pid = fork();
	if (pid == 0) {
		if (cli->use_pager == 0)
			setenv("MANPAGER", "cat", 1);
		execlp(program, program, argument, (char *)NULL);
		_exit(EXIT_NOT_STARTED);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) != EXIT_NOT_STARTED ? WEXITSTATUS(status) : -1;
}

static int show_info(struct cli *cli, const char *word)
{
	char name[64];
	snprintf(name, sizeof name, "%s-%s", cli->program, word);
	int code = run_viewer(cli, "info", name);
	if (code >= 0)
		return code;
	cli_warn(cli, "info cannot be started; '%s help %s' shows the page without it", cli->program, word);
	return EXIT_FAILED;
}

static int show_web(struct cli *cli, const char *word)
{
	const char *const browsers[] = { environment_is_foreign() ? NULL : secure_getenv("BROWSER"), "xdg-open", "www-browser" };
	char path[PATH_MAX];
	if (!installed_html(word, path)) {
		cli_warn(cli, "the HTML page of %s is not installed: 'make install' puts it into %s", word, PERFUSE_DOC_PATH);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < sizeof browsers / sizeof *browsers; i++) {
		int code = browsers[i] && *browsers[i] ? run_viewer(cli, browsers[i], path) : -1;
		if (code >= 0)
			return code;
	}
	cli_warn(cli, "no web browser can be started: set BROWSER to the name of one, or open %s", path);
	return EXIT_FAILED;
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

int page_show(struct cli *cli, const char *word, enum page_form form)
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
	if (form != PAGE_MAN)
		return form == PAGE_INFO ? show_info(cli, word) : show_web(cli, word);
	if (installed_page(cli->program, word, path) && run_viewer(cli, "man", path) == 0)
		return 0;
	cli_pager(cli, &command_help);
	write_text(cli, page->text);
	return 0;
}
