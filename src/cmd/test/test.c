#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "cmd/result_file.h"
#include "cmd/test/check.h"
#include "cmd/test/junit.h"
#include "cmd/test/selection.h"
#include "os/checked.h"
#include "os/process.h"
#include "record/acquire/control.h"
#include "workload/workload.h"

struct test_options {
	bool same_process, parallel, sequential;
	bool list_workloads;
	uint32_t runs;
	const char *skip, *workload, *record_control, *dso, *objdump, *junit;
	int verbose;
};

static const struct option test_table[] = {
	OPT_BOOL('F', "dont-fork", struct test_options, same_process, "run each check in this process"),
	OPTION_ROW(STRING, 'j', "junit", struct test_options, junit, "write the results as JUnit XML (test.xml)", .arg = "file",
		.fallback = "test.xml", .flags = OPTION_OPTARG | OPTION_OWN),
	OPT_BOOL('p', "parallel", struct test_options, parallel, "run all checks at the same time"),
	OPT_BOOL('S', "sequential", struct test_options, sequential, "run one check after the other (the default)"),
	OPT_STRING('s', "skip", struct test_options, skip, "tests", "numbers of checks to omit, with commas between"),
	OPT_INCR('v', "verbose", struct test_options, verbose, "print the log of failed checks; -vv: of all"),
	OPT_UINT('r', "runs-per-test", struct test_options, runs, "how often each check runs (default 1)"),
	OPT_STRING('w', "workload", struct test_options, workload, "work", "run a workload; the words are its arguments"),
	OPT_BOOL(0, "list-workloads", struct test_options, list_workloads, "list the workloads"),
	OPT_STRING(0, "record-ctl", struct test_options, record_control, "fifo:ctl-fifo[,ack-fifo]",
		"with -w: let a recording, started with -D -1 and this --control, record the workload alone"),
	OPT_STRING(0, "dso", struct test_options, dso, "dso", "the file whose symbols are read, instead of this program"),
	OPT_STRING(0, "objdump", struct test_options, objdump, "path", "has no effect: no check disassembles"),
	OPT_END(),
};

static const char *const test_usage[] = {
	"perf test [<options>] [{list <test-name-fragment>|[<test-name-fragments>|<test-numbers>]}]", NULL
};
static const char *const test_subcommands[] = { "list", NULL };

enum { CHECK_SECONDS_MAX = 120, LOG_MAX = 8 << 20 };

/* What a child reports, in memory that both processes share. */
struct outcome {
	enum verdict verdict;
	bool ended;
	char why[CHECK_WHY_SIZE];
};

/* A check that runs. */
struct running {
	size_t index;
	pid_t child;           /* 0: it ran in this process */
	int log;               /* -1: stderr */
	struct outcome *outcome;
	uint64_t began_ns;     /* CLOCK_MONOTONIC */
	char folder[PATH_MAX];
};

struct testing {
	struct cli *cli;
	const struct test_options *options;
	struct writer out;     /* stderr, like perf's */
	size_t width;
	struct junit_cases cases;
	char self[PATH_MAX];
};

static void print_name(const struct testing *t, struct writer *out, size_t index)
{
	writer_printf(out, "%3zu: %-*s", index + 1, (int)t->width, checks_at(index)->name);
}

static void run_check(struct testing *t, struct running *r)
{
	struct check_run run = { .cli = t->cli, .dso = t->options->dso, .self = t->self, .folder = r->folder, .verbose = t->options->verbose,
		.why = r->outcome->why };
	r->outcome->verdict = checks_at(r->index)->run(&run);
	r->outcome->ended = true;
}

/* The log is stderr, except with -F -v. */
static void run_here(struct testing *t, struct running *r)
{
	int before = r->log >= 0 ? dup(STDERR_FILENO) : -1;
	if (before >= 0)
		dup2(r->log, STDERR_FILENO);
	else
		writer_puts(&t->out, "--- start ---\n");
	writer_flush(&t->out, NULL);
	run_check(t, r);
	if (before >= 0) {
		dup2(before, STDERR_FILENO);
		close(before);
	} else {
		writer_puts(&t->out, "---- end ----\n");
	}
}

static int make_folder(struct running *r, struct error *err)
{
	const char *parent = secure_getenv("TMPDIR");
	int n = snprintf(r->folder, sizeof r->folder, "%s/perfuse-test-XXXXXX", parent && *parent ? parent : "/tmp");
	if (n >= (int)sizeof r->folder)
		return error_set(err, ERROR_LIMIT, "the path in TMPDIR is too long");
	return mkdtemp(r->folder) ? 0 : error_system(err, "cannot make the folder %s", r->folder);
}

