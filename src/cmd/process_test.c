#include "cmd/process.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "cmd/test_words.h"
#include "unit.h"

/* What a command prints that was started by `stat` with one of its standard descriptors closed; false: it failed. */
static bool run_without(int closed, const char *command, struct str *printed)
{
	CLEANUP_STR struct str text = { 0 };
	char *words[WORDS_MAX];
	int fd = memfd_create("out", MFD_CLOEXEC), status = -1;
	str_printf(&text, "stat -e dummy:u %s", command);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		int count = words_split(text.text, words);
		words_environment("/dev/null");
		setenv("PATH", "/usr/bin:/bin", 1);
		setenv("PERF_CONFIG", "/dev/null", 1);
		if (dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
			_exit(99);
		close(closed);
		words_run(count, words);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	words_read(fd, printed);
	str_putc(printed, '\n');
	close(fd);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST("a standard descriptor that is closed at the start is /dev/null, so that no file gets its number")
{
	static const struct {
		int closed;
		const char *command;
	} rows[] = {
		{ STDIN_FILENO, "readlink /proc/self/fd/0" },
		{ STDOUT_FILENO, "sh -c 'a=$(readlink /proc/$$/fd/1); echo $a >&2'" },
		{ STDERR_FILENO, "readlink /proc/self/fd/2" },
	};
	CLEANUP_STR struct str usual = { 0 };
	if (!run_without(-1, "true", &usual)) {
		unit_skip("this user may not count here");
		return;
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CLEANUP_STR struct str printed = { 0 };
		EXPECT(run_without(rows[i].closed, rows[i].command, &printed));
		printed.text[strcspn(str_text(&printed), "\n")] = '\0'; /* then the counts */
		EXPECT_STR(printed.text, "/dev/null");
	}
}
