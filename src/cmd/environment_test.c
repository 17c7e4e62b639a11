#include "cmd/environment.h"

#include "cmd/test_cli.h"
#include "image/test_folder.h"

static const char *const variables[] = { "HOME", "PERF_CONFIG", "PERF_CONFIG_NOSYSTEM", "PERF_CONFIG_NOGLOBAL", "XDG_CACHE_HOME",
	"XDG_CONFIG_HOME", "PERF_EXEC_PATH", "PATH" };

enum { VARIABLES = sizeof variables / sizeof *variables };

/* The environment of a test: nothing but HOME. */
struct changed {
	char *before[VARIABLES];
};

static void change(struct changed *changed, const char *home)
{
	for (size_t i = 0; i < VARIABLES; i++) {
		const char *value = secure_getenv(variables[i]);
		changed->before[i] = value ? strdup(value) : NULL;
		unsetenv(variables[i]);
	}
	if (home)
		setenv("HOME", home, 1);
}

static void restore(struct changed *changed)
{
	for (size_t i = 0; i < VARIABLES; i++) {
		if (changed->before[i])
			setenv(variables[i], changed->before[i], 1);
		else
			unsetenv(variables[i]);
		free(changed->before[i]);
	}
}

static void expect_files(const char *system, const char *user)
{
	struct config_files files;
	environment_config_files(&files);
	if (system)
		EXPECT_STR(files.system, system);
	else
		EXPECT(files.system == NULL);
	if (user)
		EXPECT_STR(files.user, user);
	else
		EXPECT(files.user == NULL);
	config_files_fini(&files);
}

TEST("the configuration is the system's file and the user's, less those that variables turn off, or one file alone")
{
	struct changed changed;
	change(&changed, "/h");
	expect_files("/etc/perfconfig", "/h/.perfconfig");
	setenv("PERF_CONFIG_NOSYSTEM", "1", 1);
	expect_files(NULL, "/h/.perfconfig");
	setenv("PERF_CONFIG_NOSYSTEM", "0", 1);
	setenv("PERF_CONFIG_NOGLOBAL", "yes", 1);
	expect_files("/etc/perfconfig", NULL);
	setenv("PERF_CONFIG", "/x", 1);
	expect_files(NULL, "/x");
	unsetenv("PERF_CONFIG");
	unsetenv("PERF_CONFIG_NOGLOBAL");
	unsetenv("HOME");
	expect_files("/etc/perfconfig", NULL);
	restore(&changed);
}

TEST("the build-id cache is the configured folder, otherwise .debug of an absolute home")
{
	struct changed changed;
	struct config config = { 0 };
	change(&changed, "/h");
	EXPECT_STR(environment_buildid_dir(&config), "/h/.debug");
	setenv("HOME", "h", 1);
	EXPECT(environment_buildid_dir(&config) == NULL);
	config_set(&config, CONFIG_USER, "buildid.dir", "/c");
	EXPECT_STR(environment_buildid_dir(&config), "/c");
	setenv("HOME", "/h", 1);
	config_set(&config, CONFIG_USER, "buildid.dir", "");
	EXPECT_STR(environment_buildid_dir(&config), "/h/.debug");
	config_fini(&config);
	restore(&changed);
}

TEST("the user's cache is an absolute XDG_CACHE_HOME, otherwise .cache of an absolute home, unless it is off")
{
	struct changed changed;
	struct config config = { 0 };
	change(&changed, "/h");
	EXPECT_STR(environment_user_cache_dir(&config), "/h/.cache");
	setenv("XDG_CACHE_HOME", "/x", 1);
	EXPECT_STR(environment_user_cache_dir(&config), "/x");
	setenv("XDG_CACHE_HOME", "x", 1);
	EXPECT_STR(environment_user_cache_dir(&config), "/h/.cache");
	setenv("HOME", "h", 1);
	EXPECT(environment_user_cache_dir(&config) == NULL);
	setenv("XDG_CACHE_HOME", "/x", 1);
	config_set(&config, CONFIG_USER, "perfuse.cache", "false");
	EXPECT(environment_user_cache_dir(&config) == NULL);
	config_fini(&config);
	restore(&changed);
}

TEST("the user's configuration folder is an absolute XDG_CONFIG_HOME, otherwise .config of an absolute home")
{
	struct changed changed;
	change(&changed, "/h");
	char *home = environment_user_config_dir();
	setenv("XDG_CONFIG_HOME", "/x", 1);
	char *set = environment_user_config_dir();
	setenv("XDG_CONFIG_HOME", "x", 1);
	setenv("HOME", "h", 1);
	char *none = environment_user_config_dir();
	EXPECT_STR(home, "/h/.config");
	EXPECT_STR(set, "/x");
	EXPECT(none == NULL);
	free(home);
	free(set);
	free(none);
	restore(&changed);
}

TEST("a build-id cache that another user can change is refused, with one message, and an absent one without a message")
{
	struct test_cli t;
	struct folder f;
	folder_open(&f);
	test_cli_open(&t);
	EXPECT(environment_cache(&t.cli, false) == NULL);
	t.cli.buildid_dir = "/nonexistent/cache";
	EXPECT_STR(environment_cache(&t.cli, false), "/nonexistent/cache");
	EXPECT_STR(test_cli_messages(&t), "");
	t.cli.buildid_dir = f.root;
	EXPECT(chmod(f.root, 0700) == 0);
	EXPECT_STR(environment_cache(&t.cli, true), f.root);
	EXPECT(chmod(f.root, 0777) == 0);
	EXPECT(environment_cache(&t.cli, true) == NULL);
	EXPECT(strncmp(test_cli_messages(&t), "The build-id cache is not used: ", 32) == 0);
	EXPECT(environment_cache(&t.cli, true) == NULL);
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
	folder_close(&f);
}

TEST("programs perf-WORD of the exec path and of PATH are subcommands, others are not")
{
	struct changed changed;
	struct folder f;
	struct strtab words = { 0 };
	CLEANUP_STR struct str exec = { 0 };
	CLEANUP_STR struct str path = { 0 };
	folder_open(&f);
	change(&changed, "/h");
	str_puts(&exec, f.root);
	str_puts(&exec, "/exec");
	str_printf(&path, "%s/a:%s/b", f.root, f.root);
	EXPECT(chmod(folder_write(&f, "exec/perf-one", "", 0), 0700) == 0);
	EXPECT(chmod(folder_write(&f, "a/perf-two", "", 0), 0700) == 0);
	EXPECT(chmod(folder_write(&f, "b/perf-one", "", 0), 0700) == 0);
	EXPECT(chmod(folder_write(&f, "b/perf-plain", "", 0), 0600) == 0);
	EXPECT(chmod(folder_write(&f, "b/perf", "", 0), 0700) == 0);
	EXPECT(chmod(folder_write(&f, "b/myperf-three", "", 0), 0700) == 0);
	setenv("PERF_EXEC_PATH", str_text(&exec), 1);
	setenv("PATH", str_text(&path), 1);
	environment_externals(&words);
	EXPECT(strtab_find(&words, "one", 3) != UINT32_MAX);
	EXPECT(strtab_find(&words, "two", 3) != UINT32_MAX);
	EXPECT_INT(words.count, 2);
	strtab_fini(&words);
	restore(&changed);
	folder_close(&f);
}
