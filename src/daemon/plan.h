/* What a daemon is configured to do: its base folder (daemon.base) and its sessions (session-NAME.run), from perf's configuration. Starts
 * nothing, opens no folder. */
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/error.h"
#include "base/vec.h"

enum {
	PLAN_SESSIONS_MAX = 64,
	PLAN_NAME_MAX = 64,       /* bytes of a session's name */
	PLAN_RUN_MAX = 4096,      /* bytes of its command line */
};

struct planned_session {
	const char *name, *run;
};

struct plan {
	const char *base;         /* NULL: the configuration has none */
	VEC(struct planned_session) sessions; /* in the order of the configuration */
	struct arena arena;
};

/* Reads the plan; < 0: a session has a name or a command line that cannot be used. */
int plan_read(struct plan *plan, const struct config *config, struct error *err);
void plan_fini(struct plan *plan);
/* NULL: no session of that name. */
const struct planned_session *plan_find(const struct plan *plan, const char *name);

/* Reads a configuration file whose content decides which commands run: it must belong to the effective user or root, and others must not be
 * able to write it or to replace it in its folder. No link is followed. */
int plan_config_read(struct config *config, enum config_from from, const char *path, struct error *err);
