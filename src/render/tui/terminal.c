#include "render/tui/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>
#undef lines /* term.h makes macros of common words */
#undef columns

#include "base/clock.h"

enum { FRAME_MS = 40 };           /* the least time between two screens while results arrive */

struct terminal {
	FILE *in, *out;
	SCREEN *curses;
	struct screen screen;
	struct browser *browser;
	struct sigaction old[NSIG];
	char *old_locale;
	bool gone, colours;
};

/* Signals whose default ends the program. */
static const int fatal_signals[] = { SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGXCPU };

/* In a signal handler: ncurses restores the terminal's modes; every terminal with a cursor understands the escape sequences. */
static void on_fatal(int number)
{
	static const char leave[] = "\033[?1006l\033[?1002l\033[?1000l\033[0m\033[?25h\033[?1049l\033[?1l\033>\r\n";
	ssize_t n = write(STDOUT_FILENO, leave, sizeof leave - 1);
	(void)n;
	reset_shell_mode();
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_fatal(struct terminal *terminal)
{
	struct sigaction action = { .sa_handler = on_fatal, .sa_flags = (int)(SA_NODEFER | SA_RESETHAND) };
	for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++)
		sigaction(fatal_signals[i], NULL, &terminal->old[fatal_signals[i]]);
	for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++)
		if (terminal->old[fatal_signals[i]].sa_handler != SIG_IGN)
			sigaction(fatal_signals[i], &action, NULL);
}

static void release_fatal(struct terminal *terminal)
{
	for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++)
		sigaction(fatal_signals[i], &terminal->old[fatal_signals[i]], NULL);
}

bool terminal_usable(struct error *err)
{
	int code;
	const char *term = secure_getenv("TERM");
	if (!isatty(STDOUT_FILENO)) {
		error_set(err, ERROR_USAGE, "standard output is not a terminal");
		return false;
	}
	if (!term || !*term || strcmp(term, "dumb") == 0) {
		error_set(err, ERROR_USAGE, "the terminal cannot be painted on (TERM is %s)", term && *term ? term : "not set");
		return false;
	}
	if (setupterm(term, STDOUT_FILENO, &code) != OK) {
		error_set(err, ERROR_USAGE, "the terminal %s is not known here", term);
		error_hint(err, "install ncurses-term, or set TERM to xterm");
		return false;
	}
	bool paints = tigetstr("cup") > (char *)0 && tigetstr("clear") > (char *)0;
	del_curterm(cur_term);
	if (!paints)
		error_set(err, ERROR_USAGE, "the terminal %s has no cursor that can be moved", term);
	return paints;
}

static void define_colours(struct terminal *terminal)
{
	static const struct { short text, back; } pairs[STYLE_COUNT] = {
		[STYLE_PLAIN] = { -1, -1 }, [STYLE_TITLE] = { COLOR_CYAN, -1 }, [STYLE_HOT] = { COLOR_RED, -1 },
		[STYLE_WARM] = { COLOR_GREEN, -1 },
		[STYLE_MATCH] = { COLOR_BLACK, COLOR_YELLOW }, [STYLE_DIM] = { COLOR_BLUE, -1 },
		[STYLE_KEYS] = { COLOR_BLACK, COLOR_CYAN },
		[STYLE_BOX] = { COLOR_WHITE, COLOR_BLUE }, [STYLE_ERROR] = { COLOR_WHITE, COLOR_RED }, [STYLE_USER] = { COLOR_BLACK, COLOR_YELLOW },
		[STYLE_KERNEL] = { COLOR_BLACK, COLOR_RED }, [STYLE_INLINE] = { COLOR_BLACK, COLOR_GREEN },
		[STYLE_JIT] = { COLOR_BLACK, COLOR_MAGENTA },
		[STYLE_TASK] = { COLOR_BLACK, COLOR_CYAN }, [STYLE_UNKNOWN] = { COLOR_BLACK, COLOR_WHITE }, [STYLE_HEAT1] = { COLOR_BLUE, -1 },
		[STYLE_HEAT2] = { COLOR_GREEN, -1 }, [STYLE_HEAT3] = { COLOR_YELLOW, -1 }, [STYLE_HEAT4] = { COLOR_RED, -1 },
	};
	terminal->colours = has_colors() && start_color() == OK && use_default_colors() == OK;
	for (short i = 0; terminal->colours && i < STYLE_COUNT; i++)
		init_pair((short)(i + 1), pairs[i].text, pairs[i].back);
}

