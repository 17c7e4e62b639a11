/* Where the program finds what is not on its command line: configuration files, the build-id cache, subcommands that are separate
 * programs. */
#pragma once
#include "base/str.h"
#include "cmd/command.h"

#define PROGRAM_USAGE "[--version] [--help] [OPTIONS] COMMAND [ARGS]"

/* Whether the program has rights that its user has not (file capabilities): then variables count as not set, and no program that they or
 * the configuration name is run. */
bool environment_is_foreign(void);
/* Whether it has those of another user or group (set-user-ID): then it does not run. */
bool environment_is_set_id(void);

/* The files that perf reads: PERF_CONFIG alone if it is set, otherwise the system's, then the user's. Their names may be NULL. */
struct config_files {
	char *system, *user;
};

void environment_config_files(struct config_files *files);
void config_files_fini(struct config_files *files);
/* Reads them; complains about a file that is damaged or belongs to another user, and uses what could be read. */
void environment_config(const struct cli *cli, struct config *config);

/* Valid as long as the configuration. NULL: the configuration sets none, and the home folder is not an absolute path. */
const char *environment_buildid_dir(struct config *config);
/* cli->buildid_dir if files may be read from there (add: put there); otherwise NULL, and the reason is printed once, except if no cache
 * exists. */
const char *environment_cache(struct cli *cli, bool add);
/* The user's cache, $XDG_CACHE_HOME or .cache of the home folder, which have to be absolute paths; NULL: neither is, or perfuse.cache is
 * off. Valid as long as the configuration. */
const char *environment_user_cache_dir(struct config *config);
/* The user's configuration folder, $XDG_CONFIG_HOME or .config of the home folder, which have to be absolute paths; NULL: neither is. The
 * caller frees it. */
char *environment_user_config_dir(void);
void environment_exec_path(struct str *path);
/* Appends each WORD for which a program perf-WORD exists in the exec path or $PATH. */
void environment_externals(struct strtab *words);
/* Replaces this process by perf-WORD of the exec path or $PATH; returns if no such program exists. */
void environment_exec_external(const char *word, const char **argv);
