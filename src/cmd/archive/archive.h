/* The two halves of `archive`. */
#pragma once
#include "cmd/command.h"

/* Unpacks an archive; path NULL: the only one in this folder. Returns the exit code. */
int archive_unpack(struct cli *cli, const char *path);
