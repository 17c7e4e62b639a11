/* A result that goes into a file which the user names: text, or a picture. */
#pragma once
#include "cmd/command.h"

/* Calls write(context, out) once, with a writer of the file, which replaces an existing one when it is complete; with stdout where path is
 * "-". < 0: *err names the path, and an existing file is unchanged. */
int result_file_write(struct cli *cli, const char *path, void (*write)(const void *context, struct writer *out), const void *context,
	struct error *err);
