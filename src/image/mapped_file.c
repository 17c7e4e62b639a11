#include "image/mapped_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "image/file.h"
#include "os/file.h"
#include "os/process.h"

enum { MAPS_TIMEOUT_MS = 500 };

/* The requested mapping of the file. */
struct sought {
	const struct mapped_identity *identity;
	uint64_t start, end;        /* 0: any; set to those of the mapping found */
	bool found;
};

static int compare_mapping(void *context, const struct process_map *map)
{
	struct sought *sought = context;
	const struct mapped_identity *identity = sought->identity;
	if (map->ino != identity->ino || map->maj != identity->maj || map->min != identity->min)
		return 0;
	if (sought->end && (map->start != sought->start || map->end != sought->end))
		return 0;
	sought->start = map->start;
	sought->end = map->end;
	sought->found = true;
	return -1; /* no more entries */
}

static bool find_mapping(int32_t pid, struct sought *sought)
{
	bool late = false;
	sought->found = false;
	process_maps(pid, MAPS_TIMEOUT_MS, &late, compare_mapping, sought, NULL);
	return sought->found;
}

bool mapped_file_mapped(int32_t pid, const struct mapped_identity *identity)
{
	struct sought sought = { .identity = identity };
	return find_mapping(pid, &sought);
}

/* Inode numbers of deleted files are reused. Returns true if the file system reports no generation. */
static bool is_generation(int fd, uint64_t generation)
{
	uint32_t found[2] = { 0 }; /* some file systems write a long */
	return !generation || ioctl(fd, FS_IOC_GETVERSION, found) != 0 || found[0] == (uint32_t)generation;
}

int mapped_file_is(int fd, const struct mapped_identity *identity)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return -1;
	if (st.st_dev != makedev(identity->maj, identity->min))
		return 0;
	return st.st_ino == identity->ino && is_generation(fd, identity->generation) ? 1 : -1;
}

/* Returns whether it is the file, or one with its inode if the file system reports two different devices. */
static bool may_be(int fd, const struct mapped_identity *identity)
{
	struct stat st;
	int is = mapped_file_is(fd, identity);
	return is > 0 || (is == 0 && fstat(fd, &st) == 0 && st.st_ino == identity->ino);
}

static void map_path(char *path, size_t size, int32_t pid, const struct sought *sought)
{
	snprintf(path, size, "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)sought->start, (unsigned long long)sought->end);
}

/* Opens by mapping, which may be replaced by another one before it is opened. */
static int open_mapping(int32_t pid, struct sought *sought)
{
	char path[96];
	map_path(path, sizeof path, pid, sought);
	int fd = rooted_open(-1, path, NULL);
	if (fd < 0 || mapped_file_is(fd, sought->identity) > 0 || find_mapping(pid, sought))
		return fd;
	close(fd);
	return -1;
}

static int open_program(int32_t pid, const struct mapped_identity *identity)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	int fd = rooted_open(-1, path, NULL);
	if (fd < 0 || mapped_file_is(fd, identity) > 0)
		return fd;
	close(fd);
	return -1;
}

int mapped_file_open(int32_t pid, const struct mapped_identity *identity)
{
	struct sought sought = { .identity = identity };
	if (pid <= 0 || !identity->ino || !find_mapping(pid, &sought))
		return -1;
	int fd = open_mapping(pid, &sought);
	return fd >= 0 ? fd : open_program(pid, identity);
}

int mapped_file_open_at(int32_t pid, uint64_t start, uint64_t end, const struct mapped_identity *identity)
{
	struct sought sought = { .identity = identity, .start = start, .end = end };
	if (pid <= 0 || !identity->ino)
		return -1;
	char path[96];
	map_path(path, sizeof path, pid, &sought);
	int fd = rooted_open(-1, path, NULL);
	if (fd < 0 || may_be(fd, identity))
		return fd;
	close(fd);
	return -1;
}

int mapped_file_or_path(int root, const char *path, int32_t pid, const struct mapped_identity *identity)
{
	int fd = rooted_open(root, path, NULL), is = fd >= 0 && identity->ino ? mapped_file_is(fd, identity) : 0;
	if (fd >= 0 && (is > 0 || !identity->ino))
		return fd;
	/* for a process that has ended, the files at its paths are unknown */
	bool seen = fd >= 0 && is == 0 && (pid <= 0 || task_lives(pid, pid) || may_be(fd, identity));
	int mapped = mapped_file_open(pid, identity);
	if (mapped < 0 && seen)
		return fd;
	if (fd >= 0)
		close(fd);
	return mapped;
}
