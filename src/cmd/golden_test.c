/* Whole commands on the recordings in test/golden/data, each in a child process: what it writes to stdout and stderr, and its exit code,
 * must be as a file NAME.expected of test/golden has them. There a line "### WORDS" is a command; its output follows, then lines "! TEXT"
 * of stderr and "exit N" unless N is 0. A command after " |> " reads what the one before it wrote; after " |= " is a text that the lines
 * shown have, after " |- " one that they do not have. With GOLDEN_UPDATE=1 the files are written anew.
 * The commands of live, bench, counted, metrics, planted and recorded measure this machine, those of written.expected write files or
 * change the lists of the kernel: they run in TMP, an empty folder at first, the recordings are in DATA, the probes in GROUP; one after
 * "INT " is interrupted as soon as it has written something to stdout, one after "SMALL " runs on the machine of machines/small. Of what
 * they print, each number is N, several blanks are one (none at the beginning and after a bracket), and lines with the same text follow
 * each other only once; after " |#" the numbers are shown, after " |*" those of at most three digits. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/str.h"
#include "cmd/test_machine.h"
#include "cmd/test_words.h"
#include "unit.h"

#define FOLDER "test/golden"
#define OTHER_MACHINE "big-endian/"
#define MACHINE FOLDER "/machines/small"

/* Where the recordings are; for commands that measure, else NULL: where they write, and the group of their probes. */
struct place {
	const char *data, *scratch, *group;
};

/* Commands that start their own program start this one. */
__attribute__((constructor)) static void run_as_program(int argc, char **argv)
{
	if (secure_getenv(AS_PROGRAM))
		words_run(argc, argv);
}

__attribute__((noreturn)) static void run_in_child(char *line, const struct place *place, int in, int out, int err)
{
	char *words[WORDS_MAX];
	bool planted = strncmp(line, "SMALL ", 6) == 0;
	if (planted && !machine_plant(MACHINE))
		_exit(98);
	int count = words_split(line + (planted ? 6 : 0), words);
	words_environment(place->scratch ? place->scratch : "/dev/null");
	if (place->scratch)
		setenv("PATH", "/usr/bin:/bin", 1);
	else
		setenv("PERF_CONFIG", "/dev/null", 1);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0 ||
	    chdir(place->scratch ? place->scratch : FOLDER "/data") < 0)
		_exit(99);
	words_run(count, words);
}

/* Depends on the clone of the repository, not on the recording. */
static bool varies(const char *line)
{
	return strstr(line, "captured on") || strstr(line, "captured-on") || strncmp(line, "# (Tip:", 7) == 0;
}

/* The text with each `what` replaced. */
static char *replaced(const char *text, const char *what, const char *by)
{
	CLEANUP_STR struct str to = { 0 };
	for (const char *at; (at = strstr(text, what)); text = at + strlen(what)) {
		str_add(&to, text, (size_t)(at - text));
		str_puts(&to, by);
	}
	str_puts(&to, text);
	return memory_string(str_text(&to));
}

/* The command with its places. */
static char *placed(const char *command, const struct place *place)
{
	if (!place->scratch)
		return memory_string(command);
	char *one = replaced(command, "DATA", place->data), *two = replaced(one, "TMP", place->scratch);
	free(one);
	one = replaced(two, "GROUP", place->group);
	free(two);
	return one;
}

/* How many characters of the text are a number, maybe hexadecimal: 0 if it does not begin with one. */
static size_t number_length(const char *text)
{
	size_t hex = strncmp(text, "0x", 2) == 0 ? 2 + strspn(text + 2, "0123456789abcdef") : strspn(text, "0123456789abcdef");
	size_t digits = strspn(text, "0123456789");
	while (digits && (text[digits] == '.' || text[digits] == ',' || text[digits] == ':') && isdigit((unsigned char)text[digits + 1]))
		digits += 1 + strspn(text + digits + 1, "0123456789");
	return hex >= 8 && hex > digits && strcspn(text, "0123456789") < hex ? hex : digits;
}

