#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

/* Returns whether the rest of the system sees an open(2) when regular_open opens the path. */
static int opens(const char *path, int flags, int *why)
{
	char events[4096];
	int notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	EXPECT(inotify_add_watch(notify, path, IN_OPEN) >= 0);
	int fd = regular_open(path, flags);
	*why = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	int seen = read(notify, events, sizeof events) > 0;
	close(notify);
	return seen;
}

TEST("a regular file is opened; a FIFO, a folder, a device and an unwanted link are not even opened")
{
	char folder[] = "/tmp/regular-test-XXXXXX", file[64], fifo[64], link[64];
	int why;
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(file, sizeof file, "%s/file", folder);
	snprintf(fifo, sizeof fifo, "%s/fifo", folder);
	snprintf(link, sizeof link, "%s/link", folder);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	EXPECT_INT(mkfifo(fifo, 0600), 0);
	EXPECT_INT(symlink("file", link), 0);
	EXPECT_INT(opens(file, O_RDONLY, &why), 1);
	EXPECT_INT(why, 0);
	EXPECT_INT(opens(link, O_RDONLY, &why), 1);
	EXPECT_INT(opens(link, O_RDONLY | O_NOFOLLOW, &why), 0);
	EXPECT_INT(why, ENOTSUP);
	EXPECT_INT(opens(fifo, O_RDONLY | O_NONBLOCK, &why), 0);
	EXPECT_INT(why, ENOTSUP);
	EXPECT(regular_open("/dev/null", O_RDONLY) < 0);
	EXPECT(regular_open(folder, O_RDONLY) < 0);
	EXPECT(regular_open("/nowhere", O_RDONLY) < 0 && errno == ENOENT);
	unlink(link);
	unlink(fifo);
	unlink(file);
	rmdir(folder);
}