static int start(struct testing *t, struct running *r, struct error *err)
{
	if (make_folder(r, err) < 0)
		return -1;
	r->outcome = mmap(NULL, sizeof *r->outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r->outcome == MAP_FAILED) {
		r->outcome = NULL;
		return error_system(err, "cannot allocate memory");
	}
	r->began_ns = now_ns();
	bool direct = t->options->same_process && t->options->verbose;
	r->log = direct ? -1 : memfd_create("log", MFD_CLOEXEC);
	if (!direct && r->log < 0)
		return error_system(err, "cannot make a file in memory");
	if (t->options->same_process) {
		run_here(t, r);
		return 0;
	}
	writer_flush(&t->out, NULL);
	writer_flush(t->cli->out, NULL);
	r->child = fork();
	if (r->child < 0)
		return error_system(err, "cannot start a process");
	if (!r->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGALRM, SIG_DFL);
		alarm(CHECK_SECONDS_MAX);
		dup2(r->log, STDERR_FILENO);
		run_check(t, r);
		_exit(0);
	}
	return 0;
}

static void print_log(struct testing *t, const struct running *r)
{
	off_t size = lseek(r->log, 0, SEEK_END);
	size_t most = size > 0 && size < LOG_MAX ? (size_t)size : size > 0 ? LOG_MAX : 0;
	writer_puts(&t->out, "--- start ---\n");
	if (r->child)
		writer_printf(&t->out, "test child forked, pid %d\n", (int)r->child);
	char *room = writer_room(&t->out, most);
	ssize_t n = pread(r->log, room, most, 0);
	writer_advance(&t->out, n > 0 ? (size_t)n : 0);
	writer_puts(&t->out, r->outcome->verdict == CHECK_FAILED ? "---- end(-1) ----\n" : "---- end ----\n");
}

static void keep_result(struct testing *t, const struct running *r)
{
	const struct outcome *outcome = r->outcome;
	struct junit_case *one = vec_add(&t->cases.list);
	*one = (struct junit_case){ .name = checks_at(r->index)->name, .verdict = outcome->verdict, .ns = now_ns() - r->began_ns };
	if (outcome->verdict != CHECK_OK)
		snprintf(one->why, sizeof one->why, "%s", outcome->why);
	if (outcome->verdict != CHECK_FAILED || r->log < 0)
		return;
	char bytes[4096];
	ssize_t n;
	for (off_t at = 0; at < LOG_MAX && (n = pread(r->log, bytes, sizeof bytes, at)) > 0; at += n)
		str_add(&one->log, bytes, (size_t)n);
}

/* Waits for the check and prints its line. */
static void report_outcome(struct testing *t, struct running *r)
{
	int status = 0;
	if (r->child && (waitpid(r->child, &status, 0) != r->child || status != 0 || !r->outcome->ended)) {
		r->outcome->verdict = CHECK_FAILED;
		snprintf(r->outcome->why, sizeof r->outcome->why, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ?
			"it does not end within %d s" : "its process ended early", CHECK_SECONDS_MAX);
	}
	const struct outcome *outcome = r->outcome;
	keep_result(t, r);
	if (r->log >= 0 && (t->options->verbose > 1 || (t->options->verbose && outcome->verdict == CHECK_FAILED)))
		print_log(t, r);
	print_name(t, &t->out, r->index);
	if (outcome->verdict == CHECK_SKIP)
		writer_printf(&t->out, ": Skip (%s)\n", outcome->why);
	else if (outcome->verdict == CHECK_OK)
		writer_puts(&t->out, ": Ok\n");
	else
		writer_printf(&t->out, ": FAILED! (%s)\n", outcome->why);
	writer_flush(&t->out, NULL);
}