enum numbers { NUMBERS_NONE, NUMBERS_SHORT, NUMBERS_ALL };

/* Whether it has at most three digits. */
static bool number_is_short(const char *text, size_t length)
{
	size_t digits = 0;
	for (size_t i = 0; i < length; i++)
		digits += isdigit((unsigned char)text[i]) != 0;
	return digits <= 3;
}

/* The text with each number that is not shown as N, and several blanks as one. */
static char *without_numbers(const char *text, enum numbers shown)
{
	CLEANUP_STR struct str to = { 0 };
	text += strspn(text, " ");
	while (*text) {
		size_t number = number_length(text), blanks = strspn(text, " ");
		if (number && shown == NUMBERS_SHORT && number_is_short(text, number))
			str_add(&to, text, number);
		else if (number)
			str_puts(&to, "N");
		else if (!blanks || text[-1] != '(')
			str_add(&to, text, 1);
		text += number ? number : blanks ? blanks : 1;
	}
	return memory_string(str_text(&to));
}

/* Adds a line, unless it has the same text as the one before it of a command that measures. */
static void add_line(struct str *to, const char *prefix, const char *line, enum numbers numbers, const struct place *place)
{
	char *one = replaced(line, place->data, "DATA");
	if (place->scratch) {
		char *two = replaced(one, place->scratch, "TMP"), *three = replaced(two, place->group, "GROUP");
		free(one);
		one = numbers == NUMBERS_ALL ? memory_string(three) : without_numbers(three, numbers);
		free(two);
		free(three);
	}
	CLEANUP_STR struct str whole = { 0 };
	str_printf(&whole, "%s%s\n", prefix, one);
	free(one);
	size_t before = to->len;
	if (place->scratch && before >= whole.len && memcmp(to->text + before - whole.len, whole.text, whole.len) == 0 &&
	    (before == whole.len || to->text[before - whole.len - 1] == '\n'))
		return;
	str_add(to, whole.text, whole.len);
}

/* What lines are shown, if not NULL: those with a text, or those without. */
struct choice {
	const char *with, *without;
	enum numbers numbers;
};

static void add_lines(struct str *to, const char *prefix, const struct str *from, const struct choice *choice, const struct place *place)
{
	char *text = memory_string(str_text(from));
	for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		bool chosen = (!choice->with || strstr(line, choice->with)) && (!choice->without || !strstr(line, choice->without));
		if (chosen && !varies(line))
			add_line(to, prefix, line, choice->numbers, place);
	}
	free(text);
}

/* Interrupts a child as soon as the file has some bytes, or the child has ended. */
static void interrupt(pid_t child, int out)
{
	struct stat st;
	siginfo_t ended = { 0 };
	while (fstat(out, &st) == 0 && st.st_size == 0 && waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && !ended.si_pid)
		usleep(10000);
	kill(child, SIGINT);
}

/* Runs a command in a child; the status that the child ends with. */
static int run_alone(char *line, const struct place *place, int in, int out, int err)
{
	int status = -1;
	fflush(stdout);
	bool interrupted = strncmp(line, "INT ", 4) == 0;
	pid_t child = fork();
	if (child == 0)
		run_in_child(line + (interrupted ? 4 : 0), place, in, out, err);
	if (child > 0 && interrupted)
		interrupt(child, out);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Cuts the text off where the mark begins, and returns what follows it; NULL without one. */
static char *cut_at(char *text, const char *mark)
{
	char *at = strstr(text, mark);
	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(mark);
}

/* Runs a command, or several with " |> " between them, and appends what the last one writes, and all errors, to `got`. */
static void run(const char *command, const struct place *place, struct str *got)
{
	CLEANUP_STR struct str out = { 0 };
	CLEANUP_STR struct str err = { 0 };
	int out_fd = open("/dev/null", O_RDONLY | O_CLOEXEC), err_fd = memfd_create("err", MFD_CLOEXEC), status = -1;
	char *lines = placed(command, place);
	struct choice choice = { .numbers = cut_at(lines, " |#") ? NUMBERS_ALL : cut_at(lines, " |*") ? NUMBERS_SHORT : NUMBERS_NONE };
	/* in this order: each follows the ones below on the line */
	choice.without = cut_at(lines, " |- ");
	choice.with = cut_at(lines, " |= ");
	for (char *line = lines, *next; line; line = next) {
		int in_fd = out_fd;
		next = cut_at(line, " |> ");
		lseek(in_fd, 0, SEEK_SET);
		out_fd = memfd_create("out", MFD_CLOEXEC);
		status = run_alone(line, place, in_fd, out_fd, err_fd);
		close(in_fd);
	}
	words_read(out_fd, &out);
	words_read(err_fd, &err);
	add_lines(got, "", &out, &choice, place);
	add_lines(got, "! ", &err, &choice, place);
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
static void check(const char *text, const struct place *place, bool replaces, struct str *made)
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
		run(str_text(&command), place, &got);
		str_printf(made, "### %s\n%s", str_text(&command), str_text(&got));
		if (!replaces && strcmp(str_text(&want), str_text(&got)) != 0)
			show_difference(str_text(&command), str_text(&want), str_text(&got));
	}
}

