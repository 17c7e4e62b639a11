/* For tests: a program in place of a recorder, in a base folder of its own. */
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "os/file.h"
#include "os/test_child.h"
#include "unit.h"

/* With this variable, a copy of the test program is the recorder: it prints its words and what signals it holds back, answers each ping,
 * and does what its third word names: "end" at once, answer "wrong", or have answered before it is asked and be too "late". */
#define AS_RECORDER "PERFUSE_TEST_RECORDER"

static inline void recorder_run(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[3] : "";
	sigset_t held;
	char line[64];
	for (int i = 1; i < argc; i++)
		printf("%s%c", argv[i], i + 1 < argc ? ' ' : '\n');
	sigprocmask(SIG_BLOCK, NULL, &held);
	printf("%s %d%d%d %s\n", argv[0], sigismember(&held, SIGUSR2), sigismember(&held, SIGTERM), sigismember(&held, SIGCHLD),
		access("control", R_OK) == 0 && read(STDIN_FILENO, line, 1) == 0 ? "ready" : "lost");
	signal(SIGUSR1, SIG_IGN);
	if (strcmp(how, "end") == 0) {
		fflush(stdout);
		_exit(3);
	}
	int control = open("control", O_RDWR), ack = open("ack", O_RDWR);
	if (strcmp(how, "late") == 0 && write(ack, "ack\n", 4) != 4)
		_exit(4);
	fflush(stdout);
	for (ssize_t n; (n = read(control, line, sizeof line)) > 0;) {
		const char *answer = strcmp(how, "wrong") == 0 ? "nak\n" : "ack\n";
		if (strcmp(how, "late") != 0 && n == 5 && memcmp(line, "ping\n", 5) == 0 && write(ack, answer, 4) != 4)
			_exit(5);
	}
	_exit(6);
}

struct recorder_place {
	char path[64], program[4096];
	int base;                 /* O_PATH */
};

static inline bool recorder_place_begin(struct recorder_place *p)
{
	if (kernel_is_emulated()) {
		unit_skip("the emulator starts no copy of this program; native builds run it");
		return false;
	}
	*p = (struct recorder_place){ .path = "/tmp/perfuse-daemon-XXXXXX", .base = -1 };
	if (!mkdtemp(p->path))
		return false;
	ssize_t length = readlink("/proc/self/exe", p->program, sizeof p->program - 1);
	p->base = open(p->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return length > 0 && setenv(AS_RECORDER, "1", 1) == 0 && p->base >= 0;
}

static inline void recorder_place_end(struct recorder_place *p)
{
	char command[96];
	unsetenv(AS_RECORDER);
	snprintf(command, sizeof command, "rm -rf '%s'", p->path);
	EXPECT_INT(system(command), 0);
	if (p->base >= 0)
		close(p->base);
}

/* Waits until the file below the place has the text; false: it does not within a minute. */
static inline bool recorder_wrote(const struct recorder_place *p, const char *name, const char *text, struct str *all)
{
	CLEANUP_STR struct str path = { 0 };
	str_printf(&path, "%s/%s", p->path, name);
	for (int i = 0; i < 6000; i++) {
		str_clear(all);
		if (file_read(str_text(&path), all, 1 << 20, NULL) == 0 && strstr(str_text(all), text))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return false;
}
