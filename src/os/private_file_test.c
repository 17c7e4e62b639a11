#include "os/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.h"
#include "unit.h"

struct place {
	char home[32], cache[64], folder[96], file[128];
};

static void place_open(struct place *p)
{
	strcpy(p->home, "/tmp/private-test-XXXXXX");
	EXPECT(mkdtemp(p->home) != NULL);
	snprintf(p->cache, sizeof p->cache, "%s/.cache", p->home);
	snprintf(p->folder, sizeof p->folder, "%s/perfuse", p->cache);
	snprintf(p->file, sizeof p->file, "%s/x", p->folder);
}

static void place_close(struct place *p)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf '%s'", p->home);
	EXPECT_INT(system(command), 0);
}

static int put(const struct place *p, const char *text)
{
	CLEANUP_FD int folder = private_folder(p->cache, true, NULL);
	return folder < 0 ? -1 : private_file_write(folder, "x", text, strlen(text), NULL);
}

/* The content of the file; "" if it is absent or not safe, with the reason in *kind. */
static const char *get(const struct place *p, char text[64], enum error_kind *kind)
{
	struct error err = { 0 };
	size_t size = 0;
	text[0] = '\0';
	CLEANUP_FD int folder = private_folder(p->cache, false, &err);
	CLEANUP_FD int fd = folder < 0 ? -1 : private_file_open(folder, "x", &size, &err);
	ssize_t n = fd < 0 ? 0 : read(fd, text, 63);
	text[n > 0 ? n : 0] = '\0';
	EXPECT(fd < 0 || (size_t)n == size);
	*kind = err.kind;
	return text;
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

TEST("a private file is created with its folders, only for its user, and replaced completely")
{
	struct place p;
	char text[64];
	enum error_kind kind;
	place_open(&p);
	EXPECT_STR(get(&p, text, &kind), "");
	EXPECT_INT(kind, ERROR_SYSTEM);
	EXPECT(access(p.cache, F_OK) != 0);
	EXPECT_INT(put(&p, "one"), 0);
	EXPECT_STR(get(&p, text, &kind), "one");
	EXPECT_INT(put(&p, "two"), 0);
	EXPECT_STR(get(&p, text, &kind), "two");
	EXPECT_INT(mode_of(p.cache), 0700);
	EXPECT_INT(mode_of(p.folder), 0700);
	EXPECT_INT(mode_of(p.file), 0600);
	struct names names = { 0 };
	EXPECT_INT(folder_names(p.folder, &names, NULL), 0);
	EXPECT_INT(names.list.count, 1);
	names_fini(&names);
	place_close(&p);
}

static void expect_refused(const struct place *p)
{
	char text[64];
	enum error_kind kind;
	EXPECT_STR(get(p, text, &kind), "");
	EXPECT_INT(kind, ERROR_PERMISSION);
}

TEST("a private file that others can read or write, a link, a folder or a pipe is rejected, and replaced")
{
	struct place p;
	char text[64], other[64];
	enum error_kind kind;
	place_open(&p);
	snprintf(other, sizeof other, "%s/other", p.home);
	static const mode_t open_modes[] = { 0620, 0602, 0640, 0604, 0660 };
	for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
		EXPECT_INT(put(&p, "text"), 0);
		EXPECT_INT(chmod(p.file, open_modes[i]), 0);
		expect_refused(&p);
	}
	EXPECT_INT(put(&p, "text"), 0);
	EXPECT_INT(rename(p.file, other), 0);
	EXPECT_INT(symlink(other, p.file), 0);
	expect_refused(&p);
	EXPECT_INT(put(&p, "new"), 0);
	EXPECT_STR(get(&p, text, &kind), "new");
	EXPECT_INT(unlink(p.file), 0);
	EXPECT_INT(mkfifo(p.file, 0600), 0);
	expect_refused(&p);
	EXPECT_INT(put(&p, "new"), 0);
	EXPECT_STR(get(&p, text, &kind), "new");
	EXPECT_INT(unlink(p.file), 0);
	EXPECT_INT(mkdir(p.file, 0700), 0);
	expect_refused(&p);
	EXPECT(put(&p, "new") < 0);
	place_close(&p);
}

TEST("the folder of private files is rejected if it is a link or others can write it")
{
	struct place p;
	char other[64];
	place_open(&p);
	EXPECT_INT(put(&p, "text"), 0);
	static const mode_t open_modes[] = { 0720, 0702, 0777 };
	for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
		EXPECT_INT(chmod(p.folder, open_modes[i]), 0);
		expect_refused(&p);
		EXPECT(put(&p, "new") < 0);
	}
	EXPECT_INT(chmod(p.folder, 0755), 0);
	EXPECT_INT(put(&p, "new"), 0);
	snprintf(other, sizeof other, "%s/other", p.home);
	EXPECT_INT(rename(p.folder, other), 0);
	EXPECT_INT(symlink(other, p.folder), 0);
	char text[64];
	enum error_kind kind;
	EXPECT_STR(get(&p, text, &kind), "");
	EXPECT(put(&p, "newer") < 0);
	place_close(&p);
}

TEST("entries of another user are rejected: file, folder, cache and home")
{
	struct place p;
	if (geteuid() != 0) {
		unit_skip("only root can change the owner of files");
		return;
	}
	place_open(&p);
	const char *const places[] = { p.file, p.folder, p.cache };
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		EXPECT_INT(put(&p, "text"), 0);
		EXPECT_INT(chown(places[i], 12345, 12345), 0);
		expect_refused(&p);
		EXPECT(i == 0 || put(&p, "new") < 0);
		EXPECT_INT(chown(places[i], 0, 0), 0);
	}
	/* nothing is created in another user's home */
	char command[96];
	snprintf(command, sizeof command, "rm -rf '%s'", p.cache);
	EXPECT_INT(system(command), 0);
	EXPECT_INT(chown(p.home, 12345, 12345), 0);
	EXPECT(put(&p, "new") < 0);
	EXPECT(access(p.cache, F_OK) != 0);
	place_close(&p);
}

