#include "record/output.h"

#include <dirent.h>
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

static bool is_recording_folder(const char *path)
{
	char main_file[4096 + 16];
	struct stat st;
	snprintf(main_file, sizeof main_file, "%.4000s/data", path);
	return stat(main_file, &st) == 0 && S_ISREG(st.st_mode);
}

/* The files of a recording and the folder, where nothing else is in it. */
static int remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	if (!dir)
		return -1;
	for (const struct dirent *entry; (entry = readdir(dir));)
		if (strcmp(entry->d_name, "data") == 0 || strncmp(entry->d_name, "data.", 5) == 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	static const char *const kernel[] = { "kcore_dir/kcore", "kcore_dir/kallsyms", "kcore_dir/modules" };
	for (unsigned i = 0; i < sizeof kernel / sizeof *kernel; i++)
		unlinkat(dirfd(dir), kernel[i], 0);
	unlinkat(dirfd(dir), "kcore_dir", AT_REMOVEDIR);
	closedir(dir);
	return rmdir(path);
}

/* An older recording that is worth keeping goes aside. */
static int move_aside(struct output *output, struct error *err)
{
	struct stat st, old_st;
	char old[sizeof output->path + 8];
	if (stat(output->path, &st) != 0)
		return 0;
	bool folder = S_ISDIR(st.st_mode);
	if (folder && !is_recording_folder(output->path))
		return error_set(err, ERROR_USAGE, "%s is a folder, and no recording", output->path);
	if (!folder && (!S_ISREG(st.st_mode) || st.st_size == 0))
		return output->folder && unlink(output->path) != 0 ? error_system(err, "cannot replace %s", output->path) : 0;
	snprintf(old, sizeof old, "%s.old", output->path);
	if (lstat(old, &old_st) == 0 && S_ISDIR(old_st.st_mode)) {
		if (is_recording_folder(old))
			remove_folder(old);
	} else if (folder) {
		unlink(old);
	}
	if (rename(output->path, old) != 0)
		return error_system(err, "cannot rename %s to %s", output->path, old);
	output->renamed = true;
	return 0;
}

bool output_is_pipe(const char *path)
{
	return path ? strcmp(path, "-") == 0 : stdout_is_pipe();
}

static int open_as(struct output *output, const char *path, bool folder, struct error *err)
{
	char main_file[sizeof output->path + 8];
	*output = (struct output){ .fd = -1, .folder = folder };
	output->pipe = output_is_pipe(path);
	if (output->pipe) {
		output->fd = STDOUT_FILENO;
		return 0;
	}
	if ((size_t)snprintf(output->path, sizeof output->path, "%s", path ? path : "perf.data") >= sizeof output->path)
		return error_set(err, ERROR_LIMIT, "the name of the recording is too long");
	if (move_aside(output, err) < 0)
		return -1;
	if (folder && mkdir(output->path, S_IRWXU) != 0) {
		error_system(err, "failed to open %s ", output->path);
		output_discard(output);
		return -1;
	}
	snprintf(main_file, sizeof main_file, "%s%s", output->path, folder ? "/data" : "");
	output->fd = open(main_file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (output->fd < 0) {
		error_system(err, "failed to open %s ", output->path);
		output_discard(output);
		return -1;
	}
	return 0;
}

int output_open(struct output *output, const char *path, struct error *err)
{
	return open_as(output, path, false, err);
}

int output_open_folder(struct output *output, const char *path, struct error *err)
{
	return open_as(output, path, true, err);
}

void output_discard(struct output *output)
{
	char old[sizeof output->path + 8];
	struct stat st;
	if (output->pipe)
		return;
	/* devices and the like are not ours to remove */
	if (output->fd >= 0 && output->folder)
		remove_folder(output->path);
	else if (output->fd >= 0 && fstat(output->fd, &st) == 0 && S_ISREG(st.st_mode))
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
