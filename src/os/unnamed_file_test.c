#include "os/unnamed_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char folder[] = "/tmp/unnamed_file_test.XXXXXX";

static int entries(void)
{
	int count = 0;
	DIR *dir = opendir(folder);
	while (dir && readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

TEST("a file has no name before it is complete, and replaces nothing")
{
	char path[64], text[8] = "";
	struct unnamed_file file, other;
	struct error err = { 0 };
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/new", folder);
	EXPECT_INT(unnamed_open(&file, path, &err), 0);
	EXPECT_INT(unnamed_open(&other, path, &err), 0);
	bool unnamed = file.fresh.fd != file.fd; /* the file system has unnamed files */
	EXPECT_INT(entries(), unnamed ? 0 : 2);
	EXPECT_INT(write(file.fd, "one", 3), 3);
	EXPECT_INT(write(other.fd, "two", 3), 3);
	EXPECT_INT(unnamed_keep(&file, &err), 0);
	EXPECT(unnamed_keep(&other, &err) < 0);
	EXPECT_STR(err.text, "new exists already");
	EXPECT_INT(entries(), 1);
	int fd = open(path, O_RDONLY);
	EXPECT_INT(read(fd, text, sizeof text), 3);
	EXPECT_STR(text, "one");
	close(fd);
	EXPECT(unnamed_open(&file, path, &err) < 0);
	unlink(path);
	EXPECT_INT(symlink("nowhere", path), 0);
	EXPECT(unnamed_open(&file, path, &err) < 0); /* a link is an entry, too */
	unlink(path);
	EXPECT_INT(unnamed_open(&file, path, &err), 0);
	unnamed_drop(&file);
	EXPECT_INT(entries(), 0);
	rmdir(folder);
}

TEST("a path without the name of a file is refused")
{
	static const char *const paths[] = { "", "/", "/tmp/", ".", "/tmp/..", "/no such folder/x" };
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct unnamed_file file;
		struct error err = { 0 };
		EXPECT(unnamed_open(&file, paths[i], &err) < 0);
		EXPECT(err.text[0]);
	}
}

TEST("a temporary file is in $TMPDIR, for this user alone, and has no name")
{
	struct error err = { 0 };
	struct stat of_file, of_folder;
	char there[] = "/tmp/unnamed_file_test.XXXXXX";
	EXPECT(mkdtemp(there) != NULL);
	setenv("TMPDIR", there, 1);
	int fd = unnamed_temporary(&err);
	EXPECT(fd >= 0);
	EXPECT_INT(fstat(fd, &of_file), 0);
	EXPECT_INT(stat(there, &of_folder), 0);
	EXPECT_INT(of_file.st_dev, of_folder.st_dev);
	EXPECT_INT(of_file.st_nlink, 0);
	EXPECT_INT(of_file.st_mode & 0777, 0600);
	EXPECT_INT(write(fd, "one", 3), 3);
	close(fd);
	EXPECT_INT(rmdir(there), 0); /* it is empty */
	EXPECT(unnamed_temporary(&err) < 0);
	EXPECT(strstr(err.text, there) != NULL);
	unsetenv("TMPDIR");
}

TEST("a path without a name, with a name that is too long, or in a folder that is absent or a file is refused")
{
	char long_name[300], long_path[6000];
	struct unnamed_file file;
	memset(long_name, 'x', sizeof long_name - 1);
	long_name[sizeof long_name - 1] = '\0';
	memset(long_path, '/', sizeof long_path - 1);
	strcpy(long_path + sizeof long_path - 2, "x");
	const char *const wrong[] = { "", "/", "/tmp/", "/tmp/.", "..", long_name, long_path, "/nonexistent/x", "/dev/null/x" };
	static const enum error_kind kinds[] = { ERROR_USAGE, ERROR_USAGE, ERROR_USAGE, ERROR_USAGE, ERROR_USAGE, ERROR_USAGE, ERROR_LIMIT,
		ERROR_SYSTEM, ERROR_SYSTEM };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct error err = { 0 };
		EXPECT_INT(unnamed_open(&file, wrong[i], &err), -1);
		EXPECT_INT(err.kind, kinds[i]);
		unnamed_drop(&file);
	}
}