/* Without colours, attributes show the meaning of a style. */
static attr_t plain_attributes(unsigned style)
{
	if (style == STYLE_TITLE || style == STYLE_HOT)
		return A_BOLD;
	bool frame = style >= STYLE_USER && style <= STYLE_UNKNOWN;
	return frame || style == STYLE_KEYS || style == STYLE_MATCH || style == STYLE_ERROR ? A_REVERSE : A_NORMAL;
}

/* A cell for a terminal without UTF-8: lines and arrows have a similar character. */
static const char *ascii_of(const char *text)
{
	static const char *const similar[][2] = { { "\u2502", "|" }, { "\u2500", "-" }, { "\u250c", "+" }, { "\u2514", "+" }, { "\u253c", "|" },
		{ "\u252c", "+" }, { "\u2534", "+" },
		{ "\u25b8", ">" }, { "\u256d", "," }, { "\u2570", "'" } };
	for (size_t i = 0; i < sizeof similar / sizeof *similar; i++)
		if (strcmp(text, similar[i][0]) == 0)
			return similar[i][1];
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c >= 0x80)
			return "?";
	return text;
}

static void paint(struct terminal *terminal)
{
	struct screen *screen = &terminal->screen;
	if (screen->lines != (size_t)LINES || screen->columns != (size_t)COLS)
		screen_resize(screen, (size_t)(LINES > 0 ? LINES : 1), (size_t)(COLS > 0 ? COLS : 1));
	browser_paint(terminal->browser, screen);
	for (size_t line = 0; line < screen->lines; line++)
		for (size_t column = 0; column < screen->columns; column++) {
			const struct screen_cell *cell = &screen->cells[line * screen->columns + column];
			unsigned style = cell->style & STYLE_MASK;
			attr_t attributes = (cell->style & STYLE_REVERSE ? A_REVERSE : 0) | (cell->style & STYLE_BOLD ? A_BOLD : 0);
			if (!terminal->colours)
				attributes ^= plain_attributes(style);
			if (!*cell->text)
				continue; /* the second half of a wide character */
			attr_set(attributes, terminal->colours ? (short)(style + 1) : 0, NULL);
			mvaddstr((int)line, (int)column, screen->ascii ? ascii_of(cell->text) : cell->text);
		}
	move((int)screen->lines - 1, (int)screen->columns - 1);
	refresh();
}

static uint32_t key_of(wint_t code)
{
	static const struct { wint_t code; uint32_t key; } keys[] = {
		{ KEY_UP, BROWSE_KEY_UP }, { KEY_DOWN, BROWSE_KEY_DOWN }, { KEY_LEFT, BROWSE_KEY_LEFT }, { KEY_RIGHT, BROWSE_KEY_RIGHT },
		{ KEY_PPAGE, BROWSE_KEY_PAGE_UP }, { KEY_NPAGE, BROWSE_KEY_PAGE_DOWN }, { KEY_HOME, BROWSE_KEY_HOME }, { KEY_END, BROWSE_KEY_END },
		{ KEY_BTAB, BROWSE_KEY_UNTAB }, { KEY_ENTER, BROWSE_KEY_ENTER }, { KEY_BACKSPACE, BROWSE_KEY_BACKSPACE },
		{ KEY_DC, BROWSE_KEY_DELETE },
		{ KEY_F(1), 'h' },
	};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].code == code)
			return keys[i].key;
	return BROWSE_KEY_NONE;
}

