#include "daemon/base.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "os/checked.h"
#include "os/file.h"
#include "unit.h"

struct place {
	char path[32];
	int fd;
};

static void place_begin(struct place *p)
{
	strcpy(p->path, "/tmp/base-test-XXXXXX");
	EXPECT(mkdtemp(p->path) != NULL);
	p->fd = base_open(p->path, NULL);
	EXPECT(p->fd >= 0);
}

static void place_end(struct place *p)
{
	char command[64];
	close(p->fd);
	snprintf(command, sizeof command, "rm -rf '%s'", p->path);
	EXPECT_INT(system(command), 0);
}

TEST("a base folder exists, is a folder, and others cannot write it")
{
	struct place p;
	struct error err = { 0 };
	place_begin(&p);
	EXPECT(chmod(p.path, 0777) == 0 && base_open(p.path, &err) < 0);
	EXPECT_INT(err.kind, ERROR_PERMISSION);
	EXPECT(chmod(p.path, 0755) == 0);
	char path[64];
	snprintf(path, sizeof path, "%s/none", p.path);
	EXPECT(base_open(path, &err) < 0);
	EXPECT(strstr(err.text, "does not exists"));
	CLEANUP_FD int fd = open(path, O_CREAT | O_WRONLY, 0600);
	EXPECT(base_open(path, &err) < 0);
	EXPECT(strstr(err.text, "is not directory"));
	place_end(&p);
}

TEST("the lock excludes a second daemon, names its owner, and ends with its holders")
{
	struct place p;
	struct error err = { 0 };
	char expected[128];
	place_begin(&p);
	int lock = base_lock(p.fd, p.path, &err);
	EXPECT(lock >= 0 && base_lock_owner(lock, &err) == 0);
	EXPECT(base_lock(p.fd, p.path, &err) < 0);
	snprintf(expected, sizeof expected, "failed: another perf daemon (pid %d) owns %s", (int)getpid(), p.path);
	EXPECT_STR(err.text, expected);
	/* a child process holds the lock, too */
	int ends[2];
	EXPECT_INT(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char byte;
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	close(lock);
	EXPECT(base_lock(p.fd, p.path, &err) < 0);
	close(ends[1]);
	waitpid(pid, NULL, 0);
	CLEANUP_FD int again = base_lock(p.fd, p.path, &err);
	EXPECT(again >= 0);
	place_end(&p);
}

TEST("a link in place of a file or folder of the base is not followed")
{
	struct place p;
	struct error err = { 0 };
	place_begin(&p);
	EXPECT(symlinkat("/dev/null", p.fd, "output") == 0 && symlinkat("/dev/null", p.fd, "lock") == 0);
	EXPECT(symlinkat("/tmp", p.fd, "session-a") == 0);
	EXPECT(base_output(p.fd, &err) < 0);
	EXPECT(base_lock(p.fd, p.path, &err) < 0);
	EXPECT(base_session(p.fd, "session-a", &err) < 0);
	EXPECT(unlinkat(p.fd, "session-a", 0) == 0 && mkdirat(p.fd, "session-a", 0755) == 0 && fchmodat(p.fd, "session-a", 0777, 0) == 0);
	EXPECT(base_session(p.fd, "session-a", &err) < 0);
	EXPECT_INT(err.kind, ERROR_PERMISSION);
	EXPECT(fchmodat(p.fd, "session-a", 0755, 0) == 0);
	EXPECT(symlinkat("/tmp", p.fd, "session-a/control") == 0);
	CLEANUP_FD int folder = base_session(p.fd, "session-a", &err);
	struct stat st;
	EXPECT(folder >= 0 && fstatat(folder, "control", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISFIFO(st.st_mode) && (st.st_mode & 0777) == 0600);
	place_end(&p);
}

TEST("a client reaches the daemon that listens, and only its user's")
{
	struct place p;
	struct error err = { 0 };
	struct stat st;
	place_begin(&p);
	EXPECT(base_connect(p.fd, &err) < 0);
	EXPECT_STR(err.text, "failed: connect: No such file or directory");
	int listener = base_listen(p.fd, &err);
	EXPECT(listener >= 0 && fstatat(p.fd, "control", &st, 0) == 0 && (st.st_mode & 0777) == 0600);
	CLEANUP_FD int client = base_connect(p.fd, &err);
	EXPECT(client >= 0 && base_peer_is_own(client));
	close(listener);
	EXPECT(base_connect(p.fd, &err) < 0);
	EXPECT_STR(err.text, "failed: connect: Connection refused");
	CLEANUP_FD int second = base_listen(p.fd, &err);
	EXPECT(second >= 0);
	place_end(&p);
}
