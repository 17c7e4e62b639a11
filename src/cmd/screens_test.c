/* Browsers of the recordings in test/golden/data, each in a child process on a terminal of its own: after each key, the screen must become
 * what test/golden/screens.expected has. There a line "### WORDS" is a command, and a line "## KEY" a key: a name of KEYS, "C-" with a
 * letter, or ":" with text that is typed. The screen at the start, or after the key, follows; '>' begins a line whose first character is
 * reversed. The last key of a command ends it: its exit code follows. With GOLDEN_UPDATE=1 the screens are written anew.
 * In top.expected, where screens change by themselves, are lines that begin with '~': texts that one screen must have. A command after
 * "LOAD " watches a program that is busy in one function, whose id is PID. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/str.h"
#include "cmd/test_terminal.h"
#include "cmd/test_words.h"
#include "os/process.h"
#include "unit.h"

#define FOLDER "test/golden"

enum { PATIENCE_MS = 40000, QUIET_MS = 700 };

struct play {
	struct test_terminal terminal;
	pid_t child, load;
	int fd;
	bool ended;     /* the child has closed the terminal */
	bool replaces;
	const char *texts; /* that a screen must have, or NULL */
	bool seen;         /* they were on a screen */
};

static const struct { const char *name, *bytes; } KEYS[] = {
	{ "Up", "\033[A" }, { "Down", "\033[B" }, { "Right", "\033[C" }, { "Left", "\033[D" }, { "Home", "\033[1~" }, { "End", "\033[4~" },
	{ "BTab", "\033[Z" }, { "Tab", "\t" }, { "Enter", "\r" }, { "Escape", "\033" }, { "BSpace", "\b" }, { "Space", " " },
};

__attribute__((noreturn)) static void run_in_child(char *line, const char *slave, pid_t tests)
{
	char *words[WORDS_MAX];
	const struct winsize size = { .ws_row = TERMINAL_LINES, .ws_col = TERMINAL_COLUMNS };
	int count = words_split(line, words);
	words_environment("/dev/null");
	setenv("PERF_CONFIG", "/dev/null", 1);
	setenv("TERM", "vt100", 1);
	setsid();
	int fd = open(slave, O_RDWR);
	if (!process_ends_with(tests, SIGKILL) || fd < 0 || ioctl(fd, TIOCSWINSZ, &size) < 0 || dup2(fd, STDIN_FILENO) < 0 ||
	    dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0 || chdir(FOLDER "/data") < 0)
		_exit(99);
	close(fd);
	words_run(count, words);
}

/* The screen, without the time at which the file was written. */
static void read_screen(const struct test_terminal *terminal, struct str *to)
{
	static const char varying[] = "captured on";
	terminal_text(terminal, to);
	char *at = to->text ? strstr(to->text, varying) : NULL;
	if (!at)
		return;
	at += sizeof varying - 1;
	const char *rest = at + strcspn(at, "\n");
	memmove(at, rest, strlen(rest) + 1);
	to->len = strlen(to->text);
}

/* Whether the screen has the text of each line after its '~'. */
static bool has_texts(const struct test_terminal *terminal, const char *texts)
{
	CLEANUP_STR struct str screen = { 0 };
	bool has = true;
	terminal_text(terminal, &screen);
	for (const char *line = texts; has && *line == '~'; line += strcspn(line, "\n") + 1) {
		char *text = strndup(line + 1, strcspn(line, "\n") - 1);
		has = strstr(str_text(&screen), text);
		free(text);
	}
	return has;
}

/* A program that runs one function for a minute. */
static pid_t load_start(void)
{
	char words[] = "test -w noploop 60", *list[WORDS_MAX];
	fflush(stdout);
	pid_t tests = getpid(), child = fork();
	if (child != 0)
		return child;
	if (!process_ends_with(tests, SIGKILL))
		_exit(99);
	int count = words_split(words, list);
	words_environment("/dev/null");
	words_run(count, list);
}

