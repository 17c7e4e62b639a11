/* The two halves of `archive`. */
#pragma once
#include "cmd/command.h"

/* Takes the archive apart: its name, or NULL for the one in this folder. Returns the exit code. */
int archive_unpack(struct cli *cli, const char *path);
/* Whether a name from an archive stays below the folder it is unpacked in. */
bool archive_name_is_safe(const char *name);
/* Whether a link of that name may lead to target: "../" as often as the name has folders, then names alone. */
bool archive_link_is_safe(const char *name, const char *target);