static void release(struct running *r)
{
	char *name = strrchr(r->folder, '/');
	if (name) {
		*name = '\0';
		int parent = open(r->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (parent >= 0) {
			checked_remove(parent, name + 1, NULL);
			close(parent);
		}
	}
	if (r->log >= 0)
		close(r->log);
	if (r->outcome)
		munmap(r->outcome, sizeof *r->outcome);
}

static int run_checks(struct testing *t, int argc, const char **argv)
{
	VEC(struct running) all = { 0 };
	struct error err = { 0 };
	bool at_once = t->options->parallel && !t->options->sequential && !t->options->same_process;
	int result = 0;
	for (size_t i = 0; i < checks_count() && result >= 0; i++) {
		if (!selection_has(argc, argv, i + 1, checks_at(i)->name))
			continue;
		if (selection_skips(t->options->skip, i + 1)) {
			print_name(t, &t->out, i);
			writer_puts(&t->out, ": Skip (user override)\n");
			vec_push(&t->cases.list, ((struct junit_case){ .name = checks_at(i)->name, .verdict = CHECK_SKIP, .why = "user override" }));
			continue;
		}
		for (uint32_t run = 0; run == 0 || (run < t->options->runs && result >= 0); run++) {
			struct running *r = vec_add(&all);
			r->index = i;
			r->log = -1;
			result = start(t, r, &err);
			if (result >= 0 && !at_once)
				report_outcome(t, r);
		}
	}
	for (size_t i = 0; i < all.count; i++) {
		if (at_once && all.items[i].child > 0)
			report_outcome(t, &all.items[i]);
		release(&all.items[i]);
	}
	vec_fini(&all);
	return result < 0 ? cli_complain(t->cli, &err) : 0;
}

static void list_checks(const struct testing *t, int argc, const char **argv)
{
	for (size_t i = 0; i < checks_count(); i++)
		if (selection_has(argc, argv, i + 1, checks_at(i)->name))
			writer_printf(t->cli->out, "%3zu: %s\n", i + 1, checks_at(i)->name);
}

static void list_workloads(struct writer *out)
{
	for (size_t i = 0; i < workloads_count(); i++)
		writer_printf(out, "%s\n", workloads_at(i)->name);
}

static void note_answer(void *context, const char *line)
{
	const char *rest;
	*(bool *)context |= control_is(line, "ack", &rest);
}

/* Sends a command to the recording, and waits for its answer where one is asked for. */
static int tell_recording(const struct control *control, const char *command, struct error *err)
{
	enum { ANSWER_MS = 10000 };
	struct control_line line = { 0 };
	bool answered = control->acknowledge < 0;
	if (write(control->fd, command, strlen(command)) != (ssize_t)strlen(command))
		return error_system(err, "--record-ctl: cannot write the command");
	while (!answered) {
		struct pollfd answer = { .fd = control->acknowledge, .events = POLLIN };
		int ready = poll(&answer, 1, ANSWER_MS);
		if (ready == 0 || (ready > 0 && control_read(control->acknowledge, &line, note_answer, &answered) < 0))
			return error_set(err, ERROR_USAGE, "--record-ctl: no recording answers");
		if (ready < 0 && errno != EINTR)
			return error_system(err, "--record-ctl: cannot wait for the answer");
	}
	return 0;
}

/* The name of the task is perf's, for scripts that look for it. */
static int run_named(const struct workload *workload, int argc, const char **argv)
{
	char name[16]; /* with the last byte: the kernel cuts longer ones */
	snprintf(name, sizeof name, "perf-%s", workload->name);
	prctl(PR_SET_NAME, name);
	/* not a tail call: the function is in the call chain of each sample */
	volatile int code = workload->run(argc, argv);
	return code;
}

static int run_workload(struct cli *cli, const struct test_options *options, int argc, const char **argv)
{
	const struct workload *workload = workload_find(options->workload);
	struct control control;
	struct error err = { 0 };
	if (!workload) {
		cli_warn(cli, "No workload found: %s", options->workload);
		return EXIT_FAILED;
	}
	if (!options->record_control)
		return run_named(workload, argc, argv);
	if (control_open(&control, options->record_control, &err) < 0)
		return cli_complain(cli, &err);
	int code = tell_recording(&control, "enable\n", &err) < 0 ? cli_complain(cli, &err) : run_named(workload, argc, argv);
	if (err.kind == ERROR_NONE && tell_recording(&control, "disable\n", &err) < 0)
		code = cli_complain(cli, &err);
	control_close(&control);
	return code;
}

/* Not inlined: a workload's stack is short, so that a copy of 8 KiB has all of it. */
static __attribute__((noinline)) int check_machine(struct cli *cli, const struct test_options *options, int argc, const char **argv)
{
	struct testing t = { .cli = cli, .options = options };
	if (argc && !strcmp(argv[0], "list")) {
		list_checks(&t, argc - 1, argv + 1);
		return 0;
	}
	if (options->skip && !selection_is_list(options->skip))
		cli_warn(cli, "-s takes numbers with commas between; \"%s\" contains others.", options->skip);
	for (size_t i = 0; i < checks_count(); i++)
		t.width = strlen(checks_at(i)->name) > t.width ? strlen(checks_at(i)->name) : t.width;
	process_self_path(t.self, sizeof t.self, cli->program);
	writer_open(&t.out, STDERR_FILENO, 4096);
	t.out.terminal = cli->tty_err;
	int code = run_checks(&t, argc, argv);
	struct error err = { 0 };
	if (options->junit && result_file_write(cli, options->junit, junit_write, &t.cases, &err) < 0)
		code = (cli_complain(cli, &err), EXIT_FAILED);
	else if (options->junit)
		writer_printf(&t.out, "Wrote junit XML output to %s\n", options->junit);
	junit_cases_fini(&t.cases);
	writer_flush(&t.out, NULL);
	writer_fini(&t.out);
	return code;
}

static int test_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct test_options *options = filled;
	if (options->list_workloads) {
		list_workloads(cli->out);
		return 0;
	}
	return options->workload ? run_workload(cli, options, argc, argv) : check_machine(cli, options, argc, argv);
}

const struct command command_test = {
	.name = "test",
	.summary = "check what can be measured on this machine; run a workload",
	.usage = test_usage,
	.options = test_table,
	.options_size = sizeof(struct test_options),
	.run = test_run,
	.subcommands = test_subcommands,
};
