#include "image/recorded_process.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "os/process.h"
#include "unit.h"

static struct mapped_identity identity_of(const char *path)
{
	struct stat st;
	EXPECT(stat(path, &st) == 0);
	return (struct mapped_identity){ .maj = major(st.st_dev), .min = minor(st.st_dev), .ino = st.st_ino };
}

/* The identity as /proc/self/maps has it: file systems may have another device there than stat. */
static int first(void *context, const struct process_map *map)
{
	struct mapped_identity *identity = context;
	if (!map->ino)
		return 0;
	*identity = (struct mapped_identity){ .maj = map->maj, .min = map->min, .ino = map->ino };
	return -1;
}

TEST("a process that runs since before the recording ended, and maps what was recorded, is the recorded one")
{
	struct mapped_identity own = { 0 };
	int64_t start_s;
	bool late = false;
	process_maps(getpid(), 0, &late, first, &own, NULL);
	EXPECT(own.ino && process_start(getpid(), &start_s) && start_s <= time(NULL) + 1 && start_s > time(NULL) - 3600);
	EXPECT_INT(recorded_process(getpid(), time(NULL) + 1, &own), getpid());
	EXPECT_INT(recorded_process(getpid(), time(NULL) + 1, NULL), getpid());
	EXPECT_INT(recorded_process(getpid(), RECORDED_NOW, NULL), getpid());
}

TEST("a process that was started after the recording ended is another one")
{
	int64_t start_s = 0;
	EXPECT(process_start(getpid(), &start_s));
	EXPECT_INT(recorded_process(getpid(), start_s - 2, NULL), -1);
	EXPECT_INT(recorded_process(getpid(), 1, NULL), -1);
}

TEST("a process that does not map the recorded file, has ended, or is of another machine, is another one")
{
	const struct mapped_identity other = identity_of("/proc/self/status");
	EXPECT_INT(recorded_process(getpid(), time(NULL) + 1, &other), -1);
	EXPECT_INT(recorded_process(0x3fffffff, time(NULL) + 1, NULL), -1);
	EXPECT_INT(recorded_process(-1, RECORDED_NOW, NULL), -1);
	EXPECT_INT(recorded_process(getpid(), 0, NULL), -1);
}
