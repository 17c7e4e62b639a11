/* Which debuginfod servers a command asks, where their files are stored, and the sentence where they could not be asked. */
#pragma once
#include "cmd/command.h"
#include "image/debuginfod.h"

/* The servers of buildid-cache.debuginfod (which then are put into the environment for the library) or $DEBUGINFOD_URLS; NULL: no server is
 * named, or none may be asked. Before any thread starts. */
struct debuginfod *servers_named(const struct cli *cli);
/* The same for commands that fill the cache, where only --debuginfod=URLS ("system": those of the environment; NULL: not given) or the
 * configuration names servers. */
struct debuginfod *servers_asked(const struct cli *cli, const char *urls);
/* Prints at the end that the servers took too long, if they did. */
void servers_report(const struct cli *cli);
