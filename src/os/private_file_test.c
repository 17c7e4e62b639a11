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

/* Its content; "" where it is not there or not safe, whose reason goes to *kind. */
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

TEST("a private file is made with its folders, for its user alone, and replaced whole")
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

TEST("a private file that others can read or write, a link, a folder or a pipe is refused, and replaced")
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

TEST("the folder of private files is refused where it is a link or others can write it")
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

TEST("what belongs to another user is refused: file, folder, cache and home")
{
	struct place p;
	if (geteuid() != 0) {
		unit_skip("only root can give files away");
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
	/* nothing is made in somebody else's home */
	char command[96];
	snprintf(command, sizeof command, "rm -rf '%s'", p.cache);
	EXPECT_INT(system(command), 0);
	EXPECT_INT(chown(p.home, 12345, 12345), 0);
	EXPECT(put(&p, "new") < 0);
	EXPECT(access(p.cache, F_OK) != 0);
	place_close(&p);
}

TEST("what a writer that was killed left behind goes with the next; one that writes now is left alone")
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

TEST("writers at once leave a whole file at every moment")
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
