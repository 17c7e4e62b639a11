#include "image/debuginfod.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/library.h"

const struct debuginfod_limits debuginfod_limits_usual = {
	.bytes = (uint64_t)8 << 30, .least = 64 << 10, .begin_ms = 60000, .stall_ms = 20000, .total_ms = 120000,
};

/* Declared as in <elfutils/debuginfod.h>. */
struct client;

struct functions {
	struct client *(*begin)(void);
	int (*find_debuginfo)(struct client *, const unsigned char *id, int id_len, char **path);
	int (*find_executable)(struct client *, const unsigned char *id, int id_len, char **path);
	void (*end)(struct client *);
	void (*set_progress)(struct client *, int (*progress)(struct client *, long done, long all));
	void (*set_user_data)(struct client *, void *data);
	void *(*user_data)(struct client *);
	const char *(*url)(struct client *);
};

static const char *const symbols[] = { "debuginfod_begin", "debuginfod_find_debuginfo", "debuginfod_find_executable",
	"debuginfod_end", "debuginfod_set_progressfn", "debuginfod_set_user_data", "debuginfod_get_user_data", "debuginfod_get_url", NULL };

static const struct library library = { .soname = "libdebuginfod.so.1", .package = "libdebuginfod1",
	.purpose = "debug files from a debuginfod server", .symbols = symbols };

/* A request in progress. */
struct request {
	struct debuginfod *servers;
	uint64_t began_ms, window_ms, window_bytes, bytes_max;
	const char *refused;                /* the reason why it was ended */
};

/* Leaves half of the free space to others. */
static uint64_t bytes_allowed(const struct debuginfod *servers)
{
	struct statvfs fs;
	uint64_t most = servers->limits.bytes;
	if (!servers->cache || statvfs(servers->cache, &fs) != 0)
		return most;
	uint64_t half = (uint64_t)fs.f_bavail * fs.f_frsize / 2;
	return half < most ? half : most;
}

static const char *judge(struct request *r, uint64_t bytes, uint64_t all)
{
	const struct debuginfod_limits *limits = &r->servers->limits;
	uint64_t now = (uint64_t)now_ms();
	if (bytes > r->bytes_max || all > r->bytes_max)
		return "the file is too large";
	if (atomic_load(&r->servers->wasted_ms) + (now - r->began_ms) > limits->total_ms && bytes < limits->least)
		return "servers took too long in all";
	if (!bytes)
		return now - r->began_ms > limits->begin_ms ? "the server does not answer" : NULL;
	if (now - r->window_ms < limits->stall_ms)
		return NULL;
	if (bytes < r->window_bytes + limits->least)
		return "the server is too slow";
	r->window_ms = now;
	r->window_bytes = bytes;
	return NULL;
}

/* The library calls this regularly, instead of printing a line to stderr; a result other than 0 ends the request. */
static int progress(struct client *client, long done, long all)
{
	struct functions f;
	if (library_load(&library, &f, NULL) < 0) /* already loaded: this looks up functions */
		return 1;
	struct request *r = f.user_data(client);
	/* before a server has answered, the library reports numbers of its own polling */
	bool begun = f.url(client) != NULL;
	r->refused = judge(r, begun && done > 0 ? (uint64_t)done : 0, all > 0 ? (uint64_t)all : 0);
	return r->refused != NULL;
}

static void account(struct debuginfod *servers, uint64_t ms)
{
	if (atomic_fetch_add(&servers->wasted_ms, ms) + ms > servers->limits.total_ms)
		atomic_store(&servers->given_up, true);
}

int debuginfod_fetch(struct debuginfod *servers, enum debuginfod_file what, const uint8_t *id, uint8_t id_len, char *path, size_t size,
	struct error *err)
{
	struct functions f;
	char *found = NULL;
	if (atomic_load(&servers->given_up))
		return error_set(err, ERROR_SYSTEM, "debuginfod servers are not asked any more");
	if (library_load(&library, &f, err) < 0)
		return -1;
	struct client *client = f.begin();
	if (!client)
		return error_set(err, ERROR_UNSUPPORTED, "libdebuginfod cannot start");
	uint64_t now = (uint64_t)now_ms();
	struct request request = { .servers = servers, .began_ms = now, .window_ms = now, .bytes_max = bytes_allowed(servers) };
	f.set_user_data(client, &request);
	f.set_progress(client, progress);
	int fd = (what == DEBUGINFOD_DEBUGINFO ? f.find_debuginfo : f.find_executable)(client, id, id_len, &found);
	f.end(client);
	bool fits = fd >= 0 && found && (size_t)snprintf(path, size, "%s", found) < size;
	if (fd >= 0)
		close(fd);
	free(found);
	if (fits)
		return 0;
	account(servers, (uint64_t)now_ms() - now);
	if (request.refused)
		return error_set(err, ERROR_SYSTEM, "no file from a debuginfod server: %s", request.refused);
	errno = fd < 0 ? -fd : ENAMETOOLONG;
	return error_system(err, "no file from a debuginfod server");
}
