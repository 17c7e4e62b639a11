#include "image/perf_map_file.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/test_folder.h"

enum { OTHER_USER = 64321, LIMIT = 1 << 20 };

static enum error_kind read_map(const char *path, bool force)
{
	/* the pid of no process: it exceeds the maximum */
	struct module module = { .kind = MODULE_ANON, .pid = 1 << 30, .name = path };
	struct error err = { 0 };
	char *text = NULL;
	size_t len;
	alarm(20); /* a FIFO that is waited for */
	if (perf_map_file_read(&module, module.pid, force, LIMIT, &text, &len, &err) == 0)
		EXPECT(len == 4 && memcmp(text, "map\n", 4) == 0);
	alarm(0);
	free(text);
	return err.kind;
}

TEST("a perf map is a regular file of this user or root, unless it is forced, and no link")
{
	struct folder f;
	char path[PATH_MAX];
	folder_open(&f);
	folder_write(&f, "own", "map\n", 4);
	EXPECT_INT(read_map(folder_path(&f, "own"), false), ERROR_NONE);
	strcpy(path, folder_path(&f, "own"));
	EXPECT_INT(symlink(path, folder_path(&f, "link")), 0);
	EXPECT_INT(read_map(folder_path(&f, "link"), true), ERROR_PERMISSION);
	EXPECT_INT(mkfifo(folder_path(&f, "fifo"), 0600), 0);
	EXPECT_INT(read_map(folder_path(&f, "fifo"), true), ERROR_PERMISSION);
	EXPECT_INT(read_map(folder_path(&f, "absent"), false), ERROR_SYSTEM);
	if (geteuid() == 0) {
		EXPECT_INT(chown(folder_path(&f, "own"), OTHER_USER, OTHER_USER), 0);
		EXPECT_INT(read_map(folder_path(&f, "own"), false), ERROR_PERMISSION);
		EXPECT_INT(read_map(folder_path(&f, "own"), true), ERROR_NONE);
	}
	folder_close(&f);
}

/* Whether the file was opened since the watch was made. */
static bool was_opened(int watch)
{
	char events[512];
	return read(watch, events, sizeof events) > 0;
}

TEST("what is no regular file is not even opened, as opening a device of a container has effects")
{
	struct folder f;
	folder_open(&f);
	EXPECT_INT(mkfifo(folder_path(&f, "fifo"), 0600), 0);
	folder_write(&f, "own", "map\n", 4);
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	EXPECT(inotify_add_watch(watch, folder_path(&f, "fifo"), IN_OPEN) >= 0);
	EXPECT_INT(read_map(folder_path(&f, "fifo"), true), ERROR_PERMISSION);
	EXPECT(!was_opened(watch));
	EXPECT(inotify_add_watch(watch, folder_path(&f, "own"), IN_OPEN) >= 0);
	EXPECT_INT(read_map(folder_path(&f, "own"), true), ERROR_NONE);
	EXPECT(was_opened(watch));
	close(watch);
	folder_close(&f);
}
