/* Whole commands on the recordings in test/golden/data, each in a child process: what it writes to stdout and stderr, and its exit code,
 * must be as a file NAME.expected of test/golden has them. There a line "### WORDS" is a command; its output follows, then lines "! TEXT"
 * of stderr and "exit N" unless N is 0. A command after " |> " reads what the one before it wrote. With GOLDEN_UPDATE=1 the files are
 * written anew. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/str.h"
#include "cmd/process.h"
#include "unit.h"

#define FOLDER "test/golden"

enum { WORDS_MAX = 64 };

/* Words are separated by blanks; one between ' and ' may have some. */
static int split(char *line, char **words)
{
	static char program[] = "perf";
	int count = 0;
	words[count++] = program;
	while (*(line += strspn(line, " ")) && count < WORDS_MAX - 1) {
		bool quoted = *line == '\'';
		words[count++] = line + quoted;
		line += quoted;
		line += strcspn(line, quoted ? "'" : " ");
		if (*line)
			*line++ = '\0';
	}
	words[count] = NULL;
	return count;
}

__attribute__((noreturn)) static void run_in_child(char *line, int in, int out, int err)
{
	char *words[WORDS_MAX];
	int count = split(line, words);
	clearenv();
	setenv("HOME", "/dev/null", 1);
	setenv("PERF_CONFIG", "/dev/null", 1);
	setenv("LC_ALL", "C", 1);
	setenv("TZ", "UTC", 1);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0 || chdir(FOLDER "/data") < 0)
		_exit(99);
	exit(process_run(count, words));
}

static void read_all(int fd, struct str *text)
{
	char bytes[65536];
	off_t at = 0;
	ssize_t n;
	while ((n = pread(fd, bytes, sizeof bytes, at)) > 0) {
		str_add(text, bytes, (size_t)n);
		at += n;
	}
}

/* Depends on the clone of the repository, not on the recording. */
static bool varies(const char *line)
{
	return strstr(line, "captured on") || strstr(line, "captured-on") || strncmp(line, "# (Tip:", 7) == 0;
}

/* Adds a line; the folder of the recordings is DATA in it, wherever the tree is. */
static void add_line(struct str *to, const char *prefix, const char *line, const char *folder)
{
	str_puts(to, prefix);
	for (const char *at; (at = strstr(line, folder)); line = at + strlen(folder)) {
		str_add(to, line, (size_t)(at - line));
		str_puts(to, "DATA");
	}
	str_printf(to, "%s\n", line);
}

static void add_lines(struct str *to, const char *prefix, const struct str *from, const char *folder)
{
	char *text = memory_string(str_text(from));
	for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		if (!varies(line))
			add_line(to, prefix, line, folder);
	}
	free(text);
}