/* A press and a release at one place are a click; ncurses's own detection waits. */
static bool take_mouse(struct terminal *terminal, struct browse_event *event)
{
	MEVENT mouse;
	if (getmouse(&mouse) != OK || mouse.x < 0 || mouse.y < 0)
		return false;
	*event = (struct browse_event){ .line = (size_t)mouse.y, .column = (size_t)mouse.x };
	if (mouse.bstate & BUTTON4_PRESSED)
		event->key = BROWSE_KEY_WHEEL_UP;
	else if (mouse.bstate & BUTTON5_PRESSED)
		event->key = BROWSE_KEY_WHEEL_DOWN;
	else if (mouse.bstate & BUTTON1_DOUBLE_CLICKED)
		event->key = BROWSE_KEY_DOUBLE;
	else if (mouse.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED))
		event->key = BROWSE_KEY_CLICK;
	else if (mouse.bstate & BUTTON1_RELEASED)
		event->key = BROWSE_KEY_RELEASE;
	return event->key != BROWSE_KEY_NONE;
}

enum { CTRL_L = 12, CTRL_Z = 26 };

/* Ctrl-Z: ncurses restores the terminal before the program stops, and paints anew when it continues. A Ctrl-C that follows ends the program
 * instead: it is already read, or waits as a key, or is a signal as soon as the terminal makes signals of keys. Other keys that wait are
 * dropped: they are not meant for the browser. */
static void suspend(struct terminal *terminal)
{
	wint_t code;
	cbreak();
	for (int kind; (kind = get_wch(&code)) != ERR;)
		if (kind != KEY_CODE_YES && code == BROWSE_KEY_INTERRUPT) {
			browser_key(terminal->browser, &(struct browse_event){ .key = BROWSE_KEY_INTERRUPT });
			if (terminal->browser->quit)
				return;
		}
	raise(SIGTSTP);
	raw();
	clearok(curscr, TRUE);
}

static void take_key(struct terminal *terminal, int kind, wint_t code)
{
	struct browse_event event = { 0 };
	if (kind == KEY_CODE_YES && code == KEY_RESIZE) {
		clearok(curscr, TRUE);
		return;
	}
	if (kind == KEY_CODE_YES && code == KEY_MOUSE) {
		if (take_mouse(terminal, &event))
			browser_key(terminal->browser, &event);
		return;
	}
	if (kind != KEY_CODE_YES && code == CTRL_Z) {
		suspend(terminal);
		return;
	}
	if (kind != KEY_CODE_YES && code == CTRL_L) {
		clearok(curscr, TRUE);
		return;
	}
	if (kind == KEY_CODE_YES)
		event.key = key_of(code);
	else
		event.key = code == '\n' ? BROWSE_KEY_ENTER : code == 0x7f ? BROWSE_KEY_BACKSPACE : (uint32_t)code;
	if (event.key)
		browser_key(terminal->browser, &event);
}

/* Takes all keys that wait; false: the terminal is gone. */
static bool take_keys(struct terminal *terminal, bool readable)
{
	enum { KEYS_MAX = 64 }; /* then a screen is due */
	wint_t code;
	int taken = 0;
	for (int kind; taken < KEYS_MAX && !terminal->browser->quit && (kind = get_wch(&code)) != ERR; taken++)
		take_key(terminal, kind, code);
	return taken || !readable;
}

/* Whether only the end of the input is ready to be read. */
static bool at_end(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	return poll(&ready, 1, 0) > 0 && ready.revents & (POLLHUP | POLLERR | POLLNVAL);
}

