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

/* text NULL: an empty folder in place of that one, in which the files that follow are made. */
struct planted {
	const char *path, *text;
	size_t size;             /* of a text with NULs; 0: up to its NUL */
};

enum { CANNOT_MOUNT = 77, OTHER_USER = 65534 };

static inline bool plant_text(int fd, const struct planted *file)
{
	return fd >= 0 && fchmod(fd, 0644) == 0 && file_write(fd, file->text, file->size ? file->size : strlen(file->text));
}

/* In a folder that was made. */
static inline bool plant_new(const struct planted *file)
{
	char path[256];
	snprintf(path, sizeof path, "%s", file->path);
	for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	CLEANUP_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return plant_text(fd, file);
}

static inline bool plant_over(const struct planted *file)
{
	char path[] = "/tmp/perfuse-planted-XXXXXX";
	CLEANUP_FD int fd = mkstemp(path);
	bool done = plant_text(fd, file) && mount(path, file->path, NULL, MS_BIND, NULL) == 0;
	unlink(path);
	return done;
}

static inline bool plant(const struct planted *files, size_t count)
{
	const char *folder = NULL;
	bool done = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	for (size_t i = 0; i < count && done; i++) {
		bool inside = folder && strncmp(files[i].path, folder, strlen(folder)) == 0;
		if (!files[i].text)
			done = mount("planted", folder = files[i].path, "tmpfs", 0, NULL) == 0;
		else
			done = inside ? plant_new(&files[i]) : plant_over(&files[i]);
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
		if (!plant(files, count) || (user && setuid(OTHER_USER) < 0))
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