static void check_file_in(const char *name, const char *scratch, const char *group)
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
	words_read(fd, &text);
	close(fd);
	EXPECT(strstr(str_text(&text), "### "));
	char *folder = realpath(FOLDER "/data", NULL);
	bool replaces = secure_getenv("GOLDEN_UPDATE");
	EXPECT(folder);
	if (folder)
		check(str_text(&text), &(struct place){ folder, scratch, group }, replaces, &made);
	free(folder);
	if (!replaces)
		return;
	FILE *out = fopen(str_text(&path), "w");
	EXPECT(out && fputs(str_text(&made), out) >= 0 && fclose(out) == 0);
}

static void check_file(const char *name)
{
	check_file_in(name, NULL, NULL);
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

TEST("samples with all fields, and stacks that are unwound, are shown as expected, to the byte")
{
	check_file("kinds");
}

TEST("variables, members, types and lines of a program with variables of every kind are shown as expected, to the byte")
{
	check_file("shapes");
}

TEST("the headers, the code and the comparison of known recordings are shown as expected, to the byte")
{
	check_file("files");
}

TEST("a program whose threads work, wait and wake each other is analysed as expected, to the byte")
{
	check_file("waits");
}

TEST("tasks, clocks, locks, waits and cycles of known recordings are analysed as expected, to the byte")
{
	check_file("tasks");
}

TEST("lines, calls and variables are shown as expected of debug information of each version, split and compressed, to the byte")
{
	check_file("debug");
}

TEST("packets of every kind, and samples in a trace, are decoded as expected, to the byte")
{
	check_file("packets");
}

TEST("known recordings are exported as expected, row by row, and fields of code as JSON, to the byte")
{
	check_file("exported");
}

TEST("recordings that inject rewrites are shown as expected, to the byte")
{
	check_file("rewritten");
}

/* What a command prints of a recording, which is in this folder. */
static void run_on(const char *command, const char *folder, const char *recording, const struct place *place, struct str *got)
{
	CLEANUP_STR struct str words = { 0 };
	CLEANUP_STR struct str printed = { 0 };
	str_printf(&words, "%s -i %s%s", command, folder, recording);
	run(str_text(&words), place, &printed);
	char *text = replaced(str_text(&printed), OTHER_MACHINE, "");
	str_puts(got, text);
	free(text);
}

TEST("recordings of a big-endian machine are shown as those of a little-endian one, to the byte")
{
	static const char *const recordings[] = { "branches.data", "built.data", "chains.data", "counts.data", "events.data", "heads.data",
		"intervals.data", "kinds.data", "lines.data", "memory.data", "reads.data", "shapes.data", "sideband.data", "trace.data",
		"waits.data", "records.data", "formats.data", "piped.data", "deferred.data", "calls.data", "locks.data", "sched.data", "power.data",
		"lockdep.data", "apart.data", "callstacks.data", "bts.data" };
	static const char *const commands[] = { "report --stdio --header -g none --kallsyms kallsyms --symfs .", "report --stdio -D",
		"report --stdio --stats", "script --kallsyms kallsyms --symfs . --show-task-events --show-mmap-events --show-switch-events "
		"--show-namespace-events --show-cgroup-events --show-lost-events --show-bpf-events --show-text-poke-events",
		"script -F comm,pid,tid,cpu,time,event,ip,sym,dso,addr,period", "script -F +brstack,+brstackinsn,+weight,+data_src,+phys_addr",
		"evlist -v", "stat report", "script --itrace=i10ns", "sched latency", "trace", "lock contention" };
	enum { WITHOUT_RAW = 17, DUMP = 1 }; /* a dump has bytes of tracepoints, headers and compressed records as they are */
	char *data = realpath(FOLDER "/data", NULL);
	size_t shown = 0;
	EXPECT(data);
	for (size_t i = 0; data && i < sizeof recordings / sizeof *recordings; i++)
		for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
			CLEANUP_STR struct str want = { 0 };
			CLEANUP_STR struct str got = { 0 };
			if (i >= WITHOUT_RAW && k == DUMP)
				continue;
			run_on(commands[k], "", recordings[i], &(struct place){ .data = data }, &want);
			run_on(commands[k], OTHER_MACHINE, recordings[i], &(struct place){ .data = data }, &got);
			shown += strlen(str_text(&want));
			if (strcmp(str_text(&want), str_text(&got)) != 0) {
				unit_fail(__FILE__, __LINE__, "%s: %s", recordings[i], commands[k]);
				show_difference(commands[k], str_text(&want), str_text(&got));
			}
		}
	EXPECT(shown > 100000);
	free(data);
}

