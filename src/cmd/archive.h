/* The two halves of `archive`. */
#pragma once
#include "cmd/command.h"

/* Takes the archive apart: its name, or NULL for the one in this folder. Returns the exit code. */
int archive_unpack(struct cli *cli, const char *path);
