#include "cmd/off_cpu_run.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "os/process.h"
#include "os/unnamed_file.h"
#include "record/acquire/signals.h"

struct words {
	VEC(const char *) list;
};

static void add(struct words *words, const char *option, const char *value)
{
	if (!value)
		return;
	vec_push(&words->list, option);
	vec_push(&words->list, value);
}

static void make_words(struct words *words, const struct off_cpu_request *request, const char *path)
{
	vec_push(&words->list, "-q");
	add(words, "-e", request->event);
	if (request->frequency) {
		add(words, "-F", request->frequency);
		vec_push(&words->list, "-g");
	} else {
		vec_push(&words->list, "--off-cpu");
		add(words, "--off-cpu-details", request->details);
		if (strcmp(request->details, "futexes") == 0)
			vec_push(&words->list, "-d"); /* mappings of variables */
		if (strcmp(request->event, "dummy:u") != 0)
			add(words, "--call-graph", "unwind");
	}
	add(words, "-o", path);
	add(words, "-p", request->pids);
	add(words, "-t", request->tids);
	add(words, "-C", request->cpus);
	add(words, "-u", request->uid);
	bool nothing = !request->pids && !request->tids && !request->cpus && !request->uid && !request->command_words;
	if (request->all_cpus || request->around_command || nothing)
		vec_push(&words->list, "-a");
	if (request->command_words)
		vec_push(&words->list, "--");
	for (int i = 0; i < request->command_words; i++)
		vec_push(&words->list, request->command[i]);
}

static int find_path(const struct off_cpu_request *request, struct off_cpu_recording *recording, struct error *err)
{
	*recording = (struct off_cpu_recording){ .temporary = !request->output, .file = -1 };
	if (request->output) {
		int length = snprintf(recording->path, sizeof recording->path, "%s", request->output);
		return (size_t)length < sizeof recording->path ? 0 : error_set(err, ERROR_USAGE, "the name of the output is too long");
	}
	recording->file = unnamed_temporary(err);
	if (recording->file < 0)
		return -1;
	snprintf(recording->path, sizeof recording->path, "/proc/self/fd/%d", recording->file);
	return 0;
}

/* A signal that asks for the end is the child's: this process analyses what it has recorded. */
static int wait_for(pid_t child, struct signals *signals)
{
	int status = 0;
	struct pollfd fd = { .fd = signals->fd, .events = POLLIN };
	while (waitpid(child, &status, WNOHANG) == 0) {
		if (poll(&fd, 1, -1) <= 0)
			continue;
		signals_read(signals);
		if (signals->ended_by)
			kill(child, SIGINT);
		signals->ended_by = 0;
	}
	return status;
}

/* A recording has the size of its data when it is complete. */
static bool is_complete(int file)
{
	enum { DATA_SIZE_AT = 48 };
	uint64_t size = 0;
	return pread(file, &size, sizeof size, DATA_SIZE_AT) == sizeof size && size;
}

/* Whether there is a recording that was not there before. */
static bool is_new(const struct off_cpu_recording *recording, const struct stat *before)
{
	struct stat now;
	if (recording->temporary)
		return is_complete(recording->file);
	return access(recording->path, R_OK) == 0 && stat(recording->path, &now) == 0 &&
		(now.st_ino != before->st_ino || now.st_dev != before->st_dev || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
		now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

int off_cpu_run(struct cli *cli, const struct off_cpu_request *request, struct off_cpu_recording *recording)
{
	struct error err = { 0 };
	struct words words = { 0 };
	struct signals signals = { .fd = -1 };
	struct stat before = { 0 };
	if (find_path(request, recording, &err) < 0 || signals_open(&signals, false, &err) < 0) {
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	make_words(&words, request, recording->path);
	int count = (int)words.list.count;
	vec_push(&words.list, NULL);
	(void)stat(recording->path, &before); /* 0: none */
	writer_flush(cli->out, NULL);
	pid_t reader = getpid(), child = fork();
	if (child == 0) {
		signals_give(&signals);
		if (!process_ends_with(reader, SIGINT)) /* a measurement whose reader was killed ends */
			_exit(EXIT_FAILED);
		int code = command_run(cli, commands_find("record"), count, words.list.items);
		writer_flush(cli->out, NULL);
		_exit(code);
	}
	recording->recorder = child;
	struct rusage first, last;
	getrusage(RUSAGE_CHILDREN, &first);
	int status = child < 0 ? 0 : wait_for(child, &signals);
	getrusage(RUSAGE_CHILDREN, &last);
	recording->switches = (uint64_t)(last.ru_nvcsw - first.ru_nvcsw + last.ru_nivcsw - first.ru_nivcsw);
	signals_close(&signals);
	vec_fini(&words.list);
	if (child < 0) {
		error_system(&err, "the recording cannot be started");
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	/* the exit code of `record` is that of the command, whose recording is complete */
	return is_new(recording, &before) ? 0 : WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

void off_cpu_remove(struct off_cpu_recording *recording)
{
	if (recording->temporary && recording->file >= 0)
		close(recording->file);
	recording->file = -1;
}
