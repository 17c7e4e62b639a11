#include "image/debuginfod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/library.h"

/* As <elfutils/debuginfod.h> declares them. */
struct client;

struct functions {
	struct client *(*begin)(void);
	int (*find_debuginfo)(struct client *, const unsigned char *id, int id_len, char **path);
	int (*find_executable)(struct client *, const unsigned char *id, int id_len, char **path);
	void (*end)(struct client *);
};

static const char *const symbols[] = { "debuginfod_begin", "debuginfod_find_debuginfo", "debuginfod_find_executable",
	"debuginfod_end", NULL };

static const struct library library = { .soname = "libdebuginfod.so.1", .package = "libdebuginfod1",
	.purpose = "debug files from a debuginfod server", .symbols = symbols };

bool debuginfod_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	return urls && urls[strspn(urls, " ")];
}

int debuginfod_fetch(enum debuginfod_file what, const uint8_t *id, uint8_t id_len, char *path, size_t size, struct error *err)
{
	struct functions f;
	char *found = NULL;
	if (library_load(&library, &f, err) < 0)
		return -1;
	struct client *client = f.begin();
	if (!client)
		return error_set(err, ERROR_UNSUPPORTED, "libdebuginfod cannot start");
	int fd = (what == DEBUGINFOD_DEBUGINFO ? f.find_debuginfo : f.find_executable)(client, id, id_len, &found);
	f.end(client);
	bool fits = fd >= 0 && found && (size_t)snprintf(path, size, "%s", found) < size;
	if (fd >= 0)
		close(fd);
	free(found);
	errno = fd < 0 ? -fd : ENAMETOOLONG;
	return fits ? 0 : error_system(err, "no file from a debuginfod server");
}