TEST("recordings that inject writes as files are shown as expected, to the byte")
{
	char scratch[] = "/tmp/perfuse-golden-XXXXXX";
	char remove[64];
	EXPECT(mkdtemp(scratch));
	check_file_in("remade", scratch, "GROUP");
	snprintf(remove, sizeof remove, "rm -rf '%s'", scratch);
	EXPECT_INT(system(remove), 0);
}

TEST("wrong command lines are refused as expected, to the byte")
{
	check_file("refused");
}

/* The commands of a file, in an empty folder, as root. */
static void check_as_root(const char *name)
{
	char scratch[] = "/tmp/perfuse-golden-XXXXXX";
	if (geteuid() != 0 || access("/sys/kernel/tracing/events/syscalls/sys_enter_write/id", R_OK) != 0) {
		unit_skip("needs root, and tracepoints of system calls");
		return;
	}
	EXPECT(mkdtemp(scratch));
	char group[32], remove[64];
	snprintf(group, sizeof group, "golden_%s", strrchr(scratch, '-') + 1);
	check_file_in(name, scratch, group);
	snprintf(remove, sizeof remove, "rm -rf '%s'", scratch);
	EXPECT_INT(system(remove), 0);
}

TEST("commands that measure this machine print what is expected, but for the numbers")
{
	check_as_root("live");
}

TEST("benchmarks print what is expected, but for the numbers")
{
	check_as_root("bench");
}

TEST("counts of commands and of this machine are printed as expected, but for the numbers")
{
	check_as_root("counted");
}

TEST("metrics of a vendor's file have the values that their expressions give, and are chosen by each option")
{
	check_as_root("metrics");
}

static bool can_plant(void)
{
	int status = -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		_exit(machine_plant(MACHINE) ? 0 : 98);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

TEST("the PMUs, the clock and the CPUs of a known machine are shown and set as expected")
{
	if (geteuid() != 0 || !can_plant())
		unit_skip("needs root, and a /sys over which this user may mount");
	else
		check_as_root("planted");
}

TEST("top and trace show known programs as expected, and refuse wrong options")
{
	check_as_root("watched");
}

TEST("recordings of known programs have the expected samples, and the recorder says what it did")
{
	check_as_root("recorded");
}

TEST("commands that count their own events, change the lists of the kernel or write files print what is expected, but for the numbers")
{
	check_as_root("written");
}
