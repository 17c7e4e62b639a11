#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool stdout_is_pipe(void)
{
	struct stat st;
	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* An older recording that is worth keeping goes aside. */
static int move_aside(struct output *output, struct error *err)
{
	struct stat st;
	char old[sizeof output->path + 8];
	if (stat(output->path, &st) != 0 || st.st_size == 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return error_set(err, ERROR_USAGE, "%s is a folder", output->path);
	if (!S_ISREG(st.st_mode))
		return 0;
	snprintf(old, sizeof old, "%s.old", output->path);
	if (rename(output->path, old) != 0)
		return error_system(err, "cannot rename %s to %s", output->path, old);
	output->renamed = true;
	return 0;
}

bool output_is_pipe(const char *path)
{
	return path ? strcmp(path, "-") == 0 : stdout_is_pipe();
}

int output_open(struct output *output, const char *path, struct error *err)
{
	*output = (struct output){ .fd = -1 };
	output->pipe = output_is_pipe(path);
	if (output->pipe) {
		output->fd = STDOUT_FILENO;
		return 0;
	}
	if ((size_t)snprintf(output->path, sizeof output->path, "%s", path ? path : "perf.data") >= sizeof output->path)
		return error_set(err, ERROR_LIMIT, "the name of the recording is too long");
	if (move_aside(output, err) < 0)
		return -1;
	output->fd = open(output->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (output->fd < 0) {
		error_system(err, "failed to open %s ", output->path);
		output_discard(output);
		return -1;
	}
	return 0;
}

void output_discard(struct output *output)
{
	char old[sizeof output->path + 8];
	struct stat st;
	if (output->pipe)
		return;
	/* devices and the like are not ours to remove */
	if (output->fd >= 0 && fstat(output->fd, &st) == 0 && S_ISREG(st.st_mode))
		unlink(output->path);
	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
	snprintf(old, sizeof old, "%s.old", output->path);
	if (output->renamed && rename(old, output->path) == 0)
		output->renamed = false;
}

int output_close(struct output *output, struct error *err)
{
	int status = 0;
	if (!output->pipe && output->fd >= 0 && close(output->fd) != 0 && errno != EINTR)
		status = error_system(err, "cannot write %s", output->path);
	output->fd = -1;
	return status;
}

int output_rename(struct output *output, const char *final, struct error *err)
{
	if (rename(output->path, final) != 0)
		return error_system(err, "cannot rename %s to %s", output->path, final);
	snprintf(output->path, sizeof output->path, "%s", final);
	return 0;
}
