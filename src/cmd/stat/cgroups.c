#include "cmd/stat/cgroups.h"

#include <regex.h>
#include <string.h>

#include "os/cgroup.h"

struct matching {
	struct cgroup_names *names;
	struct arena *arena;
	const regex_t *pattern;
};

static void add(struct cgroup_names *names, struct arena *arena, const char *name, size_t len)
{
	for (size_t i = 0; i < names->list.count; i++)
		if (strlen(names->list.items[i]) == len && memcmp(names->list.items[i], name, len) == 0)
			return;
	vec_push(&names->list, arena_string(arena, name, len));
}

/* The root is "/", others have no slash before their name. */
static int match(void *context, uint64_t id, const char *path)
{
	struct matching *m = context;
	const char *name = path[0] == '/' && path[1] ? path + 1 : path;
	if (regexec(m->pattern, name, 0, NULL, 0) == 0)
		add(m->names, m->arena, name, strlen(name));
	return 0;
}

static int add_matches(struct cgroup_names *names, struct arena *arena, const char *text, struct error *err)
{
	regex_t pattern;
	struct matching matching = { names, arena, &pattern };
	if (regcomp(&pattern, text, REG_NOSUB) != 0)
		return error_set(err, ERROR_USAGE, "'%s' is not a regular expression", text);
	int status = cgroup_each(match, &matching, err);
	regfree(&pattern);
	return status;
}

int cgroup_names_find(struct cgroup_names *names, struct arena *arena, const char *text, struct error *err)
{
	bool patterns = strpbrk(text, "{}[]()|*+?^$") != NULL;
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		if (!len)
			add(names, arena, "/", 1);
		else if (!patterns)
			add(names, arena, at, len);
		else if (add_matches(names, arena, arena_string(arena, at, len), err) < 0)
			return -1;
		at += len;
		if (!*at)
			break;
	}
	return names->list.count ? 0 : error_set(err, ERROR_USAGE, "no cgroup matched: %s", text);
}
