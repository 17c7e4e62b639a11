/* For tests: files of /proc with another text, in mounts of a child: the machine's own files stay. */
#pragma once
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "os/file.h"
#include "unit.h"

struct planted {
	const char *path, *text;
};

enum { CANNOT_MOUNT = 77, NOBODY = 65534 };

static inline bool plant(const struct planted *files, size_t count)
{
	bool done = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	for (size_t i = 0; i < count && done; i++) {
		char path[] = "/tmp/perfuse-planted-XXXXXX";
		int fd = mkstemp(path);
		done = fd >= 0 && fchmod(fd, 0644) == 0 && file_write(fd, files[i].text, strlen(files[i].text)) &&
		       mount(path, files[i].path, NULL, MS_BIND, NULL) == 0;
		unlink(path);
		close(fd);
	}
	return done;
}

/* The text that `answer` makes where these are the files; as another user if `user`. False: nothing can be mounted here. */
static inline bool answer_with(const struct planted *files, size_t count, bool user, void (*answer)(struct str *out), struct str *out)
{
	int ends[2], status = 0;
	char text[2048];
	ssize_t n;
	if (pipe(ends) < 0)
		return false;
	pid_t child = fork();
	if (child == 0) {
		CLEANUP_STR struct str said = { 0 };
		if (!plant(files, count) || (user && setuid(NOBODY) < 0))
			_exit(CANNOT_MOUNT);
		answer(&said);
		_exit(!file_write(ends[1], str_text(&said), said.len));
	}
	close(ends[1]);
	while ((n = read(ends[0], text, sizeof text)) > 0)
		str_add(out, text, (size_t)n);
	close(ends[0]);
	EXPECT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status) != CANNOT_MOUNT;
}

/* Returns false if the test is to end, as it is skipped. */
static inline bool expect_answer(const struct planted *files, size_t count, bool user, void (*answer)(struct str *out), const char *want)
{
	CLEANUP_STR struct str got = { 0 };
	if (!answer_with(files, count, user, answer, &got)) {
		unit_skip("needs root, mounts of its own, and this file of /proc");
		return false;
	}
	EXPECT_STR(str_text(&got), want);
	return true;
}
