#include "cmd/servers.h"

#include "cmd/test_cli.h"
#include "image/test_folder.h"

static const char *const variables[] = { "HOME", "DEBUGINFOD_URLS", "DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME", "DEBUGINFOD_TIMEOUT",
	"DEBUGINFOD_MAXSIZE" };

static void clear(void)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
}

TEST("servers are those of the configuration or the environment, and none where neither names any")
{
	struct test_cli t;
	struct folder f;
	folder_open(&f);
	test_cli_open(&t);
	clear();
	setenv("HOME", f.root, 1);
	EXPECT(servers_named(&t.cli) == NULL);
	setenv("DEBUGINFOD_URLS", "  ", 1);
	EXPECT(servers_named(&t.cli) == NULL);
	setenv("DEBUGINFOD_URLS", "http://a", 1);
	EXPECT(servers_named(&t.cli) == &t.servers);
	EXPECT(servers_asked(&t.cli, NULL) == NULL);
	EXPECT(servers_asked(&t.cli, "system") == &t.servers);
	EXPECT_STR(secure_getenv("DEBUGINFOD_URLS"), "http://a");
	EXPECT(servers_asked(&t.cli, "http://b") == &t.servers);
	EXPECT_STR(secure_getenv("DEBUGINFOD_URLS"), "http://b");
	config_set(&t.config, CONFIG_USER, "buildid-cache.debuginfod", "http://c");
	EXPECT(servers_asked(&t.cli, NULL) == &t.servers);
	EXPECT(servers_named(&t.cli) == &t.servers);
	EXPECT_STR(secure_getenv("DEBUGINFOD_URLS"), "http://c");
	config_set(&t.config, CONFIG_USER, "buildid-cache.debuginfod", "");
	EXPECT(servers_named(&t.cli) == NULL);
	EXPECT_STR(test_cli_messages(&t), "");
	clear();
	test_cli_close(&t);
	folder_close(&f);
}

TEST("files are stored below the first folder that the library uses")
{
	struct test_cli t;
	struct folder f;
	char want[PATH_MAX];
	folder_open(&f);
	test_cli_open(&t);
	clear();
	setenv("DEBUGINFOD_URLS", "http://a", 1);
	EXPECT(servers_named(&t.cli) == NULL);
	EXPECT(strstr(test_cli_messages(&t), "neither HOME nor DEBUGINFOD_CACHE_PATH") != NULL);
	setenv("HOME", f.root, 1);
	EXPECT(servers_named(&t.cli) == &t.servers);
	snprintf(want, sizeof want, "%s/.cache/debuginfod_client", f.root);
	EXPECT_STR(t.servers.cache, want);
	unsetenv("DEBUGINFOD_CACHE_PATH");
	snprintf(want, sizeof want, "%s/x", f.root);
	setenv("XDG_CACHE_HOME", want, 1);
	EXPECT(servers_named(&t.cli) == &t.servers);
	strcat(want, "/debuginfod_client");
	EXPECT_STR(t.servers.cache, want);
	unsetenv("DEBUGINFOD_CACHE_PATH");
	snprintf(want, sizeof want, "%s/.debuginfod_client_cache", f.root);
	EXPECT(mkdir(want, 0700) == 0);
	EXPECT(servers_named(&t.cli) == &t.servers);
	EXPECT_STR(t.servers.cache, want);
	clear();
	test_cli_close(&t);
	folder_close(&f);
}

TEST("limits are the usual ones, or those of the environment")
{
	struct test_cli t;
	struct folder f;
	folder_open(&f);
	test_cli_open(&t);
	clear();
	setenv("HOME", f.root, 1);
	setenv("DEBUGINFOD_URLS", "http://a", 1);
	EXPECT(servers_named(&t.cli) == &t.servers);
	EXPECT(memcmp(&t.servers.limits, &debuginfod_limits_usual, sizeof t.servers.limits) == 0);
	setenv("DEBUGINFOD_TIMEOUT", "7", 1);
	setenv("DEBUGINFOD_MAXSIZE", "99", 1);
	EXPECT(servers_named(&t.cli) == &t.servers);
	EXPECT_INT(t.servers.limits.begin_ms, 7000);
	EXPECT_INT(t.servers.limits.stall_ms, 7000);
	EXPECT_INT(t.servers.limits.total_ms, 14000);
	EXPECT_INT(t.servers.limits.bytes, 99);
	setenv("DEBUGINFOD_TIMEOUT", "100001", 1);
	EXPECT(servers_named(&t.cli) == &t.servers);
	EXPECT_INT(t.servers.limits.begin_ms, 100000000);
	setenv("DEBUGINFOD_TIMEOUT", "-1", 1);
	EXPECT(servers_named(&t.cli) == &t.servers);
	EXPECT_INT(t.servers.limits.begin_ms, debuginfod_limits_usual.begin_ms);
	servers_report(&t.cli);
	EXPECT_STR(test_cli_messages(&t), "");
	t.servers.given_up = true;
	t.servers.limits.total_ms = 5999;
	servers_report(&t.cli);
	EXPECT(strstr(test_cli_messages(&t), "took more than 5 s") != NULL);
	clear();
	test_cli_close(&t);
	folder_close(&f);
}
