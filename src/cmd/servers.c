#include "cmd/servers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/environment.h"
#include "os/private_file.h"

/* The folder in which libdebuginfod stores files, by its rules (debuginfod_find_debuginfo(3)). */
static bool cache_folder(struct str *path)
{
	const char *set = secure_getenv("DEBUGINFOD_CACHE_PATH"), *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	if (set && *set) {
		str_puts(path, set);
		return true;
	}
	if (home && *home) {
		str_printf(path, "%s/.debuginfod_client_cache", home);
		if (access(str_text(path), F_OK) == 0)
			return true;
		str_clear(path);
	}
	if (cache && *cache)
		str_printf(path, "%s/debuginfod_client", cache);
	else if (home && *home)
		str_printf(path, "%s/.cache/debuginfod_client", home);
	return path->len > 0;
}

/* A number of the environment, as the library reads it; 0: not set. */
static uint64_t variable(const char *name)
{
	const char *text = secure_getenv(name);
	long long value = text ? atoll(text) : 0;
	return value > 0 ? (uint64_t)value : 0;
}

static void set_limits(struct debuginfod_limits *limits)
{
	enum { SECONDS_MAX = 100000 };
	uint64_t seconds = variable("DEBUGINFOD_TIMEOUT"), bytes = variable("DEBUGINFOD_MAXSIZE");
	*limits = debuginfod_limits_usual;
	if (bytes)
		limits->bytes = bytes;
	if (!seconds)
		return;
	limits->begin_ms = limits->stall_ms = 1000u * (unsigned)(seconds < SECONDS_MAX ? seconds : SECONDS_MAX);
	limits->total_ms = 2 * limits->begin_ms;
}

/* The library walks paths and follows links: others must not be able to change any part of this one. */
static struct debuginfod *prepare(const struct cli *cli)
{
	CLEANUP_STR struct str folder = { 0 };
	char real[PATH_MAX];
	struct error err = { 0 };
	const char *urls = secure_getenv("DEBUGINFOD_URLS");
	if (!urls || !urls[strspn(urls, " ")])
		return NULL;
	if (environment_is_foreign()) /* the library reads more of the environment than its servers */
		return NULL;
	if (!cache_folder(&folder)) {
		cli_warn(cli, "debuginfod servers are not asked: neither HOME nor DEBUGINFOD_CACHE_PATH is set, so files cannot be stored");
		return NULL;
	}
	if (private_path(str_text(&folder), real, &err) < 0) {
		cli_warn(cli, "debuginfod servers are not asked: %s", err.text);
		return NULL;
	}
	setenv("DEBUGINFOD_CACHE_PATH", real, 1);
	struct debuginfod *servers = cli->servers;
	set_limits(&servers->limits);
	free(servers->cache);
	servers->cache = strdup(real);
	return servers;
}

struct debuginfod *servers_named(const struct cli *cli)
{
	const char *set = config_get(cli->config, "buildid-cache.debuginfod");
	if (set && !*set)
		return NULL;
	if (set && strcmp(set, "system") != 0)
		setenv("DEBUGINFOD_URLS", set, 1);
	return prepare(cli);
}

struct debuginfod *servers_asked(const struct cli *cli, const char *urls)
{
	if (!urls && !config_get(cli->config, "buildid-cache.debuginfod"))
		return NULL;
	if (urls && strcmp(urls, "system") != 0)
		setenv("DEBUGINFOD_URLS", urls, 1);
	return prepare(cli);
}

void servers_report(const struct cli *cli)
{
	if (cli->servers->given_up)
		cli_warn(cli, "debuginfod servers took more than %u s without a result and were not asked any more: names and lines may be missing.",
			cli->servers->limits.total_ms / 1000);
}
