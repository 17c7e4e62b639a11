#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/source.h"
#include "data/test_recording.h"
#include "unit.h"

/* Opens the FIFO, which has a stream; alarm: if it is waited for, although no process writes to it. */
static int open_fifo(const char *path, bool force, struct error *err)
{
	struct source *source = NULL;
	alarm(20);
	int result = source_open(&source, path, &(struct source_options){ .force = force }, err);
	alarm(0);
	source_close(source);
	return result;
}

TEST("a device is not opened, and another user's FIFO only with force, or by a link of this user")
{
	enum { OTHER_USER = 64321 };
	static const char *const names[] = { "fifo", "link", NULL };
	char folder[] = "/tmp/source_test.XXXXXX", fifo[64], link[64];
	struct recording *r = recording_new(false);
	struct error err = { 0 };
	EXPECT(open_fifo("/dev/zero", true, &err) < 0 && strstr(err.text, "a device is not a recording"));
	if (geteuid() == 0) {
		EXPECT(mkdtemp(folder) != NULL);
		snprintf(fifo, sizeof fifo, "%s/fifo", folder);
		snprintf(link, sizeof link, "%s/link", folder);
		EXPECT(mkfifo(fifo, 0600) == 0 && chown(fifo, OTHER_USER, OTHER_USER) == 0 && symlink(fifo, link) == 0);
		EXPECT(open_fifo(fifo, false, &err) < 0 && err.kind == ERROR_PERMISSION);
		make_stream(r);
		int fd = open(fifo, O_RDWR);
		for (int i = 0; i < 2; i++) {
			EXPECT(write(fd, r->bytes, r->len) == (ssize_t)r->len);
			EXPECT_INT(open_fifo(i ? link : fifo, !i, &err), 0);
			char rest[4096];
			while (poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 0) == 1 && read(fd, rest, sizeof rest) > 0)
				;
		}
		EXPECT(lchown(link, OTHER_USER, OTHER_USER) == 0 && open_fifo(link, false, &err) < 0 && err.kind == ERROR_PERMISSION);
		close(fd);
		remove_folder(folder, names);
	}
	free(r);
}

TEST("another user's file is only read with force")
{
	static const char *const names[] = { "file", NULL };
	char folder[] = "/tmp/source_test.XXXXXX", path[64];
	struct source *source = NULL;
	struct error err = { 0 };
	if (geteuid() != 0) {
		unit_skip("only root can change the owner of files");
		return;
	}
	struct recording *r = recording_new(false);
	EXPECT(mkdtemp(folder) != NULL);
	make_file(r);
	write_file(folder, "file", r->bytes, r->len);
	snprintf(path, sizeof path, "%s/file", folder);
	EXPECT(chown(path, 12345, 12345) == 0);
	EXPECT(source_open(&source, path, NULL, &err) < 0);
	EXPECT_INT(err.kind, ERROR_PERMISSION);
	EXPECT(source_open(&source, path, &(struct source_options){ .force = true }, &err) == 0);
	source_close(source);
	remove_folder(folder, names);
	free(r);
}
