#include "os/checked.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>

#include "os/test_child.h"

struct place_below {
	char path[32];
	int fd;
};

static void begin(struct place_below *p)
{
	strcpy(p->path, "/tmp/checked-test-XXXXXX");
	EXPECT(mkdtemp(p->path) != NULL);
	p->fd = open(p->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	EXPECT(p->fd >= 0);
}

static void end(struct place_below *p)
{
	char command[64];
	close(p->fd);
	snprintf(command, sizeof command, "rm -rf '%s'", p->path);
	EXPECT_INT(system(command), 0);
}

static bool put(int folder, const char *path, const char *text)
{
	struct fresh_file file;
	if (fresh_open(&file, folder, path, 0644, NULL) < 0)
		return false;
	if (file_write(file.fd, text, strlen(text)))
		return fresh_keep(&file, NULL) == 0;
	fresh_drop(&file);
	return false;
}

/* The content of the file; "" if it cannot be opened. */
static const char *get(int folder, const char *path, char text[static 64])
{
	CLEANUP_FD int fd = checked_open_file(folder, path, NULL);
	ssize_t n = fd < 0 ? 0 : read(fd, text, 63);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static int errno_of_open(int folder, const char *path, int flags)
{
	struct error err = { 0 };
	CLEANUP_FD int fd = checked_open(folder, path, flags, &err);
	return fd >= 0 ? 0 : err.sys;
}

/* The number of the first expectation that fails; 0 if none. */
static int walk_cases(void *context)
{
	const struct place_below *p = context;
	const struct { const char *path; int flags, sys; } cases[] = {
		{ "a/b/file", O_RDONLY, 0 }, { "a/b", O_RDONLY | O_DIRECTORY, 0 }, { "a/b", O_PATH | O_DIRECTORY, 0 },
		{ "a/b/file", O_PATH, 0 }, { "a/b/absent", O_RDONLY, ENOENT }, { "absent/x", O_RDONLY, ENOENT },
		{ "a/b/file/x", O_RDONLY, ENOTDIR }, { "a/b/file", O_RDONLY | O_DIRECTORY, ENOTDIR },
		{ "link", O_RDONLY, ELOOP }, { "link", O_PATH, ELOOP }, { "link", O_RDONLY | O_DIRECTORY, ELOOP },
		{ "link", O_PATH | O_DIRECTORY, ELOOP }, { "link/b", O_RDONLY, ELOOP }, { "link/b/file", O_PATH, ELOOP },
		{ "a/out/passwd", O_RDONLY, ELOOP }, { "a/dangling", O_RDONLY, ELOOP }, { "a/dangling", O_WRONLY, ELOOP },
		{ "fifo", O_RDONLY, 0 },
	};
	alarm(20); /* ends the test if opening a FIFO blocks */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (errno_of_open(p->fd, cases[i].path, cases[i].flags) != cases[i].sys)
			return (int)i + 1;
	return 0;
}

TEST("no link is followed below a folder, with openat2, without it, and if it is denied")
{
	struct place_below p;
	begin(&p);
	CLEANUP_FD int below = checked_make(p.fd, "a/b", 0755, NULL);
	EXPECT(below >= 0 && put(p.fd, "a/b/file", "text"));
	EXPECT_INT(symlinkat("a", p.fd, "link"), 0);
	EXPECT_INT(symlinkat("/etc", p.fd, "a/out"), 0);
	EXPECT_INT(symlinkat("nothing", p.fd, "a/dangling"), 0);
	EXPECT_INT(mkfifoat(p.fd, "fifo", 0600), 0);
	EXPECT_INT(in_child(walk_cases, &p, 0, 0), 0);
	if (!kernel_is_emulated()) {
		EXPECT_INT(in_child(walk_cases, &p, 0, ENOSYS), 0);
		EXPECT_INT(in_child(walk_cases, &p, 0, EPERM), 0);
	} else {
		unit_skip("emulated kernels have no seccomp filters; native builds run it");
	}
	end(&p);
}

TEST("a path that is not plain is rejected by every function")
{
	static const char *const bad[] = { "", "/etc/passwd", ".", "..", "a/..", "../a", "a/./b", "a//b", "a/", "./a" };
	char deep[PATH_MAX + 2], name[NAME_MAX + 4], text[64];
	struct place_below p;
	struct names names = { 0 };
	struct fresh_file file;
	begin(&p);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		EXPECT(!checked_path(bad[i], NULL));
		EXPECT_INT(checked_open(p.fd, bad[i], O_RDONLY, NULL), -1);
		EXPECT_INT(checked_make(p.fd, bad[i], 0755, NULL), -1);
		EXPECT_INT(checked_link(p.fd, bad[i], "x", NULL), -1);
		EXPECT_INT(checked_link_read(p.fd, bad[i], text, sizeof text, NULL), -1);
		EXPECT_INT(checked_remove(p.fd, bad[i], NULL), -1);
		EXPECT_INT(checked_names(p.fd, bad[i], &names, NULL), -1);
		EXPECT_INT(fresh_open(&file, p.fd, bad[i], 0600, NULL), -1);
		fresh_drop(&file);
	}
	memset(name, 'n', sizeof name);
	name[NAME_MAX] = '\0';
	EXPECT(checked_path(name, NULL));
	name[NAME_MAX] = 'n';
	name[NAME_MAX + 1] = '\0';
	EXPECT(!checked_path(name, NULL));
	for (size_t i = 0; i < sizeof deep; i++)
		deep[i] = i % 2 ? '/' : 'd';
	deep[PATH_MAX + 1] = '\0';
	EXPECT(!checked_path(deep, NULL));
	deep[PATH_MAX - 1] = '\0';
	EXPECT(checked_path(deep, NULL));
	EXPECT(checked_path("..a/.b/c../[vdso]", NULL));
	end(&p);
}

TEST("folders are created below a folder, and not through a link")
{
	struct place_below p, other;
	begin(&p);
	begin(&other);
	CLEANUP_FD int made = checked_make(p.fd, "x/y/z", 0755, NULL);
	CLEANUP_FD int again = checked_make(p.fd, "x/y/z", 0755, NULL);
	EXPECT(made >= 0 && again >= 0);
	EXPECT_INT(symlinkat(other.path, p.fd, "out"), 0);
	EXPECT_INT(checked_make(p.fd, "out/y", 0755, NULL), -1);
	EXPECT_INT(checked_make(p.fd, "out", 0755, NULL), -1);
	EXPECT(!put(p.fd, "out/file", "x"));
	EXPECT_INT(checked_link(p.fd, "out/link", "x", NULL), -1);
	EXPECT_INT(faccessat(other.fd, "y", F_OK, 0), -1);
	EXPECT_INT(faccessat(other.fd, "file", F_OK, 0), -1);
	end(&other);
	end(&p);
}

TEST("a file replaces a file or link of its name, completely or not at all")
{
	char text[64], target[64];
	struct place_below p, other;
	struct fresh_file file;
	struct names names = { 0 };
	begin(&p);
	begin(&other);
	EXPECT(put(other.fd, "file", "theirs"));
	char path[64];
	snprintf(path, sizeof path, "%s/file", other.path);
	EXPECT_INT(symlinkat(path, p.fd, "x"), 0);
	EXPECT(put(p.fd, "x", "ours"));
	EXPECT_STR(get(p.fd, "x", text), "ours");
	EXPECT_STR(get(other.fd, "file", text), "theirs");
	EXPECT_INT(fresh_open(&file, p.fd, "x", 0644, NULL), 0);
	EXPECT(file_write(file.fd, "half", 4));
	fresh_drop(&file);
	EXPECT_STR(get(p.fd, "x", text), "ours");
	EXPECT_INT(checked_link(p.fd, "x", "../to", NULL), 0);
	EXPECT_INT(checked_link_read(p.fd, "x", target, sizeof target, NULL), 0);
	EXPECT_STR(target, "../to");
	EXPECT_INT(checked_link_read(p.fd, "x", target, 5, NULL), -1);
	EXPECT_INT(checked_names(p.fd, NULL, &names, NULL), 0);
	EXPECT_INT(names.list.count, 1); /* no temporary file is left */
	names_fini(&names);
	end(&other);
	end(&p);
}

TEST("a file does not replace a folder, and leaves no temporary file")
{
	struct place_below p;
	struct fresh_file file;
	struct names names = { 0 };
	begin(&p);
	CLEANUP_FD int made = checked_make(p.fd, "x", 0755, NULL);
	EXPECT(made >= 0);
	EXPECT_INT(fresh_open(&file, p.fd, "x", 0644, NULL), 0);
	EXPECT_INT(fresh_keep(&file, NULL), -1);
	EXPECT_INT(checked_link(p.fd, "x", "y", NULL), -1);
	EXPECT_INT(checked_names(p.fd, NULL, &names, NULL), 0);
	EXPECT_INT(names.list.count, 1);
	names_fini(&names);
	end(&p);
}

TEST("a tree is removed without following a link in it")
{
	char text[64];
	struct place_below p, other;
	begin(&p);
	begin(&other);
	CLEANUP_FD int made = checked_make(p.fd, "tree/a/b", 0755, NULL);
	EXPECT(made >= 0 && put(p.fd, "tree/a/file", "x") && put(other.fd, "file", "theirs"));
	EXPECT_INT(symlinkat(other.path, p.fd, "tree/a/out"), 0);
	EXPECT_INT(symlinkat(other.path, p.fd, "out"), 0);
	EXPECT_INT(checked_remove(p.fd, "out/file", NULL), -1);
	EXPECT_INT(checked_remove(p.fd, "tree", NULL), 0);
	EXPECT_INT(checked_remove(p.fd, "out", NULL), 0);
	EXPECT_INT(checked_remove(p.fd, "tree", NULL), -1);
	EXPECT_STR(get(other.fd, "file", text), "theirs");
	end(&other);
	end(&p);
}

TEST("only a regular file is opened as one")
{
	struct place_below p;
	struct error err = { 0 };
	begin(&p);
	EXPECT_INT(mkfifoat(p.fd, "fifo", 0600), 0);
	alarm(20);
	EXPECT_INT(checked_open_file(p.fd, "fifo", &err), -1);
	alarm(0);
	EXPECT_INT(err.kind, ERROR_UNSUPPORTED);
	end(&p);
}

/* Makes a tree of so many folders below each other. */
static void make_deep(int folder, unsigned depth)
{
	int at = dup(folder);
	for (unsigned i = 0; i < depth; i++) {
		EXPECT_INT(mkdirat(at, "d", 0755), 0);
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	close(at);
}

TEST("a tree is removed up to 64 folders below each other, and one more is refused")
{
	struct place_below p;
	struct names names = { 0 };
	struct error err = { 0 };
	begin(&p);
	make_deep(p.fd, 64);
	EXPECT_INT(checked_remove(p.fd, "d", &err), 0);
	make_deep(p.fd, 65);
	EXPECT_INT(checked_remove(p.fd, "d", &err), -1);
	EXPECT_INT(err.sys, ELOOP);
	EXPECT(strncmp(err.text, "cannot remove d", 15) == 0);
	EXPECT_INT(checked_names(p.fd, NULL, &names, NULL), 0);
	EXPECT_INT(names.list.count, 1);
	names_fini(&names);
	end(&p);
}
