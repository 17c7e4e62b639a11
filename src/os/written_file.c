#include "os/written_file.h"

#include <errno.h>

#include "os/place.h"

enum { FILE_MODE = 0666 };

int written_open(struct written_file *file, const char *path, struct error *err)
{
	*file = (struct written_file){ .out.fd = -1 };
	if (fresh_open_named(&file->fresh, path, FILE_MODE, err) < 0)
		return -1;
	writer_open(&file->out, file->fresh.fd, 0);
	return 0;
}

int written_keep(struct written_file *file, const char *path, struct error *err)
{
	if (writer_flush(&file->out, NULL) == 0)
		return fresh_keep(&file->fresh, err);
	errno = file->out.failed;
	return error_system(err, "cannot write %s", path);
}

void written_drop(struct written_file *file)
{
	fresh_drop(&file->fresh);
	writer_fini(&file->out);
}
