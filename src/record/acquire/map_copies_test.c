#include "record/acquire/map_copies.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/perf_maps.h"
#include "unit.h"

static const char *own_map(char path[64])
{
	snprintf(path, 64, "/tmp/perf-%d.map", (int)getpid());
	return path;
}

static void write_map(const char *text)
{
	char path[64];
	int fd = open(own_map(path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void expect_body(const struct map_copies *copies, const char *text)
{
	struct stored_map map;
	size_t at = 0;
	struct span body = { (const uint8_t *)copies->body.buffer, copies->body.len };
	bool found = stored_map_next(body, false, &at, &map);
	EXPECT_INT(found, text != NULL);
	if (!found || !text)
		return;
	EXPECT_INT(map.pid, getpid());
	EXPECT_INT(map.text.len, strlen(text));
	EXPECT(memcmp(map.text.data, text, strlen(text)) == 0);
	EXPECT(!stored_map_next(body, false, &at, &map));
}

TEST("a map that is made after the first look, grows, and is removed before the end is copied whole")
{
	struct map_copies copies = { 0 };
	char path[64];
	unlink(own_map(path));
	map_copies_add(&copies, getpid());
	map_copies_add(&copies, getpid());
	EXPECT_INT(copies.list.count, 1);
	EXPECT(map_copies_open(&copies) > 0);
	write_map("1000 10 a\n");
	for (int wait_ms; (wait_ms = map_copies_open(&copies)) >= 0;)
		usleep((unsigned)wait_ms * 1000);
	write_map("2000 10 b\n");
	unlink(path);
	for (int i = 0; i < 2; i++) { /* at the end of each file */
		map_copies_read(&copies);
		expect_body(&copies, "1000 10 a\n2000 10 b\n");
	}
	map_copies_fini(&copies);
}

TEST("a link, a file with two names and one of another user are no maps to copy; ended processes are not looked at again")
{
	char path[64], other[80];
	own_map(path);
	snprintf(other, sizeof other, "%s.other", path);
	for (int kind = 0; kind < 3; kind++) {
		struct map_copies copies = { 0 };
		unlink(path);
		if (kind == 2 && geteuid() != 0)
			break;
		write_map("1000 10 a\n");
		if (kind == 0)
			EXPECT(rename(path, other) == 0 && symlink(other, path) == 0);
		else if (kind == 1)
			EXPECT_INT(link(path, other), 0);
		else
			EXPECT_INT(chown(path, 64321, 64321), 0);
		map_copies_add(&copies, getpid());
		map_copies_read(&copies);
		expect_body(&copies, NULL);
		map_copies_fini(&copies);
		unlink(path);
		unlink(other);
	}
	struct map_copies copies = { 0 };
	map_copies_add(&copies, 1 << 30);
	EXPECT_INT(map_copies_open(&copies), -1);
	map_copies_fini(&copies);
}
