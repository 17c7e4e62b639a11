#include "cmd/environment.h"

#include <dirent.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/memory.h"
#include "image/cache.h"
#include "os/file.h"

static char *join_path(const char *folder, const char *name)
{
	struct str path = { 0 };
	str_printf(&path, "%s/%s", folder, name);
	return path.text;
}

/* With rights of the program's file: the home folder in the system's list of users, as variables are the user's. */
static const char *home_folder(void)
{
	if (!environment_is_foreign())
		return secure_getenv("HOME");
	const struct passwd *user = getpwuid(getuid());
	return user && user->pw_dir[0] == '/' ? user->pw_dir : NULL;
}

bool environment_is_foreign(void)
{
	return getauxval(AT_SECURE) != 0;
}

bool environment_is_set_id(void)
{
	return environment_is_foreign() && (getuid() != geteuid() || getgid() != getegid());
}

void environment_config_files(struct config_files *files)
{
	const char *only = secure_getenv("PERF_CONFIG"), *home = home_folder();
	*files = (struct config_files){ 0 };
	if (only) {
		files->user = memory_string(only);
		return;
	}
	if (!config_text_is_true(secure_getenv("PERF_CONFIG_NOSYSTEM") ?: "0"))
		files->system = memory_string(PERFUSE_SYSTEM_CONFIG);
	if (home && !config_text_is_true(secure_getenv("PERF_CONFIG_NOGLOBAL") ?: "0"))
		files->user = join_path(home, ".perfconfig");
}

void config_files_fini(struct config_files *files)
{
	free(files->system);
	free(files->user);
}

static void read_one(const struct cli *cli, struct config *config, enum config_from from, const char *path)
{
	const char *refused = NULL;
	struct error err = { 0 };
	if (path && config_read(config, from, path, &refused, &err) < 0)
		cli_complain(cli, &err);
	if (refused)
		cli_warn(cli, "File %s %s, ignoring it.", path, refused);
}

void environment_config(const struct cli *cli, struct config *config)
{
	struct config_files files;
	environment_config_files(&files);
	read_one(cli, config, CONFIG_SYSTEM, files.system);
	read_one(cli, config, CONFIG_USER, files.user);
	config_files_fini(&files);
}

const char *environment_buildid_dir(struct config *config)
{
	const char *set = config_get(config, "buildid.dir"), *home = home_folder();
	if (set && *set)
		return set;
	/* the current folder may be another user's */
	if (!home || home[0] != '/')
		return NULL;
	CLEANUP_FREE char *path = join_path(home, ".debug");
	return arena_string(&config->arena, path, strlen(path));
}

const char *environment_cache(struct cli *cli, bool add)
{
	struct error err = { 0 };
	if (!cli->buildid_dir)
		return NULL;
	CLEANUP_FD int fd = cache_open(cli->buildid_dir, add ? CACHE_CHANGE : CACHE_READ, &err);
	if (fd >= 0 || err.kind != ERROR_PERMISSION)
		return cli->buildid_dir;
	/* a cache that does not exist holds no file that could be missed */
	if (!cli->cache_reported && (add || access(cli->buildid_dir, F_OK) == 0))
		cli_warn(cli, "The build-id cache is not used: %s", err.text);
	cli->cache_reported = true;
	return NULL;
}

const char *environment_user_cache_dir(struct config *config)
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = home_folder();
	if (!config_bool(config, "perfuse.cache", true))
		return NULL;
	if (cache && cache[0] == '/')
		return arena_string(&config->arena, cache, strlen(cache));
	if (!home || home[0] != '/')
		return NULL;
	CLEANUP_FREE char *path = join_path(home, ".cache");
	return arena_string(&config->arena, path, strlen(path));
}

char *environment_user_config_dir(void)
{
	const char *folder = secure_getenv("XDG_CONFIG_HOME"), *home = home_folder();
	if (folder && folder[0] == '/')
		return memory_string(folder);
	return home && home[0] == '/' ? join_path(home, ".config") : NULL;
}

void environment_exec_path(struct str *path)
{
	const char *set = secure_getenv("PERF_EXEC_PATH");
	str_puts(path, set && *set ? set : PERFUSE_EXEC_PATH);
}

/* The folders of subcommands that are programs, in the form of $PATH. */
static void search_path(struct str *path)
{
	environment_exec_path(path);
	str_printf(path, ":%s", secure_getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin");
}

static void add_externals_of(struct strtab *words, const char *folder)
{
	static const char lead[] = "perf-";
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (strncmp(entry->d_name, lead, sizeof lead - 1) != 0 || !text_is_printable(entry->d_name, strlen(entry->d_name)))
			continue;
		if (faccessat(dirfd(dir), entry->d_name, X_OK, 0) == 0)
			strtab_add(words, entry->d_name + sizeof lead - 1, strlen(entry->d_name) - sizeof lead + 1);
	}
	if (dir)
		closedir(dir);
}

void environment_externals(struct strtab *words)
{
	CLEANUP_STR struct str path = { 0 };
	search_path(&path);
	char *rest = path.text;
	for (char *folder; (folder = strsep(&rest, ":"));)
		add_externals_of(words, folder);
}

void environment_exec_external(const char *word, const char **argv)
{
	CLEANUP_STR struct str path = { 0 };
	CLEANUP_STR struct str name = { 0 };
	if (strchr(word, '/') || environment_is_foreign())
		return;
	str_printf(&name, "perf-%s", word);
	search_path(&path);
	size_t count = 0;
	while (argv[count])
		count++;
	CLEANUP_FREE const char **words = memory_zero(count + 2, sizeof *words);
	words[0] = name.text;
	memcpy(words + 1, argv, count * sizeof *words);
	const char *path_before = secure_getenv("PATH");
	CLEANUP_FREE char *before = path_before ? memory_string(path_before) : NULL;
	setenv("PATH", path.text, 1);
	execvp(name.text, (char *const *)words);
	if (before)
		setenv("PATH", before, 1);
}
