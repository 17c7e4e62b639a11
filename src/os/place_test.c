#include "os/place.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "os/test_child.h"

struct home {
	char path[32], text[256];
};

static void begin(struct home *h)
{
	strcpy(h->path, "/tmp/place-test-XXXXXX");
	EXPECT(mkdtemp(h->path) != NULL);
	EXPECT_INT(chmod(h->path, 0755), 0);
}

static void end(struct home *h)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf '%s'", h->path);
	EXPECT_INT(system(command), 0);
}

static const char *at(struct home *h, const char *name)
{
	snprintf(h->text, sizeof h->text, "%s/%s", h->path, name);
	return h->text;
}

static bool put(const char *path, const char *text, uid_t owner)
{
	CLEANUP_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return fd >= 0 && file_write(fd, text, strlen(text)) && (!owner || fchown(fd, owner, owner) == 0);
}

static const char *get(const char *path, char text[static 64])
{
	text[0] = '\0';
	file_line(path, text, 64);
	return text;
}

static bool folder_opens(const char *path, unsigned how, enum error_kind *kind)
{
	struct error err = { 0 };
	CLEANUP_FD int fd = private_folder_open(path, how, &err);
	*kind = err.kind;
	return fd >= 0;
}

/* Writes "new" to the path as for a user's option. */
static enum error_kind write_named(const char *path)
{
	struct error err = { 0 };
	struct fresh_file file;
	if (fresh_open_named(&file, path, 0644, &err) == 0 && file_write(file.fd, "new", 3))
		fresh_keep(&file, &err);
	fresh_drop(&file);
	return err.kind;
}

static enum error_kind open_named(const char *path)
{
	struct error err = { 0 };
	struct place place;
	CLEANUP_FD int fd = place_find(&place, path, &err) < 0 ? -1 : place_open(&place, path, O_RDWR, 0600, &err);
	place_close(&place);
	return err.kind;
}

static bool is_root(void)
{
	if (geteuid() == 0)
		return true;
	unit_skip("only root can create files of another user");
	return false;
}

TEST("a private folder is created with its parents, through links of the user")
{
	struct home h;
	enum error_kind kind;
	begin(&h);
	EXPECT(folder_opens(at(&h, "a/b/"), FOLDER_MAKE, &kind));
	EXPECT(!folder_opens(at(&h, "c"), 0, &kind) && kind == ERROR_SYSTEM);
	EXPECT_INT(symlink("a/b", at(&h, "near")), 0);
	EXPECT_INT(symlink(h.path, at(&h, "self")), 0);
	EXPECT(folder_opens(at(&h, "near"), 0, &kind));
	EXPECT(folder_opens(at(&h, "near/../../self/self/near/made"), FOLDER_MAKE, &kind));
	EXPECT_INT(access(at(&h, "a/b/made"), F_OK), 0);
	EXPECT_INT(symlink("round", at(&h, "round")), 0);
	EXPECT(!folder_opens(at(&h, "round"), FOLDER_MAKE, &kind));
	EXPECT(!folder_opens("", FOLDER_MAKE, &kind));
	EXPECT(put(at(&h, "file"), "x", 0));
	EXPECT(!folder_opens(at(&h, "file"), 0, &kind) && !folder_opens(at(&h, "file/x"), FOLDER_MAKE, &kind));
	end(&h);
}

TEST("a folder that others can write to is not private; with a sticky bit it may be on the path")
{
	struct home h;
	enum error_kind kind;
	begin(&h);
	EXPECT(folder_opens(at(&h, "open/inner"), FOLDER_MAKE, &kind));
	EXPECT_INT(chmod(at(&h, "open"), 0777), 0);
	EXPECT(!folder_opens(at(&h, "open"), 0, &kind) && kind == ERROR_PERMISSION);
	EXPECT(!folder_opens(at(&h, "open/inner"), 0, &kind) && kind == ERROR_PERMISSION);
	EXPECT(!folder_opens(at(&h, "open/fresh"), FOLDER_MAKE, &kind));
	EXPECT_INT(access(at(&h, "open/fresh"), F_OK), -1);
	EXPECT(folder_opens(at(&h, "open/inner"), FOLDER_ANYBODYS, &kind));
	EXPECT_INT(chmod(at(&h, "open"), 01777), 0);
	EXPECT(!folder_opens(at(&h, "open"), 0, &kind));
	EXPECT(folder_opens(at(&h, "open/inner"), 0, &kind));
	EXPECT(folder_opens(at(&h, "open/fresh"), FOLDER_MAKE, &kind));
	end(&h);
}

