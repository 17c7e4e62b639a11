/* perf's collection `syscall`: the same system call in a loop. */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/bench/bench.h"

enum { CALLS = 10000000, PROCESSES = 10000 };

static int call_getppid(void)
{
	return syscall(SYS_getppid) < 0 ? -1 : 0;
}

static int call_getpgid(void)
{
	return getpgid(0) < 0 ? -1 : 0;
}

static int wait_for(pid_t child)
{
	int status;
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	errno = ENOEXEC;
	return -1;
}

static int call_fork(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	return wait_for(child);
}

static int call_execve(void)
{
	char name[] = "true", *const arguments[] = { name, NULL }, *const environment[] = { NULL };
	pid_t child = fork();
	if (child == 0) {
		execve("/bin/true", arguments, environment);
		_exit(1);
	}
	return wait_for(child);
}

static int run_calls(struct cli *cli, const struct bench_options *options, const char *name, int (*call)(void), unsigned usual)
{
	struct error err;
	uint64_t calls = options->rounds ? options->rounds : usual, begin = now_ns();
	for (uint64_t i = 0; i < calls; i++)
		if (call() < 0) {
			error_system(&err, "%s fails", name);
			return cli_complain(cli, &err);
		}
	uint64_t ns = now_ns() - begin;
	if (!bench_is_simple(options))
		writer_printf(cli->out, "# Executed %llu %s() calls\n", (unsigned long long)calls, name);
	bench_print_rate(cli, options, ns, calls);
	return 0;
}

static int basic_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run_calls(cli, options, "getppid", call_getppid, CALLS);
}

static int getpgid_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run_calls(cli, options, "getpgid", call_getpgid, CALLS);
}

static int fork_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run_calls(cli, options, "fork", call_fork, PROCESSES);
}

static int execve_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run_calls(cli, options, "execve", call_execve, PROCESSES);
}

static const struct option syscall_table[] = {
	OPT_U64('l', "loop", struct bench_options, rounds, "how many calls (default: 10000000; 10000 of fork and execve)"),
	OPT_END(),
};
static const char *const syscall_usage[] = { "perf bench syscall {basic|getpgid|fork|execve|all} [<options>]", NULL };

#define SYSCALL_BENCH(word, text) { .name = #word, .summary = (text), .usage = syscall_usage, .options = syscall_table, \
	.options_size = sizeof(struct bench_options), .run = word##_run }
static const struct command calls[] = {
	SYSCALL_BENCH(basic, "getppid(2)"),
	SYSCALL_BENCH(getpgid, "getpgid(2)"),
	SYSCALL_BENCH(fork, "fork(2), and waiting for the child"),
	SYSCALL_BENCH(execve, "fork(2), and execve(2) of /bin/true in the child"),
};
static const struct command *const list[] = { &calls[0], &calls[1], &calls[2], &calls[3], NULL };
static const char *const words[] = { "basic", "getpgid", "fork", "execve", "all", NULL };
static const struct option no_options[] = { OPT_END() };

static int collection_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return bench_collection_run(cli, "syscall", list, options, argc, argv);
}

const struct command command_bench_syscall = {
	.name = "syscall", .summary = "system calls in a loop", .usage = syscall_usage, .options = no_options,
	.options_size = sizeof(struct bench_options), .options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = collection_run, .subcommands = words,
};
