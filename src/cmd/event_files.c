#include "cmd/event_files.h"

#include <stdlib.h>

#include "base/str.h"
#include "cmd/environment.h"

#define SYSTEM_EVENTS "/usr/share/perfuse/events"

void event_files_set(struct cli *cli, struct pmus *pmus)
{
	const char *given = secure_getenv("PERFUSE_EVENTS"), *set = config_get(cli->config, "perfuse.events");
	CLEANUP_STR struct str path = { 0 };
	given = given ? given : set;
	if (!given) {
		char *folder = environment_user_config_dir();
		if (folder)
			str_printf(&path, "%s/perfuse/events:", folder);
		str_puts(&path, SYSTEM_EVENTS);
		free(folder);
	}
	pmus->vendor.path = given ? given : arena_string(&pmus->arena, path.text, path.len);
}

void event_files_remarks(const struct cli *cli, const struct pmus *pmus)
{
	const struct vendor *v = &pmus->vendor;
	for (size_t i = 0; i < v->remarks.count; i++)
		cli_warn(cli, "%s", v->remarks.items[i]);
	if (v->refused > v->remarks.count)
		cli_warn(cli, "%zu more entries of files of events are damaged", v->refused - v->remarks.count);
}