static void play_open(struct play *play, const char *command)
{
	CLEANUP_STR struct str whole = { 0 };
	const char *pid = strstr(command, "PID");
	bool loads = pid && strncmp(command, "LOAD ", 5) == 0;
	play->load = loads ? load_start() : -1;
	if (loads)
		str_printf(&whole, "%.*s%d%s", (int)(pid - command - 5), command + 5, (int)play->load, pid + 3);
	char *line = memory_string(loads ? str_text(&whole) : command), slave[64];
	const pid_t tests = getpid();
	terminal_reset(&play->terminal);
	play->ended = false;
	play->child = -1;
	play->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	EXPECT(play->fd >= 0);
	fflush(stdout);
	if (play->fd >= 0 && grantpt(play->fd) == 0 && unlockpt(play->fd) == 0 && ptsname_r(play->fd, slave, sizeof slave) == 0)
		play->child = fork();
	if (play->child == 0)
		run_in_child(line, slave, tests);
	free(line);
}

/* The exit code; -1 if it was killed, which happens here if the terminal is still open. */
static int play_close(struct play *play)
{
	int status = -1;
	if (play->load > 0 && kill(play->load, SIGKILL) == 0)
		waitpid(play->load, NULL, 0);
	if (play->child > 0 && !play->ended)
		kill(play->child, SIGKILL);
	while (play->child > 0 && waitpid(play->child, &status, 0) < 0 && errno == EINTR)
		;
	if (play->fd >= 0)
		close(play->fd);
	return play->child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Takes what is written within some time; returns whether there was something. */
static bool play_read(struct play *play, int ms)
{
	char bytes[4096];
	struct pollfd ready = { .fd = play->fd, .events = POLLIN };
	if (play->ended || poll(&ready, 1, ms) <= 0)
		return false;
	ssize_t n = read(play->fd, bytes, sizeof bytes);
	play->ended = n <= 0 && errno != EINTR; /* the terminal has an error when it is closed on the other side */
	for (ssize_t i = 0; i < n; i++) {
		play->seen |= play->texts && bytes[i] == '\033' && has_texts(&play->terminal, play->texts); /* before a screen is cleared */
		terminal_take(&play->terminal, bytes[i]);
	}
	return n > 0;
}

/* Waits until the screen is as wanted; where screens are written anew, until it does not change. */
static void play_wait(struct play *play, const char *wanted, struct str *screen)
{
	int64_t until = now_ms() + PATIENCE_MS;
	play->texts = *wanted == '~' ? wanted : NULL;
	play->seen = false;
	for (;;) {
		bool more = play_read(play, play->replaces && !play->texts ? QUIET_MS : 20);
		read_screen(&play->terminal, screen);
		if (play->texts && (play->seen || has_texts(&play->terminal, wanted))) {
			str_clear(screen);
			str_puts(screen, wanted);
			return;
		}
		bool is_shown = play->replaces ? !more && screen->len : strcmp(str_text(screen), wanted) == 0;
		if (play->ended || now_ms() > until || (!play->texts && is_shown))
			return;
	}
}

static void play_end(struct play *play)
{
	int64_t until = now_ms() + PATIENCE_MS;
	play->texts = NULL;
	while (!play->ended && now_ms() < until)
		play_read(play, 20);
}

static void play_press(const struct play *play, const char *key)
{
	const char *bytes = key + 1;
	char control[2] = "";
	for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
		if (strcmp(key, KEYS[i].name) == 0)
			bytes = KEYS[i].bytes;
	if (strncmp(key, "C-", 2) == 0 && key[2]) {
		control[0] = key[2] & 31;
		bytes = control;
	} else if (key[0] != ':' && key[1] == '\0') {
		bytes = key;
	}
	EXPECT(write(play->fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
}

/* The text from here to the next line that begins with #. */
static char *block_at(const char *text)
{
	const char *end = *text == '#' ? text : strstr(text, "\n#");
	return end ? strndup(text, (size_t)(end - text) + (*text != '#')) : memory_string(text);
}

/* One command with its keys; adds what it shows. Returns the rest of the text; NULL after a difference. */
static const char *play_command(const char *text, bool replaces, struct str *made)
{
	struct play play = { .replaces = replaces };
	CLEANUP_STR struct str screen = { 0 };
	char *command = strndup(text + 4, strcspn(text, "\n") - 4), *key = NULL;
	bool as_wanted = true;
	play_open(&play, command);
	str_printf(made, "### %s\n", command);
	for (text += strlen(command) + 5;; text += strlen(key) + 4) {
		char *wanted = block_at(text);
		text += strlen(wanted);
		bool last = strncmp(text, "## ", 3) != 0;
		if (!last && as_wanted)
			play_wait(&play, wanted, &screen);
		if (!last && !replaces && as_wanted && strcmp(str_text(&screen), wanted) != 0) {
			unit_fail(command, 0, "after %s expected\n%sgot\n%s", key ? key : "the start", wanted, str_text(&screen));
			as_wanted = false;
		}
		if (!last && as_wanted && play.ended) {
			unit_fail(command, 0, "it ended after %s, before its last key", key ? key : "the start");
			as_wanted = false;
		}
		if (last) {
			char code[32];
			if (as_wanted)
				play_end(&play);
			snprintf(code, sizeof code, "exit %d\n", play_close(&play));
			if (as_wanted && !replaces)
				EXPECT_STR(code, wanted);
			str_puts(made, code);
			free(wanted);
			break;
		}
		str_puts(made, str_text(&screen));
		free(wanted);
		free(key);
		key = strndup(text + 3, strcspn(text, "\n") - 3);
		str_printf(made, "## %s\n", key);
		if (as_wanted)
			play_press(&play, key);
	}
	free(command);
	free(key);
	return as_wanted ? text : NULL;
}

/* Plays a file of test/golden; writes it anew with GOLDEN_UPDATE. */
static void play_file(const char *path)
{
	CLEANUP_STR struct str text = { 0 };
	CLEANUP_STR struct str made = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT(fd >= 0);
	if (fd < 0)
		return;
	words_read(fd, &text);
	close(fd);
	bool replaces = secure_getenv("GOLDEN_UPDATE");
	const char *at = str_text(&text);
	EXPECT(strncmp(at, "### ", 4) == 0);
	while (at && strncmp(at, "### ", 4) == 0)
		at = play_command(at, replaces, &made);
	if (at)
		EXPECT_STR(at, "");
	if (!replaces || !at)
		return;
	FILE *out = fopen(path, "w");
	EXPECT(out && fputs(str_text(&made), out) >= 0 && fclose(out) == 0);
}

static bool has_terminals(void)
{
	static const char *const places[] = { "/lib/terminfo/v/vt100", "/usr/share/terminfo/v/vt100", "/etc/terminfo/v/vt100" };
	struct winsize size;
	int pty = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	bool can = pty >= 0 && ioctl(pty, TIOCGWINSZ, &size) == 0, described = false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		described |= access(places[i], R_OK) == 0;
	if (pty >= 0)
		close(pty);
	return can && described;
}

TEST("browsers show the expected screens after each key")
{
	struct utsname machine;
	if (!has_terminals() || uname(&machine) != 0 || strcmp(machine.machine, "x86_64") != 0)
		unit_skip("needs terminals, the description of vt100 (package ncurses-base), and x86_64, whose code is shown");
	else
		play_file(FOLDER "/screens.expected");
}

TEST("top shows what a program does, and obeys each key")
{
	if (!has_terminals() || geteuid() != 0 || (syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) < 0 && errno != EFAULT))
		unit_skip("needs root, perf_event_open, terminals, and the description of vt100 (package ncurses-base)");
	else
		play_file(FOLDER "/top.expected");
}
