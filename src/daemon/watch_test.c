#include "daemon/watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

static void write_file(const char *folder, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	EXPECT(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
}

TEST("a watched file that is written or replaced has changed; another file has not")
{
	char folder[] = "/tmp/watch-test-XXXXXX", path[64], fresh[64], command[64];
	struct watch watch;
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/conf", folder);
	snprintf(fresh, sizeof fresh, "%s/fresh", folder);
	const char *paths[] = { NULL, path };
	EXPECT_INT(watch_open(&watch, paths, 2, NULL), 0);
	EXPECT(!watch_changed(&watch));
	write_file(folder, "conf");
	EXPECT(watch_changed(&watch));
	EXPECT(!watch_changed(&watch));
	write_file(folder, "fresh");
	write_file(folder, "con");
	EXPECT(!watch_changed(&watch));
	EXPECT_INT(rename(fresh, path), 0);
	EXPECT(watch_changed(&watch));
	watch_close(&watch);
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	EXPECT_INT(system(command), 0);
}
