#include "cmd/event_files.h"

#include <stdlib.h>

#include "base/config.h"
#include "unit.h"

static const char *path_with(const char *variable, const char *setting, struct pmus *pmus)
{
	struct config config = { 0 };
	struct cli cli = { .config = &config };
	if (setting)
		config_set(&config, CONFIG_USER, "perfuse.events", setting);
	setenv("XDG_CONFIG_HOME", "/c", 1);
	if (variable)
		setenv("PERFUSE_EVENTS", variable, 1);
	else
		unsetenv("PERFUSE_EVENTS");
	event_files_set(&cli, pmus);
	const char *path = arena_string(&pmus->arena, pmus->vendor.path, strlen(pmus->vendor.path));
	unsetenv("PERFUSE_EVENTS");
	unsetenv("XDG_CONFIG_HOME");
	config_fini(&config);
	return path;
}

TEST("the variable precedes the setting, which precedes the usual folders")
{
	struct pmus pmus = { 0 };
	EXPECT_STR(path_with("/v", "/s", &pmus), "/v");
	EXPECT_STR(path_with("", "/s", &pmus), "");
	EXPECT_STR(path_with(NULL, "/s", &pmus), "/s");
	EXPECT_STR(path_with(NULL, NULL, &pmus), "/c/perfuse/events:/usr/share/perfuse/events");
	pmus_fini(&pmus);
}