TEST("a folder of another user is not private, nor are folders below it or at links of that user")
{
	struct home h;
	enum error_kind kind;
	if (!is_root())
		return;
	begin(&h);
	EXPECT(folder_opens(at(&h, "theirs/ours"), FOLDER_MAKE, &kind));
	EXPECT(folder_opens(at(&h, "target"), FOLDER_MAKE, &kind));
	EXPECT_INT(chown(at(&h, "theirs"), OTHER_USER, OTHER_USER), 0);
	EXPECT(!folder_opens(at(&h, "theirs"), 0, &kind) && kind == ERROR_PERMISSION);
	EXPECT(!folder_opens(at(&h, "theirs/ours"), 0, &kind) && kind == ERROR_PERMISSION);
	EXPECT(!folder_opens(at(&h, "theirs/made"), FOLDER_MAKE, &kind) && access(at(&h, "theirs/made"), F_OK) != 0);
	EXPECT_INT(symlink("target", at(&h, "link")), 0);
	EXPECT(folder_opens(at(&h, "link"), 0, &kind));
	EXPECT_INT(lchown(at(&h, "link"), OTHER_USER, OTHER_USER), 0);
	EXPECT(!folder_opens(at(&h, "link"), 0, &kind) && kind == ERROR_PERMISSION);
	int before = open(".", O_PATH | O_DIRECTORY);
	EXPECT_INT(chdir(at(&h, "theirs")), 0);
	EXPECT(!folder_opens(".debug", FOLDER_MAKE, &kind) && access(".debug", F_OK) != 0);
	EXPECT_INT(fchdir(before), 0);
	close(before);
	end(&h);
}

TEST("a file that a user names is replaced completely, through the user's own links, with its permissions")
{
	struct home h;
	char text[64];
	struct stat st;
	begin(&h);
	EXPECT_INT(write_named(at(&h, "new")), ERROR_NONE);
	EXPECT_STR(get(at(&h, "new"), text), "new");
	EXPECT(put(at(&h, "old"), "old", 0) && chmod(at(&h, "old"), 0640) == 0);
	EXPECT_INT(symlink("old", at(&h, "link")), 0);
	EXPECT_INT(symlink("fresh", at(&h, "dangling")), 0);
	EXPECT_INT(write_named(at(&h, "link")), ERROR_NONE);
	EXPECT_STR(get(at(&h, "old"), text), "new");
	EXPECT(lstat(at(&h, "link"), &st) == 0 && S_ISLNK(st.st_mode));
	EXPECT(stat(at(&h, "old"), &st) == 0 && (st.st_mode & 07777) == 0640);
	EXPECT_INT(write_named(at(&h, "dangling")), ERROR_NONE);
	EXPECT_STR(get(at(&h, "fresh"), text), "new");
	EXPECT_INT(write_named(h.path), ERROR_SYSTEM);
	EXPECT_INT(write_named(at(&h, "absent/x")), ERROR_SYSTEM);
	end(&h);
}

