#include "image/jit_dump.h"

#include <fcntl.h>
#include <unistd.h>

#include "image/test_folder.h"

static int open_dump(const char *path, const char *symfs, bool force, enum error_kind *kind)
{
	struct error err = { 0 };
	uint64_t size = 0;
	int fd = jit_dump_open(getpid(), path, symfs, force, &size, &err);
	*kind = err.kind;
	if (fd < 0)
		return -1;
	close(fd);
	return (int)size;
}

TEST("only a regular file is opened as a dump: links, FIFOs and folders are refused without blocking")
{
	struct folder f;
	enum error_kind kind;
	char path[PATH_MAX], target[PATH_MAX];
	folder_open(&f);
	strcpy(target, folder_write(&f, "jit-1.dump", "12345", 5));
	EXPECT_INT(open_dump(target, NULL, false, &kind), 5);
	strcpy(path, folder_path(&f, "jit-2.dump"));
	EXPECT(symlink(target, path) == 0);
	EXPECT_INT(open_dump(path, NULL, true, &kind), -1);
	unlink(path);
	EXPECT(mkfifo(path, 0600) == 0);
	EXPECT_INT(open_dump(path, NULL, true, &kind), -1);
	EXPECT_INT(kind, ERROR_UNSUPPORTED);
	unlink(path);
	EXPECT_INT(open_dump(f.root, NULL, true, &kind), -1);
	EXPECT_INT(open_dump("jit-1.dump", NULL, true, &kind), -1);
	folder_close(&f);
}

TEST("with --symfs a dump is searched only below it")
{
	struct folder f;
	enum error_kind kind;
	folder_open(&f);
	char path[PATH_MAX];
	strcpy(path, folder_write(&f, "jit-1.dump", "12345", 5));
	EXPECT_INT(open_dump(path, f.root, false, &kind), -1);
	EXPECT_INT(open_dump("/jit-1.dump", f.root, false, &kind), 5);
	EXPECT_INT(open_dump("/jit-1.dump", "/nonexistent", false, &kind), -1);
	EXPECT_INT(open_dump(path, "/nonexistent", false, &kind), -1);
	EXPECT_INT(kind, ERROR_UNSUPPORTED);
	folder_close(&f);
}

TEST("another user's dump is read only with force")
{
	struct folder f;
	enum error_kind kind;
	folder_open(&f);
	const char *path = folder_write(&f, "jit-1.dump", "12345", 5);
	if (chown(path, 12345, 12345) != 0) {
		folder_close(&f);
		unit_skip("only root can create another user's file");
		return;
	}
	EXPECT_INT(open_dump(path, NULL, false, &kind), geteuid() == 12345 ? 5 : -1);
	EXPECT_INT(kind, ERROR_PERMISSION);
	EXPECT_INT(open_dump(path, NULL, true, &kind), 5);
	folder_close(&f);
}

TEST("a file that is created beside a dump replaces a link, and does not change the link's target")
{
	struct folder f;
	char victim[PATH_MAX + 8], content[8] = "";
	folder_open(&f);
	strcpy(victim, folder_write(&f, "victim", "kept", 4));
	EXPECT(symlink(victim, folder_path(&f, "jitted-1-1.so")) == 0);
	char dump[PATH_MAX], moved[PATH_MAX + 8];
	uint64_t size;
	int folder;
	strcpy(dump, folder_write(&f, "dump", "dump!", 5));
	int fd = jit_dump_open_in(getpid(), dump, NULL, true, &size, &folder, NULL);
	EXPECT(fd >= 0 && folder >= 0);
	close(fd);
	/* the path leads elsewhere now */
	snprintf(moved, sizeof moved, "%s.moved", f.root);
	EXPECT(rename(f.root, moved) == 0 && symlink("/nowhere", f.root) == 0);
	fd = jit_dump_create(folder, "jitted-1-1.so", NULL);
	EXPECT(fd >= 0 && write(fd, "code", 4) == 4);
	close(fd);
	EXPECT(unlink(f.root) == 0 && rename(moved, f.root) == 0);
	fd = open(victim, O_RDONLY);
	EXPECT(read(fd, content, sizeof content) == 4 && memcmp(content, "kept", 4) == 0);
	close(fd);
	EXPECT(mkdirat(folder, "jitted-1-2.so", 0700) == 0);
	EXPECT(jit_dump_create(folder, "jitted-1-2.so", NULL) < 0);
	int none;
	strcat(victim, "/dump");
	EXPECT(jit_dump_open_in(getpid(), victim, NULL, true, &size, &none, NULL) < 0 && none == -1);
	close(folder);
	folder_close(&f);
}