static void loop(struct terminal *terminal)
{
	struct browser *browser = terminal->browser;
	int keys = fileno(terminal->in), empty = 0;
	bool due = true;
	int64_t painted = 0;
	while (!browser->quit && !terminal->gone) {
		int wake = browser->source.feed ? browser->source.feed->wake : -1;
		struct pollfd fds[] = { { .fd = keys, .events = POLLIN }, { .fd = wake, .events = POLLIN } };
		int64_t now = now_ms(), wait = due && now - painted < FRAME_MS ? FRAME_MS - (now - painted) : 0;
		if (due && !wait) {
			paint(terminal);
			painted = now_ms();
			due = browser_work(browser); /* the screen says what takes time */
			if (due)
				continue;
		}
		int count = poll(fds, 2, due ? (int)wait : -1);
		if (count < 0 && errno != EINTR)
			break;
		bool readable = count > 0 && fds[0].revents, woken = count > 0 && fds[1].revents;
		if (readable && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			terminal->gone = at_end(keys);
		if (readable || count < 0) {
			empty = take_keys(terminal, readable) ? 0 : empty + 1;
			terminal->gone |= empty > 3; /* readable, and nothing to read */
			painted = 0; /* a key is answered at once */
			due = true;
		}
		if (woken) {
			browser_poll(browser);
			due = true;
		}
	}
}

static void choose_locale(struct terminal *terminal)
{
	const char *old = setlocale(LC_CTYPE, NULL);
	terminal->old_locale = strdup(old ? old : "C");
	setlocale(LC_CTYPE, "");
	terminal->screen.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static void restore_locale(struct terminal *terminal)
{
	if (terminal->old_locale)
		setlocale(LC_CTYPE, terminal->old_locale);
	free(terminal->old_locale);
}

/* Terminals that do not obey the request for application keys send these. */
static void define_plain_keys(void)
{
	static const struct { const char *sent; int code; } keys[] = {
		{ "\033[A", KEY_UP }, { "\033[B", KEY_DOWN }, { "\033[C", KEY_RIGHT }, { "\033[D", KEY_LEFT }, { "\033[H", KEY_HOME },
		{ "\033[F", KEY_END }, { "\033OA", KEY_UP }, { "\033OB", KEY_DOWN }, { "\033OC", KEY_RIGHT }, { "\033OD", KEY_LEFT },
		{ "\033[Z", KEY_BTAB }, { "\033[1~", KEY_HOME }, { "\033[4~", KEY_END }, { "\033[7~", KEY_HOME }, { "\033[8~", KEY_END },
	};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		define_key(keys[i].sent, keys[i].code);
}

static int open_terminal(struct terminal *terminal, struct error *err)
{
	/* keys are read from the terminal, also if standard input is a recording */
	int in = isatty(STDIN_FILENO) ? dup(STDIN_FILENO) : open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int out = dup(STDOUT_FILENO);
	terminal->in = in < 0 ? NULL : fdopen(in, "r");
	terminal->out = out < 0 ? NULL : fdopen(out, "w");
	if (!terminal->in || !terminal->out)
		return error_system(err, "the terminal cannot be opened");
	choose_locale(terminal);
	set_escdelay(25);
	terminal->curses = newterm(NULL, terminal->out, terminal->in);
	if (!terminal->curses)
		return error_set(err, ERROR_USAGE, "the terminal cannot be used");
	set_term(terminal->curses);
	catch_fatal(terminal);
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	define_plain_keys();
	nodelay(stdscr, TRUE);
	leaveok(stdscr, FALSE);
	curs_set(0);
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	define_colours(terminal);
	return 0;
}

static void close_terminal(struct terminal *terminal)
{
	if (terminal->curses) {
		endwin();
		delscreen(terminal->curses);
		release_fatal(terminal);
	}
	if (terminal->in)
		fclose(terminal->in);
	if (terminal->out)
		fclose(terminal->out);
	screen_fini(&terminal->screen);
	restore_locale(terminal);
}

int terminal_run(struct browser *browser, struct error *err)
{
	struct terminal terminal = { .browser = browser };
	int result = open_terminal(&terminal, err);
	if (result == 0)
		loop(&terminal);
	browser->quit |= terminal.gone;
	if (terminal.gone)
		result = error_set(err, ERROR_SYSTEM, "the terminal is gone");
	close_terminal(&terminal);
	return result;
}