/* Runs a command in a child; the status that the child ends with. */
static int run_alone(char *line, int in, int out, int err)
{
	int status = -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		run_in_child(line, in, out, err);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Runs a command, or several with " |> " between them, and appends what the last one writes, and all errors, to `got`. folder: of the
 * recordings, the absolute path. */
static void run(const char *command, const char *folder, struct str *got)
{
	CLEANUP_STR struct str out = { 0 };
	CLEANUP_STR struct str err = { 0 };
	int out_fd = open("/dev/null", O_RDONLY | O_CLOEXEC), err_fd = memfd_create("err", MFD_CLOEXEC), status = -1;
	char *lines = memory_string(command);
	for (char *line = lines, *next; line; line = next) {
		int in_fd = out_fd;
		next = strstr(line, " |> ");
		if (next) {
			*next = '\0';
			next += strlen(" |> ");
		}
		lseek(in_fd, 0, SEEK_SET);
		out_fd = memfd_create("out", MFD_CLOEXEC);
		status = run_alone(line, in_fd, out_fd, err_fd);
		close(in_fd);
	}
	read_all(out_fd, &out);
	read_all(err_fd, &err);
	add_lines(got, "", &out, folder);
	add_lines(got, "! ", &err, folder);
	if (WIFSIGNALED(status))
		str_printf(got, "signal %d\n", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		str_printf(got, "exit %d\n", WEXITSTATUS(status));
	close(out_fd);
	close(err_fd);
	free(lines);
}

/* The text between this line and the next command. */
static const char *next_command(const char *text)
{
	const char *next = strstr(text, "\n### ");
	return next ? next + 1 : text + strlen(text);
}

static void show_difference(const char *command, const char *want, const char *got)
{
	unsigned line = 1;
	while (*want && *got && strcspn(want, "\n") == strcspn(got, "\n") && strncmp(want, got, strcspn(want, "\n")) == 0) {
		want += strcspn(want, "\n");
		got += strcspn(got, "\n");
		want += *want == '\n';
		got += *got == '\n';
		line++;
	}
	unit_fail(command, (int)line, "expected \"%.*s\", got \"%.*s\"", (int)strcspn(want, "\n"), want, (int)strcspn(got, "\n"), got);
}

/* Appends a file's commands with what they print to `made`; compares that with the file, unless made is to replace it. */
static void check(const char *text, const char *folder, bool replaces, struct str *made)
{
	for (const char *at = text, *next; *at; at = next) {
		CLEANUP_STR struct str got = { 0 };
		next = next_command(at);
		size_t head = strcspn(at, "\n") + 1;
		if (strncmp(at, "### ", 4) != 0) {
			str_add(made, at, (size_t)(next - at));
			continue;
		}
		CLEANUP_STR struct str command = { 0 };
		CLEANUP_STR struct str want = { 0 };
		str_add(&command, at + 4, head - 5);
		str_add(&want, at + head, (size_t)(next - at) - head);
		run(str_text(&command), folder, &got);
		str_printf(made, "### %s\n%s", str_text(&command), str_text(&got));
		if (!replaces && strcmp(str_text(&want), str_text(&got)) != 0)
			show_difference(str_text(&command), str_text(&want), str_text(&got));
	}
}

static void check_file(const char *name)
{
	CLEANUP_STR struct str path = { 0 };
	CLEANUP_STR struct str text = { 0 };
	CLEANUP_STR struct str made = { 0 };
	struct utsname machine;
	/* numbers of system calls, the order of bytes in dumps, libraries for disassembly */
	if (uname(&machine) != 0 || strcmp(machine.machine, "x86_64") != 0) {
		unit_skip("the output is that of x86_64, where it runs");
		return;
	}
	str_printf(&path, FOLDER "/%s.expected", name);
	int fd = open(str_text(&path), O_RDONLY | O_CLOEXEC);
	EXPECT(fd >= 0);
	if (fd < 0)
		return;
	read_all(fd, &text);
	close(fd);
	EXPECT(strstr(str_text(&text), "### "));
	char *folder = realpath(FOLDER "/data", NULL);
	bool replaces = secure_getenv("GOLDEN_UPDATE");
	EXPECT(folder);
	if (folder)
		check(str_text(&text), folder, replaces, &made);
	free(folder);
	if (!replaces)
		return;
	FILE *out = fopen(str_text(&path), "w");
	EXPECT(out && fputs(str_text(&made), out) >= 0 && fclose(out) == 0);
}

TEST("reports of known recordings are as expected, to the byte")
{
	check_file("report");
}

TEST("samples and records of known recordings are listed as expected, to the byte")
{
	check_file("script");
}

TEST("known recordings of the scheduler, of system calls and of locks are analysed as expected, to the byte")
{
	check_file("events");
}

TEST("a known hardware trace and known recorded counts are shown as expected, to the byte")
{
	check_file("traces");
}

TEST("lines, inlined calls, types and probes of a known program are shown as expected, to the byte")
{
	check_file("lines");
}

TEST("the headers, the code and the comparison of known recordings are shown as expected, to the byte")
{
	check_file("files");
}

TEST("recordings that inject rewrites are shown as expected, to the byte")
{
	check_file("rewritten");
}

TEST("wrong command lines are refused as expected, to the byte")
{
	check_file("refused");
}