TEST("devices and open files of /proc are written in place")
{
	struct home h;
	char text[64], path[32];
	struct stat st;
	begin(&h);
	EXPECT_INT(write_named("/dev/null"), ERROR_NONE);
	EXPECT_INT(open_named("/dev/null"), ERROR_NONE);
	EXPECT(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
	CLEANUP_FD int fd = open(at(&h, "open"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	EXPECT(file_write(fd, "something longer", 16));
	EXPECT_INT(unlink(h.text), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	EXPECT_INT(write_named(path), ERROR_NONE);
	ssize_t n = pread(fd, text, sizeof text, 0);
	EXPECT(n == 3 && memcmp(text, "new", 3) == 0);
	EXPECT_INT(open_named(path), ERROR_NONE);
	EXPECT(fstat(fd, &st) == 0 && st.st_size == 0);
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	EXPECT_INT(write_named(path), ERROR_NONE);
	EXPECT(fstat(fd, &st) == 0 && st.st_size == 3);
	end(&h);
}

TEST("root follows no link of another user to a file that it writes, and opens no file of another user")
{
	struct home h;
	char text[64];
	if (!is_root())
		return;
	begin(&h);
	EXPECT(put(at(&h, "victim"), "root's", 0) && put(at(&h, "theirs"), "theirs", OTHER_USER));
	EXPECT_INT(mkdir(at(&h, "folder"), 0755), 0);
	EXPECT_INT(symlink("victim", at(&h, "link")), 0);
	EXPECT_INT(symlink("none", at(&h, "dangling")), 0);
	EXPECT_INT(symlink(".", at(&h, "way")), 0);
	EXPECT_INT(symlink("/dev/stdout", at(&h, "out")), 0);
	EXPECT_INT(mkfifo(at(&h, "fifo"), 0666), 0);
	static const char *const names[] = { "link", "dangling", "way", "out", "fifo", "folder" };
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		EXPECT_INT(lchown(at(&h, names[i]), OTHER_USER, OTHER_USER), 0);
	static const char *const refused[] = { "link", "dangling", "way/victim", "way/new", "out", "fifo", "theirs" };
	alarm(20);
	for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
		EXPECT_INT(write_named(at(&h, refused[i])), ERROR_PERMISSION);
		EXPECT_INT(open_named(at(&h, refused[i])), ERROR_PERMISSION);
	}
	alarm(0);
	EXPECT_STR(get(at(&h, "victim"), text), "root's");
	EXPECT_STR(get(at(&h, "theirs"), text), "theirs");
	EXPECT(access(at(&h, "none"), F_OK) != 0 && access(at(&h, "new"), F_OK) != 0);
	/* a new file in a folder of another user is ordinary use of sudo */
	EXPECT_INT(write_named(at(&h, "folder/new")), ERROR_NONE);
	EXPECT_INT(open_named(at(&h, "folder/other")), ERROR_NONE);
	end(&h);
}

static int write_over_group_file(void *context)
{
	return write_named(at(context, "shared"));
}

TEST("an ordinary user writes a file of another user in place if its permissions allow it")
{
	struct home h;
	char text[64];
	struct stat st;
	if (!is_root())
		return;
	begin(&h);
	EXPECT(put(at(&h, "shared"), "theirs", 0) && chmod(at(&h, "shared"), 0666) == 0);
	EXPECT_INT(in_child(write_over_group_file, &h, OTHER_USER, 0), ERROR_NONE);
	EXPECT_STR(get(at(&h, "shared"), text), "new");
	EXPECT(stat(at(&h, "shared"), &st) == 0 && st.st_uid == 0);
	end(&h);
}

TEST("a file is created or truncated, and one that exists is read, also through the user's own link")
{
	struct home h;
	struct error err = { 0 };
	char text[64];
	begin(&h);
	int fd = place_read(at(&h, "new"), O_RDONLY, &err);
	EXPECT(fd < 0);
	EXPECT_INT(err.sys, ENOENT);
	fd = place_write(at(&h, "new"), O_WRONLY, 0600, &err);
	EXPECT(fd >= 0 && file_write(fd, "long text", 9));
	close(fd);
	fd = place_write(at(&h, "new"), O_WRONLY, 0600, &err);
	EXPECT(fd >= 0 && file_write(fd, "text", 4));
	close(fd);
	EXPECT_STR(get(at(&h, "new"), text), "text");
	EXPECT_INT(symlink("new", at(&h, "link")), 0);
	fd = place_read(at(&h, "link"), O_RDONLY, &err);
	EXPECT(fd >= 0 && read(fd, text, sizeof text) == 4 && memcmp(text, "text", 4) == 0);
	EXPECT(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	close(fd);
	end(&h);
}

TEST("a folder that a group can write is private only if the group is root's or has the number of the owner")
{
	static const struct {
		gid_t group;
		mode_t mode;
		bool private;
	} rows[] = { { 1234, 0755, true }, { 1234, 0775, false }, { 0, 0775, true }, { 0, 0777, false }, { 1234, 0705, true },
		{ 1234, 0707, false } };
	struct home h;
	enum error_kind kind;
	begin(&h);
	if (chown(h.path, 0, 1234) < 0) {
		unit_skip("needs root, and ids of others");
		end(&h);
		return;
	}
	EXPECT_INT(chown(h.path, 0, 0), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		EXPECT_INT(mkdir(at(&h, "x"), 0700), 0);
		EXPECT_INT(chown(at(&h, "x"), 0, rows[i].group), 0);
		EXPECT_INT(chmod(at(&h, "x"), rows[i].mode), 0);
		EXPECT(folder_opens(at(&h, "x"), 0, &kind) == rows[i].private);
		EXPECT_INT(rmdir(at(&h, "x")), 0);
	}
	end(&h);
}
