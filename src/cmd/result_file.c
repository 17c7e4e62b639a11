#include "cmd/result_file.h"

#include <string.h>

#include "os/written_file.h"

int result_file_write(struct cli *cli, const char *path, void (*write)(const void *context, struct writer *out), const void *context,
	struct error *err)
{
	struct written_file file;
	if (strcmp(path, "-") == 0) {
		write(context, cli->out);
		return 0;
	}
	if (written_open(&file, path, err) < 0)
		return -1;
	write(context, &file.out);
	int status = written_keep(&file, path, err);
	written_drop(&file);
	return status;
}