TEST("by a link of this user the cache may be elsewhere; root follows no link of another user to a folder of root")
{
	enum { OTHER_USER = 12345 };
	struct place p;
	char real[64], link[64], text[64];
	enum error_kind kind;
	place_open(&p);
	snprintf(real, sizeof real, "%s/real", p.home);
	strcpy(link, p.cache);
	EXPECT(mkdir(real, 0700) == 0 && symlink(real, link) == 0);
	EXPECT_INT(put(&p, "text"), 0);
	EXPECT_STR(get(&p, text, &kind), "text");
	if (geteuid() == 0) {
		EXPECT_INT(lchown(link, OTHER_USER, OTHER_USER), 0);
		EXPECT_STR(get(&p, text, &kind), "");
		EXPECT_INT(kind, ERROR_PERMISSION);
		EXPECT(unlink(p.file) == 0 && rmdir(p.folder) == 0 && put(&p, "new") < 0);
		EXPECT(access(p.folder, F_OK) != 0);
		/* nor is .cache made where such a link leads */
		EXPECT(unlink(link) == 0 && symlink(real, link) == 0 && lchown(link, OTHER_USER, OTHER_USER) == 0);
		snprintf(p.cache, sizeof p.cache, "%s/.cache/more", p.home);
		EXPECT(put(&p, "new") < 0 && rmdir(real) == 0);
	}
	place_close(&p);
}

TEST("temporary files of a killed writer are removed by the next one; those of an active writer are retained")
{
	struct place p;
	char text[64], fresh[160];
	enum error_kind kind;
	place_open(&p);
	EXPECT_INT(put(&p, "one"), 0);
	snprintf(fresh, sizeof fresh, "%s.new", p.file);
	CLEANUP_FD int half = open(fresh, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	EXPECT(half >= 0 && write(half, "ha", 2) == 2);
	EXPECT_INT(put(&p, "two"), 0);
	EXPECT_STR(get(&p, text, &kind), "two");
	EXPECT(access(fresh, F_OK) != 0);
	CLEANUP_FD int folder = private_folder(p.cache, true, NULL);
	EXPECT_INT(flock(folder, LOCK_EX), 0);
	EXPECT(put(&p, "three") < 0);
	EXPECT_STR(get(&p, text, &kind), "two");
	place_close(&p);
}

static void write_often(const struct place *p, char letter)
{
	char text[40];
	memset(text, letter, sizeof text);
	text[sizeof text - 1] = '\0';
	for (int i = 0; i < 200; i++)
		put(p, text);
}

TEST("concurrent writers leave a complete file at every moment")
{
	struct place p;
	char text[64];
	enum error_kind kind;
	place_open(&p);
	EXPECT_INT(put(&p, "first"), 0);
	pid_t children[3];
	for (int i = 0; i < 3; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			write_often(&p, (char)('a' + i));
			_exit(0);
		}
	}
	for (int i = 0; i < 200; i++) {
		size_t len = strlen(get(&p, text, &kind));
		EXPECT(len == 39 || strcmp(text, "first") == 0);
		EXPECT(len != 39 || strspn(text, (char[]){ text[0], '\0' }) == 39);
	}
	for (int i = 0; i < 3; i++)
		EXPECT(waitpid(children[i], NULL, 0) == children[i]);
	place_close(&p);
}

TEST("a path is private if its user's and root's folders and links lead to it, and is created if it is missing")
{
	struct place p;
	char path[96], real[PATH_MAX], whole[PATH_MAX];
	struct stat st;
	place_open(&p);
	EXPECT(realpath(p.home, whole) != NULL);
	snprintf(path, sizeof path, "%s/a/b", p.home);
	EXPECT_INT(private_path(path, real, NULL), 0);
	EXPECT(strncmp(real, whole, strlen(whole)) == 0 && strcmp(real + strlen(whole), "/a/b") == 0);
	EXPECT(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
	snprintf(path, sizeof path, "%s/link", p.home);
	EXPECT_INT(symlink("a/b", path), 0);
	EXPECT_INT(private_path(path, real, NULL), 0);
	EXPECT_STR(real + strlen(whole), "/a/b");
	snprintf(path, sizeof path, "%s/loop", p.home);
	EXPECT_INT(symlink("loop", path), 0);
	EXPECT(private_path(path, real, NULL) < 0);
	EXPECT(private_path("relative", real, NULL) < 0);
	place_close(&p);
}

TEST("a path through a folder that others can write is not private, and nothing is created there; a sticky one is accepted")
{
	struct place p;
	char open_folder[64], path[96], real[PATH_MAX];
	place_open(&p);
	snprintf(open_folder, sizeof open_folder, "%s/open", p.home);
	snprintf(path, sizeof path, "%s/x", open_folder);
	EXPECT(mkdir(open_folder, 0700) == 0 && chmod(open_folder, 0777) == 0);
	EXPECT(private_path(open_folder, real, NULL) < 0);
	EXPECT(private_path(path, real, NULL) < 0);
	EXPECT(access(path, F_OK) != 0);
	EXPECT_INT(chmod(open_folder, 01777), 0);
	EXPECT_INT(private_path(path, real, NULL), 0);
	place_close(&p);
}
