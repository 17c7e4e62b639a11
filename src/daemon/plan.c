#include "daemon/plan.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "daemon/words.h"
#include "os/file.h"
#include "os/place.h"

enum { CONFIG_BYTES_MAX = 1 << 20 };

void plan_fini(struct plan *plan)
{
	vec_fini(&plan->sessions);
	arena_fini(&plan->arena);
	plan->base = NULL;
}

const struct planned_session *plan_find(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->sessions.count; i++) {
		if (!strcmp(plan->sessions.items[i].name, name))
			return &plan->sessions.items[i];
	}
	return NULL;
}

static int check_session(const struct planned_session *session, struct error *err)
{
	struct words words = { 0 };
	size_t length = strlen(session->name);
	if (!length || length > PLAN_NAME_MAX || strchr(session->name, '/') || !text_is_printable(session->name, length))
		return error_set(err, ERROR_FORMAT, "the session name '%.80s' is not a plain name of at most %d bytes", session->name,
			PLAN_NAME_MAX);
	if (strlen(session->run) > PLAN_RUN_MAX)
		return error_set(err, ERROR_LIMIT, "session-%s.run has more than %d bytes", session->name, PLAN_RUN_MAX);
	int result = words_split(&words, session->run, err);
	words_fini(&words);
	return result;
}

/* "session-NAME.run"; false: another key. */
static bool session_key(const char *key, const char **name, size_t *length)
{
	static const char prefix[] = "session-", suffix[] = ".run";
	size_t len = strlen(key), fixed = sizeof prefix - 1 + sizeof suffix - 1;
	if (len < fixed || strncmp(key, prefix, sizeof prefix - 1) != 0 || strcmp(key + len - (sizeof suffix - 1), suffix) != 0)
		return false;
	*name = key + sizeof prefix - 1;
	*length = len - fixed;
	return true;
}

int plan_read(struct plan *plan, const struct config *config, struct error *err)
{
	const char *base = config_get(config, "daemon.base");
	plan->base = base && *base ? arena_string(&plan->arena, base, strlen(base)) : NULL;
	for (size_t i = 0; i < config->entries.count; i++) {
		const struct config_entry *entry = &config->entries.items[i];
		const char *name;
		size_t length;
		if (!session_key(entry->key, &name, &length))
			continue;
		if (plan->sessions.count == PLAN_SESSIONS_MAX)
			return error_set(err, ERROR_LIMIT, "the configuration has more than %d sessions", PLAN_SESSIONS_MAX);
		struct planned_session session = { .name = arena_string(&plan->arena, name, length),
			.run = arena_string(&plan->arena, entry->value, strlen(entry->value)) };
		if (check_session(&session, err) < 0)
			return -1;
		vec_push(&plan->sessions, session);
	}
	return 0;
}

/* Whoever can write the folder can replace the file by a link to another one of root. */
static int open_folder_of(const char *path, struct error *err)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	if (!slash)
		return private_folder_open(".", 0, err);
	if ((size_t)(slash - path) >= sizeof folder)
		return error_set(err, ERROR_LIMIT, "%.80s...: the path is too long", path);
	snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
	/* in /tmp, others cannot replace it */
	char *last = strrchr(folder, '/');
	struct stat st;
	if (last && lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX && st.st_uid == 0) {
		*last = '\0';
		CLEANUP_FD int above = private_folder_open(*folder ? folder : "/", 0, err);
		return above < 0 ? -1 : checked_open(above, last + 1, O_PATH | O_DIRECTORY, err);
	}
	return private_folder_open(folder, 0, err);
}

int plan_config_read(struct config *config, enum config_from from, const char *path, struct error *err)
{
	CLEANUP_STR struct str text = { 0 };
	struct stat st;
	char opened[64];
	CLEANUP_FD int folder = open_folder_of(path, err);
	if (folder < 0)
		return -1;
	const char *slash = strrchr(path, '/');
	CLEANUP_FD int fd = openat(folder, slash ? slash + 1 : path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) != 0)
		return error_system(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_USAGE, "%s is not a regular file", path);
	if (!status_is_private(&st))
		return error_set(err, ERROR_PERMISSION, "%s belongs to another user, or others can write it: it decides which commands run", path);
	snprintf(opened, sizeof opened, "/proc/self/fd/%d", fd);
	if (file_read(opened, &text, CONFIG_BYTES_MAX, err) < 0)
		return -1;
	return config_parse(config, from, path, str_text(&text), text.len, err);
}
